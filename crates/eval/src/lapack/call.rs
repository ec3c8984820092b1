//! How a custom call hands matrices to LAPACK and takes them back: options, layouts, batches.

use std::ops::Range;
use std::sync::Arc;

use artifact_ir::attribute::{Attribute, NamedAttributes};
use artifact_ir::op::CustomCall;
use artifact_ir::types::{ElementType, TensorType};

use super::entry::Entry;
use super::matrix::Matrix;
use crate::error::EvalError;
use crate::scalar::Scalar;
use crate::shape::operand;
use crate::tensor::{TENSOR_BYTES, Tensor, TensorError, reserve};

/// Longest layout that is read: no tensor has a rank near it.
const LAYOUT_MAX: usize = 1 << 10;

/// One call of a routine.
pub(super) struct Call<'a> {
    pub(super) operands: &'a [Tensor],
    pub(super) options: Options<'a>,
    operand_layouts: Option<&'a Attribute>,
    result_layouts: Option<&'a Attribute>,
    result_types: &'a [Arc<TensorType>],
}

impl<'a> Call<'a> {
    pub(super) const fn new(
        operands: &'a [Tensor],
        options: Option<&'a Attribute>,
        call: &'a CustomCall,
        result_types: &'a [Arc<TensorType>],
    ) -> Self {
        let options = match options {
            Some(Attribute::Dictionary(options)) => Some(options),
            _ => None,
        };
        Self {
            operands,
            options: Options(options),
            operand_layouts: call.operand_layouts.as_ref(),
            result_layouts: call.result_layouts.as_ref(),
            result_types,
        }
    }

    /// The operand that holds matrices, as LAPACK sees it.
    pub(super) fn matrices(&self, index: usize) -> Result<Batch, EvalError> {
        let tensor = operand(self.operands, index)?;
        let [.., rows, columns] = tensor.shape()[..] else {
            return Err(EvalError::invalid_input(format!("{} is no matrix", tensor.ty())));
        };
        let view = View::of(self.operand_layouts, index, tensor.shape().len(), true)?;
        Batch::new(view.seen(tensor, [rows, columns])?, [rows, columns], 2)
    }

    /// The operand that holds square matrices.
    pub(super) fn square_matrices(&self, index: usize) -> Result<Batch, EvalError> {
        let batch = self.matrices(index)?;
        let [rows, columns] = batch.sizes;
        if rows != columns {
            return Err(EvalError::invalid_input(format!(
                "the routine takes square matrices, not {rows} rows and {columns} columns"
            )));
        }
        Ok(batch)
    }

    /// The operand that holds vectors, each a matrix of one row.
    pub(super) fn vectors(&self, index: usize) -> Result<Batch, EvalError> {
        let tensor = operand(self.operands, index)?;
        let [.., length] = tensor.shape()[..] else {
            return Err(EvalError::invalid_input(format!("{} is no vector", tensor.ty())));
        };
        View::of(self.operand_layouts, index, tensor.shape().len(), false)?;
        Batch::new(tensor.clone(), [1, length], 1)
    }

    /// Rows and columns of a result, if the program says them.
    pub(super) fn declared_sizes(&self, index: usize) -> Option<[usize; 2]> {
        match self.result_types.get(index)?.dims[..] {
            [.., ref rows, ref columns] => Some([rows.as_static()? as usize, columns.as_static()? as usize]),
            _ => None,
        }
    }

    /// Result number `index`, to be filled: for each element of `batch` a matrix, a vector or a number, by `sizes`.
    pub(super) fn output(
        &self,
        index: usize,
        batch: &Batch,
        sizes: &[usize],
        element: ElementType,
    ) -> Result<Output, EvalError> {
        let shape: Vec<u64> = batch.dims.iter().chain(sizes).map(|size| *size as u64).collect();
        let ty = Arc::new(TensorType::of_static(&shape, element));
        let bytes = ty.byte_count().ok_or(TensorError::Overflow)?;
        TENSOR_BYTES.check(bytes)?;
        let view = View::of(self.result_layouts, index, shape.len(), sizes.len() == 2)?;
        Ok(Output {
            bytes: reserve(bytes as usize)?,
            matrix: match sizes {
                [rows, columns] => Some([*rows, *columns]),
                _ => None,
            },
            view,
            ty,
        })
    }
}

