//! Solving for dimension variables. Texts and tables follow JAX's tests (`shape_poly_test.py`, `export_test.py`).

use artifact_dims::solve::{Mismatches, Size, solve, solve_within};
use artifact_dims::{Assignment, Expr, Range, Scope, Variable, parse_shape};

fn scope(constraints: &[&str]) -> Scope {
    let builder = constraints
        .iter()
        .try_fold(Scope::builder(), |builder, text| builder.parse(text));
    builder.unwrap().build().unwrap()
}

/// The dimensions of one argument.
fn sizes(specification: &str, actual: &str) -> Vec<Size> {
    let (specification, actual) = (
        parse_shape(specification, None).unwrap(),
        parse_shape(actual, None).unwrap(),
    );
    assert_eq!(specification.len(), actual.len());
    let place = |dimension| format!("args[0].shape[{dimension}]");
    let size = |(dimension, (specification, actual))| Size {
        place: place(dimension),
        specification,
        actual,
    };
    specification
        .into_iter()
        .zip(actual)
        .enumerate()
        .map(size)
        .collect()
}

fn given(text: &str) -> Assignment {
    let pair = |pair: &str| {
        let (name, value) = pair.split_once('=')?;
        Some((Variable::new(name).ok()?, value.parse().ok()?))
    };
    text.split(',').filter_map(pair).collect()
}

/// What solving gives, as one text.
fn outcome(result: Result<Assignment, Mismatches>) -> String {
    match result {
        Ok(values) => values.to_string(),
        Err(mismatches) => mismatches
            .failures
            .iter()
            .map(|one| one.to_string())
            .collect::<Vec<_>>()
            .join("; "),
    }
}

/// `constraints | specification | actual | given -> values`
#[test]
fn solved() {
    let lines: [(&[&str], &str, &str, &str, &str); 26] = [
        (&[], "b", "7", "", "b = 7"),
        (&[], "2*b", "8", "", "b = 4"),
        (&[], "b + 15", "16", "", "b = 1"),
        (&[], "10 - a", "3", "", "a = 7"),
        (&[], "3*a - 6", "3", "", "a = 3"),
        (&[], "a + b, b", "5, 2", "", "a = 3, b = 2"),
        (&[], "2*a + 3*b, b", "13, 3", "", "a = 2, b = 3"),
        (&[], "a, a^2", "3, 9", "", "a = 3"),
        (&[], "a, max(a, 4)", "3, 4", "", "a = 3"),
        (&[], "a, floordiv(a, 2), mod(a, 2)", "5, 2, 1", "", "a = 5"),
        // What JAX does not solve.
        (&[], "a^2", "49", "", "a = 7"),
        (&[], "2*a^3 + 1", "55", "", "a = 3"),
        (&[], "a*b, b", "12, 3", "", "a = 4, b = 3"),
        (&[], "a*b + a, b", "12, 3", "", "a = 3, b = 3"),
        (&[], "a + b, a - b", "10, 4", "", "a = 7, b = 3"),
        (
            &[],
            "a + b + c, a + b - c, a - b",
            "12, 6, 1",
            "",
            "a = 5, b = 4, c = 3",
        ),
        (&[], "a*b + c, a*b - c, a", "14, 10, 3", "", "a = 3, b = 4, c = 2"),
        (&[], "a^2 + b, a^2 - b", "20, 12", "", "a = 4, b = 4"),
        (&[], "max(a, 4)", "9", "", "a = 9"),
        (&[], "2*floordiv(a, 2), mod(a, 2)", "6, 1", "", "a = 7"),
        (&["a == 2*b"], "b", "3", "", "a = 6, b = 3"),
        (&["a == b + 1", "a + b == c"], "c", "7", "", "a = 4, b = 3, c = 7"),
        (&[], "a*b", "12", "a=3", "a = 3, b = 4"),
        (&[], "floordiv(a, 2)", "3", "a=7", "a = 7"),
        (&[], "3, 4", "3, 4", "", ""),
        (&["m <= b"], "b", "5", "m=2", "b = 5, m = 2"),
    ];
    for (constraints, specification, actual, values, expected) in lines {
        let result = solve(&scope(constraints), &sizes(specification, actual), &given(values));
        assert_eq!(
            outcome(result),
            expected,
            "{specification} = {actual} with {constraints:?} and {values}"
        );
    }
}

