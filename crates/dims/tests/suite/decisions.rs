//! Bounds, comparisons and constraints. Tables with JAX's bounds come from its own tests (`shape_poly_test.py`); ours must be
//! at least as tight and are stated exactly where they are tighter.

use artifact_dims::{
    Bounds, Comparison, Constraint, Decision, Expr, Range, Scope, ScopeError, Unknown, Variable,
};

fn parse(text: &str) -> Expr {
    text.parse().unwrap_or_else(|error| panic!("{text}: {error}"))
}

fn scope(constraints: &[&str]) -> Scope {
    try_scope(constraints).unwrap_or_else(|error| panic!("{constraints:?}: {error}"))
}

fn try_scope(constraints: &[&str]) -> Result<Scope, ScopeError> {
    let builder = constraints
        .iter()
        .try_fold(Scope::builder(), |builder, text| builder.parse(text));
    builder.unwrap().build()
}

/// `expression -> bounds`, exactly
fn check_bounds(constraints: &[&str], lines: &[(&str, &str)]) {
    let scope = scope(constraints);
    for (text, expected) in lines {
        let bounds = scope
            .bounds(&parse(text))
            .map_or_else(|error| error.to_string(), |b| b.to_string());
        assert_eq!(bounds, *expected, "{text} with {constraints:?}");
    }
}

/// `comparison -> yes, no, or ?`
fn check_decisions(constraints: &[&str], lines: &[(&str, &str)]) {
    let scope = scope(constraints);
    for (text, expected) in lines {
        for question in Constraint::parse(text).unwrap() {
            let got = match scope.decide(&question) {
                Decision::Yes => "yes",
                Decision::No => "no",
                Decision::Unknown(_) => "?",
            };
            assert_eq!(got, *expected, "{text} with {constraints:?}");
        }
    }
}

#[test]
fn linear() {
    check_bounds(
        &[],
        &[
            ("5*a - 2", "[3, inf]"),
            ("-5*a - 2", "[-inf, -7]"),
            ("2*a + 3*b + 5*c - 1", "[9, inf]"),
            ("2*a - 3*b + 5*c - 1", "[-inf, inf]"),
            ("-2*a - 3*b - 5*c + 20", "[-inf, 10]"),
            ("3*a*b^2 + 5*a - 7", "[1, inf]"),
            ("-2*a*b - b - 2", "[-inf, -5]"),
            // JAX finds no bound.
            ("a + b - a*b + a^2*b", "[2, inf]"),
        ],
    );
}

#[test]
fn remainders() {
    check_bounds(
        &[],
        &[
            ("mod(b + 1, 2)", "[0, 1]"),
            ("mod(b + 1, -2)", "[-1, 0]"),
            // JAX: (0, inf).
            ("mod(11, a + 1)", "[0, 11]"),
            ("-5 - mod(a, -5)", "[-5, -1]"),
            ("a - mod(5, a)", "[1, inf]"),
            ("-a + mod(b - 5, a)", "[-inf, -1]"),
        ],
    );
    // The divisor may be 0, so that bounds mean nothing. JAX gives (-inf, inf).
    check_bounds(
        &[],
        &[(
            "mod(b, a - 2)",
            "possible division by 0 in 'mod(b, a - 2)': add the constraint a - 2 != 0, or a range that implies it",
        )],
    );
}

#[test]
fn floor_divisions() {
    check_bounds(
        &[],
        &[
            ("floordiv(a + 4, 2)", "[2, inf]"),
            ("floordiv(a + 4, -2)", "[-inf, -3]"),
            ("floordiv(11, a + 1)", "[0, 5]"),
            ("floordiv(-11, a + 1)", "[-6, -1]"),
            ("floordiv(-11, -a)", "[0, 11]"),
            ("floordiv(-b, a + 1)", "[-inf, -1]"),
            ("a - floordiv(a, 2)", "[1, inf]"),
            ("a + 6 - 3*floordiv(a + 6, 4)", "[2, inf]"),
            ("a - 2*floordiv(a, 2)", "[0, 1]"),
            (
                "floordiv(a, a - 3)",
                "possible division by 0 in 'floordiv(a, a - 3)': add the constraint a - 3 != 0, or a range that implies it",
            ),
        ],
    );
}