/// The dictionary of a call.
pub(super) struct Options<'a>(Option<&'a NamedAttributes>);

impl Options<'_> {
    /// Whether an option is the first of two letters; any other letter than these is an error.
    pub(super) fn is_first(&self, name: &str, letters: [u8; 2]) -> Result<bool, EvalError> {
        match self.letter(name)? {
            letter if letter == letters[0] => Ok(true),
            letter if letter == letters[1] => Ok(false),
            letter => Err(Self::unknown(name, letter)),
        }
    }

    /// An option that is one of LAPACK's letters: its ASCII code as an integer of any type, or the letter itself.
    pub(super) fn letter(&self, name: &str) -> Result<u8, EvalError> {
        let letter = match self.0.and_then(|options| options.get(name)) {
            Some(Attribute::String(text)) => match text.as_bytes() {
                [letter] => Some(*letter),
                _ => None,
            },
            Some(other) => other.as_i64().and_then(|value| u8::try_from(value).ok()),
            None => None,
        };
        letter.ok_or_else(|| {
            EvalError::invalid_input(format!("the LAPACK option {name} is missing or no letter"))
        })
    }

    /// An option that is a number.
    pub(super) fn number(&self, name: &str) -> Result<i64, EvalError> {
        let value = self
            .0
            .and_then(|options| options.get(name))
            .and_then(Attribute::as_i64);
        value.ok_or_else(|| {
            EvalError::invalid_input(format!("the LAPACK option {name} is missing or no number"))
        })
    }

    /// The error of a letter that an option does not have.
    pub(super) fn unknown(name: &str, letter: u8) -> EvalError {
        EvalError::invalid_input(format!("the LAPACK option {name} is {:?}", char::from(letter)))
    }
}

/// How the layout of an operand or result maps it to what LAPACK sees, which is columns in memory.
#[derive(Clone, Copy, PartialEq, Eq)]
enum View {
    /// Elements lie where LAPACK looks for them.
    Same,
    /// Rows lie where LAPACK looks for columns: it sees the same bytes under the same sizes, and so other matrices.
    Rows,
}

impl View {
    fn of(layouts: Option<&Attribute>, index: usize, rank: usize, matrix: bool) -> Result<Self, EvalError> {
        let layout = match layouts {
            Some(Attribute::Array(layouts)) => layouts.get(index),
            _ => None,
        };
        let rows_first: Vec<i64> = (0..rank as i64).rev().collect();
        let layout = match layout {
            Some(Attribute::Elements(order)) => order.to_i64s(LAYOUT_MAX),
            _ => None,
        };
        let layout = layout.unwrap_or_else(|| rows_first.clone());
        let mut columns_first = rows_first.clone();
        if matrix {
            columns_first.swap(0, 1);
        }
        if layout == columns_first {
            Ok(Self::Same)
        } else if layout == rows_first {
            Ok(Self::Rows)
        } else {
            Err(EvalError::unsupported(format!(
                "a LAPACK routine on an array of layout {layout:?} is not evaluated"
            )))
        }
    }

    /// The matrices that LAPACK sees, in our order of elements.
    fn seen(self, tensor: &Tensor, [rows, columns]: [usize; 2]) -> Result<Tensor, EvalError> {
        self.moved(
            tensor,
            |position| position % columns * rows + position / columns,
            rows * columns,
        )
    }

    /// The array of which LAPACK sees these matrices.
    fn stored(self, tensor: &Tensor, [rows, columns]: [usize; 2]) -> Result<Tensor, EvalError> {
        self.moved(
            tensor,
            |position| position % rows * columns + position / rows,
            rows * columns,
        )
    }

    fn moved(self, tensor: &Tensor, from: impl Fn(usize) -> usize, size: usize) -> Result<Tensor, EvalError> {
        if self == Self::Same {
            return Ok(tensor.clone());
        }
        Ok(Tensor::from_positions(
            Arc::clone(tensor.ty()),
            tensor,
            |position| position / size * size + from(position % size),
        )?)
    }
}

