//! Control flow: branches and loops, staged by running their closures once.

use artifact_dims::Expr;
use artifact_ir::module::{OpId, ValueId};
use artifact_ir::op::{Control, Op};
use artifact_ir::types::{ElementType, Type};

use crate::stage::Stage;
use crate::tensor::{Tensor, here};
use crate::trace::{Place, type_of};

fn types(tensors: &[Tensor]) -> Vec<Type> {
    tensors
        .iter()
        .map(|tensor| type_of(&tensor.shape, tensor.dtype))
        .collect()
}

fn values(tensors: &[Tensor]) -> Vec<ValueId> {
    tensors.iter().map(|tensor| tensor.value).collect()
}

/// Whether two lists of tensors have the same element types and shapes.
fn ensure_alike(what: &str, expected: &[Tensor], found: &[Tensor]) -> Result<(), String> {
    if expected.len() != found.len() {
        return Err(format!(
            "{what} gives {} tensors, expected {}",
            found.len(),
            expected.len()
        ));
    }
    for (expected, found) in expected.iter().zip(found) {
        if expected.dtype != found.dtype || expected.rank() != found.rank() {
            return Err(format!("{what} gives {found:?}, expected {expected:?}"));
        }
        for (left, right) in expected.shape.iter().zip(&found.shape) {
            expected.ensure_equal(
                &format!("{what} gives {found:?}, expected {expected:?}: sizes"),
                left,
                right,
            )?;
        }
    }
    Ok(())
}

impl Stage {
    /// Stages a region: `build` gets its arguments and gives what it returns.
    fn region(
        &self,
        op: OpId,
        arguments: &[Tensor],
        build: impl FnOnce(&[Tensor]) -> Vec<Tensor>,
    ) -> Vec<Tensor> {
        let entered = self.0.borrow_mut().enter(op, &types(arguments));
        let inside: Vec<Tensor> = arguments
            .iter()
            .zip(entered)
            .map(|(argument, value)| argument.with(value, argument.shape.clone(), argument.dtype))
            .collect();
        let returned = build(&inside);
        self.0.borrow_mut().leave(&values(&returned));
        returned
    }

    /// Ends an operation with regions; its results are like `like`.
    fn ended(&self, op: OpId, like: &[Tensor], place: Place) -> Vec<Tensor> {
        let mut trace = self.0.borrow_mut();
        if trace.has_failed() {
            return like.to_vec();
        }
        match trace.end(op, &types(like)) {
            Ok(values) => {
                drop(trace);
                let results = like.iter().zip(values);
                results
                    .map(|(like, value)| like.with(value, like.shape.clone(), like.dtype))
                    .collect()
            }
            Err(message) => {
                trace.fail(message, place);
                like.to_vec()
            }
        }
    }

    fn fail(&self, message: String, place: Place) {
        self.0.borrow_mut().fail(message, place);
    }

    /// What `then` gives where the predicate, a boolean scalar, holds, else what `otherwise` gives; both alike.
    #[track_caller]
    pub fn cond(
        &self,
        predicate: &Tensor,
        then: impl FnOnce() -> Vec<Tensor>,
        otherwise: impl FnOnce() -> Vec<Tensor>,
    ) -> Vec<Tensor> {
        let place = here();
        if !predicate.dtype.is_boolean() || predicate.rank() != 0 {
            self.fail(
                format!("a predicate is a boolean scalar, not {predicate:?}"),
                place,
            );
        }
        let op = self
            .0
            .borrow_mut()
            .begin(Op::from(Control::If), &[predicate.value]);
        let on_true = self.region(op, &[], |_| then());
        let on_false = self.region(op, &[], |_| otherwise());
        if let Err(message) = ensure_alike("the other branch", &on_true, &on_false) {
            self.fail(message, place);
        }
        self.ended(op, &on_true, place)
    }

    /// Applies `body` to the carried tensors for as long as `condition`, a boolean scalar, holds of them.
    #[track_caller]
    pub fn while_loop(
        &self,
        initial: &[Tensor],
        condition: impl FnOnce(&[Tensor]) -> Tensor,
        body: impl FnOnce(&[Tensor]) -> Vec<Tensor>,
    ) -> Vec<Tensor> {
        let place = here();
        let op = self
            .0
            .borrow_mut()
            .begin(Op::from(Control::While), &values(initial));
        self.region(op, initial, |carried| vec![condition(carried)]);
        let next = self.region(op, initial, body);
        if let Err(message) = ensure_alike("the body of the loop", initial, &next) {
            self.fail(message, place);
        }
        self.ended(op, initial, place)
    }

    /// Applies `body` to the carried tensors and, one after the other, the rows (along dimension 0) of `rows`. It gives the
    /// tensors to carry on.
    #[track_caller]
    pub fn scan(
        &self,
        initial: &[Tensor],
        rows: &Tensor,
        body: impl FnOnce(&[Tensor], &Tensor) -> Vec<Tensor>,
    ) -> Vec<Tensor> {
        let place = here();
        let Some(length) = rows.shape.first().cloned() else {
            self.fail(format!("{rows:?} has no rows"), place);
            return initial.to_vec();
        };
        let counter = rows.traced(place, Vec::new(), ElementType::I32, |trace| {
            trace.splat(0.0, ElementType::I32, &[])
        });
        let carried: Vec<Tensor> = std::iter::once(counter).chain(initial.iter().cloned()).collect();
        let results = self.while_loop(
            &carried,
            |carried| {
                let length =
                    carried[0].traced(place, Vec::new(), ElementType::I32, |trace| trace.size(&length));
                carried[0].less(&length)
            },
            |carried| {
                let row = rows.take(&carried[0]);
                let next = &carried[0] + 1.0;
                std::iter::once(next).chain(body(&carried[1..], &row)).collect()
            },
        );
        results.into_iter().skip(1).collect()
    }

    /// A number as a scalar.
    #[track_caller]
    #[must_use]
    pub fn scalar(&self, number: f64, dtype: ElementType) -> Tensor {
        self.full(number, dtype, &[])
    }

    /// A tensor of which every element is a number.
    #[track_caller]
    #[must_use]
    pub fn full(&self, number: f64, dtype: ElementType, shape: &[Expr]) -> Tensor {
        let place = here();
        let scalar = self.placed(place, Vec::new(), dtype, |trace| trace.splat(number, dtype, &[]));
        scalar.broadcast_to(shape)
    }
}
