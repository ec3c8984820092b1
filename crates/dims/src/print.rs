//! Printing in JAX's notation: `- 2*a^2*b + b^2`, `mod(a, - 2)`. What is printed parses to the same canonical form.

use std::fmt;

use crate::expr::{Expr, Term};
use crate::monomial::{Factor, Monomial};
use crate::notation::notation;

impl fmt::Display for Expr {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let printed = notation(self);
        if printed.terms().is_empty() {
            return f.write_str("0");
        }
        for (position, term) in printed.terms().iter().enumerate() {
            let sign = match (position, term.coefficient < 0) {
                (0, false) => "",
                (0, true) => "- ",
                (_, false) => " + ",
                (_, true) => " - ",
            };
            f.write_str(sign)?;
            write_term(term, f)?;
        }
        Ok(())
    }
}

impl fmt::Debug for Expr {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Expr({self})")
    }
}

/// A term without its sign.
fn write_term(term: &Term, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    match term.coefficient.unsigned_abs() {
        magnitude if term.monomial.is_one() => write!(f, "{magnitude}"),
        1 => write_monomial(&term.monomial, f),
        magnitude => {
            write!(f, "{magnitude}*")?;
            write_monomial(&term.monomial, f)
        }
    }
}

/// The factors, smallest first.
fn write_monomial(monomial: &Monomial, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    for (position, power) in monomial.powers().iter().rev().enumerate() {
        if position > 0 {
            f.write_str("*")?;
        }
        match &power.factor {
            Factor::Variable(variable) => write!(f, "{variable}")?,
            Factor::Operation(operation) => {
                write!(
                    f,
                    "{}({}, {})",
                    operation.kind.name(),
                    operation.left,
                    operation.right
                )?;
            }
        }
        if power.exponent > 1 {
            write!(f, "^{}", power.exponent)?;
        }
    }
    Ok(())
}
