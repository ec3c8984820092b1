//! Products: `matmul` and `einsum`.

use artifact_dims::Expr;
use artifact_ir::attribute::DotDimensionNumbers;
use artifact_ir::op::{Contraction, DotGeneral};

use crate::tensor::{Tensor, here};
use crate::trace::{Place, type_of};

impl Tensor {
    /// The product of matrices, of vectors, and of stacks of matrices that broadcast (NumPy, `matmul`).
    #[track_caller]
    #[must_use]
    pub fn matmul(&self, other: &Self) -> Self {
        let place = here();
        if self.rank() == 0 || other.rank() == 0 {
            return self.mistaken(
                place,
                format!("{self:?} and {other:?} are not both matrices or vectors"),
            );
        }
        let stacked = self.rank().max(other.rank()).saturating_sub(2);
        let letters = |count: usize| {
            (0..count)
                .map(|index| (b'a' + index as u8) as char)
                .collect::<String>()
        };
        if stacked > 20 {
            return self.mistaken(place, "stacks of more than 20 dimensions are not multiplied");
        }
        let (all, row, inner, column) = (letters(stacked), 'x', 'y', 'z');
        let own = |rank: usize| &all[stacked - rank.saturating_sub(2).min(stacked)..];
        let left = match self.rank() {
            1 => inner.to_string(),
            rank => format!("{}{row}{inner}", own(rank)),
        };
        let right = match other.rank() {
            1 => inner.to_string(),
            rank => format!("{}{inner}{column}", own(rank)),
        };
        let mut result = all.clone();
        if self.rank() > 1 {
            result.push(row);
        }
        if other.rank() > 1 {
            result.push(column);
        }
        self.contracted(place, other, &format!("{left},{right}->{result}"))
    }

    /// Einstein's sum over two tensors, such as `bik,bkj->bij`: letters in both and not in the result are summed over.
    /// Letters that only one of them has and the result has not are summed over too.
    #[track_caller]
    #[must_use]
    pub fn einsum(&self, other: &Self, equation: &str) -> Self {
        self.contracted(here(), other, equation)
    }

    fn contracted(&self, place: Place, other: &Self, equation: &str) -> Self {
        let [left, right, result] = match letters(equation) {
            Ok(letters) => letters,
            Err(message) => return self.mistaken(place, message),
        };
        for (tensor, letters) in [(self, &left), (other, &right)] {
            if tensor.rank() != letters.len() {
                let message = format!("`{equation}` has {} letters for {tensor:?}", letters.len());
                return self.mistaken(place, message);
            }
        }
        if self.dtype != other.dtype {
            return self.mistaken(
                place,
                format!("the element types of {self:?} and {other:?} differ: convert one of them"),
            );
        }
        // What only one side has and nobody wants is summed over first.
        let only = |own: &[char], others: &[char]| -> Vec<i64> {
            let gone = own.iter().enumerate();
            gone.filter(|(_, letter)| !others.contains(letter) && !result.contains(letter))
                .map(|(index, _)| index as i64)
                .collect()
        };
        let (gone_left, gone_right) = (only(&left, &right), only(&right, &left));
        let rest = |letters: &[char], gone: &[i64]| -> Vec<char> {
            let kept = letters.iter().enumerate();
            kept.filter(|(index, _)| !gone.contains(&(*index as i64)))
                .map(|(_, letter)| *letter)
                .collect()
        };
        let a = if gone_left.is_empty() {
            self.clone()
        } else {
            self.sum(&gone_left)
        };
        let b = if gone_right.is_empty() {
            other.clone()
        } else {
            other.sum(&gone_right)
        };
        let (left, right) = (rest(&left, &gone_left), rest(&right, &gone_right));
        match self.sizes_agree(&a, &left, &b, &right) {
            Ok(()) => a.dot(place, &left, &b, &right, &result),
            Err(message) => self.mistaken(place, message),
        }
    }

    fn sizes_agree(&self, a: &Self, left: &[char], b: &Self, right: &[char]) -> Result<(), String> {
        for (index, letter) in left.iter().enumerate() {
            if let Some(other) = right.iter().position(|right| right == letter) {
                let what = format!("{a:?} and {b:?} cannot be multiplied: sizes");
                self.ensure_equal(&what, &a.shape[index], &b.shape[other])?;
            }
        }
        Ok(())
    }

    /// `dot_general`, whose result has batching dimensions, then those of the left side, then those of the right one.
    fn dot(&self, place: Place, left: &[char], other: &Self, right: &[char], result: &[char]) -> Self {
        let at = |letters: &[char], letter: char| letters.iter().position(|other| *other == letter);
        let shared: Vec<char> = left
            .iter()
            .copied()
            .filter(|letter| right.contains(letter))
            .collect();
        let (batching, contracting): (Vec<char>, Vec<char>) =
            shared.iter().partition(|letter| result.contains(letter));
        let positions = |letters: &[char], wanted: &[char]| -> Vec<i64> {
            wanted
                .iter()
                .filter_map(|letter| at(letters, *letter))
                .map(|index| index as i64)
                .collect()
        };
        let numbers = DotDimensionNumbers {
            lhs_batching_dimensions: positions(left, &batching),
            rhs_batching_dimensions: positions(right, &batching),
            lhs_contracting_dimensions: positions(left, &contracting),
            rhs_contracting_dimensions: positions(right, &contracting),
        };
        let own = |letters: &[char]| {
            letters
                .iter()
                .copied()
                .filter(|letter| !shared.contains(letter))
                .collect::<Vec<_>>()
        };
        let order: Vec<char> = [batching, own(left), own(right)].concat();
        let size = |letter: &char| match (at(left, *letter), at(right, *letter)) {
            (Some(index), _) => self.shape[index].clone(),
            (None, Some(index)) => other.shape[index].clone(),
            (None, None) => Expr::constant(1),
        };
        let shape: Vec<Expr> = order.iter().map(size).collect();
        let product = self.traced(place, shape.clone(), self.dtype, |trace| {
            let op = Contraction::DotGeneral(Box::new(DotGeneral {
                dot_dimension_numbers: numbers,
                precision_config: None,
                algorithm: None,
            }));
            trace.emit(op, &[self.value, other.value], type_of(&shape, self.dtype))
        });
        if order == result {
            return product;
        }
        let order: Vec<i64> = positions(&order, result);
        product.transpose(&order)
    }
}

/// The letters of both operands and of the result.
fn letters(equation: &str) -> Result<[Vec<char>; 3], String> {
    let form = || format!("`{equation}` is not of the form `ab,bc->ac`");
    let (operands, result) = equation.split_once("->").ok_or_else(form)?;
    let (left, right) = operands.split_once(',').ok_or_else(form)?;
    let lists = [left, right, result].map(|text| text.trim().chars().collect::<Vec<char>>());
    for list in &lists {
        let mut sorted = list.clone();
        sorted.sort_unstable();
        sorted.dedup();
        if sorted.len() != list.len() || !list.iter().all(char::is_ascii_alphabetic) {
            return Err(format!(
                "`{equation}` has a letter twice in one place, or something that is no letter"
            ));
        }
    }
    match lists[2]
        .iter()
        .find(|letter| !lists[0].contains(letter) && !lists[1].contains(letter))
    {
        Some(letter) => Err(format!(
            "the result of `{equation}` has `{letter}`, which no operand has"
        )),
        None => Ok(lists),
    }
}
