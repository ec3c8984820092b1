//! Search for an assignment that satisfies a question, or a proof that there is none; and for the smallest value of an
//! expression. Both open cases one after the other (branch and bound) under a budget.

use std::collections::BTreeSet;

use crate::assignment::Assignment;
use crate::evaluate::{EvaluateError, evaluate_wide};
use crate::expr::Expr;
use crate::interval::{End, Interval};
use crate::limits;
use crate::linear::{AtomId, Linear};
use crate::problem::{Atom, Fact, Problem};
use crate::question::Question;
use crate::rational::Ratio;
use crate::relaxation::{Relaxed, relax};

/// The outcome of a search.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Found {
    /// An assignment that satisfies the question.
    Assignment(Assignment),
    /// There is none: a proof.
    Nothing,
    /// The budget ended first.
    Exhausted,
}

/// What distinguishes a case from the whole question.
#[derive(Clone, Debug, Default)]
struct Case {
    facts: Vec<Fact>,
    /// Positive parts whose sign the facts decide.
    decided: BTreeSet<AtomId>,
}

impl Case {
    fn with(&self, facts: impl IntoIterator<Item = Fact>, decided: Option<AtomId>) -> Self {
        let mut case = self.clone();
        case.facts.extend(facts);
        case.decided.extend(decided);
        case
    }
}

/// Looks for an assignment that satisfies the question.
pub(crate) fn search(question: &Question) -> Found {
    let Some(root) = question.root() else {
        return Found::Nothing;
    };
    if let Some(found) = question.samples(root).find(|values| question.satisfied(values)) {
        return Found::Assignment(found);
    }
    if let Some(all) = question.satisfying(root) {
        return all.into_iter().next().map_or(Found::Nothing, Found::Assignment);
    }
    if !question.is_complete() {
        return Found::Exhausted;
    }
    let (mut open, mut exhausted) = (vec![Case::default()], false);
    for _ in 0..limits::SEARCH_CASES.max() {
        let Some(case) = open.pop() else {
            return if exhausted {
                Found::Exhausted
            } else {
                Found::Nothing
            };
        };
        let Some(relaxed) = relax(question.problem(), &case.facts, None) else {
            continue;
        };
        match question
            .satisfying(&relaxed.intervals)
            .map(|all| all.into_iter().next())
        {
            Some(Some(found)) => return Found::Assignment(found),
            Some(None) => continue,
            None => {}
        }
        if let Some(found) = candidate(question, &relaxed) {
            return Found::Assignment(found);
        }
        match branches(question.problem(), &case, &relaxed, false) {
            Some([first, second]) => open.extend([second, first]),
            None => exhausted = true,
        }
    }
    if open.is_empty() && !exhausted {
        Found::Nothing
    } else {
        Found::Exhausted
    }
}

/// A proven lower bound of an expression over the question, `Low` when none is found.
pub(crate) fn minimum(question: &Question, expr: &Expr, form: &Linear) -> End {
    let Some(root) = question.root() else {
        return End::Low;
    };
    if let Some(least) = least_of_all(question, expr, root) {
        return least.finite().map_or(End::Low, End::Finite);
    }
    let mut bounding = Bounding {
        question,
        expr,
        form,
        least: End::High,
        settled: End::High,
        open: Vec::new(),
    };
    question
        .samples(root)
        .for_each(|values| bounding.try_values(&values));
    bounding.open_case(Case::default(), End::Low);
    for _ in 0..limits::BOUND_CASES.max() {
        if !bounding.step() {
            break;
        }
    }
    match bounding.bound() {
        End::High => End::Low,
        bound => bound,
    }
}

/// The smallest value over all satisfying assignments, when these are few; `High` when there are none.
fn least_of_all(question: &Question, expr: &Expr, intervals: &[Interval]) -> Option<End> {
    let mut least = End::High;
    for values in question.satisfying(intervals)? {
        match evaluate_wide(expr, &values) {
            Ok(value) => least = least.min(End::Finite(value)),
            Err(EvaluateError::DivisionByZero { .. }) => {}
            Err(EvaluateError::Unbound { .. } | EvaluateError::Overflow { .. }) => return None,
        }
    }
    Some(least)
}

