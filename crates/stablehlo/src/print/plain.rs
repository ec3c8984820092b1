//! Short forms of operations without regions (ODS: the assembly formats of `StablehloOps.td`).

use artifact_ir::attribute::{DotDimensionNumbers, PrecisionConfig};
use artifact_ir::module::Operation;
use artifact_ir::op::{
    Contraction, Control, Convolution, Creation, Elementwise, Linalg, Op, Shape, Slice, Unary,
};

use super::dialect::ConvRoles;
use super::form::TypeSyntax::{self, Arrow, Complex, Functional, Results, Same, Select};
use super::operation::BodyPrinter;

impl BodyPrinter<'_> {
    /// All of an operation but its results, its location and the end of its line.
    pub(super) fn plain(&mut self, operation: &Operation) {
        if let Op::Control(control) = &operation.op {
            return self.control(operation, control);
        }
        self.writer.push(operation.op.name());
        match &operation.op {
            Op::Unary(Unary::IsFinite) => self.simple(operation, Functional),
            Op::Unary(_) | Op::Binary(_) => self.simple(operation, Same),
            Op::Elementwise(op) => self.elementwise(operation, op),
            Op::Creation(op) => self.creation(operation, op),
            Op::Shape(op) => self.shape(operation, op),
            Op::Contraction(op) => self.contraction(operation, op),
            Op::Linalg(op) => self.linalg(operation, op),
            Op::Sharding(op) => self.sharding(operation, op),
            // Of the others, CHLO's functions of one operand have a short form only.
            _ => self.simple(operation, Arrow),
        }
    }

    /// `%0, %1 {..} : T`.
    fn simple(&mut self, operation: &Operation, syntax: TypeSyntax) {
        self.spaced_operands(operation);
        self.attributes_and_types(operation, &[], syntax);
    }

    /// ` %0, %1`, nothing for no operand.
    pub(super) fn spaced_operands(&mut self, operation: &Operation) {
        if !operation.operands.is_empty() {
            self.writer.push(" ");
            self.operands(&operation.operands);
        }
    }

    /// `%0, %1, name = [0, 1] {..} : T`.
    fn with_list(&mut self, operation: &Operation, said: &str, key: &str, list: &[i64], syntax: TypeSyntax) {
        self.spaced_operands(operation);
        write!(self.writer, ", {key} = ");
        self.writer.numbers(list);
        self.attributes_and_types(operation, &[said], syntax);
    }

    /// `%0, %1, name = word {..} : (..) -> ..`.
    fn with_word(&mut self, operation: &Operation, said: &str, key: &str, word: impl std::fmt::Display) {
        self.spaced_operands(operation);
        write!(self.writer, ", {key} = {word}");
        self.attributes_and_types(operation, &[said], Functional);
    }

    fn elementwise(&mut self, operation: &Operation, op: &Elementwise) {
        match op {
            Elementwise::BitcastConvert => self.simple(operation, Functional),
            Elementwise::Clamp
            | Elementwise::Convert
            | Elementwise::UniformDequantize
            | Elementwise::UniformQuantize => self.simple(operation, Same),
            Elementwise::Complex => self.simple(operation, Complex),
            Elementwise::Select => self.simple(operation, Select),
            Elementwise::Compare(compare) => {
                write!(self.writer, " {},", compare.comparison_direction);
                self.spaced_operands(operation);
                if let Some(compare_type) = compare.compare_type {
                    write!(self.writer, ", {compare_type}");
                }
                self.attributes_and_types(operation, &["comparison_direction", "compare_type"], Functional);
            }
            Elementwise::ReducePrecision(format) => {
                self.spaced_operands(operation);
                write!(
                    self.writer,
                    ", format = e{}m{}",
                    format.exponent_bits, format.mantissa_bits
                );
                self.attributes_and_types(operation, &["exponent_bits", "mantissa_bits"], Same);
            }
        }
    }

    fn creation(&mut self, operation: &Operation, op: &Creation) {
        match op {
            Creation::Constant(constant) => {
                self.remaining_attributes(operation, &["value"]);
                self.writer.push(" ");
                self.writer.literal(&constant.value);
            }
            Creation::Iota(iota) => {
                write!(self.writer, " dim = {}", iota.iota_dimension);
                self.attributes_and_types(operation, &["iota_dimension"], Results);
            }
            Creation::DynamicIota(iota) => {
                self.with_word(operation, "iota_dimension", "dim", iota.iota_dimension);
            }
            Creation::Rng(rng) => {
                self.with_word(
                    operation,
                    "rng_distribution",
                    "distribution",
                    rng.rng_distribution,
                );
            }
            Creation::RngBitGenerator(rng) => {
                self.with_word(operation, "rng_algorithm", "algorithm", rng.rng_algorithm);
            }
        }
    }

    fn shape(&mut self, operation: &Operation, op: &Shape) {
        match op {
            Shape::DynamicPad
            | Shape::DynamicReshape
            | Shape::DynamicUpdateSlice
            | Shape::RealDynamicSlice
            | Shape::Reshape => self.simple(operation, Functional),
            Shape::Broadcast(op) => {
                self.with_list(
                    operation,
                    "broadcast_sizes",
                    "sizes",
                    &op.broadcast_sizes,
                    Functional,
                );
            }
            Shape::BroadcastInDim(op) => {
                self.with_list(
                    operation,
                    "broadcast_dimensions",
                    "dims",
                    &op.broadcast_dimensions,
                    Functional,
                );
            }
            Shape::DynamicBroadcastInDim(op) => {
                self.with_list(
                    operation,
                    "broadcast_dimensions",
                    "dims",
                    &op.broadcast_dimensions,
                    Functional,
                );
            }
            Shape::DynamicSlice(op) => {
                self.with_list(operation, "slice_sizes", "sizes", &op.slice_sizes, Functional);
            }
            Shape::Transpose(op) => {
                self.with_list(operation, "permutation", "dims", &op.permutation, Functional);
            }
            Shape::Reverse(op) => self.with_list(operation, "dimensions", "dims", &op.dimensions, Same),
            Shape::Concatenate(op) => self.with_word(operation, "dimension", "dim", op.dimension),
            Shape::GetDimensionSize(op) | Shape::SetDimensionSize(op) => {
                self.with_word(operation, "dimension", "dim", op.dimension);
            }
            Shape::Slice(slice) => self.slice(operation, slice),
            Shape::Pad(pad) => {
                self.spaced_operands(operation);
                let amounts = [
                    (", low = ", &pad.edge_padding_low),
                    (", high = ", &pad.edge_padding_high),
                    (", interior = ", &pad.interior_padding),
                ];
                for (key, amounts) in amounts {
                    self.writer.push(key);
                    self.writer.numbers(amounts);
                }
                let said = ["edge_padding_low", "edge_padding_high", "interior_padding"];
                self.attributes_and_types(operation, &said, Functional);
            }
        }
    }

    /// `%0 [0:4, 1:9:2]`.
    fn slice(&mut self, operation: &Operation, slice: &Slice) {
        self.spaced_operands(operation);
        self.writer.push(" [");
        let ranges = slice
            .start_indices
            .iter()
            .zip(&slice.limit_indices)
            .zip(&slice.strides);
        self.writer.list(ranges, |writer, ((start, limit), stride)| {
            write!(writer, "{start}:{limit}");
            if *stride != 1 {
                write!(writer, ":{stride}");
            }
        });
        self.writer.push("]");
        let said = ["start_indices", "limit_indices", "strides"];
        self.attributes_and_types(operation, &said, Functional);
    }

    fn contraction(&mut self, operation: &Operation, op: &Contraction) {
        match op {
            Contraction::Convolution(convolution) | Contraction::DynamicConv(convolution) => {
                self.convolution(operation, convolution);
            }
            Contraction::Dot(dot) => {
                self.spaced_operands(operation);
                self.precision(dot.precision_config.as_ref());
                self.attributes_and_types(operation, &["precision_config"], Functional);
            }
            Contraction::DotGeneral(dot) => {
                self.spaced_operands(operation);
                self.dot_dimensions(&dot.dot_dimension_numbers);
                self.precision(dot.precision_config.as_ref());
                if let Some(algorithm) = &dot.algorithm {
                    self.writer.push(", algorithm = ");
                    self.writer.dot_algorithm(algorithm);
                }
                let said = ["dot_dimension_numbers", "precision_config", "algorithm"];
                self.attributes_and_types(operation, &said, Functional);
            }
            Contraction::Einsum(einsum) | Contraction::UnaryEinsum(einsum) => {
                self.spaced_operands(operation);
                self.writer.push(", config = ");
                self.writer.string(einsum.einsum_config.as_bytes());
                self.attributes_and_types(operation, &["einsum_config"], Functional);
            }
        }
    }

    /// `, batching_dims = [0] x [0], contracting_dims = [2] x [1]`.
    fn dot_dimensions(&mut self, numbers: &DotDimensionNumbers) {
        let batching = (&numbers.lhs_batching_dimensions, &numbers.rhs_batching_dimensions);
        let contracting = (
            &numbers.lhs_contracting_dimensions,
            &numbers.rhs_contracting_dimensions,
        );
        if !(batching.0.is_empty() && batching.1.is_empty()) {
            self.writer.push(", batching_dims = ");
            self.writer.numbers(batching.0);
            self.writer.push(" x ");
            self.writer.numbers(batching.1);
        }
        self.writer.push(", contracting_dims = ");
        self.writer.numbers(contracting.0);
        self.writer.push(" x ");
        self.writer.numbers(contracting.1);
    }

    /// `, precision = [HIGH, DEFAULT]`, nothing for the default.
    fn precision(&mut self, config: Option<&PrecisionConfig>) {
        if let Some(config) = config.filter(|config| !config.is_default()) {
            self.writer.push(", precision = [");
            self.writer
                .list(&config.0, |writer, precision| write!(writer, "{precision}"));
            self.writer.push("]");
        }
    }

    /// `(%0, %1) dim_numbers = [b, f, 0]x[o, i, 0]->[b, f, 0], window = {stride = [2]} {..} : (..) -> ..`.
    fn convolution(&mut self, operation: &Operation, convolution: &Convolution) {
        self.writer.push("(");
        self.operands(&operation.operands);
        self.writer.push(") dim_numbers = ");
        if let Some(roles) = ConvRoles::of(&convolution.dimension_numbers) {
            self.writer.conv_roles(&roles);
        }
        self.writer.push(", window = {");
        self.window(operation, convolution);
        self.writer.push("}");
        let said = [
            "dimension_numbers",
            "window_strides",
            "padding",
            "lhs_dilation",
            "rhs_dilation",
            "window_reversal",
        ];
        self.attributes_and_types(operation, &said, Functional);
    }

    /// `stride = [2], pad = [[1, 1]]`: what is not at its default.
    fn window(&mut self, operation: &Operation, convolution: &Convolution) {
        let written = operation.op.attributes();
        let mut separator = "";
        let mut key = |printer: &mut Self, name: &str, key: &str| {
            let is_written = written.get(name).is_some();
            if is_written {
                write!(printer.writer, "{separator}{key} = ");
                separator = ", ";
            }
            is_written
        };
        if let Some(strides) = &convolution.window_strides
            && key(self, "window_strides", "stride")
        {
            self.writer.numbers(strides);
        }
        if let Some(padding) = &convolution.padding
            && key(self, "padding", "pad")
        {
            self.writer.push("[");
            self.writer.list(&padding.0, |writer, pair| writer.numbers(pair));
            self.writer.push("]");
        }
        if let Some(dilation) = &convolution.lhs_dilation
            && key(self, "lhs_dilation", "lhs_dilate")
        {
            self.writer.numbers(dilation);
        }
        if let Some(dilation) = &convolution.rhs_dilation
            && key(self, "rhs_dilation", "rhs_dilate")
        {
            self.writer.numbers(dilation);
        }
        if let Some(reversal) = &convolution.window_reversal
            && key(self, "window_reversal", "reverse")
        {
            self.writer.push("[");
            self.writer
                .list(reversal, |writer, reversed| write!(writer, "{reversed}"));
            self.writer.push("]");
        }
    }

    fn linalg(&mut self, operation: &Operation, op: &Linalg) {
        match op {
            Linalg::Fft(fft) => {
                self.spaced_operands(operation);
                write!(self.writer, ", type = {}, length = ", fft.fft_type);
                self.writer.numbers(&fft.fft_length);
                self.attributes_and_types(operation, &["fft_type", "fft_length"], Functional);
            }
            Linalg::Cholesky(cholesky) => {
                self.spaced_operands(operation);
                if cholesky.lower {
                    self.writer.push(", lower = true");
                }
                self.attributes_and_types(operation, &["lower"], Same);
            }
            Linalg::BatchNormGrad(_)
            | Linalg::BatchNormInference(_)
            | Linalg::BatchNormTraining(_)
            | Linalg::TriangularSolve(_) => self.simple(operation, Functional),
        }
    }

    fn control(&mut self, operation: &Operation, op: &Control) {
        match op {
            Control::FuncReturn | Control::Return => self.end_of_block(operation, op),
            Control::OptimizationBarrier => {
                self.writer.push(operation.op.name());
                self.remaining_attributes(operation, &[]);
                self.spaced_operands(operation);
                self.writer.push(" : ");
                self.type_list(&operation.results);
            }
            Control::Call(call) => {
                // `call` alone would mean another dialect's inside a region.
                self.writer.push("func.call ");
                self.writer.symbol_ref(&call.callee);
                self.parenthesised(operation, &["callee"]);
            }
            Control::CustomCall(call) => {
                self.writer.push("stablehlo.custom_call ");
                self.writer.symbol(call.call_target_name.as_bytes());
                self.parenthesised(operation, &["call_target_name"]);
            }
            Control::Composite(composite) => {
                self.writer.push("stablehlo.composite ");
                self.writer.string(composite.name.as_bytes());
                self.spaced_operands(operation);
                self.attributes_and_types(operation, &["name"], Functional);
            }
            Control::GetTupleElement(op) => {
                self.writer.push(operation.op.name());
                self.spaced_operands(operation);
                write!(self.writer, "[{}]", op.index);
                self.attributes_and_types(operation, &["index"], Functional);
            }
            Control::Tuple | Control::CreateToken => {
                self.writer.push(operation.op.name());
                self.simple(operation, Results);
            }
            Control::AfterAll => {
                self.writer.push(operation.op.name());
                self.simple(operation, Same);
            }
            Control::AsyncDone | Control::AsyncStart | Control::Case | Control::If | Control::While => {
                self.writer.push(operation.op.name());
                self.simple(operation, Functional);
            }
        }
    }

    /// `(%0, %1) {..} : (..) -> ..`.
    fn parenthesised(&mut self, operation: &Operation, said: &[&str]) {
        self.writer.push("(");
        self.operands(&operation.operands);
        self.writer.push(")");
        self.attributes_and_types(operation, said, Functional);
    }

    /// `return %0 : tensor<f32>`; the two dialects differ in where attributes stand.
    fn end_of_block(&mut self, operation: &Operation, op: &Control) {
        let of_function = matches!(op, Control::FuncReturn);
        self.writer.push(operation.op.name());
        if of_function {
            self.remaining_attributes(operation, &[]);
        }
        self.spaced_operands(operation);
        if !of_function {
            self.remaining_attributes(operation, &[]);
        }
        if !operation.operands.is_empty() {
            self.writer.push(" : ");
            self.type_list(&operation.operands);
        }
    }
}
