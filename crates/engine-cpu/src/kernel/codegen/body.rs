//! Operations on lanes, as vectors or one at a time.

use artifact_core::entity::EntityId as _;
use artifact_ir::attribute::ComparisonDirection;
use artifact_ir::op::{Binary, Elementwise, Op, Unary};
use artifact_ir::types::ElementType;
use artifact_lower::kernel::{Instr, InstrId, InstrKind, Kernel};
use cranelift_codegen::ir::condcodes::{FloatCC, IntCC};
use cranelift_codegen::ir::types::{F32, F64, I8, I8X16, I16, I32, I32X4, I64, I64X2, Type};
use cranelift_codegen::ir::{Endianness, InstBuilder as _, MemFlagsData, Value};
use cranelift_frontend::FunctionBuilder;

use super::{lanes, vector_type};

/// How values of a loop are held. Booleans are masks of all ones in vectors, and a byte of 0 or 1 alone.
#[derive(Clone, Copy)]
pub(super) struct Lanes {
    pub(super) width: usize,
    pub(super) is_vector: bool,
}

/// Where elements lie: an address, and bytes from there.
#[derive(Clone, Copy)]
pub(super) struct Place {
    pub(super) address: Value,
    pub(super) offset: i32,
}

type Builder<'a, 'b> = &'a mut FunctionBuilder<'b>;

fn memory() -> MemFlagsData {
    // Accesses stay within arrays, at any alignment.
    MemFlagsData::new().with_notrap()
}

fn bits() -> MemFlagsData {
    MemFlagsData::new().with_endianness(Endianness::Little)
}

const fn scalar_type(element: ElementType) -> Type {
    match element {
        ElementType::F32 => F32,
        ElementType::F64 => F64,
        ElementType::I64 | ElementType::UI64 => I64,
        ElementType::I1 => I8,
        _ => I32,
    }
}

impl Lanes {
    fn ty(self, element: ElementType) -> Type {
        if self.is_vector {
            vector_type(self.width, element.is_float())
        } else {
            scalar_type(element)
        }
    }

    fn mask_ty(self) -> Type {
        vector_type(self.width, false)
    }

    fn spread(self, builder: Builder<'_, '_>, element: ElementType, value: Value) -> Value {
        if !self.is_vector {
            return value;
        }
        if element.is_boolean() {
            // 0 or 1 becomes no bits or all of them.
            let wide = if self.width == 4 { I32 } else { I64 };
            let value = builder.ins().uextend(wide, value);
            let value = builder.ins().ineg(value);
            return builder.ins().splat(self.mask_ty(), value);
        }
        builder.ins().splat(self.ty(element), value)
    }

    pub(super) fn constant(self, builder: Builder<'_, '_>, element: ElementType, bytes: &[u8]) -> Value {
        let mut wide = [0; 8];
        wide[..bytes.len().min(8)].copy_from_slice(&bytes[..bytes.len().min(8)]);
        let number = u64::from_le_bytes(wide);
        let value = match element {
            ElementType::F32 => builder.ins().f32const(f32::from_bits(number as u32)),
            ElementType::F64 => builder.ins().f64const(f64::from_bits(number)),
            _ => {
                let ty = scalar_type(element);
                builder.ins().iconst(ty, number as i64)
            }
        };
        self.spread(builder, element, value)
    }

    pub(super) fn load_row(self, builder: Builder<'_, '_>, element: ElementType, pointer: Value) -> Value {
        let value = builder.ins().load(scalar_type(element), memory(), pointer, 0);
        self.spread(builder, element, value)
    }

    pub(super) fn load(self, builder: Builder<'_, '_>, element: ElementType, place: Place) -> Value {
        let Place { address, offset } = place;
        if !self.is_vector || !element.is_boolean() {
            return builder.ins().load(self.ty(element), memory(), address, offset);
        }
        let ty = if self.width == 4 { I32 } else { I16 };
        let mut packed = builder.ins().load(ty, memory(), address, offset);
        if self.width == 8 {
            packed = builder.ins().uextend(I32, packed);
        }
        let packed = builder.ins().scalar_to_vector(I32X4, packed);
        let packed = builder.ins().bitcast(I8X16, bits(), packed);
        let halves = builder.ins().uwiden_low(packed);
        let mut lanes = builder.ins().uwiden_low(halves);
        if self.width == 8 {
            lanes = builder.ins().uwiden_low(lanes);
        }
        builder.ins().ineg(lanes)
    }

