//! Reading and printing the dimension language. The first tables are the vectors of JAX's own tests (`shape_poly_test.py`).

use artifact_dims::{Constraint, Expr, Scope, parse_shape, parse_written_shape};

fn parse(text: &str) -> Expr {
    text.parse().unwrap_or_else(|error| panic!("{text}: {error}"))
}

/// `text -> printed`
fn check_print(lines: &[(&str, &str)]) {
    for (text, printed) in lines {
        let expr = parse(text);
        assert_eq!(expr.to_string(), *printed, "{text}");
        assert_eq!(
            parse(printed),
            expr,
            "{text}: the printed form gives another expression"
        );
    }
}

/// `text | another text` with the same canonical form
fn check_same(lines: &[(&str, &str)]) {
    for (left, right) in lines {
        assert_eq!(parse(left), parse(right), "{left} and {right}");
    }
}

/// Texts that are refused, with a byte position and a part of the message.
fn check_refused(lines: &[(&str, usize, &str)]) {
    for (text, offset, part) in lines {
        let error = text
            .parse::<Expr>()
            .map(|expr| panic!("{text} gives {expr}"))
            .unwrap_err();
        assert_eq!(error.offset(), *offset, "{text}: {error}");
        assert!(error.to_string().contains(part), "{text}: {error}");
        let caret = error.snippet().lines().last().map(str::len);
        assert_eq!(caret, Some(offset + 1), "{text}: {}", error.snippet());
    }
}

#[test]
fn jax_prints_the_same() {
    check_print(&[
        ("-2 * b * a^2 + b^2", "- 2*a^2*b + b^2"),
        ("-2 * a^2 * b + -1 *b^2*a", "- a*b^2 - 2*a^2*b"),
        ("a - b", "- b + a"),
        ("a + -1", "a - 1"),
        ("3 * a * mod(a + 2, b + 2)", "3*a*mod(a + 2, b + 2)"),
        ("3 * floordiv(a + 2, b + 2) * 2", "6*floordiv(a + 2, b + 2)"),
        (
            "2 + a^2*b + a*b^2 + a*b + a^2 + a + b",
            "a*b^2 + a^2*b + a*b + a^2 + b + a + 2",
        ),
        ("-2^2*a", "- 4*a"),
        ("3*-2^2*a", "12*a"),
        ("a*-2", "- 2*a"),
        ("-3", "- 3"),
        ("0", "0"),
        ("1_000*α + _x", "1000*α + _x"),
        ("max(a, b)", "max(a, b)"),
        ("min(a, b)", "min(a, b)"),
        ("max(15 - a, 0)", "max(- a + 15, 0)"),
        ("floordiv(b + 2, 3)", "floordiv(b + 2, 3)"),
        ("mod(c, 5)", "mod(c, 5)"),
    ]);
}

#[test]
fn beyond_jax() {
    check_print(&[
        ("(a + b)*(a - b)", "- b^2 + a^2"),
        ("(a + 1)^3", "a^3 + 3*a^2 + 3*a + 1"),
        ("a // 2 % 3", "- 3*floordiv(a, 6) + floordiv(a, 2)"),
        ("-(a)", "- a"),
        ("2*(a % 4) - (b // a)", "- floordiv(b, a) + 2*mod(a, 4)"),
        ("((a))^2", "a^2"),
        ("5*mod(a, 2) + max(a, b + 1)", "max(a, b + 1) + 5*mod(a, 2)"),
    ]);
}

/// Pairs that JAX keeps apart, as the reference lists them, and more of the same kinds.
#[test]
fn equal_forms_merge() {
    check_same(&[
        ("floordiv(a, 2)*2", "a - mod(a, 2)"),
        ("floordiv(floordiv(a, 2), 2)", "floordiv(a, 4)"),
        ("floordiv(a + 1, 2)", "-1*floordiv(-a, 2)"),
        ("max(a, b)", "max(b, a)"),
        ("max(a, b) + min(a, b)", "a + b"),
        ("mod(4*a + b, 4)", "mod(b, 4)"),
        ("floordiv(7, 2)", "3"),
        ("floordiv(4*a, 2)", "2*a"),
        ("floordiv(2*a + 1, 4)", "floordiv(a, 2)"),
        ("mod(a, -3)", "-1*mod(-a, 3)"),
        ("floordiv(a, -b)", "floordiv(-a, b)"),
        ("floordiv(a*b + c, b)", "a + floordiv(c, b)"),
        ("floordiv(2*a*c, 2*b*c)", "floordiv(a, b)"),
        ("floordiv(floordiv(a, b) + 1, 3)", "floordiv(a + b, 3*b)"),
        ("max(2*a, 2*b)", "2*max(a, b)"),
        ("max(a + c, b + c)", "c + max(a, b)"),
        ("max(a, a + 2)", "a + 2"),
        ("-1*max(-a, -b)", "min(a, b)"),
        ("max(a, b) - a - max(b - a, 0)", "0"),
        ("max(a, b) + max(c, d) - max(a + max(c, d), b + max(c, d))", "0"),
        ("(a + b)^2 - (a - b)^2", "4*a*b"),
    ]);
}

