//! Shape assertions: `custom_call @shape_assertion`, by which JAX's exports check the sizes that they are called with.

use artifact_dims::{Constraint, Expr};
use artifact_ir::attribute::Attribute;
use artifact_ir::diagnostic::SourceOffset;
use artifact_ir::module::Operation;

use crate::error::{RefineError, RefineProblem};
use crate::fact::Fact;
use crate::known::{Condition, Element, is_anonymous};

/// The target's name.
pub(crate) const TARGET: &str = "shape_assertion";

/// An assertion that holds for some sizes only, or of which that is not known.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Assertion {
    /// What must hold, all of it; `None` where it is no condition on dimensions.
    pub constraints: Option<Vec<Constraint>>,
    /// The message, with `{0}` for the first of the values and so on.
    pub message: String,
    /// What the message names; `None` where it is no expression.
    pub values: Vec<Option<Expr>>,
    /// The operation.
    pub source: SourceOffset,
}

/// The assertion that an operation makes; `None` where it always holds.
///
/// # Errors
/// With the filled-in message, where it never holds.
pub(crate) fn examine(op: &Operation, operands: &[Fact]) -> Result<Option<Assertion>, RefineError> {
    let message = match op.attributes.get("error_message") {
        Some(Attribute::String(text)) => text.as_str().unwrap_or_default().to_owned(),
        _ => String::new(),
    };
    let value = |fact: &Fact| match fact.known.as_deref() {
        Some([Element::Int(value)]) if !is_anonymous(value) => Some(value.clone()),
        _ => None,
    };
    let condition = operands.first().and_then(|fact| match fact.known.as_deref() {
        Some([Element::Bool(condition)]) if !condition.is_anonymous() => Some(condition.clone()),
        _ => None,
    });
    let values: Vec<Option<Expr>> = operands.iter().skip(1).map(value).collect();
    match condition {
        Some(Condition::Known(true)) => Ok(None),
        Some(Condition::Known(false)) => Err(RefineError::new(RefineProblem::Assertion(filled(
            &message, &values,
        )))),
        other => Ok(Some(Assertion {
            constraints: other.map(|condition| constraints(&condition)),
            message,
            values,
            source: op.source,
        })),
    }
}

fn constraints(condition: &Condition) -> Vec<Constraint> {
    match condition {
        Condition::Known(_) => Vec::new(),
        Condition::Compare(constraint) => vec![constraint.clone()],
        Condition::All(parts) => parts.iter().flat_map(constraints).collect(),
    }
}

/// The message with its values in place of `{0}`, `{1}` and so on.
pub(crate) fn filled(message: &str, values: &[Option<Expr>]) -> String {
    let mut text = String::new();
    let mut rest = message;
    while let Some(open) = rest.find('{') {
        let (before, from) = rest.split_at(open);
        text.push_str(before);
        let close = from.find('}');
        let number = close.and_then(|close| from.get(1..close)?.parse::<usize>().ok());
        match (close, number.and_then(|number| values.get(number))) {
            (Some(close), Some(value)) => {
                let value = value.as_ref().map_or_else(|| "?".to_owned(), Expr::to_string);
                text.push_str(&value);
                rest = &from[close + 1..];
            }
            _ => {
                text.push('{');
                rest = &from[1..];
            }
        }
    }
    text.push_str(rest);
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_are_filled_in() {
        let values = [Some(Expr::constant(3)), None, "a + 1".parse().ok()];
        assert_eq!(filled("'b' = {0}, {2} and {1}", &values), "'b' = 3, a + 1 and ?");
        assert_eq!(filled("{3} {x} {", &values), "{3} {x} {");
    }
}
