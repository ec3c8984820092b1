//! Results as text.

use artifact_eval::scalar::Scalar;
use artifact_eval::tensor::Tensor;
use artifact_export::Argument;
use artifact_ir::types::ElementType;

use crate::failure::Outcome;
use crate::output::{self, one_line};

/// A result's name in an archive: its own, or its position where that cannot be a file name.
pub(super) fn array_name(name: &str, index: usize) -> String {
    let usable = |c: char| c.is_alphanumeric() || "_-.[]()' ".contains(c);
    /// What an entry of a zip file may be called, with room for the rest.
    const LENGTH_MAX: usize = 1 << 10;
    if name.len() <= LENGTH_MAX && name.chars().all(usable) && !name.starts_with('.') {
        name.to_owned()
    } else {
        format!("result{index}")
    }
}

/// Says what came out, small values in full.
pub(super) fn describe(outputs: &[Argument], results: &[Tensor]) -> Outcome<()> {
    const SHOWN_MAX: usize = 8;
    for (output, result) in outputs.iter().zip(results) {
        let shown: Vec<String> = result
            .scalars()
            .take(SHOWN_MAX)
            .map(|scalar| element_text(scalar, result.storage()))
            .collect();
        let more = if result.len() > SHOWN_MAX { ", ..." } else { "" };
        output::text(&format!(
            "{}: {} = [{}{more}]\n",
            one_line(&output.name),
            result.ty(),
            shown.join(", ")
        ))?;
    }
    Ok(())
}

/// An element, with no more digits than its type holds.
fn element_text(scalar: Scalar, ty: ElementType) -> String {
    match scalar {
        Scalar::Float(value) if ty != ElementType::F64 => format!("{:?}", value as f32),
        Scalar::Complex(real, imag) if ty == ElementType::C64 => {
            format!("({:?}, {:?})", real as f32, imag as f32)
        }
        other => other.to_string(),
    }
}
