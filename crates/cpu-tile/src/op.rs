//! Which routines there are: their names, and the operations of the IR that they are for.

use std::fmt;

use artifact_ir::attribute::{ComparisonDirection, ComparisonType};
use artifact_ir::op::{Binary, Chlo, Elementwise, Op, Unary};
use artifact_ir::types::{ElementClass, ElementType};

use crate::registry::registry;

macro_rules! names {
    ($(#[$meta:meta])* $enum:ident { $($variant:ident = $name:literal,)* }) => {
        $(#[$meta])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[expect(missing_docs, reason = "the variants are named as the operations of the dialects are")]
        pub enum $enum { $($variant,)* }

        impl $enum {
            /// The name, as it stands in a [`TileOp`]'s.
            #[must_use]
            pub const fn name(self) -> &'static str {
                match self { $(Self::$variant => $name,)* }
            }
        }
    };
}

names! {
    /// Operations on one element.
    UnaryOp {
        Abs = "abs", Acos = "acos", Acosh = "acosh", Asin = "asin", Asinh = "asinh", Atan = "atan", Atanh = "atanh",
        Cbrt = "cbrt", Ceil = "ceil", Conj = "conj", Cosh = "cosh", Cosine = "cosine",
        CountLeadingZeros = "count_leading_zeros", Digamma = "digamma", Erf = "erf", Erfc = "erfc", ErfInv = "erf_inv",
        Exponential = "exponential", ExponentialMinusOne = "exponential_minus_one", Floor = "floor", Imag = "imag",
        IsFinite = "is_finite", IsInf = "is_inf", IsNegInf = "is_neg_inf", IsPosInf = "is_pos_inf", Lgamma = "lgamma",
        Log = "log", LogPlusOne = "log_plus_one", Logistic = "logistic", Negate = "negate", Not = "not",
        Popcnt = "popcnt", Real = "real", RoundNearestAfz = "round_nearest_afz",
        RoundNearestEven = "round_nearest_even", Rsqrt = "rsqrt", Sign = "sign", Sine = "sine", Sinh = "sinh",
        Sqrt = "sqrt", Square = "square", Tan = "tan", Tanh = "tanh",
    }
}

names! {
    /// Operations on two elements of one type.
    BinaryOp {
        Add = "add", And = "and", Atan2 = "atan2", Complex = "complex", Divide = "divide", Maximum = "maximum",
        Minimum = "minimum", Mulhi = "mulhi", Multiply = "multiply", Or = "or", Power = "power",
        Remainder = "remainder", ShiftLeft = "shift_left", ShiftRightArithmetic = "shift_right_arithmetic",
        ShiftRightLogical = "shift_right_logical", Subtract = "subtract", Xor = "xor",
    }
}

names! {
    /// Operations of reductions.
    CombineOp {
        Add = "add", Multiply = "multiply", Maximum = "maximum", Minimum = "minimum", And = "and", Or = "or", Xor = "xor",
    }
}

/// How floats are compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Order {
    /// As numbers: NaN is unordered, the zeros are equal. Any type has this one.
    Natural,
    /// By the total order of IEEE 754. Real floats have this one too.
    Total,
}

/// Width of an element that is moved as it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[expect(missing_docs, reason = "the variants are named for the number of bytes")]
pub enum Width {
    B1,
    B2,
    B4,
    B8,
    B16,
}

impl Width {
    /// All widths.
    pub const ALL: [Self; 5] = [Self::B1, Self::B2, Self::B4, Self::B8, Self::B16];

    /// The width of so many bytes.
    #[must_use]
    pub fn from_bytes(bytes: usize) -> Option<Self> {
        Self::ALL.into_iter().find(|width| width.bytes() == bytes)
    }

    /// The number of bytes.
    #[must_use]
    pub const fn bytes(self) -> usize {
        1 << self as usize
    }
}

