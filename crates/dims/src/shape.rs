//! Shapes as text: `(b, 2*h, _, ...)`.

use crate::expr::Expr;
use crate::limits;
use crate::parse::Parser;
use crate::parse_error::{ParseError, ParseProblem};

/// Reads the dimensions of a shape: `b, 128`, `(b, 128)`, or `()` for a scalar.
///
/// `like` is a shape that is known in part (None for a size that is not known). Then `_` takes one size from it and `...`,
/// which may only come last, takes all that are left; a number that is written must be the known size where that is a number too,
/// and the number of dimensions must be the same.
///
/// # Errors
/// [`ParseError`] with the place of what cannot be read or does not agree with `like`.
pub fn parse_shape(text: &str, like: Option<&[Option<Expr>]>) -> Result<Vec<Expr>, ParseError> {
    let kept = |parser: &Parser<'_>, placeholder, dimension| known_size(parser, placeholder, like, dimension);
    read(text, like, |size| size, kept)
}

/// Reads the dimensions of a shape as [`parse_shape`] does, and says of which of them nothing is written: those that `_` and
/// `...` stand for are None, also where their size in `like` is not known.
///
/// # Errors
/// As for [`parse_shape`].
pub fn parse_written_shape(text: &str, like: &[Option<Expr>]) -> Result<Vec<Option<Expr>>, ParseError> {
    let kept = |parser: &Parser<'_>, placeholder, dimension| match dimension < like.len() {
        true => Ok(None),
        false => known_size(parser, placeholder, Some(like), dimension).map(Some),
    };
    read(text, Some(like), Some, kept)
}

/// The dimensions of a shape: what is `written`, and what is `kept` by a placeholder for a dimension.
fn read<T>(
    text: &str,
    like: Option<&[Option<Expr>]>,
    written: impl Fn(Expr) -> T,
    kept: impl Fn(&Parser<'_>, &'static str, usize) -> Result<T, ParseError>,
) -> Result<Vec<T>, ParseError> {
    let mut parser = Parser::new(text)?;
    let outer = outer_parentheses(text);
    limits::NESTING
        .check(outer)
        .map_err(|limit| parser.error(limit))?;
    for _ in 0..outer {
        parser.take("(")?;
    }
    let mut dims = Vec::new();
    while !(parser.at_end() || outer > 0 && parser.is_at(")")) {
        limits::RANK
            .check(dims.len() as u64 + 1)
            .map_err(|limit| parser.error(limit))?;
        match parser.placeholder() {
            Some("...") => {
                // Without a known shape, the first size says what is wrong.
                let rank = like.map_or(dims.len() + 1, <[_]>::len);
                for dimension in dims.len()..rank {
                    dims.push(kept(&parser, "...", dimension)?);
                }
                parser.advance()?;
                break;
            }
            Some(_) => {
                dims.push(kept(&parser, "_", dims.len())?);
                parser.advance()?;
            }
            None => dims.push(written(item(&mut parser, like, dims.len())?)),
        }
        if !parser.take(",")? {
            break;
        }
    }
    for _ in 0..outer {
        if !parser.take(")")? {
            return Err(parser.unexpected("an operator, ',' or ')'"));
        }
    }
    if !parser.at_end() {
        return Err(parser.unexpected("an operator, ',' or the end"));
    }
    match like {
        Some(like) if like.len() != dims.len() => Err(parser.error(ParseProblem::DifferentRank {
            written: dims.len(),
            known: like.len(),
        })),
        _ => Ok(dims),
    }
}

/// How many pairs of parentheses enclose the whole text.
fn outer_parentheses(text: &str) -> u64 {
    let body = text.trim_end_matches([' ', '\t', ')']);
    let after = body.trim_start_matches([' ', '\t', '(']);
    let opening = body[..body.len() - after.len()]
        .bytes()
        .filter(|byte| *byte == b'(')
        .count() as u64;
    let (mut depth, mut lowest) = (opening, opening);
    for byte in after.bytes() {
        match byte {
            b'(' => depth += 1,
            b')' => depth = depth.saturating_sub(1),
            _ => {}
        }
        lowest = lowest.min(depth);
    }
    lowest
}

/// One dimension that is written.
fn item(
    parser: &mut Parser<'_>,
    like: Option<&[Option<Expr>]>,
    dimension: usize,
) -> Result<Expr, ParseError> {
    let start = parser.offset();
    let expr = parser.expr()?;
    let known = like.and_then(|like| like.get(dimension)?.as_ref()?.as_constant());
    match (expr.as_constant(), known) {
        (Some(written), Some(known)) if written != known => Err(parser.error_at(
            start,
            ParseProblem::DifferentSize {
                written,
                dimension,
                known,
            },
        )),
        _ => Ok(expr),
    }
}

/// The size that a placeholder stands for.
fn known_size(
    parser: &Parser<'_>,
    placeholder: &'static str,
    like: Option<&[Option<Expr>]>,
    dimension: usize,
) -> Result<Expr, ParseError> {
    let problem = match like.map(|like| (like.len(), like.get(dimension))) {
        Some((_, Some(Some(size)))) => return Ok(size.clone()),
        Some((_, Some(None))) => ParseProblem::PlaceholderUnknown {
            placeholder,
            dimension,
        },
        Some((rank, None)) => ParseProblem::PlaceholderPastEnd {
            placeholder,
            parsed: dimension,
            rank,
        },
        None => ParseProblem::Placeholder { placeholder },
    };
    Err(parser.error(problem))
}