/// The state of the search for a bound. Every value is at least the least of all ends in it.
struct Bounding<'q> {
    question: &'q Question,
    expr: &'q Expr,
    form: &'q Linear,
    /// The smallest value seen.
    least: End,
    /// The smallest bound among the cases that cannot be split further.
    settled: End,
    open: Vec<(Case, Relaxed)>,
}

impl Bounding<'_> {
    fn try_values(&mut self, values: &Assignment) {
        if self.question.satisfied(values)
            && let Ok(value) = evaluate_wide(self.expr, values)
        {
            self.least = self.least.min(End::Finite(value));
        }
    }

    /// Opens a case, of which at least the bound of the whole is known.
    fn open_case(&mut self, case: Case, known: End) {
        let Some(mut relaxed) = relax(self.question.problem(), &case.facts, Some(self.form)) else {
            return;
        };
        if let Some(least) = least_of_all(self.question, self.expr, &relaxed.intervals) {
            self.least = self.least.min(least);
            return;
        }
        relaxed.bound = relaxed.bound.max(known);
        self.open.push((case, relaxed));
    }

    /// Splits the case with the smallest bound. False when nothing can change any more.
    fn step(&mut self) -> bool {
        let useful = self.least.min(self.settled);
        self.open.retain(|(_, relaxed)| relaxed.bound < useful);
        let lowest = (0..self.open.len()).min_by_key(|at| self.open[*at].1.bound);
        let Some((case, relaxed)) = lowest.map(|at| self.open.swap_remove(at)) else {
            return false;
        };
        if let Some(values) = candidate(self.question, &relaxed) {
            self.try_values(&values);
        }
        if relaxed.bound < self.least {
            match branches(
                self.question.problem(),
                &case,
                &relaxed,
                relaxed.bound == End::Low,
            ) {
                Some(cases) => cases
                    .into_iter()
                    .for_each(|case| self.open_case(case, relaxed.bound)),
                None => self.settled = self.settled.min(relaxed.bound),
            }
        }
        self.settled > End::Low
    }

    fn bound(&self) -> End {
        let unsettled = self
            .open
            .iter()
            .map(|(_, relaxed)| relaxed.bound)
            .min()
            .unwrap_or(End::High);
        self.least.min(self.settled).min(unsettled)
    }
}

/// An assignment near the point of a relaxation that satisfies the question.
fn candidate(question: &Question, relaxed: &Relaxed) -> Option<Assignment> {
    let point = relaxed.point.as_ref()?;
    [Ratio::floor, Ratio::ceil].into_iter().find_map(|round| {
        let rounded = |id: AtomId| i64::try_from(round(point[id])).ok();
        let values = question.assignment(|id, _| rounded(id))?;
        question.satisfied(&values).then_some(values)
    })
}

/// Two cases that together cover a case, chosen where its relaxed point is wrong. For an unbounded objective, only a
/// choice that changes the facts helps.
fn branches(problem: &Problem, case: &Case, relaxed: &Relaxed, unbounded: bool) -> Option<[Case; 2]> {
    let point = relaxed.point.as_ref()?;
    non_zero(problem, case, point)
        .or_else(|| unknown_divisor(problem, case, relaxed))
        .or_else(|| {
            if unbounded {
                None
            } else {
                fraction(problem, case, point)
            }
        })
        .or_else(|| undecided_sign(problem, case, point, unbounded))
        .or_else(|| {
            if unbounded {
                None
            } else {
                wrong_product(problem, case, relaxed, point)
            }
        })
}

/// `form >= 1` or `form <= -1`.
fn split_around_zero(case: &Case, form: &Linear) -> Option<[Case; 2]> {
    let above = Fact::NonNegative(form.offset(-1)?);
    let below = Fact::NonNegative(form.negated()?.offset(-1)?);
    Some([case.with([above], None), case.with([below], None)])
}

/// `atom <= value` or `atom >= value + 1`.
fn split_at(case: &Case, atom: AtomId, value: i128) -> Option<[Case; 2]> {
    let below = Fact::NonNegative(Linear::constant(value).plus(&Linear::atom(atom), -1)?);
    let above = Fact::NonNegative(Linear::atom(atom).offset(value.checked_neg()?.checked_sub(1)?)?);
    Some([case.with([below], None), case.with([above], None)])
}

