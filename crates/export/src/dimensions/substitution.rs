//! What stands in place of the names of a signature, found from sizes that are said in other words.
//!
//! The names that a user gives are others than those of the program, also where they are spelled alike. So no expression is
//! substituted twice, and what names of the program come to is always in the names of the user.

use std::collections::{BTreeMap, BTreeSet};

use artifact_dims::{Comparison, Constraint, Expr, ExprError, Variable};
use artifact_ir::types::{Dim, Type};

use super::stated::resized;
use super::written::Said;
use crate::error::ExportError;
use crate::signature::Argument;

/// What stands in place of names.
pub(crate) struct Substitution {
    quotients: BTreeMap<Variable, Quotient>,
    /// Those of the names that stay, because no size says what they are by itself.
    kept: BTreeSet<Variable>,
}

/// A dividend that is a multiple of its divisor.
struct Quotient {
    dividend: Expr,
    /// At least 1.
    divisor: i64,
    /// The floor of the quotient, which it is.
    value: Expr,
}

impl Quotient {
    fn new(dividend: Expr, divisor: i64) -> Result<Self, ExprError> {
        let number = Expr::constant(divisor);
        let value = dividend.floordiv(&number)?;
        match value.mul(&number)? == dividend {
            true => Ok(Self::whole(value)),
            false => Ok(Self {
                dividend,
                divisor,
                value,
            }),
        }
    }

    fn whole(value: Expr) -> Self {
        Self {
            dividend: value.clone(),
            divisor: 1,
            value,
        }
    }

    fn multiple_of(&self) -> Option<i64> {
        (self.divisor > 1).then_some(self.divisor)
    }
}

impl Substitution {
    /// Solves for one name at a time, in sizes that are linear in it, best where nothing is to divide. Names that no size says
    /// by itself stay, those first that are the whole size of an argument of `inputs`. Others have a new name already.
    pub(super) fn solve(renamed: BTreeMap<Variable, Variable>, said: &[Said], inputs: &[Argument]) -> Self {
        let dims = inputs.iter().filter_map(|input| input.ty.as_tensor());
        let dims = dims.flat_map(|ty| ty.dims.iter()).filter_map(Dim::expression);
        let whole: BTreeSet<Variable> = dims.filter_map(|size| size.as_variable().cloned()).collect();
        let renamed = renamed.into_iter();
        let mut found = Self {
            quotients: renamed
                .map(|(old, new)| (old, Quotient::whole(new.into())))
                .collect(),
            kept: BTreeSet::new(),
        };
        loop {
            let mut solutions: Vec<_> = said.iter().filter_map(|said| found.solution(said)).collect();
            solutions.sort_by_key(|(_, quotient)| quotient.multiple_of().is_some());
            let next = solutions.into_iter().next();
            let Some((name, quotient)) = next.or_else(|| found.keep(said, &whole)) else {
                return found;
            };
            found.quotients.insert(name, quotient);
        }
    }

    /// The names of a size for which nothing stands yet.
    fn open(&self, size: &Expr) -> Vec<Variable> {
        let names = size.variables().into_iter();
        names.filter(|name| !self.quotients.contains_key(name)).collect()
    }

    /// The only open name of a size, and what it is.
    fn solution(&self, said: &Said) -> Option<(Variable, Quotient)> {
        let open = self.open(&said.old);
        let [name] = &open[..] else { return None };
        let (factor, rest) = linear(&said.old, name)?;
        let multiple = said.new.sub(&self.of(&rest).ok()?).ok()?;
        let multiple = multiple.mul(&Expr::constant(factor.signum())).ok()?;
        let quotient = Quotient::new(multiple, factor.checked_abs()?).ok()?;
        Some((name.clone(), quotient))
    }

    /// A name that stays.
    fn keep(&mut self, said: &[Said], whole: &BTreeSet<Variable>) -> Option<(Variable, Quotient)> {
        let as_it_is = said.iter().filter(|said| said.old == said.new);
        let written = as_it_is.flat_map(|said| self.open(&said.old)).next();
        let name = written.or_else(|| {
            let mut open = said.iter().flat_map(|said| self.open(&said.old));
            let first = open.next()?;
            let name = std::iter::once(first.clone())
                .chain(open)
                .find(|name| whole.contains(name))
                .unwrap_or(first);
            self.kept.insert(name.clone());
            Some(name)
        })?;
        let itself = Quotient::whole(Expr::from(name.clone()));
        Some((name, itself))
    }

    /// Whether nothing changes.
    pub(super) fn is_empty(&self) -> bool {
        self.quotients.is_empty()
    }

    /// Whether something that is written stands in place of a name.
    pub(super) fn settles(&self, name: &Variable) -> bool {
        self.quotients.contains_key(name) && !self.kept.contains(name)
    }

    /// Names that stay although sizes with them are said in other words.
    pub(super) const fn kept(&self) -> &BTreeSet<Variable> {
        &self.kept
    }

    /// A size in other words. Where it has a multiple of what is divided by, nothing is divided.
    pub(crate) fn of(&self, size: &Expr) -> Result<Expr, ExportError> {
        let divided = self.quotients.iter().filter(|(_, quotient)| quotient.divisor > 1);
        for (name, quotient) in divided {
            if let Some((factor, rest)) = linear(size, name)
                && factor % quotient.divisor == 0
            {
                let times = Expr::constant(factor / quotient.divisor);
                let rest = self.of(&rest)?;
                let whole = quotient.dividend.mul(&times).and_then(|part| part.add(&rest));
                return whole.map_err(|error| ExportError::input(error.to_string()));
            }
        }
        let values = self.quotients.iter();
        let values = values.map(|(name, quotient)| (name.clone(), quotient.value.clone()));
        super::stated::replaced(size, &values.collect())
    }

    /// A type in other words.
    pub(super) fn of_type(&self, ty: &Type) -> Result<Type, ExportError> {
        resized(ty, |size| self.of(size))
    }

    /// That what is divided is a multiple of its divisor.
    ///
    /// # Errors
    /// Where it never is.
    pub(super) fn divisible(&self) -> Result<Vec<Constraint>, ExportError> {
        let mut constraints = Vec::new();
        for (name, quotient) in &self.quotients {
            let Some(number) = quotient.multiple_of() else {
                continue;
            };
            let dividend = &quotient.dividend;
            let remainder = dividend.modulo(&Expr::constant(number));
            let remainder = remainder.map_err(|error| ExportError::input(error.to_string()))?;
            if remainder.as_constant().is_some() {
                return Err(ExportError::input(format!(
                    "the shapes say that {number}*{name} of the program is '{dividend}', which is no multiple of {number} for \
                     any sizes"
                )));
            }
            constraints.push(Constraint::new(remainder, Comparison::Eq, Expr::constant(0)));
        }
        Ok(constraints)
    }
}

/// The number by which a name is multiplied in a size, and the rest of the size, in which the name is not.
pub(crate) fn linear(size: &Expr, name: &Variable) -> Option<(i64, Expr)> {
    let at = |value: i64| {
        let value = BTreeMap::from([(name.clone(), Expr::constant(value))]);
        size.substitute(&value).ok()
    };
    let rest = at(0)?;
    let factor = at(1)?.sub(&rest).ok()?;
    let number = factor.as_constant().filter(|factor| *factor != 0)?;
    let term = Expr::from(name.clone()).mul(&factor).ok()?;
    // Elsewhere it may be no line.
    (rest.add(&term).ok()? == *size).then_some((number, rest))
}
