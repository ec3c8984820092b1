//! The largest elements and their places.

use artifact_eval::scalar::Scalar;
use artifact_eval::tensor::Tensor;

use super::Run;
use super::matrix::rows;

/// Each value stands in the operand where its index says, no index comes twice, and the values of each row are the expected
/// ones in any order. Values are copied, so they are equal, not close.
pub(super) fn top_k(run: &Run<'_>) -> Result<(), String> {
    let [values, indices] = run.results()?;
    let [wanted, _] = run.wanted()?;
    let operand = run.operand()?;
    if operand.storage() != values.storage() {
        return Err(format!(
            "the operand is a {}, the values are a {}",
            operand.ty(),
            values.ty()
        ));
    }
    let places = integers(indices, "the indices")?;
    let (searched, found) = (scalars(operand, "the operand")?, scalars(values, "the values")?);
    let wanted = scalars(wanted, "the expected values")?;
    if [searched.len(), found.len(), wanted.len()] != [places.len(); 3] {
        return Err("operand and results have different numbers of rows".to_owned());
    }
    for (row, places) in places.iter().enumerate() {
        let judge = || {
            at_places(&searched[row], &found[row], places)?;
            if sorted(&found[row]) == sorted(&wanted[row]) {
                Ok(())
            } else {
                Err("the values are not those that are expected".to_owned())
            }
        };
        judge().map_err(|reason: String| format!("row {row}: {reason}"))?;
    }
    Ok(())
}

fn at_places(searched: &[Scalar], found: &[Scalar], places: &[i128]) -> Result<(), String> {
    if found.len() != places.len() {
        return Err(format!(
            "there are {} values and {} indices",
            found.len(),
            places.len()
        ));
    }
    let mut taken = vec![false; searched.len()];
    for (value, place) in found.iter().zip(places) {
        let position = usize::try_from(*place).ok();
        let stands = position.and_then(|place| searched.get(place).zip(taken.get_mut(place)));
        let Some((element, taken)) = stands else {
            return Err(format!("index {place} is outside of {} elements", searched.len()));
        };
        if std::mem::replace(taken, true) {
            return Err(format!("index {place} comes twice"));
        }
        if sort_key(*element) != sort_key(*value) {
            return Err(format!(
                "index {place} stands for {element}, and the value is {value}"
            ));
        }
    }
    Ok(())
}

fn scalars(tensor: &Tensor, what: &str) -> Result<Vec<Vec<Scalar>>, String> {
    rows(tensor, &tensor.scalars().collect::<Vec<_>>(), what)
}

/// The rows of a tensor of integers.
pub(super) fn integers(tensor: &Tensor, what: &str) -> Result<Vec<Vec<i128>>, String> {
    let integers = tensor.to_ints();
    let integers = integers.ok_or_else(|| format!("{what}: a {} has no integers", tensor.ty()))?;
    rows(tensor, &integers, what)
}

fn sorted(row: &[Scalar]) -> Vec<(i128, u64, u64)> {
    let mut keys: Vec<_> = row.iter().map(|scalar| sort_key(*scalar)).collect();
    keys.sort_unstable();
    keys
}

/// The same for equal elements only: for both zeros, and for every not-a-number.
fn sort_key(scalar: Scalar) -> (i128, u64, u64) {
    let bits = |part: f64| match part {
        0.0 => 0,
        part if part.is_nan() => u64::MAX,
        part => part.to_bits(),
    };
    match scalar {
        Scalar::Bool(value) => (i128::from(value), 0, 0),
        Scalar::Int(value) => (value, 0, 0),
        Scalar::Float(value) => (0, bits(value), 0),
        Scalar::Complex(re, im) => (0, bits(re), bits(im)),
    }
}
