//! The function itself: arguments, constraints, results.

use std::cell::RefCell;
use std::collections::HashSet;
use std::rc::Rc;

use artifact_core::blob::Blob;
use artifact_dims::{Constraint, Expr, parse_shape};
use artifact_ir::attribute::Attribute;
use artifact_ir::literal::Literal;
use artifact_ir::location::LocationId;
use artifact_ir::module::{Function, Module, NewOperation, Parameter, ValueId, Visibility};
use artifact_ir::op::Control;
use artifact_ir::types::{ElementType, TensorType};
use artifact_ir::verify::verify;

use crate::error::StageError;
use crate::tensor::{Tensor, here, shape_text};
use crate::trace::{Place, Trace, type_of};

/// The function that is being staged.
#[derive(Clone)]
pub struct Stage(pub(crate) Rc<RefCell<Trace>>);

impl std::fmt::Debug for Stage {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Stage")
    }
}

/// A staged function.
#[derive(Clone, Debug)]
pub struct Staged {
    /// A verified module of one function, `main`. Arguments and results keep their names.
    pub module: Module,
    /// Name and shape of each argument, as `artifact export --shapes` takes them.
    pub shapes: Vec<(String, String)>,
    /// Constraints on the dimension variables.
    pub constraints: Vec<String>,
}

/// Stages a function: `build` declares its arguments, computes, and gives results by name.
///
/// ```
/// use artifact_ir::types::ElementType::F32;
/// use artifact_stage as stage;
///
/// let staged = stage::function("mlp", |s| {
///     let x = s.arg("x", F32, "b, 128")?;
///     let (w, bias) = (s.arg("w", F32, "128, 10")?, s.arg("bias", F32, "10")?);
///     Ok(vec![("y", (x.matmul(&w) + bias).softmax(-1))])
/// })?;
/// assert_eq!(staged.shapes[0], ("x".to_owned(), "(b, 128)".to_owned()));
/// # Ok::<(), stage::StageError>(())
/// ```
///
/// # Errors
/// The first mistake, with the line of the call that made it.
#[track_caller]
pub fn function<N: AsRef<str>>(
    name: &str,
    build: impl FnOnce(&Stage) -> Result<Vec<(N, Tensor)>, StageError>,
) -> Result<Staged, StageError> {
    let place = here();
    let stage = Stage(Rc::new(RefCell::new(Trace::new())));
    let results = build(&stage)?;
    let mut trace = stage.0.borrow_mut();
    if let Some(error) = trace.error() {
        return Err(error);
    }
    let parameters = trace.parameters();
    let mut function = Function::new("main");
    function.visibility = Visibility::Public;
    function.arguments = parameters;
    let mut names = HashSet::new();
    let mut returned: Vec<ValueId> = Vec::new();
    for (name, tensor) in &results {
        let name = name.as_ref();
        if name.is_empty() || !names.insert(name) {
            return Err(StageError::new(
                format!("the name {name:?} of a result is empty or given twice"),
                place,
            ));
        }
        let mut result = Parameter::new(type_of(&tensor.shape, tensor.dtype));
        result
            .attributes
            .insert("jax.result_info", Attribute::string(name));
        function.results.push(result);
        returned.push(tensor.value);
    }
    let entry = trace.body.entry_block();
    if let Some(entry) = entry {
        let ret = NewOperation::new(Control::FuncReturn, returned);
        trace.body.add_op(entry, ret, Vec::new());
    }
    function.body = Some(trace.body.clone());
    let mut module = Module::new();
    module.name = Some(name.into());
    module.locations = trace.locations.clone();
    module.location = LocationId::UNKNOWN;
    module.add_function(function);
    match verify(&module).into_iter().next() {
        None => Ok(Staged {
            module,
            shapes: trace
                .arguments
                .iter()
                .map(|argument| (argument.name.clone(), shape_text(&argument.shape)))
                .collect(),
            constraints: trace.constraints.iter().map(Constraint::to_string).collect(),
        }),
        Some(finding) => Err(StageError::new(finding.message, place)),
    }
}

impl Stage {
    /// Declares an argument, such as `s.arg("x", F32, "b, 128")`: sizes are numbers and expressions of dimension variables.
    ///
    /// # Errors
    /// When the shape cannot be read, or the name is taken.
    #[track_caller]
    pub fn arg(&self, name: &str, dtype: ElementType, shape: &str) -> Result<Tensor, StageError> {
        let place = here();
        let refuse = |message: String| StageError::new(message, place);
        let shape = parse_shape(shape, None)
            .map_err(|error| refuse(format!("the shape of `{name}`: {error}\n{}", error.snippet())))?;
        if let Some(size) = shape
            .iter()
            .find(|size| size.as_constant().is_some_and(|size| size < 0))
        {
            return Err(refuse(format!("the shape of `{name}` has the size {size}")));
        }
        let mut trace = self.0.borrow_mut();
        if name.is_empty() || trace.arguments.iter().any(|argument| argument.name == name) {
            return Err(refuse(format!(
                "the name {name:?} of an argument is empty or given twice"
            )));
        }
        let value = trace.declare(name, dtype, shape.clone());
        trace.constrain(Vec::new()).map_err(refuse)?;
        drop(trace);
        Ok(self.tensor(value, shape, dtype))
    }

    /// Adds a constraint on dimension variables, such as `b >= 2` or `mod(n, 8) == 0`.
    ///
    /// # Errors
    /// When it cannot be read, or when no sizes satisfy all constraints.
    #[track_caller]
    pub fn constraint(&self, text: &str) -> Result<(), StageError> {
        let place = here();
        let refuse = |message: String| StageError::new(message, place);
        let constraints =
            Constraint::parse(text).map_err(|error| refuse(format!("the constraint `{text}`: {error}")))?;
        self.0.borrow_mut().constrain(constraints).map_err(refuse)
    }

    /// A constant: elements in row-major order, as many as the shape has.
    #[track_caller]
    #[must_use]
    pub fn constant(&self, elements: &[f64], dtype: ElementType, shape: &[u64]) -> Tensor {
        let place = here();
        let sizes: Vec<Expr> = shape
            .iter()
            .map(|size| Expr::constant(i64::try_from(*size).unwrap_or(i64::MAX)))
            .collect();
        self.placed(place, sizes, dtype, |trace| {
            let mut bytes = Vec::new();
            for element in elements {
                bytes.extend(crate::trace::encoded(*element, dtype)?);
            }
            let ty = TensorType::of_static(shape, dtype);
            let literal = Literal::dense(ty.into(), Blob::new(bytes)).map_err(|error| error.to_string())?;
            trace.constant(literal)
        })
    }

    pub(crate) fn tensor(&self, value: ValueId, shape: Vec<Expr>, dtype: ElementType) -> Tensor {
        Tensor {
            trace: Rc::clone(&self.0),
            value,
            shape,
            dtype,
        }
    }

    /// Traces what has no operand. After a mistake some value stands for it, which nobody uses.
    pub(crate) fn placed(
        &self,
        place: Place,
        shape: Vec<Expr>,
        dtype: ElementType,
        build: impl FnOnce(&mut Trace) -> Result<ValueId, String>,
    ) -> Tensor {
        let mut trace = self.0.borrow_mut();
        let nothing = trace.body.values.next_id();
        let value = if trace.has_failed() {
            nothing
        } else {
            match build(&mut trace) {
                Ok(value) => value,
                Err(message) => {
                    trace.fail(message, place);
                    nothing
                }
            }
        };
        drop(trace);
        self.tensor(value, shape, dtype)
    }
}
