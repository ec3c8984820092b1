//! The linear relaxation of a case of a question: what remains when products and operations are only known through their
//! linear facts, and integers may be fractions.

use std::collections::BTreeMap;

use crate::facts::{fill, propagate};
use crate::interval::{End, Interval};
use crate::linear::{AtomId, Linear};
use crate::problem::{Fact, Problem};
use crate::rational::Ratio;
use crate::simplex::{Minimum, Simplex};
use crate::system::{Stop, System};

/// A case that is not refuted.
#[derive(Clone, Debug)]
pub(crate) struct Relaxed {
    /// What each atom can be.
    pub(crate) intervals: Vec<Interval>,
    /// Values that satisfy the relaxation, with the smallest objective; None when the arithmetic gave up.
    pub(crate) point: Option<Vec<Ratio>>,
    /// A proven lower bound of the objective, `Low` when there is none.
    pub(crate) bound: End,
}

/// Relaxes a case. None proves that no assignment is in it.
pub(crate) fn relax(problem: &Problem, case: &[Fact], objective: Option<&Linear>) -> Option<Relaxed> {
    let intervals = propagate(problem, case)?;
    let bound = objective.map_or(End::Low, |objective| objective.interval(&intervals).min);
    let mut system = System::default();
    let reduced = fill(&mut system, problem, case, &intervals).and_then(|()| system.eliminate());
    match reduced {
        Err(Stop::Infeasible) => return None,
        Err(Stop::GaveUp) => {
            return Some(Relaxed {
                intervals,
                point: None,
                bound,
            });
        }
        Ok(()) => {}
    }
    match optimise(&system, objective, problem.atoms.len()) {
        Ok((point, minimum)) => Some(Relaxed {
            intervals,
            point: Some(point),
            bound: bound.max(minimum),
        }),
        Err(Stop::Infeasible) => None,
        Err(Stop::GaveUp) => Some(Relaxed {
            intervals,
            point: None,
            bound,
        }),
    }
}

/// Solves the linear program of a reduced system. The minimum is rounded up, because the objective is an integer.
fn optimise(system: &System, objective: Option<&Linear>, atoms: usize) -> Result<(Vec<Ratio>, End), Stop> {
    let objective = match objective {
        Some(objective) => Some(system.reduce(objective).ok_or(Stop::GaveUp)?),
        None => None,
    };
    let (mut simplex, columns) = tableau(system, objective.as_ref()).ok_or(Stop::GaveUp)?;
    let mut minimum = End::Low;
    let goal = objective.as_ref().filter(|objective| !objective.terms.is_empty());
    let goal_row = match goal {
        Some(goal) => Some(add_row(&mut simplex, &columns, &goal.terms, Interval::ALL).ok_or(Stop::GaveUp)?),
        None => None,
    };
    if !simplex.feasible().ok_or(Stop::GaveUp)? {
        return Err(Stop::Infeasible);
    }
    if let (Some(objective), None) = (&objective, goal_row) {
        minimum = End::Finite(objective.constant);
    }
    if let (Some(objective), Some(row)) = (&objective, goal_row)
        && let Minimum::Finite(value) = simplex.minimise(row).ok_or(Stop::GaveUp)?
    {
        minimum = value
            .ceil()
            .checked_add(objective.constant)
            .map_or(End::Low, End::Finite);
    }
    let point = restore(system, &simplex, &columns, atoms).ok_or(Stop::GaveUp)?;
    Ok((point, minimum))
}

/// One column for each atom that is left, one row for each combination.
fn tableau(system: &System, objective: Option<&Linear>) -> Option<(Simplex, BTreeMap<AtomId, usize>)> {
    let mut bounds: BTreeMap<AtomId, Interval> = BTreeMap::new();
    let goal = objective.iter().flat_map(|objective| objective.terms.iter());
    for (atom, _) in system.rows.keys().flatten().chain(goal) {
        bounds.entry(*atom).or_insert(Interval::ALL);
    }
    for (row, interval) in &system.rows {
        if let [(atom, _)] = row.as_slice() {
            bounds.insert(*atom, *interval);
        }
    }
    let columns = bounds
        .keys()
        .enumerate()
        .map(|(column, atom)| (*atom, column))
        .collect();
    let intervals: Vec<Interval> = bounds.into_values().collect();
    let mut simplex = Simplex::new(&intervals);
    for (row, interval) in system.rows.iter().filter(|(row, _)| row.len() > 1) {
        add_row(&mut simplex, &columns, row, *interval)?;
    }
    Some((simplex, columns))
}

fn add_row(
    simplex: &mut Simplex,
    columns: &BTreeMap<AtomId, usize>,
    terms: &[(AtomId, i128)],
    interval: Interval,
) -> Option<usize> {
    let terms: Option<Vec<_>> = terms
        .iter()
        .map(|(atom, value)| columns.get(atom).map(|column| (*column, *value)))
        .collect();
    simplex.add_row(&terms?, interval)
}

/// The values of all atoms. Atoms that no row mentions are 0.
fn restore(
    system: &System,
    simplex: &Simplex,
    columns: &BTreeMap<AtomId, usize>,
    atoms: usize,
) -> Option<Vec<Ratio>> {
    let mut point = vec![Ratio::ZERO; atoms];
    for (atom, column) in columns {
        point[*atom] = simplex.value(*column);
    }
    for (atom, form) in system.solved.iter().rev() {
        point[*atom] = form.value(&point)?;
    }
    Some(point)
}