#[test]
fn extrema() {
    check_bounds(
        &[],
        &[
            ("max(a - 5, 1)", "[1, inf]"),
            ("max(15 - a, 0)", "[0, 14]"),
            ("floordiv(max(15 - a, 0), 3)", "[0, 4]"),
            ("max(1 - b, 0)", "[0, 0]"),
            ("b - max(b - a, 0)", "[1, inf]"),
            ("a - min(a, b)", "[0, inf]"),
            ("min(15 - a, 20)", "[-inf, 14]"),
            // JAX at a revision of 2026-08-08 gives (1, 16), which a = 5 contradicts.
            ("min(a - 5, 1)^2", "[0, 16]"),
        ],
    );
    check_decisions(
        &[],
        &[("max(a, a + 2) == a + 2", "yes"), ("min(a, -2) == -2", "yes")],
    );
}

#[test]
fn with_constraints() {
    check_bounds(&["2*a >= 5", "3*a <= 10"], &[("5*a - 2", "[13, 13]")]);
    check_bounds(
        &["a + 2 <= b", "b <= a + 5", "a + b >= c"],
        &[
            ("b", "[3, inf]"),
            ("b - a", "[2, 5]"),
            ("c - 2*a - 5", "[-inf, 0]"),
        ],
    );
    check_bounds(
        &["a >= 4", "3 >= b"],
        &[("a + b", "[5, inf]"), ("a - b", "[1, inf]")],
    );
    check_decisions(
        &["a >= 4", "3 >= b"],
        &[
            ("a >= b", "yes"),
            ("max(a, b) == a", "yes"),
            ("min(a, b) == b", "yes"),
        ],
    );
    check_bounds(&["-2*a + 3*b >= 10"], &[("a + 2*b", "[9, inf]")]);
    // JAX: (2, inf). The smallest sums are at (2, 2) and (1, 3).
    check_bounds(&["2*a + 3*b >= 10"], &[("a + b - 2", "[2, inf]")]);
    check_bounds(&["-2*a + -3*b >= -10"], &[("-a + 2*b", "[-1, 3]")]);
    check_bounds(&["2*a + -3*b >= 10"], &[("-a + 2*b", "[-inf, inf]")]);
    check_bounds(&["max(a, b) == 5", "min(a, b) == 3"], &[("a", "[3, 5]")]);
    check_bounds(
        &["2*a1 >= 2*a2 + 3", "-2*a1 + 2*a2 >= -5"],
        &[("a1 - a2 - 2", "[0, 0]")],
    );
    check_bounds(
        &[
            "c >= b + 3",
            "b == a",
            "floordiv(d, 2) == floordiv(max(c, a), 3) + 2",
        ],
        &[
            ("floordiv(d, 2) - floordiv(c, 3)", "[2, 2]"),
            ("max(c, a) - c", "[0, 0]"),
        ],
    );
    check_decisions(
        &["a*b == c + d"],
        &[
            ("2*b*a == 2*d + 2*c", "yes"),
            ("a*b*b == b*d + b*c", "yes"),
            ("a*b == c", "no"),
        ],
    );
}

/// Results that JAX's own tests name as the best and that it does not reach.
#[test]
fn aspirations() {
    check_bounds(
        &[],
        &[
            ("max(a, b) - a - max(b - a, 0)", "[0, 0]"),
            (
                "max(a, b) + max(c, d) - max(a + max(c, d), b + max(c, d))",
                "[0, 0]",
            ),
        ],
    );
}