/// A routine. `to` is `tiles[0]`, `a`, `b` and `c` are `tiles[1]` to `tiles[3]`; `[r, c]` is an element of a tile.
///
/// Not every combination exists: see [`TileOp::id`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum TileOp {
    /// `to[r, c] = op(a[r, c])`; `a` has elements of this type. `is_finite` and its like give `i1`, `abs`, `real` and `imag` of
    /// complex numbers real ones.
    Unary(UnaryOp, ElementType),
    /// `to[r, c] = op(a[r, c], b[r, c])`; operands have elements of this type, and so has the result unless `op` is `complex`.
    Binary(BinaryOp, ElementType),
    /// `to[r, c] = a[r, c] * b[r, c] + c[r, c]`, rounded once.
    MultiplyAdd(ElementType),
    /// `to[r, c] = a[r, c] ? b[r, c]`, a byte.
    Compare(ComparisonDirection, Order, ElementType),
    /// `to[r, c] = a[r, c] ? b[r, c] : c[r, c]`; `a` has a byte an element.
    Select(Width),
    /// `to[r, c] = a[r, c]`, converted.
    Convert {
        /// Type of the source.
        from: ElementType,
        /// Type of the destination.
        to: ElementType,
    },
    /// `to[r, c] = a[r, c]`.
    Copy(Width),
    /// `to[r, c] = a[r, 0]`: the source has one column.
    Fill(Width),
    /// `to[r, c] = start + r * row_step + c * col_step` in `i64`, converted, with the [`Affine`](crate::Affine) at `tiles[1].data`.
    Affine(ElementType),
    /// `to[r, c] = a[r, c * stride]`, with the [`ColumnStride`](crate::ColumnStride) at `tiles[2].data`.
    GatherStrided(Width),
    /// `to[r, c * stride] = a[r, c]`, with the [`ColumnStride`](crate::ColumnStride) at `tiles[2].data`.
    ScatterStrided(Width),
    /// `to[c, r] = a[r, c]`: the source has `rows` rows of `cols` elements, the destination `cols` rows of `rows`. Never in place.
    Transpose(Width),
    /// `to[r, l] = op(to[r, l], a[r, c])` for `l = c mod 16`, in order; `to` has 16 columns ([`LANES`](crate::LANES)).
    Reduce(CombineOp, ElementType),
    /// `to[r, l]` becomes the identity of `op`, for 16 columns whatever the number of columns is.
    LanesInit(CombineOp, ElementType),
    /// `to[r, 0]` becomes the 16 columns of `a[r]`, combined (l, l + 8), (l, l + 4), (l, l + 2), (l, l + 1).
    LanesCombine(CombineOp, ElementType),
}

// Types are five bits of a key, and what is done six.
const _: () = assert!(ElementType::ALL.len() <= 1 << 5);

impl TileOp {
    /// All routines that exist, by id.
    #[must_use]
    pub fn all() -> &'static [Self] {
        registry().ops()
    }

    /// The routine's index in [`table`](crate::table), the same for every level. `None` if there is no such routine.
    ///
    /// Ids are dense and do not change unless this crate does.
    #[must_use]
    pub fn id(self) -> Option<u16> {
        registry().id(self)
    }

    /// Keys are below this.
    pub(crate) const KEYS: usize = 16 << 11;

    /// A number that no other routine has: its kind, what it does, and its type, side by side.
    pub(crate) const fn key(self) -> usize {
        let (kind, what, ty) = match self {
            Self::Unary(op, ty) => (0, op as usize, ty as usize),
            Self::Binary(op, ty) => (1, op as usize, ty as usize),
            Self::MultiplyAdd(ty) => (2, 0, ty as usize),
            Self::Compare(direction, order, ty) => (3, 2 * direction as usize + order as usize, ty as usize),
            Self::Select(width) => (4, 0, width as usize),
            Self::Convert { from, to } => (5, from as usize, to as usize),
            Self::Copy(width) => (6, 0, width as usize),
            Self::Fill(width) => (7, 0, width as usize),
            Self::Affine(ty) => (8, 0, ty as usize),
            Self::GatherStrided(width) => (9, 0, width as usize),
            Self::ScatterStrided(width) => (10, 0, width as usize),
            Self::Transpose(width) => (11, 0, width as usize),
            Self::Reduce(op, ty) => (12, op as usize, ty as usize),
            Self::LanesInit(op, ty) => (13, op as usize, ty as usize),
            Self::LanesCombine(op, ty) => (14, op as usize, ty as usize),
        };
        kind << 11 | what << 5 | ty
    }

    /// The routine that computes an elementwise operation on elements of these types, all operands having as many elements.
    /// `None` if there is none, and for what is no elementwise operation.
    #[must_use]
    pub fn of(op: &Op, operands: &[ElementType], result: ElementType) -> Option<Self> {
        let first = *operands.first()?;
        let routine = match op {
            Op::Unary(op) => Self::Unary(unary(op), first),
            Op::Binary(op) => Self::Binary(binary(op), first),
            Op::Elementwise(op) => elementwise(op, operands, result)?,
            Op::Chlo(op) => chlo(op, first)?,
            _ => return None,
        };
        routine.id().map(|_| routine)
    }
}

