//! The language of symbolic dimensions: exact expressions, constraints, three-valued decisions, and solving.
//!
//! A program exported once runs at every size because its shapes are expressions over named variables (`2*b + 1`). This
//! crate reads and prints such expressions, answers questions about them, and finds the values of the variables when
//! actual sizes are known. The semantics follow JAX's shape polymorphism, with its known defects left out.
//!
//! Invariants:
//! * Values are mathematical integers. Coefficients and results have 64 bits and arithmetic on them is checked: what does
//!   not fit is an error, never another number. There is no floating point.
//! * `floordiv` rounds towards minus infinity and `mod` takes the sign of the divisor, as in Python.
//! * An [`Expr`] is always in canonical form. Two forms that are equal denote equal values; two that differ may still be
//!   equal. So `==` on [`Expr`] is for maps and sets, and everything that means equality of sizes asks [`Scope::eq`].
//! * Yes and No are proofs: they hold for each assignment that satisfies the scope and on which both sides are defined.
//!   What is not proven within the named budgets of [`limits`] is [`Decision::Unknown`], with a reason.
//! * The order in which constraints are given changes no answer.
//! * Text from outside is refused by a named limit before it costs anything. Nothing here does IO or knows the IR.
//!
//! Entry points: [`Expr`] (`"2*b".parse()`), [`parse_shape`], [`Constraint::parse`], [`Scope::builder`], [`solve()`].

mod algebra;
mod arithmetic;
mod assignment;
mod bounding;
mod constraint;
mod decision;
mod division;
mod evaluate;
mod expr;
mod facts;
mod interval;
pub mod limits;
mod linear;
mod monomial;
mod notation;
mod parse;
mod parse_error;
mod print;
mod problem;
mod question;
mod rational;
mod relaxation;
mod sample;
mod scope;
mod search;
mod shape;
mod simplex;
pub mod solve;
mod system;
mod token;
mod unsatisfiable;
mod variable;

pub use algebra::Algebra;
pub use assignment::Assignment;
pub use bounding::{Bounds, PossibleDivisionByZero};
pub use constraint::{Comparison, Constraint};
pub use decision::{Decision, Unknown};
pub use evaluate::EvaluateError;
pub use expr::{Expr, ExprError};
pub use parse_error::{ParseError, ParseProblem};
pub use scope::{Range, Scope, ScopeBuilder, ScopeError};
pub use shape::{parse_shape, parse_written_shape};
pub use solve::solve;
pub use unsatisfiable::Unsatisfiable;
pub use variable::{NameError, Variable};