#[test]
fn jax_refuses_too() {
    check_refused(&[
        ("2.5", 0, "without a point"),
        ("a + a a", 6, "expected an operator or the end, found 'a'"),
        ("a ^ a", 4, "a number as exponent"),
        ("a; a", 1, "found ';'"),
        ("_", 0, "takes its size from a known shape"),
        ("...", 0, "takes its size from a known shape"),
        (")(", 0, "found ')'"),
        ("2a", 0, "'2*a' for a product"),
        ("a@", 1, "found '@'"),
        ("'a'", 0, "expected a name"),
        ("mod(a)", 5, "a second operand"),
        ("floordiv(a, b, c)", 13, "an operation has two operands"),
        ("0x10", 0, "decimal digits"),
        ("--a", 2, "a number after '-'"),
        ("a*-b", 3, "a number after '-'"),
        ("a ** 2", 3, "found '*'"),
        ("mod", 3, "'(' and two operands"),
        ("", 0, "found the end"),
        ("a^-1", 2, "found '-'"),
        ("a // 0", 6, "division of 'a' by the constant 0"),
        ("a\n+ b", 1, "found '\\n'"),
    ]);
}

#[test]
fn errors_quote_the_place() {
    let error = "a + (b - 2c)".parse::<Expr>().unwrap_err();
    assert_eq!(
        error.to_string(),
        "syntax error in dimension text at byte 9: '2c' is not a whole number of 64 bits: write decimal digits, and \
         '2*a' for a product (parsed 'a + (b - ', remaining '2c)')"
    );
    assert_eq!(error.snippet(), "a + (b - 2c)\n         ^");
}

/// `shape, known sizes -> dimensions, or a part of the message`
fn check_shape(text: &str, like: Option<&[Option<i64>]>, expected: Result<&str, &str>) {
    let dims = |dims: Vec<Expr>| dims.iter().map(Expr::to_string).collect::<Vec<_>>().join("; ");
    let like: Option<Vec<Option<Expr>>> =
        like.map(|like| like.iter().map(|size| size.map(Expr::constant)).collect());
    match (parse_shape(text, like.as_deref()).map(dims), expected) {
        (Ok(got), Ok(expected)) => assert_eq!(got, expected, "{text}"),
        (Err(got), Err(part)) => assert!(got.to_string().contains(part), "{text}: {got}"),
        (got, expected) => panic!("{text}: {got:?}, expected {expected:?}"),
    }
}

/// Sizes that are known as expressions can be taken over, and be said otherwise.
#[test]
fn shapes_like_named_ones() {
    let like = ["2*b", "c"].map(|size| size.parse::<Expr>().ok());
    for (text, expected) in [("_, 3", "2*b; 3"), ("...", "2*b; c"), ("n, _", "n; c")] {
        let dims = parse_shape(text, Some(&like)).unwrap();
        let dims: Vec<String> = dims.iter().map(Expr::to_string).collect();
        assert_eq!(dims.join("; "), expected, "{text}");
    }
}

/// What is not written is told apart from what is, also where nothing is known.
#[test]
fn shapes_written_in_part() {
    let like = [Some("b".parse::<Expr>().unwrap()), None];
    let written = |text: &str| {
        let dims = parse_written_shape(text, &like).map_err(|error| error.to_string())?;
        let dims = dims
            .iter()
            .map(|dim| dim.as_ref().map_or("kept".to_owned(), Expr::to_string));
        Ok::<_, String>(dims.collect::<Vec<_>>().join("; "))
    };
    for (text, expected) in [
        ("_, 3", "kept; 3"),
        ("...", "kept; kept"),
        ("b, _", "b; kept"),
        ("n, ...", "n; kept"),
    ] {
        assert_eq!(written(text).as_deref(), Ok(expected), "{text}");
    }
    assert!(written("_, _, _").unwrap_err().contains("only 2 dimensions"));
    assert!(written("_").unwrap_err().contains("1 dimensions are written"));
}

