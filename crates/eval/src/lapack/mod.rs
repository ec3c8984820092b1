//! LAPACK routines that JAX calls on CPU: `lapack_<s|d|c|z><routine>_ffi`, batched over leading dimensions.
//!
//! Operands after the matrices are sizes that JAX adds where dimensions are symbolic; shapes say the same. Options are the
//! ASCII codes of LAPACK's own letters, in the dictionary `mhlo.backend_config`. Results after LAPACK's own are workspace,
//! which exporters of 2024 ask for; it is zero.
//!
//! Invariants:
//! * Everything is computed in `f64` and rounded once, where it is stored.
//! * Where a factorisation is unique but for signs, signs are LAPACK's: reflectors, their `tau` and pivots come out as LAPACK
//!   has them. Eigenvectors, Schur and singular vectors are some of those that there are.
//! * Every iteration has a limit; beyond it `info` is positive and what was asked for is NaN.

mod call;
mod eigenvectors;
mod elimination;
mod entry;
mod hermitian;
mod householder;
mod matrix;
mod routine;
mod schur;
mod schur_real;
mod svd;
#[cfg(test)]
mod tests;

use std::sync::Arc;

use artifact_ir::attribute::Attribute;
use artifact_ir::op::CustomCall;
use artifact_ir::types::{ElementType, TensorType};

use call::Call;

use crate::algebra::number::Complex;
use crate::custom_call::undefined;
use crate::effort;
use crate::error::EvalError;
use crate::record::Record;
use crate::shape::operand;
use crate::tensor::Tensor;

/// A routine of one precision.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Routine<'a> {
    name: &'a str,
    element: ElementType,
}

impl<'a> Routine<'a> {
    /// The routine that a custom call's target names.
    pub(crate) fn of(target: &'a str) -> Option<Self> {
        let name = target.strip_prefix("lapack_")?.strip_suffix("_ffi")?;
        let (letter, name) = name.split_at_checked(1)?;
        let element = match letter {
            "s" => ElementType::F32,
            "d" => ElementType::F64,
            "c" => ElementType::C64,
            "z" => ElementType::C128,
            _ => return None,
        };
        let known = match name {
            "geev" | "gees" | "gehrd" | "geqrf" | "gesdd" | "getrf" | "gtsv" | "potrf" | "trsm" => true,
            "orgqr" | "syevd" | "sytrd" => !element.is_complex(),
            "heevd" | "hetrd" | "ungqr" => element.is_complex(),
            _ => false,
        };
        known.then_some(Self { name, element })
    }

    /// Runs it. `types` are the results' declared types.
    ///
    /// # Errors
    /// Unsupported for a routine or a layout that is not here, invalid input for operands and options that the routine does
    /// not take.
    pub(crate) fn run(
        self,
        operands: &[Tensor],
        options: Option<&Attribute>,
        call: &CustomCall,
        types: &[Arc<TensorType>],
        record: &Record,
    ) -> Result<Vec<Tensor>, EvalError> {
        let first = operand(operands, 0)?;
        if first.storage() != self.element {
            let (name, want, got) = (self.name, self.element, first.ty());
            return Err(EvalError::invalid_input(format!(
                "this {name} takes elements of type {want}, {got} was given"
            )));
        }
        record.count_steps(self.steps(operands))?;
        let call = Call::new(operands, options, call, types);
        let mut results = if self.element.is_complex() {
            self.run_complex(&call)?
        } else {
            self.run_real(&call)?
        };
        let workspace = types.get(results.len()..).unwrap_or_default();
        results.extend(undefined(workspace)?);
        Ok(results)
    }

    fn run_real(self, call: &Call<'_>) -> Result<Vec<Tensor>, EvalError> {
        match self.name {
            "geev" => routine::geev_real(call),
            "gees" => routine::gees_real(call),
            "orgqr" => routine::orgqr::<f64>(call),
            "syevd" => routine::syevd::<f64>(call),
            "sytrd" => routine::sytrd::<f64>(call),
            _ => self.run_either::<f64>(call),
        }
    }

    fn run_complex(self, call: &Call<'_>) -> Result<Vec<Tensor>, EvalError> {
        match self.name {
            "geev" => routine::geev_complex(call),
            "gees" => routine::gees_complex(call),
            "ungqr" => routine::orgqr::<Complex>(call),
            "heevd" => routine::syevd::<Complex>(call),
            "hetrd" => routine::sytrd::<Complex>(call),
            _ => self.run_either::<Complex>(call),
        }
    }

    fn run_either<T: entry::Entry>(self, call: &Call<'_>) -> Result<Vec<Tensor>, EvalError> {
        match self.name {
            "gehrd" => routine::gehrd::<T>(call),
            "geqrf" => routine::geqrf::<T>(call),
            "gesdd" => routine::gesdd::<T>(call),
            "getrf" => routine::getrf::<T>(call),
            "gtsv" => routine::gtsv::<T>(call),
            "potrf" => routine::potrf::<T>(call),
            "trsm" => routine::trsm(call),
            other => Err(EvalError::unsupported(format!(
                "the LAPACK routine {other} is not evaluated for elements of type {}",
                self.element
            ))),
        }
    }

    /// About how much it does: each element of a matrix takes part in as many operations as the matrix has rows or columns, and
    /// in every iteration.
    fn steps(self, operands: &[Tensor]) -> u64 {
        let passes: u128 = match self.name {
            "geev" | "gees" | "gesdd" | "heevd" | "syevd" => 32,
            _ => 1,
        };
        let work = |tensor: &Tensor| {
            let shape = tensor.shape();
            let (batch, sizes) = shape.split_at(shape.len().saturating_sub(2));
            let longest = sizes.iter().max().copied().unwrap_or(0) as u128;
            let product = |sizes: &[usize]| {
                let sizes = sizes.iter().map(|size| *size as u128);
                sizes.fold(1, u128::saturating_mul)
            };
            let each = product(sizes).saturating_mul(longest).saturating_mul(passes);
            product(batch).saturating_mul(each.saturating_add(1))
        };
        let total = operands.iter().map(work).fold(0, u128::saturating_add);
        effort::steps_of(total)
    }
}
