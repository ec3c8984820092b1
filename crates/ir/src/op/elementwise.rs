//! Operations that work element by element.

use super::{n, op_family};
use crate::attribute::{ComparisonDirection, ComparisonType, ResultAccuracy, op_attributes};

op_family! {
    /// One operand, one result of the same shape (spec, each operation under its own name).
    Unary {
        /// Absolute value; the magnitude of a complex number.
        Abs = "stablehlo.abs": n(1) => n(1),
        /// Cube root.
        Cbrt(Transcendental) = "stablehlo.cbrt": n(1) => n(1),
        /// Round towards positive infinity.
        Ceil = "stablehlo.ceil": n(1) => n(1),
        /// Number of leading zero bits.
        CountLeadingZeros = "stablehlo.count_leading_zeros": n(1) => n(1),
        /// Cosine.
        Cosine(Transcendental) = "stablehlo.cosine": n(1) => n(1),
        /// e to the power of the operand.
        Exponential(Transcendental) = "stablehlo.exponential": n(1) => n(1),
        /// e to the power of the operand, minus one.
        ExponentialMinusOne(Transcendental) = "stablehlo.exponential_minus_one": n(1) => n(1),
        /// Round towards negative infinity.
        Floor = "stablehlo.floor": n(1) => n(1),
        /// Imaginary part; 0 for a real number.
        Imag = "stablehlo.imag": n(1) => n(1),
        /// Neither infinite nor NaN.
        IsFinite = "stablehlo.is_finite": n(1) => n(1),
        /// Natural logarithm.
        Log(Transcendental) = "stablehlo.log": n(1) => n(1),
        /// Natural logarithm of one plus the operand.
        LogPlusOne(Transcendental) = "stablehlo.log_plus_one": n(1) => n(1),
        /// 1 / (1 + e^-x).
        Logistic(Transcendental) = "stablehlo.logistic": n(1) => n(1),
        /// Negation; integers wrap.
        Negate = "stablehlo.negate": n(1) => n(1),
        /// Bitwise or logical not.
        Not = "stablehlo.not": n(1) => n(1),
        /// Number of bits set.
        Popcnt = "stablehlo.popcnt": n(1) => n(1),
        /// Real part.
        Real = "stablehlo.real": n(1) => n(1),
        /// Round to nearest, ties away from zero.
        RoundNearestAfz = "stablehlo.round_nearest_afz": n(1) => n(1),
        /// Round to nearest, ties to even.
        RoundNearestEven = "stablehlo.round_nearest_even": n(1) => n(1),
        /// Reciprocal of the square root.
        Rsqrt(Transcendental) = "stablehlo.rsqrt": n(1) => n(1),
        /// Sign.
        Sign = "stablehlo.sign": n(1) => n(1),
        /// Sine.
        Sine(Transcendental) = "stablehlo.sine": n(1) => n(1),
        /// Square root.
        Sqrt(Transcendental) = "stablehlo.sqrt": n(1) => n(1),
        /// Tangent.
        Tan(Transcendental) = "stablehlo.tan": n(1) => n(1),
        /// Hyperbolic tangent.
        Tanh(Transcendental) = "stablehlo.tanh": n(1) => n(1),
    }
}

op_family! {
    /// Two operands and a result of one shape and, up to quantization, one element type.
    Binary {
        /// Sum; logical or for booleans; integers wrap.
        Add = "stablehlo.add": n(2) => n(1),
        /// Bitwise or logical and.
        And = "stablehlo.and": n(2) => n(1),
        /// Angle of the point (rhs, lhs).
        Atan2 = "stablehlo.atan2": n(2) => n(1),
        /// Quotient; integers truncate.
        Divide = "stablehlo.divide": n(2) => n(1),
        /// Larger value; logical or for booleans; NaN wins.
        Maximum = "stablehlo.maximum": n(2) => n(1),
        /// Smaller value; logical and for booleans; NaN wins.
        Minimum = "stablehlo.minimum": n(2) => n(1),
        /// Product; logical and for booleans; integers wrap.
        Multiply = "stablehlo.multiply": n(2) => n(1),
        /// Bitwise or logical or.
        Or = "stablehlo.or": n(2) => n(1),
        /// lhs to the power of rhs.
        Power = "stablehlo.power": n(2) => n(1),
        /// Remainder with the sign of the dividend.
        Remainder = "stablehlo.remainder": n(2) => n(1),
        /// Shift left; 0 from the width on.
        ShiftLeft = "stablehlo.shift_left": n(2) => n(1),
        /// Shift right, filling with the sign.
        ShiftRightArithmetic = "stablehlo.shift_right_arithmetic": n(2) => n(1),
        /// Shift right, filling with zeros.
        ShiftRightLogical = "stablehlo.shift_right_logical": n(2) => n(1),
        /// Difference; integers wrap.
        Subtract = "stablehlo.subtract": n(2) => n(1),
        /// Bitwise or logical exclusive or.
        Xor = "stablehlo.xor": n(2) => n(1),
    }
}

op_family! {
    /// Other operations that work element by element.
    Elementwise {
        /// Reinterprets bits; the rank changes when the widths differ.
        BitcastConvert = "stablehlo.bitcast_convert": n(1) => n(1),
        /// min, operand, max.
        Clamp = "stablehlo.clamp": n(3) => n(1),
        /// A boolean for each pair.
        Compare(Compare) = "stablehlo.compare": n(2) => n(1),
        /// Complex numbers from real and imaginary parts.
        Complex = "stablehlo.complex": n(2) => n(1),
        /// Between element types.
        Convert = "stablehlo.convert": n(1) => n(1),
        /// Rounds to a format given by its widths and back.
        ReducePrecision(ReducePrecision) = "stablehlo.reduce_precision": n(1) => n(1),
        /// pred, on_true, on_false.
        Select = "stablehlo.select": n(3) => n(1),
        /// From quantized to expressed type.
        UniformDequantize = "stablehlo.uniform_dequantize": n(1) => n(1),
        /// To a quantized type, from a float or another quantized type.
        UniformQuantize = "stablehlo.uniform_quantize": n(1) => n(1),
    }
}

op_attributes! {
    /// What all transcendental operations take.
    Transcendental {
        /// The accuracy asked for.
        result_accuracy: ResultAccuracy => default(ResultAccuracy::default()),
    }

    /// Attributes of `compare`.
    Compare {
        /// Which comparison.
        comparison_direction: ComparisonDirection => required,
        /// How values are ordered; by default what the element type says.
        compare_type: Option<ComparisonType> => optional,
    }

    /// Attributes of `reduce_precision`.
    ReducePrecision {
        /// Width of the exponent.
        exponent_bits: i32 => required,
        /// Width of the mantissa.
        mantissa_bits: i32 => required,
    }
}