/// A form that must not be 0 and is.
fn non_zero(problem: &Problem, case: &Case, point: &[Ratio]) -> Option<[Case; 2]> {
    problem.facts.iter().find_map(|fact| match fact {
        Fact::NonZero(form) if form.value(point)? == Ratio::ZERO => split_around_zero(case, form),
        _ => None,
    })
}

/// A divisor of unknown sign. That it is not 0 is what being defined means.
fn unknown_divisor(problem: &Problem, case: &Case, relaxed: &Relaxed) -> Option<[Case; 2]> {
    problem.atoms.iter().find_map(|atom| match atom {
        Atom::FloorDiv { divisor, .. } => {
            let interval = divisor.interval(&relaxed.intervals);
            let constant = Fact::NonNegative(divisor.offset(-1)?);
            let opposite = Fact::NonNegative(divisor.negated()?.offset(-1)?);
            let split = case.facts.contains(&constant) || case.facts.contains(&opposite);
            if interval.contains(0) && !split {
                split_around_zero(case, divisor)
            } else {
                None
            }
        }
        _ => None,
    })
}

/// An atom whose value is a fraction; variables first.
fn fraction(problem: &Problem, case: &Case, point: &[Ratio]) -> Option<[Case; 2]> {
    let is_fraction = |id: &AtomId| point[*id].as_integer().is_none();
    let variable = problem.variables().map(|(id, _)| id).find(is_fraction);
    let atom = variable.or_else(|| (0..problem.atoms.len()).find(is_fraction))?;
    split_at(case, atom, point[atom].floor())
}

/// A positive part that is neither 0 nor its form, or, for an unbounded objective, one of unknown sign.
fn undecided_sign(problem: &Problem, case: &Case, point: &[Ratio], any: bool) -> Option<[Case; 2]> {
    problem.atoms.iter().enumerate().find_map(|(id, atom)| {
        let Atom::PositivePart { form } = atom else {
            return None;
        };
        let value = form.value(point)?;
        let expected = if value.sign() > 0 { value } else { Ratio::ZERO };
        if case.decided.contains(&id) || (!any && point[id] == expected) {
            return None;
        }
        let part = Linear::atom(id);
        let mut positive = vec![Fact::NonNegative(form.clone()), Fact::Zero(part.plus(form, -1)?)];
        positive.extend(replacements(problem, id));
        let negative = [Fact::NonNegative(form.negated()?), Fact::Zero(part)];
        Some([case.with(positive, Some(id)), case.with(negative, Some(id))])
    })
}

/// What products become when a positive part is its form.
fn replacements(problem: &Problem, part: AtomId) -> Vec<Fact> {
    let mut facts = Vec::new();
    for (id, atom) in problem.atoms.iter().enumerate() {
        if let Atom::Product { replaced, .. } = atom {
            let forms = replaced
                .iter()
                .filter(|(replaced_part, _)| *replaced_part == part);
            facts.extend(
                forms
                    .filter_map(|(_, form)| form.plus(&Linear::atom(id), -1))
                    .map(Fact::Zero),
            );
        }
    }
    facts
}

/// A product that is not that of its factors: one of them is split at its value.
fn wrong_product(problem: &Problem, case: &Case, relaxed: &Relaxed, point: &[Ratio]) -> Option<[Case; 2]> {
    problem.atoms.iter().enumerate().find_map(|(id, atom)| {
        let Atom::Product { splits, .. } = atom else {
            return None;
        };
        splits.iter().find_map(|(a, b)| {
            if point[*a].mul(point[*b])? == point[id] {
                return None;
            }
            let open = |id: &&AtomId| relaxed.intervals[**id].as_point().is_none();
            let atom = *[a, b].into_iter().find(open)?;
            let interval = relaxed.intervals[atom];
            let value = point[atom].floor();
            let value = if interval.is_at_most(value) {
                value.checked_sub(1)?
            } else {
                value
            };
            split_at(case, atom, value)
        })
    })
}
