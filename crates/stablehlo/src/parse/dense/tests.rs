//! Constants in all spellings.

use artifact_ir::attribute::Attribute;

use super::*;

fn read(text: &str) -> Result<Literal, String> {
    let mut parser = Parser::new(text, 0, Vec::new());
    match parser.attribute() {
        Ok(Attribute::Elements(literal)) if parser.at(Kind::End) => Ok(literal),
        Ok(other) => Err(format!("not a constant: {other:?}")),
        Err(_) => Err(parser.diagnostics[0].message.clone()),
    }
}

/// The bytes of a list, or of the element of a splat.
fn check(text: &str, expected: &[u8]) {
    let literal = read(text).unwrap_or_else(|error| panic!("{text}: {error}"));
    let bytes = match (literal.as_splat(), literal.as_dense()) {
        (Some(element), _) => element.to_vec(),
        (None, Some(all)) => all.to_vec(),
        (None, None) => unreachable!(),
    };
    assert_eq!(bytes, expected, "{text}");
}

fn refuse(text: &str, expected: &str) {
    let error = read(text).unwrap_err();
    assert!(error.contains(expected), "{text}: {error}");
}

#[test]
fn integers() {
    check("dense<7> : tensor<1000000x1000000xi8>", &[7]);
    check(
        "dense<[[1, -2], [255, 0x10]]> : tensor<2x2xi8>",
        &[1, 0xFE, 0xFF, 0x10],
    );
    check("dense<[1, // one >\n 2]> : tensor<2xui16>", &[1, 0, 2, 0]);
    check("dense<[7, -8, 15]> : tensor<3xi4>", &[7, 0xF8, 0xFF]);
    check("dense<[15, 0]> : tensor<2xui4>", &[15, 0]);
    check("dense<[true, false, 1]> : tensor<3xi1>", &[1, 0, 1]);
    check("dense<-1> : tensor<i1>", &[1]);
    check("dense<18446744073709551615> : tensor<ui64>", &[0xFF; 8]);
    check("dense<[]> : tensor<0xi32>", &[]);
    check("dense<> : tensor<2x0xi32>", &[]);
    check("dense<[[], []]> : tensor<2x0xi32>", &[]);
}

#[test]
fn floats() {
    check(
        "dense<[1.0, -0.5]> : tensor<2xf32>",
        &[0, 0, 0x80, 0x3F, 0, 0, 0, 0xBF],
    );
    check("dense<0x7FC00000> : tensor<f32>", &[0, 0, 0xC0, 0x7F]);
    check("dense<1.000000e+00> : tensor<3xbf16>", &[0x80, 0x3F]);
    check(
        "dense<[(1.0, 2.0)]> : tensor<1xcomplex<f32>>",
        &[0, 0, 0x80, 0x3F, 0, 0, 0, 0x40],
    );
    check("dense<0x1> : tensor<f4E2M1FN>", &[1]);
}

#[test]
fn hexadecimal_strings() {
    check(r#"dense<"0x01000200"> : tensor<2xi16>"#, &[1, 0, 2, 0]);
    check(r#"dense<"0x0100"> : tensor<5xi16>"#, &[1, 0]);
    check(r#"dense<"0x0D"> : tensor<4xi1>"#, &[1, 0, 1, 1]);
    check(r#"dense<"0x01000101"> : tensor<4xi1>"#, &[1, 0, 1, 1]);
    check(r#"dense<"0xFF"> : tensor<9xi1>"#, &[1]);
    check(r#"dense<"0x0F07"> : tensor<2xi4>"#, &[0xFF, 7]);
    refuse(r#"dense<"0x010"> : tensor<2xi8>"#, "even number");
    refuse(
        r#"dense<"0x010203"> : tensor<2xi8>"#,
        "needs 2 bytes, there are 3",
    );
    refuse(r#"dense<"text"> : tensor<2xi8>"#, "strings are not supported");
    refuse(r#"dense<"0x01> : tensor<2xi8>"#, "has no end");
}

#[test]
fn shapes_are_checked_before_memory_is_taken() {
    refuse(
        "dense<[1, 2]> : tensor<3xi8>",
        "dimension 0 has 2 elements, expected 3",
    );
    refuse(
        "dense<[[1, 2], [3]]> : tensor<2x2xi8>",
        "dimension 1 has 1 elements, expected 2",
    );
    refuse("dense<[1]> : tensor<1000000000000xi8>", "too short");
    refuse("dense<[[1]]> : tensor<1xi8>", "more levels");
    refuse("dense<[1]> : tensor<1x1xi8>", "fewer levels");
    refuse("dense<[1,]> : tensor<1xi8>", "expected an integer");
    refuse("dense<[1 2]> : tensor<2xi8>", "expected ',' or ']'");
    refuse("dense<1> : tensor<?xi8>", "static shape");
    refuse("dense<> : tensor<2xi8>", "needs 2 bytes");
    refuse("dense<[1", "has no end");
}

#[test]
fn ranges_and_kinds_are_checked() {
    refuse("dense<256> : tensor<i8>", "out of range for i8");
    refuse("dense<-129> : tensor<i8>", "out of range for i8");
    refuse("dense<-1> : tensor<ui8>", "out of range for ui8");
    refuse("dense<2> : tensor<i1>", "out of range for i1");
    refuse("dense<99999999999999999999> : tensor<i64>", "out of range");
    refuse("dense<1.0> : tensor<i8>", "parsed floating-point");
    refuse("dense<1> : tensor<f32>", "parsed integer");
    refuse("dense<true> : tensor<i8>", "expected i1 type");
    refuse("dense<0x123456789> : tensor<f32>", "not a number of type f32");
}