const fn unary(op: &Unary) -> UnaryOp {
    match op {
        Unary::Abs => UnaryOp::Abs,
        Unary::Cbrt(_) => UnaryOp::Cbrt,
        Unary::Ceil => UnaryOp::Ceil,
        Unary::CountLeadingZeros => UnaryOp::CountLeadingZeros,
        Unary::Cosine(_) => UnaryOp::Cosine,
        Unary::Exponential(_) => UnaryOp::Exponential,
        Unary::ExponentialMinusOne(_) => UnaryOp::ExponentialMinusOne,
        Unary::Floor => UnaryOp::Floor,
        Unary::Imag => UnaryOp::Imag,
        Unary::IsFinite => UnaryOp::IsFinite,
        Unary::Log(_) => UnaryOp::Log,
        Unary::LogPlusOne(_) => UnaryOp::LogPlusOne,
        Unary::Logistic(_) => UnaryOp::Logistic,
        Unary::Negate => UnaryOp::Negate,
        Unary::Not => UnaryOp::Not,
        Unary::Popcnt => UnaryOp::Popcnt,
        Unary::Real => UnaryOp::Real,
        Unary::RoundNearestAfz => UnaryOp::RoundNearestAfz,
        Unary::RoundNearestEven => UnaryOp::RoundNearestEven,
        Unary::Rsqrt(_) => UnaryOp::Rsqrt,
        Unary::Sign => UnaryOp::Sign,
        Unary::Sine(_) => UnaryOp::Sine,
        Unary::Sqrt(_) => UnaryOp::Sqrt,
        Unary::Tan(_) => UnaryOp::Tan,
        Unary::Tanh(_) => UnaryOp::Tanh,
    }
}

const fn binary(op: &Binary) -> BinaryOp {
    match op {
        Binary::Add => BinaryOp::Add,
        Binary::And => BinaryOp::And,
        Binary::Atan2 => BinaryOp::Atan2,
        Binary::Divide => BinaryOp::Divide,
        Binary::Maximum => BinaryOp::Maximum,
        Binary::Minimum => BinaryOp::Minimum,
        Binary::Multiply => BinaryOp::Multiply,
        Binary::Or => BinaryOp::Or,
        Binary::Power => BinaryOp::Power,
        Binary::Remainder => BinaryOp::Remainder,
        Binary::ShiftLeft => BinaryOp::ShiftLeft,
        Binary::ShiftRightArithmetic => BinaryOp::ShiftRightArithmetic,
        Binary::ShiftRightLogical => BinaryOp::ShiftRightLogical,
        Binary::Subtract => BinaryOp::Subtract,
        Binary::Xor => BinaryOp::Xor,
    }
}

fn elementwise(op: &Elementwise, operands: &[ElementType], result: ElementType) -> Option<TileOp> {
    let first = *operands.first()?;
    Some(match op {
        // A change of width is a change of shape.
        Elementwise::BitcastConvert if first.bits() == result.bits() => {
            TileOp::Copy(Width::from_bytes(first.bytes())?)
        }
        Elementwise::Compare(compare) => {
            let is_total = compare.compare_type == Some(ComparisonType::TotalOrder);
            let is_float = matches!(first.class(), ElementClass::Float | ElementClass::Complex);
            let order = if is_total && is_float {
                Order::Total
            } else {
                Order::Natural
            };
            TileOp::Compare(compare.comparison_direction, order, first)
        }
        Elementwise::Complex => TileOp::Binary(BinaryOp::Complex, first),
        Elementwise::Convert if first == result => TileOp::Copy(Width::from_bytes(first.bytes())?),
        Elementwise::Convert => TileOp::Convert {
            from: first,
            to: result,
        },
        Elementwise::Select => TileOp::Select(Width::from_bytes(result.bytes())?),
        Elementwise::BitcastConvert
        | Elementwise::Clamp
        | Elementwise::ReducePrecision(_)
        | Elementwise::UniformDequantize
        | Elementwise::UniformQuantize => return None,
    })
}

