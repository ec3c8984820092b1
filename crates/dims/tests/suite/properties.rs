//! Random expressions, scopes and questions against brute force.
//!
//! Nothing here may ever fail: an answer of yes or no, a bound, a canonical form, a printed form or an unsatisfiable set that
//! an assignment contradicts is a defect. Seeds are fixed.

use super::random::{Random, Tree};
use artifact_dims::{
    Assignment, Comparison, Constraint, Decision, Expr, Range, Scope, ScopeError, Unknown, Variable,
};

const NAMES: [&str; 3] = ["a", "b", "c"];

/// All assignments of values from `low` to `high`.
fn assignments(low: i64, high: i64) -> Vec<Assignment> {
    let mut all = vec![Assignment::new()];
    for name in NAMES {
        let variable = Variable::new(name).unwrap();
        let extended = all.iter().flat_map(|values| {
            (low..=high).map(|value| {
                let mut values = values.clone();
                values.insert(variable.clone(), value);
                values
            })
        });
        all = extended.collect();
    }
    all
}

/// Parsing, canonical form, printing and evaluation agree with the evaluation of the tree.
#[test]
fn forms_keep_values() {
    let all = assignments(-3, 4);
    let mut random = Random::new(1);
    let (mut formed, mut compared) = (0, 0);
    for _ in 0..2000 {
        let tree = Tree::random(&mut random, 4);
        let text = tree.to_string();
        let Ok(expr) = text.parse::<Expr>() else {
            continue;
        };
        formed += 1;
        let printed = expr.to_string();
        assert_eq!(
            printed.parse::<Expr>().as_ref(),
            Ok(&expr),
            "{text} printed as {printed}"
        );
        for _ in 0..20 {
            let values = &all[random.below(all.len())];
            if let Some(expected) = tree.value(values) {
                compared += 1;
                assert_eq!(
                    expr.evaluate(values),
                    Ok(expected),
                    "{text} as {printed} at {values}"
                );
            }
        }
    }
    assert!(
        formed > 1500 && compared > 20_000,
        "{formed} expressions, {compared} values"
    );
}

/// The sum, product, quotient and so on of two expressions is that of their values, and forms are compatible with it.
#[test]
fn operations_keep_values() {
    let all = assignments(-2, 3);
    let mut random = Random::new(2);
    for _ in 0..800 {
        let (left, right) = (Tree::random(&mut random, 3), Tree::random(&mut random, 3));
        let (Ok(x), Ok(y)) = (
            left.to_string().parse::<Expr>(),
            right.to_string().parse::<Expr>(),
        ) else {
            continue;
        };
        let Ok(difference) = x.sub(&y) else { continue };
        assert_eq!(difference.add(&y), Ok(x.clone()), "{x} - ({y}) + ({y})");
        if let (Ok(larger), Ok(smaller)) = (x.maximum(&y), x.minimum(&y)) {
            assert_eq!(larger, y.maximum(&x).unwrap());
            assert_eq!(larger.add(&smaller), x.add(&y));
        }
        if let (Ok(quotient), Ok(remainder)) = (x.floordiv(&y), x.modulo(&y)) {
            assert_eq!(
                quotient.mul(&y).and_then(|whole| whole.add(&remainder)),
                Ok(x.clone()),
                "{x} by {y}"
            );
            for _ in 0..10 {
                let values = &all[random.below(all.len())];
                let (Some(a), Some(b)) = (left.value(values), right.value(values)) else {
                    continue;
                };
                if b != 0 {
                    // The Euclidean quotient is one too large for a negative divisor that leaves a rest.
                    let floor = a.div_euclid(b) - i64::from(b < 0 && a.rem_euclid(b) != 0);
                    assert_eq!(quotient.evaluate(values), Ok(floor), "{x} by {y} at {values}");
                }
            }
        }
    }
}

/// A random scope, with what brute force says of it.
struct World {
    constraints: Vec<Constraint>,
    ranges: Vec<(Variable, Range)>,
    satisfying: Vec<Assignment>,
    /// Whether `satisfying` are all assignments and not only the small ones.
    finite: bool,
}

impl World {
    fn random(random: &mut Random) -> Self {
        let finite = random.below(2) == 0;
        let mut ranges = Vec::new();
        for name in NAMES {
            let variable = Variable::new(name).unwrap();
            let low = random.below(3) as i64 - i64::from(random.below(4) == 0) * 2;
            let step = [1, 1, 1, 2, 3][random.below(5)].try_into().unwrap();
            let range = if finite {
                Range::between(low, low + 4)
            } else {
                Range::at_least(low.max(0))
            };
            if finite || random.below(3) == 0 {
                ranges.push((variable, range.multiples_of(step)));
            }
        }
        let mut constraints = Vec::new();
        for _ in 0..random.below(4) {
            constraints.extend(comparison(random, 2));
        }
        let range = |variable: &Variable| {
            ranges
                .iter()
                .find(|(name, _)| name == variable)
                .map_or_else(Range::default, |(_, range)| *range)
        };
        let satisfying = assignments(-2, 7)
            .into_iter()
            .filter(|values| {
                values
                    .iter()
                    .all(|(variable, value)| range(variable).contains(value))
                    && constraints
                        .iter()
                        .all(|constraint| constraint.holds(values) == Ok(true))
            })
            .collect();
        Self {
            constraints,
            ranges,
            satisfying,
            finite,
        }
    }