/// Defects of JAX that the reference lists.
#[test]
fn beyond_jax() {
    let constraints = ["4*d == a - m", "m >= 0", "m <= 3"];
    check_bounds(&constraints, &[("a - 2*d", "[3, inf]"), ("a", "[5, inf]")]);
    check_bounds(
        &["m >= 0", "m <= 3", "a == 4*d + m"],
        &[("a - 2*d", "[3, inf]"), ("a", "[5, inf]")],
    );
    // 2^61 + 3, where floating point loses the last unit.
    check_bounds(
        &["2*a <= 2305843009213693955"],
        &[("a", "[1, 1152921504606846977]")],
    );
    check_decisions(&["a <= b", "b <= a"], &[("a == b", "yes")]);
    check_decisions(&["a == b", "a == 3"], &[("b == 3", "yes"), ("b == 4", "no")]);
    check_decisions(
        &["mod(b, 4) == 0"],
        &[("b >= 4*floordiv(b, 4)", "yes"), ("mod(b, 2) == 0", "yes")],
    );
    check_decisions(&["b != 3", "b >= 3"], &[("b >= 4", "yes")]);
    check_decisions(
        &["a < b", "b < c"],
        &[("c >= a + 2", "yes"), ("c > a", "yes"), ("a > c", "no")],
    );
    check_decisions(
        &[],
        &[
            ("a >= 1", "yes"),
            ("a^2 >= 1", "yes"),
            ("2*a + b >= 3", "yes"),
            ("a >= floordiv(a, 2)", "yes"),
            ("-2*floordiv(-b, 2) >= b", "yes"),
            ("max(a, b) >= a", "yes"),
            ("a*a >= a", "yes"),
            ("a*b >= a", "yes"),
            ("b >= mod(b, 3)", "yes"),
            ("mod(a, a + 1) == a", "yes"),
            ("max(a, max(b, c)) == max(max(a, b), c)", "yes"),
            ("a >= 2", "?"),
            ("a >= b", "?"),
            ("a == b", "?"),
            ("a != 0", "yes"),
            ("a == 0", "no"),
            ("2*a != 2*b + 1", "yes"),
            ("mod(a, 2) == 2", "no"),
            ("floordiv(a, b) <= a", "yes"),
            ("min(a, b)*max(a, b) == a*b", "yes"),
        ],
    );
}

#[test]
fn declared_ranges() {
    let variable = |name| Variable::new(name).unwrap();
    let eight = 8.try_into().unwrap();
    let scope = Scope::builder()
        .range(variable("a"), Range::at_least(0))
        .range(variable("b"), Range::between(1, 100).multiples_of(eight))
        .build()
        .unwrap();
    let bounds = |text| scope.bounds(&parse(text)).unwrap().to_string();
    assert_eq!(bounds("a"), "[0, inf]");
    assert_eq!(bounds("b"), "[8, 96]");
    assert_eq!(bounds("mod(b, 4)"), "[0, 0]");
    assert_eq!(bounds("a*b"), "[0, inf]");
    assert!(
        scope
            .eq(&parse("floordiv(b, 2)"), &parse("4*floordiv(b, 8)"))
            .is_yes()
    );
    let error = scope.bounds(&parse("floordiv(b, a)")).unwrap_err();
    assert_eq!(error.divisor, parse("a"));
    let empty = Scope::builder()
        .range(variable("a"), Range::between(9, 15).multiples_of(eight))
        .build();
    let message = empty.unwrap_err().to_string();
    assert_eq!(
        message,
        "dimension 'a' has no possible size: at least 9, at most 15, a multiple of 8"
    );
    let wide = Scope::builder()
        .range(variable("a"), Range::at_least(0))
        .range(variable("a"), Range::between(-3, 7))
        .build();
    assert_eq!(wide.unwrap().range(&variable("a")), Range::between(0, 7));
}

