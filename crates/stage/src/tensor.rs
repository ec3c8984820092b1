//! Tensors of a function that is being staged.

use std::cell::RefCell;
use std::fmt;
use std::panic::Location;
use std::rc::Rc;

use artifact_dims::{Decision, Expr};
use artifact_ir::module::ValueId;
use artifact_ir::types::ElementType;

use crate::trace::{Place, Trace};

/// A tensor: a value of the function that is being staged, its element type, and its shape, of numbers and expressions of
/// dimension variables. Cheap to clone.
///
/// Operations never fail where they stand, so that they can be written as arithmetic: the first mistake is kept with the
/// line of the call, what follows from it is not traced, and [`crate::function`] returns it.
#[derive(Clone)]
pub struct Tensor {
    pub(crate) trace: Rc<RefCell<Trace>>,
    pub(crate) value: ValueId,
    pub(crate) shape: Vec<Expr>,
    pub(crate) dtype: ElementType,
}

impl Tensor {
    /// Size of each dimension, outermost first.
    #[must_use]
    pub fn shape(&self) -> &[Expr] {
        &self.shape
    }

    /// Type of the elements.
    #[must_use]
    pub const fn dtype(&self) -> ElementType {
        self.dtype
    }

    /// Number of dimensions.
    #[must_use]
    pub fn rank(&self) -> usize {
        self.shape.len()
    }

    /// A tensor of the same function.
    pub(crate) fn with(&self, value: ValueId, shape: Vec<Expr>, dtype: ElementType) -> Self {
        Self {
            trace: Rc::clone(&self.trace),
            value,
            shape,
            dtype,
        }
    }

    /// Traces an operation that gives a tensor of this shape and type. After a mistake nothing is traced.
    pub(crate) fn traced(
        &self,
        place: Place,
        shape: Vec<Expr>,
        dtype: ElementType,
        build: impl FnOnce(&mut Trace) -> Result<ValueId, String>,
    ) -> Self {
        let mut trace = self.trace.borrow_mut();
        if trace.has_failed() {
            drop(trace);
            return self.with(self.value, shape, dtype);
        }
        match build(&mut trace) {
            Ok(value) => {
                drop(trace);
                self.with(value, shape, dtype)
            }
            Err(message) => {
                trace.fail(message, place);
                drop(trace);
                self.with(self.value, shape, dtype)
            }
        }
    }

    /// Keeps a mistake; the tensor stands for the result that there is not.
    pub(crate) fn mistaken(&self, place: Place, message: impl Into<String>) -> Self {
        self.trace.borrow_mut().fail(message, place);
        self.clone()
    }

    /// The shape as it is written: `(b, 128)`.
    #[must_use]
    pub fn shape_text(&self) -> String {
        shape_text(&self.shape)
    }

    /// A dimension counted from the front, or from the back where it is negative.
    pub(crate) fn dimension(&self, dimension: i64) -> Result<usize, String> {
        let rank = self.rank() as i64;
        let found = if dimension < 0 {
            dimension + rank
        } else {
            dimension
        };
        if (0..rank).contains(&found) {
            Ok(found as usize)
        } else {
            Err(format!(
                "there is no dimension {dimension} in the shape {}",
                self.shape_text()
            ))
        }
    }

    /// Dimensions as [`Tensor::dimension`] counts them, each once.
    pub(crate) fn dimensions(&self, dimensions: &[i64]) -> Result<Vec<usize>, String> {
        let found: Vec<usize> = dimensions
            .iter()
            .map(|dim| self.dimension(*dim))
            .collect::<Result<_, _>>()?;
        let mut sorted = found.clone();
        sorted.sort_unstable();
        sorted.dedup();
        if sorted.len() == found.len() {
            Ok(found)
        } else {
            Err(format!("the dimensions {dimensions:?} are not different"))
        }
    }

    /// Whether two sizes are equal; an error that says why where that is not proven.
    pub(crate) fn ensure_equal(&self, what: &str, left: &Expr, right: &Expr) -> Result<(), String> {
        if left == right {
            return Ok(());
        }
        match self.trace.borrow().equal(left, right) {
            Decision::Yes => Ok(()),
            Decision::No => Err(format!("{what} differ: {left} and {right}")),
            Decision::Unknown(unknown) => Err(format!(
                "{what} are not known to be equal: {left} and {right}: {unknown}"
            )),
        }
    }
}

pub(crate) fn shape_text(shape: &[Expr]) -> String {
    let sizes: Vec<String> = shape.iter().map(Expr::to_string).collect();
    match sizes.as_slice() {
        [only] => format!("({only},)"),
        sizes => format!("({})", sizes.join(", ")),
    }
}

/// `f32(b, 128)`.
impl fmt::Debug for Tensor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", self.dtype, self.shape_text())
    }
}

/// Where the caller stands.
#[track_caller]
pub(crate) fn here() -> Place {
    Location::caller()
}
