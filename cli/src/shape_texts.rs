//! The texts of `--shapes`: names of arguments and their shapes, `NAME: (DIM, ...)`, several apart by `;`.
//!
//! A name may hold anything but `;`, a colon included, because a shape has none. One in double quotes may hold that too; `\"` and
//! `\\` stand for a quote and a backslash there.

use crate::failure::{Failure, Outcome};

/// One name with its shape, and the text after it.
struct Item<'a> {
    name: String,
    shape: String,
    rest: &'a str,
}

/// Names and shapes of all options, in order.
///
/// # Errors
/// A text of another form, an option without a shape, and a second shape for a name.
pub(crate) fn read(options: &[String]) -> Outcome<Vec<(String, String)>> {
    let mut shapes: Vec<(String, String)> = Vec::new();
    for option in options {
        if option.split(';').all(|item| item.trim().is_empty()) {
            return Err(Failure::usage("`--shapes` is empty")
                .hint("give a shape, such as --shapes 'x: (b, 128)', or leave the option out"));
        }
        let mut text = option.as_str();
        while let Some(Item { name, shape, rest }) = next(text)? {
            shapes.push((name, shape));
            text = rest;
        }
    }
    for (index, (name, _)) in shapes.iter().enumerate() {
        if shapes[..index].iter().any(|(other, _)| other == name) {
            return Err(Failure::usage(format!(
                "`--shapes` gives a second shape for `{name}`"
            )));
        }
    }
    Ok(shapes)
}

/// The name and shape that a text starts with, and what follows; nothing at its end.
fn next(text: &str) -> Outcome<Option<Item<'_>>> {
    let text = text.trim_start_matches(|c: char| c == ';' || c.is_whitespace());
    if text.is_empty() {
        return Ok(None);
    }
    let quoted = text.strip_prefix('"').and_then(unquoted);
    let (name, rest) = match quoted {
        Some((name, rest)) => (Some(name), rest),
        None => (None, text),
    };
    let (item, rest) = rest.split_once(';').unwrap_or((rest, ""));
    let pair = match &name {
        Some(name) => item
            .trim_start()
            .strip_prefix(':')
            .map(|shape| (name.as_str(), shape)),
        None => item.rsplit_once(':').map(|(name, shape)| (name.trim(), shape)),
    };
    let Some((name, shape)) = pair else {
        let what = format!(
            "`--shapes` has `{}`, which is not of the form NAME: (DIM, ...)",
            item.trim()
        );
        let hint =
            "quote a name that has `;`, as in '\"a;b\": (n,)', or give its position instead: 'arg0: (n,)'";
        return Err(Failure::usage(what).hint(hint));
    };
    Ok(Some(Item {
        name: name.to_owned(),
        shape: shape.trim().to_owned(),
        rest,
    }))
}

/// A quoted name and what follows it, after the opening quote; nothing where the text is no quoted name with a colon after it,
/// as a name that starts with a quote is not.
fn unquoted(text: &str) -> Option<(String, &str)> {
    let mut name = String::new();
    let mut characters = text.char_indices();
    while let Some((index, c)) = characters.next() {
        match c {
            '"' => {
                let rest = &text[index + 1..];
                return rest.trim_start().starts_with(':').then_some((name, rest));
            }
            '\\' => name.push(characters.next()?.1),
            c => name.push(c),
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(options: &[&str], expected: &[(&str, &str)]) {
        let options: Vec<String> = options.iter().map(|option| (*option).to_owned()).collect();
        let shapes = read(&options).unwrap();
        let shapes: Vec<(&str, &str)> = shapes
            .iter()
            .map(|(name, shape)| (name.as_str(), shape.as_str()))
            .collect();
        assert_eq!(shapes, expected);
    }

    #[test]
    fn names_and_shapes() {
        check(&["x: (b, 2)"], &[("x", "(b, 2)")]);
        check(
            &["x: (b,); y: (b,);", "z:()"],
            &[("x", "(b,)"), ("y", "(b,)"), ("z", "()")],
        );
        check(&["a:b: (n,)"], &[("a:b", "(n,)")]);
        check(&["a=b: (n,)"], &[("a=b", "(n,)")]);
        check(&["params['w']: (n,)"], &[("params['w']", "(n,)")]);
    }

    #[test]
    fn quoted_names() {
        check(&[r#""a;b": (n,); c: (m,)"#], &[("a;b", "(n,)"), ("c", "(m,)")]);
        check(&[r#" "a\";\\" : (n,)"#], &[(r#"a";\"#, "(n,)")]);
        check(&[r#"x: (n,); ";": (m,)"#], &[("x", "(n,)"), (";", "(m,)")]);
        // A quote that nothing closes before a colon is part of a name.
        check(&[r#""a: (n,)"#], &[(r#""a"#, "(n,)")]);
        check(&[r#""a"b: (n,)"#], &[(r#""a"b"#, "(n,)")]);
    }

    #[test]
    fn what_is_wrong() {
        for (option, part) in [
            ("", "is empty"),
            (" ; ", "is empty"),
            ("x", "not of the form"),
            ("a;b: (n,)", "`a`"),
            ("x: (n,); x: (m,)", "second shape for `x`"),
            (r#"x: (n,); "x": (m,)"#, "second shape for `x`"),
        ] {
            let failure = read(&[option.to_owned()]).unwrap_err();
            let text = format!("{failure:?}");
            assert!(text.contains(part), "{option}: {text}");
        }
    }
}
