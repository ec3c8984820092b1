//! Random expression trees, evaluated by a second implementation of the semantics.

use std::fmt;

use artifact_dims::{Assignment, Variable};

/// A linear congruential generator (Knuth, MMIX).
#[derive(Clone, Debug)]
pub(crate) struct Random(u64);

impl Random {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed)
    }

    pub(crate) fn below(&mut self, below: usize) -> usize {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % below
    }
}

/// An expression as it is written.
#[derive(Clone, Debug)]
pub(crate) enum Tree {
    Number(i64),
    Name(&'static str),
    Power(Box<Tree>, u32),
    Binary(&'static str, Box<Tree>, Box<Tree>),
    Call(&'static str, Box<Tree>, Box<Tree>),
}

impl Tree {
    pub(crate) fn random(random: &mut Random, depth: u32) -> Self {
        let operand = |random: &mut Random| Box::new(Self::random(random, depth.saturating_sub(1)));
        if depth == 0 || random.below(5) == 0 {
            return match random.below(3) {
                0 => Self::Number(random.below(9) as i64 - 3),
                _ => Self::Name(["a", "b", "c"][random.below(3)]),
            };
        }
        match random.below(12) {
            0..7 => {
                let operator = ["+", "-", "+", "-", "*", "//", "%"][random.below(7)];
                Self::Binary(operator, operand(random), operand(random))
            }
            7 => Self::Power(operand(random), random.below(4) as u32),
            _ => {
                let name = ["max", "min", "floordiv", "mod"][random.below(4)];
                Self::Call(name, operand(random), operand(random))
            }
        }
    }

    /// The value, if there is one and it is small.
    pub(crate) fn value(&self, values: &Assignment) -> Option<i64> {
        let value = match self {
            Self::Number(number) => *number,
            Self::Name(name) => values.get(&Variable::new(name).ok()?)?,
            Self::Power(base, exponent) => base.value(values)?.checked_pow(*exponent)?,
            Self::Binary(operator, left, right) | Self::Call(operator, left, right) => {
                let (a, b) = (left.value(values)?, right.value(values)?);
                match *operator {
                    "+" => a.checked_add(b)?,
                    "-" => a.checked_sub(b)?,
                    "*" => a.checked_mul(b)?,
                    "max" => a.max(b),
                    "min" => a.min(b),
                    "//" | "floordiv" => python_division(a, b)?.0,
                    "%" | "mod" => python_division(a, b)?.1,
                    other => panic!("{other}"),
                }
            }
        };
        (value.abs() < 1 << 40).then_some(value)
    }
}

/// Quotient and remainder with `0 <= r < b` for `b > 0` and `b < r <= 0` for `b < 0`, by counting down from truncation.
fn python_division(a: i64, b: i64) -> Option<(i64, i64)> {
    let (mut quotient, mut remainder) = (a.checked_div(b)?, a.checked_rem(b)?);
    if remainder != 0 && (remainder < 0) != (b < 0) {
        quotient -= 1;
        remainder += b;
    }
    Some((quotient, remainder))
}

impl fmt::Display for Tree {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Number(number) if *number < 0 => write!(f, "(-{})", number.unsigned_abs()),
            Self::Number(number) => write!(f, "{number}"),
            Self::Name(name) => f.write_str(name),
            Self::Power(base, exponent) => write!(f, "({base})^{exponent}"),
            Self::Binary(operator, left, right) => write!(f, "({left} {operator} {right})"),
            Self::Call(name, left, right) => write!(f, "{name}({left}, {right})"),
        }
    }
}