/// `constraints -> the minimal conflict`
#[test]
fn unsatisfiable() {
    let lines: [(&[&str], &str); 8] = [
        (
            &["a1 >= a3 + 1", "a3 >= 4", "a1 <= a4 + 2", "a4 <= 2", "b >= 7"],
            "a1 a3 a4",
        ),
        (
            &["a1 >= a3 + 1", "a3 >= a2 + 4", "a1 <= a4 + 2", "a4 <= a2 + 2"],
            "a1 a2 a3 a4",
        ),
        (&["a <= 0"], "a"),
        (&["a == a + 1"], "a"),
        (&["2*a == 2*b + 1", "c >= 2"], "a b"),
        (&["a == 2*x", "a == 2*y + 1", "b >= a"], "a x y"),
        (&["a >= 5", "a <= 9", "a <= 4"], "a"),
        (&["max(a, b) == 5", "min(a, b) == 6"], "a b"),
    ];
    for (constraints, names) in lines {
        let Err(ScopeError::Unsatisfiable(conflict)) = try_scope(constraints) else {
            panic!("{constraints:?} is accepted");
        };
        let found: Vec<&str> = conflict
            .ranges
            .iter()
            .map(|(variable, _)| variable.name())
            .collect();
        assert_eq!(found.join(" "), names, "{conflict}");
        for left_out in 0..conflict.constraints.len() {
            let mut rest: Vec<String> = conflict.constraints.iter().map(Constraint::to_string).collect();
            rest.remove(left_out);
            let rest: Vec<&str> = rest.iter().map(String::as_str).collect();
            assert!(try_scope(&rest).is_ok(), "{conflict} is not minimal");
        }
    }
    assert_eq!(
        try_scope(&["b >= 2", "a <= 0"]).unwrap_err().to_string(),
        "unsatisfiable constraint: a <= 0; where 'a' is at least 1"
    );
}

#[test]
fn unknown_is_explained() {
    let question = |scope: &Scope, text: &str| {
        let [question] = Constraint::parse(text).unwrap().try_into().unwrap();
        let Decision::Unknown(unknown) = scope.decide(&question) else {
            panic!("{text} is decided");
        };
        (question, unknown)
    };
    let cases: [(&[&str], &str); 6] = [
        (&[], "a + 1 >= b"),
        (&["a >= 100", "b >= a + 50"], "b == a + 60"),
        (&["3*a == 5*b", "c == a + b"], "c == 16"),
        (&["a*b == 36"], "a == b"),
        (&[], "floordiv(a, b) == mod(a, b)"),
        (&["a != b"], "max(a, b) == 2*min(a, b)"),
    ];
    for (constraints, text) in cases {
        let scope = scope(constraints);
        let (question, unknown) = question(&scope, text);
        let Unknown::Depends { holds, fails } = unknown else {
            panic!("{text} with {constraints:?}: {unknown}");
        };
        assert_eq!(question.holds(&holds), Ok(true), "{text}: {holds}");
        assert_eq!(question.holds(&fails), Ok(false), "{text}: {fails}");
        for constraint in scope.constraints() {
            assert_eq!(constraint.holds(&holds), Ok(true), "{constraint}: {holds}");
            assert_eq!(constraint.holds(&fails), Ok(true), "{constraint}: {fails}");
        }
    }
    let (_, unknown) = question(&Scope::default(), "a^3 + b^3 == c^3 + 2");
    assert!(!unknown.to_string().is_empty());
}

#[test]
fn bounds_are_within_64_bits() {
    let huge = "9223372036854775807*a + 9223372036854775807*b";
    assert_eq!(
        Scope::default().bounds(&parse(huge)),
        Ok(Bounds {
            min: Some(i64::MAX),
            max: None
        })
    );
    let comparison = Constraint::new(parse(huge), Comparison::Lt, parse("-9223372036854775807*c"));
    assert!(Scope::default().decide(&comparison).is_no());
}
