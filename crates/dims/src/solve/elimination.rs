//! Elimination of unknowns from several equations, in exact integers.

use std::collections::BTreeSet;

use super::equation::is_sought;
use crate::expr::Expr;
use crate::monomial::Monomial;

/// An equation `residual = 0` and the positions of the equations that it was formed from.
#[derive(Clone, Debug)]
pub(super) struct Combined {
    pub(super) residual: Expr,
    pub(super) sources: BTreeSet<usize>,
}

/// Eliminates products of unknowns from all equations but one each (Gauss and Jordan, without fractions). A product such as
/// `a*b` counts as one unknown.
pub(super) fn eliminate(mut rows: Vec<Combined>) -> Vec<Combined> {
    let unknowns: BTreeSet<Monomial> = rows
        .iter()
        .flat_map(|row| row.residual.terms())
        .filter(|term| is_sought(&term.monomial))
        .map(|term| term.monomial.clone())
        .collect();
    let mut used = BTreeSet::new();
    for unknown in unknowns.iter().rev() {
        let pivot = (0..rows.len())
            .find(|row| !used.contains(row) && coefficient(&rows[*row].residual, unknown) != 0);
        let Some(pivot) = pivot else {
            continue;
        };
        used.insert(pivot);
        let pivot_row = rows[pivot].clone();
        for (position, row) in rows.iter_mut().enumerate() {
            if position != pivot
                && let Some(combined) = combine(row, &pivot_row, unknown)
            {
                *row = combined;
            }
        }
    }
    rows
}

/// The combination of two equations without the unknown; None when there is nothing to do or the numbers get too large.
fn combine(row: &Combined, pivot: &Combined, unknown: &Monomial) -> Option<Combined> {
    let (a, b) = (
        coefficient(&row.residual, unknown),
        coefficient(&pivot.residual, unknown),
    );
    if a == 0 {
        return None;
    }
    let residual = row
        .residual
        .scale(b)
        .ok()?
        .sub(&pivot.residual.scale(a).ok()?)
        .ok()?;
    let content = i64::try_from(residual.content()).ok()?;
    let residual = if content > 1 {
        residual.divide_content(content).ok()?
    } else {
        residual
    };
    Some(Combined {
        residual,
        sources: &row.sources | &pivot.sources,
    })
}

fn coefficient(expr: &Expr, monomial: &Monomial) -> i64 {
    expr.terms()
        .iter()
        .find(|term| term.monomial == *monomial)
        .map_or(0, |term| term.coefficient)
}
