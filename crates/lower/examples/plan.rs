use artifact_dims::Scope;
use artifact_refine::{Fact, refine};
fn main() {
    let path = std::env::args().nth(1).unwrap();
    let bytes = std::fs::read(&path).unwrap();
    let module = if path.ends_with(".mlir") {
        artifact_stablehlo::parse::parse_module(&String::from_utf8(bytes).unwrap())
            .into_module()
            .unwrap()
    } else {
        panic!()
    };
    let entry = module.entry().unwrap();
    let facts: Vec<Fact> = module.functions[entry]
        .arguments
        .iter()
        .map(|a| Fact::of_type(a.ty.clone()))
        .collect();
    let refined = refine(&module, entry, &facts, &Scope::default()).unwrap();
    let start = std::time::Instant::now();
    let plan = artifact_lower::lower(&refined.module, refined.entry, &Default::default()).unwrap();
    let took = start.elapsed();
    print!("{}", artifact_lower::text::kernels(&plan));
    print!("{}", artifact_lower::text::plan(&plan));
    eprintln!("{took:?} {} kernels", plan.kernels.len());
}