    pub(super) fn store(self, builder: Builder<'_, '_>, element: ElementType, value: Value, place: Place) {
        let Place { address, offset } = place;
        if !self.is_vector || !element.is_boolean() {
            builder.ins().store(memory(), value, address, offset);
            return;
        }
        if self.width == 8 {
            for lane in 0..2 {
                let bit = builder.ins().extractlane(value, lane);
                let bit = builder.ins().band_imm_s(bit, 1);
                builder
                    .ins()
                    .istore8(memory(), bit, address, offset + i32::from(lane));
            }
            return;
        }
        let one = builder.ins().iconst(I32, 1);
        let ones = builder.ins().splat(I32X4, one);
        let lanes = builder.ins().band(value, ones);
        let halves = builder.ins().snarrow(lanes, lanes);
        let packed = builder.ins().snarrow(halves, halves);
        let packed = builder.ins().bitcast(I32X4, bits(), packed);
        let packed = builder.ins().extractlane(packed, 0);
        builder.ins().store(memory(), packed, address, offset);
    }

    /// Computes a value of a kernel's body.
    pub(super) fn apply(
        self,
        builder: Builder<'_, '_>,
        kernel: &Kernel,
        id: InstrId,
        operands: &[Value],
    ) -> Value {
        let Instr { kind, element, .. } = &kernel.body[id.index()];
        let of = |index: usize| {
            let operand = kind.operands().get(index);
            operand.map_or(*element, |operand| kernel.body[operand.index()].element)
        };
        match (kind, operands) {
            (InstrKind::MultiplyAdd(_), [a, b, c]) => builder.ins().fma(*a, *b, *c),
            (
                InstrKind::Apply {
                    op: Op::Binary(op), ..
                },
                [a, b],
            ) => match lanes::bound(kernel, id).filter(|_| element.is_float()) {
                Some(bound) if matches!(op, Binary::Maximum | Binary::Minimum) => {
                    let (value, bound) = if bound == 0 { (*b, *a) } else { (*a, *b) };
                    self.bounded(builder, *element, matches!(op, Binary::Maximum), value, bound)
                }
                _ => self.binary(builder, op, of(0), *a, *b),
            },
            (
                InstrKind::Apply {
                    op: Op::Unary(op), ..
                },
                [a],
            ) => self.unary(builder, op, of(0), *a),
            (InstrKind::Apply { op: Op::Chlo(_), .. }, [a]) => builder.ins().fmul(*a, *a),
            (
                InstrKind::Apply {
                    op: Op::Elementwise(op),
                    ..
                },
                _,
            ) => self.elementwise(builder, op, of(0), *element, operands),
            // Only what `form` allows comes here.
            _ => builder.ins().iconst(I64, 0),
        }
    }

    fn binary(
        self,
        builder: Builder<'_, '_>,
        op: &Binary,
        element: ElementType,
        a: Value,
        b: Value,
    ) -> Value {
        if element.is_boolean() {
            return match op {
                Binary::Multiply | Binary::And | Binary::Minimum => builder.ins().band(a, b),
                Binary::Xor => builder.ins().bxor(a, b),
                _ => builder.ins().bor(a, b),
            };
        }
        let is_float = element.is_float();
        match op {
            Binary::Add if is_float => builder.ins().fadd(a, b),
            Binary::Subtract if is_float => builder.ins().fsub(a, b),
            Binary::Multiply if is_float => builder.ins().fmul(a, b),
            Binary::Divide => builder.ins().fdiv(a, b),
            Binary::Maximum | Binary::Minimum => {
                let greater = if element.is_signed_integer() {
                    IntCC::SignedGreaterThan
                } else {
                    IntCC::UnsignedGreaterThan
                };
                let is_greater = builder.ins().icmp(greater, a, b);
                let (larger, smaller) = if matches!(op, Binary::Maximum) {
                    (a, b)
                } else {
                    (b, a)
                };
                self.choose(builder, element, is_greater, larger, smaller)
            }
            Binary::Add => builder.ins().iadd(a, b),
            Binary::Subtract => builder.ins().isub(a, b),
            Binary::Multiply => builder.ins().imul(a, b),
            Binary::And => builder.ins().band(a, b),
            Binary::Or => builder.ins().bor(a, b),
            _ => builder.ins().bxor(a, b),
        }
    }

    /// The larger or the smaller of a float and a constant that decides by one comparison: where it does not, the float is taken,
    /// NaN included.
    fn bounded(
        self,
        builder: Builder<'_, '_>,
        element: ElementType,
        is_maximum: bool,
        value: Value,
        bound: Value,
    ) -> Value {
        let wins = if is_maximum {
            FloatCC::UnorderedOrGreaterThan
        } else {
            FloatCC::UnorderedOrLessThan
        };
        let wins = builder.ins().fcmp(wins, value, bound);
        self.choose(builder, element, wins, value, bound)
    }