#[test]
fn shapes() {
    check_shape("b, 128", None, Ok("b; 128"));
    check_shape("(b, 2*h,)", None, Ok("b; 2*h"));
    check_shape("((a + b)*c, (d))", None, Ok("b*c + a*c; d"));
    check_shape("(a)*(b)", None, Ok("a*b"));
    check_shape("(mod(a, 2))", None, Ok("mod(a, 2)"));
    check_shape("()", None, Ok(""));
    check_shape("((a, b))", None, Ok("a; b"));
    check_shape(
        "b, _, ...",
        Some(&[None, Some(3), Some(4), Some(5)]),
        Ok("b; 3; 4; 5"),
    );
    check_shape("...", Some(&[]), Ok(""));
    check_shape("..., 3", Some(&[Some(2), Some(3)]), Err("or the end"));
    check_shape("...", None, Err("takes its size from a known shape"));
    check_shape("3", Some(&[Some(4)]), Err("different size"));
    check_shape("b, 3", Some(&[None, Some(4)]), Err("different size"));
    check_shape(
        "b, 6, c, _",
        Some(&[Some(4), Some(6), Some(7)]),
        Err("because we parsed 3 already and 'like' shape has only 3 dimensions"),
    );
    check_shape(
        "a",
        Some(&[None, None]),
        Err("1 dimensions are written and the known shape has 2"),
    );
    check_shape("_", Some(&[None]), Err("is not known"));
    check_shape(
        "(a, b",
        None,
        Err("expected an operator, ',' or ')', found the end"),
    );
    check_shape("a, b)", None, Err("found ')'"));
    check_shape("a,, b", None, Err("found ','"));
}

/// `text -> constraints`
#[test]
fn constraints() {
    let lines = [
        ("a >= b + 8", "a >= b + 8"),
        ("1 <= b <= 8", "1 <= b; b <= 8"),
        ("a < b == c != d > 2", "a < b; b == c; c != d; d > 2"),
        ("floordiv(a, 2) == 3", "floordiv(a, 2) == 3"),
    ];
    for (text, expected) in lines {
        let got = Constraint::parse(text).unwrap_or_else(|error| panic!("{text}: {error}"));
        let got: Vec<String> = got.iter().map(Constraint::to_string).collect();
        assert_eq!(got.join("; "), expected);
    }
    for text in ["a", "a >=", ">= a", "a >= b)", "a = b", "a === b", "a <> b"] {
        assert!(Constraint::parse(text).is_err(), "{text}");
    }
}

/// Structural equality tells less than the scope: these have different forms and equal values.
#[test]
fn equality_asks_the_scope() {
    let (left, right) = (parse("mod(a, a + 1)"), parse("a"));
    assert_ne!(left, right);
    assert!(Scope::default().eq(&left, &right).is_yes());
}

/// JAX's table for `divmod`: dividend, divisor, quotient, remainder. Where JAX keeps an operation, ours may be reduced further;
/// it means the same.
#[test]
fn quotients_and_remainders() {
    for (dividend, divisor, quotient, remainder) in [
        ("3*a", "3", "a", "0"),
        ("3*a + 2", "3", "a", "2"),
        ("3*a - 2", "3", "a - 1", "1"),
        ("3*a + 5", "3", "a + 1", "2"),
        ("3*a^2*b + 2*b^2*a", "a*b", "3*a + 2*b", "0"),
        ("a^2 - b^2", "a + b", "a - b", "0"),
        ("256*a*b", "32", "8*a*b", "0"),
        ("3*a", "2", "floordiv(3*a, 2)", "mod(3*a, 2)"),
        (
            "2*a*b + b^2",
            "a + b",
            "floordiv(2*a*b + b^2, a + b)",
            "mod(2*a*b + b^2, a + b)",
        ),
        ("3", "a", "floordiv(3, a)", "mod(3, a)"),
    ] {
        let (x, y) = (parse(dividend), parse(divisor));
        let (q, r) = (x.floordiv(&y).unwrap(), x.modulo(&y).unwrap());
        assert_eq!(
            (q.clone(), r.clone()),
            (parse(quotient), parse(remainder)),
            "{dividend} by {divisor}"
        );
        assert_eq!(q.mul(&y).unwrap().add(&r).unwrap(), x, "{dividend} by {divisor}");
    }
}

#[test]
fn the_smallest_number_is_no_coefficient() {
    let half = parse("4611686018427387904*a");
    assert!(half.neg().unwrap().sub(&half).is_err());
    let largest = parse("- 9223372036854775807*a");
    assert_eq!(parse(&largest.to_string()), largest);
}