/// Matrices or vectors, one for each index of the batch dimensions.
pub(super) struct Batch {
    pub(super) tensor: Tensor,
    /// The batch dimensions.
    pub(super) dims: Vec<usize>,
    /// Rows and columns.
    pub(super) sizes: [usize; 2],
    count: usize,
}

impl Batch {
    fn new(tensor: Tensor, sizes: [usize; 2], own_dims: usize) -> Result<Self, EvalError> {
        let mut dims = tensor.shape();
        dims.truncate(dims.len().saturating_sub(own_dims));
        let count = dims
            .iter()
            .try_fold(1_usize, |count, size| count.checked_mul(*size));
        Ok(Self {
            tensor,
            dims,
            sizes,
            count: count.ok_or(TensorError::Overflow)?,
        })
    }

    /// How many there are.
    pub(super) const fn count(&self) -> usize {
        self.count
    }

    /// The index of each, or of none when they have no elements, however many there are.
    pub(super) fn indices_with_elements(&self) -> Range<usize> {
        0..if self.tensor.is_empty() { 0 } else { self.count }
    }

    /// The type of the elements.
    pub(super) fn element(&self) -> ElementType {
        self.tensor.storage()
    }

    /// One of them.
    pub(super) fn matrix<T: Entry>(&self, index: usize) -> Result<Matrix<T>, EvalError> {
        let [rows, columns] = self.sizes;
        let start = index * rows * columns;
        Ok(Matrix::from_fn(rows, columns, |row, column| {
            T::from_scalar(self.tensor.get(start + row * columns + column)).unwrap_or(T::ZERO)
        })?)
    }

    /// One of them, of vectors.
    pub(super) fn vector<T: Entry>(&self, index: usize) -> Result<Vec<T>, EvalError> {
        Ok(self.matrix(index)?.values().to_vec())
    }

    /// Refuses another operand with other batch dimensions or of another type.
    pub(super) fn check_same_batch(&self, other: &Self) -> Result<(), EvalError> {
        if self.dims == other.dims && self.element() == other.element() {
            return Ok(());
        }
        let (a, b) = (self.tensor.ty(), other.tensor.ty());
        Err(EvalError::invalid_input(format!(
            "{a} and {b} do not fit each other"
        )))
    }
}

/// A result that grows by one matrix, vector or number at a time.
pub(super) struct Output {
    ty: Arc<TensorType>,
    matrix: Option<[usize; 2]>,
    view: View,
    bytes: Vec<u8>,
}

impl Output {
    /// Appends elements, row by row.
    pub(super) fn push<T: Entry>(&mut self, values: &[T]) {
        let storage = self.ty.element.storage();
        for value in values {
            value.to_scalar().encode(storage, &mut self.bytes);
        }
    }

    /// Appends all elements of a tensor of the same type.
    pub(super) fn push_tensor(&mut self, tensor: &Tensor) {
        self.bytes.extend_from_slice(tensor.bytes());
    }

    /// Appends integers.
    pub(super) fn push_integers(&mut self, values: &[i128]) {
        let storage = self.ty.element.storage();
        for value in values {
            Scalar::Int(*value).encode(storage, &mut self.bytes);
        }
    }

    /// Appends as many NaN as the next matrix or vector has elements: what is not defined is not mistaken for a result.
    pub(super) fn push_undefined(&mut self, count: usize) {
        let storage = self.ty.element.storage();
        let undefined = if storage.is_complex() {
            Scalar::Complex(f64::NAN, f64::NAN)
        } else {
            Scalar::Float(f64::NAN)
        };
        (0..count).for_each(|_| undefined.encode(storage, &mut self.bytes));
    }

    /// The tensor.
    pub(super) fn finish(self) -> Result<Tensor, EvalError> {
        let tensor = Tensor::from_bytes(self.ty, self.bytes)?;
        match self.matrix {
            Some(sizes) => self.view.stored(&tensor, sizes),
            None => Ok(tensor),
        }
    }
}
