//! Prints the plan of a program in text; every open size is called b.
use artifact_dims::{Expr, Scope, Variable};
use artifact_ir::types::{Dim, TensorType};
use artifact_refine::{Fact, refine};

fn main() {
    let path = std::env::args().nth(1).unwrap();
    let text = std::fs::read_to_string(&path).unwrap();
    let module = artifact_stablehlo::parse::parse_module(&text).into_module().unwrap();
    let entry = module.entry().unwrap();
    let b = || Dim::from(Expr::variable(Variable::new("b").unwrap()));
    let facts = module.functions[entry].arguments.iter().map(|argument| match argument.ty.as_tensor() {
        Some(ty) => {
            let dims: Vec<Dim> = ty.dims.iter().map(|dim| if dim.is_static() { dim.clone() } else { b() }).collect();
            Fact::of_type(TensorType::new(dims, ty.element.clone()).into())
        }
        None => Fact::of_type(argument.ty.clone()),
    });
    let refined = refine(&module, entry, &facts.collect::<Vec<_>>(), &Scope::default()).unwrap();
    let start = std::time::Instant::now();
    let plan = artifact_lower::lower(&refined.module, refined.entry, &Default::default()).unwrap();
    let took = start.elapsed();
    print!("{}{}", artifact_lower::text::kernels(&plan), artifact_lower::text::plan(&plan));
    eprintln!("{took:?} {} kernels", plan.kernels.len());
}