    fn scope(&self, constraints: &[Constraint]) -> Result<Scope, ScopeError> {
        let builder = self
            .ranges
            .iter()
            .fold(Scope::builder(), |builder, (variable, range)| {
                builder.range(variable.clone(), *range)
            });
        constraints
            .iter()
            .fold(builder, |builder, constraint| {
                builder.constraint(constraint.clone())
            })
            .build()
    }
}

fn expression(random: &mut Random, depth: u32) -> Option<Expr> {
    Tree::random(random, depth).to_string().parse().ok()
}

fn comparison(random: &mut Random, depth: u32) -> Option<Constraint> {
    use Comparison::{Eq, Ge, Gt, Le, Lt, Ne};
    let comparison = [Eq, Ne, Lt, Le, Gt, Ge, Le, Ge][random.below(8)];
    Some(Constraint::new(
        expression(random, depth)?,
        comparison,
        expression(random, depth)?,
    ))
}

/// Counts of answers, to see that the property is not empty.
#[derive(Debug, Default)]
struct Tally {
    yes: usize,
    no: usize,
    depends: usize,
    other: usize,
    bounded: usize,
    unsatisfiable: usize,
    /// Answers of Unknown where brute force over a finite scope knows better.
    missed: usize,
}

fn check_decision(world: &World, scope: &Scope, question: &Constraint, tally: &mut Tally) {
    let answers: Vec<bool> = world
        .satisfying
        .iter()
        .filter_map(|values| question.holds(values).ok())
        .collect();
    let context = || format!("{question} with {:?} and {:?}", world.constraints, world.ranges);
    match scope.decide(question) {
        Decision::Yes => {
            tally.yes += 1;
            assert!(answers.iter().all(|holds| *holds), "yes is wrong: {}", context());
        }
        Decision::No => {
            tally.no += 1;
            assert!(!answers.iter().any(|holds| *holds), "no is wrong: {}", context());
        }
        Decision::Unknown(unknown) => {
            let uniform = answers.windows(2).all(|pair| pair[0] == pair[1]);
            tally.missed += usize::from(world.finite && uniform);
            match unknown {
                Unknown::Depends { holds, fails } => {
                    tally.depends += 1;
                    assert_eq!(question.holds(&holds), Ok(true), "{}", context());
                    assert_eq!(question.holds(&fails), Ok(false), "{}", context());
                    for constraint in &world.constraints {
                        assert!(
                            constraint.variables().is_disjoint(&question.variables())
                                || (constraint.holds(&holds) == Ok(true)
                                    && constraint.holds(&fails) == Ok(true)),
                            "{}",
                            context()
                        );
                    }
                }
                Unknown::Settles { .. } | Unknown::NotFound { .. } => tally.other += 1,
            }
        }
    }
}

fn check_bounds(world: &World, scope: &Scope, expr: &Expr, tally: &mut Tally) {
    let Ok(bounds) = scope.bounds(expr) else {
        return;
    };
    tally.bounded += usize::from(bounds.min.is_some()) + usize::from(bounds.max.is_some());
    for values in &world.satisfying {
        let value = expr
            .evaluate(values)
            .unwrap_or_else(|error| panic!("{expr} at {values}: {error}"));
        assert!(
            bounds.min.is_none_or(|min| min <= value) && bounds.max.is_none_or(|max| value <= max),
            "{expr} is {value} at {values}, outside of {bounds}: {:?} and {:?}",
            world.constraints,
            world.ranges
        );
    }
}

#[test]
fn decisions_are_sound() {
    let mut random = Random::new(3);
    let mut tally = Tally::default();
    for _ in 0..300 {
        let world = World::random(&mut random);
        let scope = match world.scope(&world.constraints) {
            Ok(scope) => scope,
            Err(ScopeError::Unsatisfiable(conflict)) => {
                tally.unsatisfiable += 1;
                assert!(
                    world.satisfying.is_empty(),
                    "{conflict}: {} satisfies it",
                    world.satisfying[0]
                );
                continue;
            }
            Err(ScopeError::EmptyRange { .. } | ScopeError::Constraint { .. }) => continue,
            Err(error) => panic!("{error}"),
        };
        for _ in 0..2 {
            if let Some(question) = comparison(&mut random, 2) {
                check_decision(&world, &scope, &question, &mut tally);
            }
            if let Some(expr) = expression(&mut random, 2) {
                check_bounds(&world, &scope, &expr, &mut tally);
            }
        }
    }
    println!("{tally:?}");
    assert!(
        tally.yes > 50 && tally.no > 50 && tally.depends > 150 && tally.bounded > 400,
        "{tally:?}"
    );
    assert!(tally.unsatisfiable > 20, "{tally:?}");
    assert!(tally.missed < 20, "{tally:?}");
}

/// The same constraints in another order give the same scope, the same conflict and the same answers.
#[test]
fn order_leaves_no_trace() {
    let mut random = Random::new(4);
    for _ in 0..100 {
        let world = World::random(&mut random);
        let mut shuffled = world.constraints.clone();
        for position in (1..shuffled.len()).rev() {
            shuffled.swap(position, random.below(position + 1));
        }
        let (first, second) = (world.scope(&world.constraints), world.scope(&shuffled));
        assert_eq!(first.is_ok(), second.is_ok());
        assert_eq!(
            first.as_ref().err().map(ToString::to_string),
            second.as_ref().err().map(ToString::to_string)
        );
        let (Ok(first), Ok(second)) = (first, second) else {
            continue;
        };
        if let (Some(question), Some(expr)) = (comparison(&mut random, 2), expression(&mut random, 2)) {
            assert_eq!(first.decide(&question), second.decide(&question), "{question}");
            assert_eq!(first.bounds(&expr), second.bounds(&expr), "{expr}");
        }
    }
}
