//! Text that would cost much is refused by name.

use artifact_dims::{Constraint, Expr, parse_shape};

/// `text, part of the message`
fn check(text: &str, part: &str) {
    let shown: String = text.chars().take(40).collect();
    let error = text
        .parse::<Expr>()
        .map(|_| panic!("{shown} is accepted"))
        .unwrap_err();
    let message = error.to_string();
    assert!(message.contains(part), "{shown}: {message}");
    assert!(
        message.len() < 500,
        "{shown}: the message has {} bytes",
        message.len()
    );
    assert!(parse_shape(text, None).is_err(), "{shown}");
    assert!(Constraint::parse(&format!("{text} >= 0")).is_err(), "{shown}");
}

#[test]
fn refused_by_name() {
    check(
        "a^100000000",
        "degree of a product is 100000000 powers, over the limit of 64",
    );
    check("(a^60)*(a^60)", "degree of a product is 120 powers");
    check(
        &"(".repeat(1 << 20),
        "dimension text is 1048576 bytes, over the limit of 65536",
    );
    check(&"(".repeat(10_000), "nesting of an expression is 33 levels");
    check(&"mod(".repeat(100), "nesting of an expression is 33 levels");
    check(&"9".repeat(10_000), "is not a whole number of 64 bits");
    check("9223372036854775808", "use a smaller number");
    check("9223372036854775807*a*2", "does not fit in 64 bits");
    check("9223372036854775807^2", "does not fit in 64 bits");
    check(
        &"a".repeat(200),
        "variable name is 200 bytes, over the limit of 64",
    );
    check("(a + b + c + d + e + f + g + h)^20", "over the limit of");
    check("(a + b + c)^12*(a + b + c)^12", "over the limit of");
    check(
        &format!("0{}", "*(a + b + c + d)^9".repeat(100)),
        "over the limit of",
    );
}

#[test]
fn many_terms_and_names() {
    let names: Vec<String> = (0..200).map(|n| format!("a{n}")).collect();
    check(
        &names.join(" + "),
        "dimension text is 129 variables, over the limit of 128",
    );
    let powers: Vec<String> = (1..300).map(|n| format!("a^{}*b^{}*c", n % 20, n / 20)).collect();
    check(&powers.join(" + "), "over the limit of");
}

/// Operations within one another, built by calls instead of text: the limits hold as well.
#[test]
fn built_by_calls() {
    let grow = |step: &dyn Fn(&Expr) -> Result<Expr, artifact_dims::ExprError>| {
        let mut expr: Expr = "a".parse().unwrap();
        for _ in 0..200 {
            match step(&expr) {
                Ok(next) => expr = next,
                Err(error) => return error.to_string(),
            }
        }
        panic!("no limit was reached: {expr}");
    };
    let a: Expr = "a".parse().unwrap();
    let b: Expr = "b".parse().unwrap();
    let nested = grow(&|expr| a.add(&expr.floordiv(&b)?)?.maximum(&b));
    assert!(nested.contains("over the limit"), "{nested}");
    let doubled = grow(&|expr| expr.mul(&expr.add(&a)?));
    assert!(doubled.contains("over the limit"), "{doubled}");
    let shared = grow(&|expr| expr.floordiv(&expr.maximum(&b)?));
    assert!(shared.contains("over the limit"), "{shared}");
}

/// Long but harmless text is read.
#[test]
fn ordinary_text_is_read() {
    let sum: Vec<String> = (0..100).map(|n| format!("{n}*a{n}")).collect();
    assert!(sum.join(" + ").parse::<Expr>().is_ok());
    assert!(
        format!("{}a{}", "(".repeat(32), ")".repeat(32))
            .parse::<Expr>()
            .is_ok()
    );
    assert!("(a + b)^20".parse::<Expr>().is_ok());
}