/// Sizes in two variables each, of which only the whole ring of them tells every variable: `x0 + x1`, `x1 + x2` and so on. With
/// several rings at once, each is solved by itself, as far as it has no more equations than are solved together.
#[test]
fn rings_of_sums() {
    let check = |rings: usize, length: usize, is_solved: bool| {
        let name = |ring: usize, at: usize| Variable::new(&format!("x{ring}_{at}")).unwrap();
        let value = |ring: usize, at: usize| (ring + 3 * at + 1) as i64;
        let mut sizes = Vec::new();
        for (at, ring) in (0..length).flat_map(|at| (0..rings).map(move |ring| (at, ring))) {
            let next = (at + 1) % length;
            let sum = Expr::variable(name(ring, at)).add(&Expr::variable(name(ring, next)));
            sizes.push(Size {
                place: format!("args[{ring}].shape[{at}]"),
                specification: sum.unwrap(),
                actual: Expr::constant(value(ring, at) + value(ring, next)),
            });
        }
        let all = (0..rings).flat_map(|ring| (0..length).map(move |at| (ring, at)));
        let expected: Assignment = all.map(|(ring, at)| (name(ring, at), value(ring, at))).collect();
        match solve(&Scope::default(), &sizes, &Assignment::new()) {
            Ok(values) => assert!(is_solved && values == expected, "{rings} of {length}: {values}"),
            Err(mismatches) => assert!(!is_solved, "{rings} of {length}: {}", outcome(Err(mismatches))),
        }
    };
    // A ring of even length has more than one solution.
    check(1, 3, true);
    check(1, 4, false);
    check(40, 3, true);
    check(3, 63, true);
    check(1, 301, false);
}

/// `constraints | specification | actual | given -> every failure`
#[test]
fn refused() {
    let lines: [(&[&str], &str, &str, &str, &[&str]); 13] = [
        (
            &[],
            "3, a, a",
            "3, 4, 12",
            "",
            &[
                "found inconsistency between dimension size args[0].shape[2] (= 12) and the specification 'a' (= 4)",
            ],
        ),
        (
            &[],
            "3, 4, 5*a",
            "3, 4, 12",
            "",
            &["division had remainder 2 when computing the value of 'a'"],
        ),
        (
            &[],
            "3, 4, 12 + a",
            "3, 4, 12",
            "",
            &["expected value >= 1 for dimension variable 'a', found 0"],
        ),
        (
            &[],
            "3, a",
            "4, 2",
            "",
            &["shape mismatch for args[0].shape[0] (expected same constant): expected 3 and called with 4"],
        ),
        (
            &[],
            "a*b",
            "12",
            "",
            &[
                "cannot solve for the value of dimension variable 'a'",
                "variable 'b'",
            ],
        ),
        (&[], "a^2", "50", "", &["no whole number 'a' has 'a^2' = 50"]),
        (
            &["a <= 4"],
            "a",
            "5",
            "",
            &["do not match the symbolic shape constraint a <= 4: 5 <= 4 does not hold"],
        ),
        (
            &["a != b"],
            "a, b",
            "5, 5",
            "",
            &["symbolic shape constraint a != b: 5 != 5 does not hold"],
        ),
        (
            &[],
            "b, 2*b",
            "4, 7",
            "b=5",
            &["args[0].shape[0] (= 4)", "args[0].shape[1] (= 7)"],
        ),
        (
            &[],
            "b",
            "4",
            "c=5",
            &["a value is given for 'c'", "its variables are b"],
        ),
        // Independent failures come together.
        (
            &["c >= 9"],
            "3, 2*a, b - 1, c",
            "4, 5, -1, 8",
            "",
            &[
                "remainder 1 when computing the value of 'a'",
                "expected value >= 1 for dimension variable 'b', found 0",
                "shape mismatch for args[0].shape[0]",
                "constraint c >= 9: 8 >= 9 does not hold",
            ],
        ),
        (
            &[],
            "a, floordiv(4, a - 1)",
            "1, 4",
            "",
            &["'floordiv(4, a - 1)' has no value for these sizes"],
        ),
        (
            &[],
            "a + b, a - b",
            "10, 5",
            "",
            &["division had remainder 1 when computing the value of"],
        ),
    ];
    for (constraints, specification, actual, values, parts) in lines {
        let text = outcome(solve(
            &scope(constraints),
            &sizes(specification, actual),
            &given(values),
        ));
        for part in parts {
            assert!(
                text.contains(part),
                "{specification} = {actual} with {constraints:?}: {text}"
            );
        }
    }
}