/// Operations with implicit broadcasting are left out, because their operands may have other shapes than the result.
fn chlo(op: &Chlo, first: ElementType) -> Option<TileOp> {
    let unary = match op {
        Chlo::Acos => UnaryOp::Acos,
        Chlo::Acosh => UnaryOp::Acosh,
        Chlo::Asin => UnaryOp::Asin,
        Chlo::Asinh => UnaryOp::Asinh,
        Chlo::Atan => UnaryOp::Atan,
        Chlo::Atanh => UnaryOp::Atanh,
        Chlo::Conj => UnaryOp::Conj,
        Chlo::Cosh => UnaryOp::Cosh,
        Chlo::Digamma => UnaryOp::Digamma,
        Chlo::Erf => UnaryOp::Erf,
        Chlo::ErfInv => UnaryOp::ErfInv,
        Chlo::Erfc => UnaryOp::Erfc,
        Chlo::IsInf => UnaryOp::IsInf,
        Chlo::IsNegInf => UnaryOp::IsNegInf,
        Chlo::IsPosInf => UnaryOp::IsPosInf,
        Chlo::Lgamma => UnaryOp::Lgamma,
        Chlo::Sinh => UnaryOp::Sinh,
        Chlo::Square => UnaryOp::Square,
        Chlo::Tan => UnaryOp::Tan,
        Chlo::Mulhi => return Some(TileOp::Binary(BinaryOp::Mulhi, first)),
        _ => return None,
    };
    Some(TileOp::Unary(unary, first))
}

/// `tanh.f32`, `compare.lt.total.f32`, `convert.f64.bf16`, `copy.4`: the name, then what it is for.
impl fmt::Display for TileOp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unary(op, ty) => write!(f, "{}.{}", op.name(), short(*ty)),
            Self::Binary(op, ty) => write!(f, "{}.{}", op.name(), short(*ty)),
            Self::MultiplyAdd(ty) => write!(f, "multiply_add.{}", short(*ty)),
            Self::Compare(direction, order, ty) => {
                let direction = direction.name().to_ascii_lowercase();
                let order = match order {
                    Order::Natural => "",
                    Order::Total => ".total",
                };
                write!(f, "compare.{direction}{order}.{}", short(*ty))
            }
            Self::Select(width) => write!(f, "select.{}", width.bytes()),
            Self::Convert { from, to } => write!(f, "convert.{}.{}", short(*from), short(*to)),
            Self::Copy(width) => write!(f, "copy.{}", width.bytes()),
            Self::Fill(width) => write!(f, "fill.{}", width.bytes()),
            Self::Affine(ty) => write!(f, "affine.{}", short(*ty)),
            Self::GatherStrided(width) => write!(f, "gather_strided.{}", width.bytes()),
            Self::ScatterStrided(width) => write!(f, "scatter_strided.{}", width.bytes()),
            Self::Transpose(width) => write!(f, "transpose.{}", width.bytes()),
            Self::Reduce(op, ty) => write!(f, "reduce.{}.{}", op.name(), short(*ty)),
            Self::LanesInit(op, ty) => write!(f, "lanes_init.{}.{}", op.name(), short(*ty)),
            Self::LanesCombine(op, ty) => write!(f, "lanes_combine.{}.{}", op.name(), short(*ty)),
        }
    }
}

/// A type's name without brackets.
const fn short(ty: ElementType) -> &'static str {
    match ty {
        ElementType::C64 => "c64",
        ElementType::C128 => "c128",
        other => other.name(),
    }
}