    fn unary(self, builder: Builder<'_, '_>, op: &Unary, element: ElementType, a: Value) -> Value {
        let is_float = element.is_float();
        match op {
            Unary::Abs if is_float => builder.ins().fabs(a),
            Unary::Abs => builder.ins().iabs(a),
            Unary::Sqrt(_) => builder.ins().sqrt(a),
            Unary::Floor => builder.ins().floor(a),
            Unary::Ceil => builder.ins().ceil(a),
            Unary::RoundNearestEven => builder.ins().nearest(a),
            Unary::Negate if is_float => builder.ins().fneg(a),
            Unary::Negate => builder.ins().ineg(a),
            Unary::Not if element.is_boolean() && !self.is_vector => builder.ins().bxor_imm_u(a, 1),
            _ => builder.ins().bnot(a),
        }
    }

    fn elementwise(
        self,
        builder: Builder<'_, '_>,
        op: &Elementwise,
        from: ElementType,
        to: ElementType,
        operands: &[Value],
    ) -> Value {
        match (op, operands) {
            (Elementwise::Compare(compare), [a, b]) => {
                self.compare(builder, compare.comparison_direction, from, *a, *b)
            }
            (Elementwise::Select, [condition, a, b]) => self.choose(builder, to, *condition, *a, *b),
            (Elementwise::Convert, [a]) if from.is_boolean() => self.boolean_as(builder, to, *a),
            (Elementwise::Convert, [a]) if to.is_float() => {
                let ty = self.ty(to);
                builder.ins().fcvt_from_sint(ty, *a)
            }
            (Elementwise::Convert, [a]) => {
                let ty = self.ty(to);
                builder.ins().fcvt_to_sint_sat(ty, *a)
            }
            (_, [a, ..]) => self.reinterpret(builder, from, to, *a),
            _ => builder.ins().iconst(I64, 0),
        }
    }

    fn reinterpret(self, builder: Builder<'_, '_>, from: ElementType, to: ElementType, a: Value) -> Value {
        let (from, to) = (self.ty(from), self.ty(to));
        if from == to {
            a
        } else {
            builder.ins().bitcast(to, bits(), a)
        }
    }

    fn compare(
        self,
        builder: Builder<'_, '_>,
        direction: ComparisonDirection,
        element: ElementType,
        a: Value,
        b: Value,
    ) -> Value {
        if element.is_float() {
            let condition = match direction {
                ComparisonDirection::Eq => FloatCC::Equal,
                ComparisonDirection::Ne => FloatCC::NotEqual,
                ComparisonDirection::Ge => FloatCC::GreaterThanOrEqual,
                ComparisonDirection::Gt => FloatCC::GreaterThan,
                ComparisonDirection::Le => FloatCC::LessThanOrEqual,
                ComparisonDirection::Lt => FloatCC::LessThan,
            };
            return builder.ins().fcmp(condition, a, b);
        }
        let is_signed = element.is_signed_integer();
        let condition = match (direction, is_signed) {
            (ComparisonDirection::Eq, _) => IntCC::Equal,
            (ComparisonDirection::Ne, _) => IntCC::NotEqual,
            (ComparisonDirection::Ge, true) => IntCC::SignedGreaterThanOrEqual,
            (ComparisonDirection::Gt, true) => IntCC::SignedGreaterThan,
            (ComparisonDirection::Le, true) => IntCC::SignedLessThanOrEqual,
            (ComparisonDirection::Lt, true) => IntCC::SignedLessThan,
            (ComparisonDirection::Ge, false) => IntCC::UnsignedGreaterThanOrEqual,
            (ComparisonDirection::Gt, false) => IntCC::UnsignedGreaterThan,
            (ComparisonDirection::Le, false) => IntCC::UnsignedLessThanOrEqual,
            (ComparisonDirection::Lt, false) => IntCC::UnsignedLessThan,
        };
        builder.ins().icmp(condition, a, b)
    }

    fn choose(
        self,
        builder: Builder<'_, '_>,
        element: ElementType,
        condition: Value,
        a: Value,
        b: Value,
    ) -> Value {
        if !self.is_vector {
            return builder.ins().select(condition, a, b);
        }
        let ty = self.ty(element);
        let mask = if ty == self.mask_ty() {
            condition
        } else {
            builder.ins().bitcast(ty, bits(), condition)
        };
        builder.ins().bitselect(mask, a, b)
    }

    fn boolean_as(self, builder: Builder<'_, '_>, to: ElementType, a: Value) -> Value {
        let one = match to {
            ElementType::F32 => 1.0_f32.to_le_bytes().to_vec(),
            ElementType::F64 => 1.0_f64.to_le_bytes().to_vec(),
            _ => vec![1],
        };
        let one = self.constant(builder, to, &one);
        let zero = self.constant(builder, to, &[0]);
        self.choose(builder, to, a, one, zero)
    }
}

/// The two mask types are those of integers.
const _: (Type, Type) = (I32X4, I64X2);