#[test]
fn declared_ranges() {
    let variable = |name| Variable::new(name).unwrap();
    let scope = Scope::builder()
        .range(variable("a"), Range::at_least(0))
        .range(
            variable("b"),
            Range::between(1, 64).multiples_of(8.try_into().unwrap()),
        )
        .build()
        .unwrap();
    let solved = |actual| outcome(solve(&scope, &sizes("a, b", actual), &Assignment::new()));
    assert_eq!(solved("0, 16"), "a = 0, b = 16");
    assert_eq!(
        solved("-1, 68"),
        "expected value >= 0 for dimension variable 'a', found - 1; \
         expected value <= 64 for dimension variable 'b', found 68; \
         expected a multiple of 8 for dimension variable 'b', found 68"
    );
}

/// JAX: `test_shape_constraints_errors`.
#[test]
fn report() {
    let error = solve(
        &Scope::default(),
        &sizes("a + 2*b, a, a + b + c", "3, 2, 6"),
        &Assignment::new(),
    );
    assert_eq!(
        error.unwrap_err().to_string(),
        "input shapes do not match the shapes of the program: division had remainder 1 when computing the value of 'b' \
         from specification '2*b + a' for dimension args[0].shape[0] (= 3). The specifications are: \
         args[0].shape[0] = 2*b + a, args[0].shape[1] = a, args[0].shape[2] = c + b + a. Obtained dimension variables: \
         'a' = 2 from specification 'a' for dimension args[0].shape[1] (= 2)"
    );
}

/// JAX: `test_poly_shape_checks_nested`. `inner specification | outer specification -> export, then run with (3, 4, 12)`
#[test]
fn nested() {
    let lines = [
        ("3, a, a + b", "3, 4, 12", "ok", "ok"),
        (
            "3, a, a",
            "3, 4, 12",
            "args[0].shape[2] (= 12) and the specification 'a' (= 4)",
            "",
        ),
        (
            "3, 4, 5*a",
            "3, 4, 12",
            "division had remainder 2 when computing the value of 'a'",
            "",
        ),
        (
            "3, 4, 12 + a",
            "3, 4, 12",
            "expected value >= 1 for dimension variable 'a', found 0",
            "",
        ),
        ("3, 4, 3*a", "3, 4, 6*c", "ok", "ok"),
        ("3, a, a + 8", "3, c + 2, c + 10", "ok", "ok"),
        (
            "3, a, a + b",
            "3, 4, c",
            "expected value >= 1 for dimension variable 'b', found c - 4",
            "",
        ),
        ("3, 4, 5*a", "3, 4, c", "division had remainder mod(c, 5)", ""),
        (
            "3, a, a + b",
            "c, 4, 12",
            "shape mismatch for args[0].shape[0] (expected same constant)",
            "",
        ),
        (
            "3, 4, 5*a",
            "3, 4, 25*c",
            "ok",
            "division had remainder 12 when computing the value of 'c'",
        ),
        (
            "3, a, b",
            "3, c + 4, 12",
            "ok",
            "expected value >= 1 for dimension variable 'c', found 0",
        ),
        // An unknown times a symbolic factor, and the same name on both sides.
        ("3, a, a*b", "3, a + 1, a^2 + a", "ok", "ok"),
    ];
    let text =
        |result: Result<(), Mismatches>| result.map_or_else(|error| error.to_string(), |()| "ok".to_owned());
    for (inner, outer, export, run) in lines {
        let scope = Scope::default();
        let exported = solve_within(&scope, &scope, &sizes(inner, outer), &Default::default());
        let exported = text(exported.map(|_| ()));
        assert!(exported.contains(export), "{inner} in {outer}: {exported}");
        if !run.is_empty() {
            let ran = text(solve(&scope, &sizes(outer, "3, 4, 12"), &Assignment::new()).map(|_| ()));
            assert!(ran.contains(run), "{outer}: {ran}");
        }
    }
    let outer = scope(&["mod(c, 5) == 0"]);
    let solution = solve_within(&outer, &Scope::default(), &sizes("5*a", "c"), &Default::default()).unwrap();
    let values: Vec<&Expr> = solution.values().collect();
    assert_eq!(values, [&"floordiv(c, 5)".parse().unwrap()]);
}
