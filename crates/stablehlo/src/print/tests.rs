use artifact_ir::attribute::{
    Attribute, ByteString, ChannelHandle, ComparisonDirection, ConvDimensionNumbers, DotDimensionNumbers,
    GatherDimensionNumbers, NamedAttributes, Padding, Precision, PrecisionConfig, StablehloAttribute,
    SymbolRef,
};
use artifact_ir::literal::Literal;
use artifact_ir::location::{Location, LocationId};
use artifact_ir::module::{
    BlockId, Body, ForeignGlobal, Function, Module, NewOperation, OpId, Parameter, ValueId, Visibility,
};
use artifact_ir::op::{
    Binary, BroadcastInDim, Call, Chlo, Compare, Concatenate, Constant, Contraction, Control, Convolution,
    Creation, CustomCall, DotGeneral, DynamicSlice, Elementwise, ForeignOp, Gather, Indexing, Iota, Op, Pad,
    Reduce, Reduction, Shape, Slice, Sort, Unary,
};
use artifact_ir::types::{ElementType, Type};

use super::{OperationForm, PrintOptions, print_module};

const F32: ElementType = ElementType::F32;

fn f32(shape: &[u64]) -> Type {
    Type::tensor(shape, F32)
}

fn i64(shape: &[u64]) -> Type {
    Type::tensor(shape, ElementType::I64)
}

fn i1(shape: &[u64]) -> Type {
    Type::tensor(shape, ElementType::I1)
}

/// A function in the making.
struct Draft {
    body: Body,
    entry: BlockId,
    arguments: Vec<ValueId>,
    parameters: Vec<Parameter>,
}

impl Draft {
    fn new(arguments: &[Type]) -> Self {
        let mut body = Body::new();
        let entry = body.add_block(body.root);
        let mut values = Vec::new();
        for ty in arguments {
            values.push(body.add_argument(entry, ty.clone(), LocationId::UNKNOWN));
        }
        let parameters = arguments.iter().cloned().map(Parameter::new).collect();
        Self {
            body,
            entry,
            arguments: values,
            parameters,
        }
    }

    fn op(&mut self, block: BlockId, op: impl Into<Op>, operands: &[ValueId], results: &[Type]) -> OpId {
        self.body
            .add_op(block, NewOperation::new(op, operands.to_vec()), results.to_vec())
    }

    fn value(&mut self, op: impl Into<Op>, operands: &[ValueId], result: Type) -> ValueId {
        let op = self.op(self.entry, op, operands, &[result]);
        self.body.ops[op].results[0]
    }

    fn region(&mut self, op: OpId, arguments: &[Type]) -> (BlockId, Vec<ValueId>) {
        let region = self.body.add_region(op);
        let block = self.body.add_block(region);
        let add = |ty: &Type| self.body.add_argument(block, ty.clone(), LocationId::UNKNOWN);
        let values = arguments.iter().map(add).collect();
        (block, values)
    }

    fn finish(mut self, results: &[ValueId]) -> Module {
        self.op(self.entry, Control::FuncReturn, results, &[]);
        let mut function = Function::new("main");
        function.arguments = self.parameters;
        let result = |value: &ValueId| Parameter::new(self.body.ty(*value).clone());
        function.results = results.iter().map(result).collect();
        function.body = Some(self.body);
        let mut module = Module::new();
        module.add_function(function);
        module
    }
}

#[track_caller]
fn check(module: &Module, options: &PrintOptions, text: &str) {
    assert_eq!(print_module(module, options).trim_end(), text.trim_end());
}

#[track_caller]
fn check_pretty(module: &Module, text: &str) {
    check(module, &PrintOptions::default(), text);
}

#[test]
fn element_by_element() {
    let mut draft = Draft::new(&[f32(&[2]), f32(&[2])]);
    let (a, b) = (draft.arguments[0], draft.arguments[1]);
    let sum = draft.value(Binary::Add, &[a, b], f32(&[2]));
    let finite = draft.value(Unary::IsFinite, &[sum], i1(&[2]));
    let compare = Compare {
        comparison_direction: ComparisonDirection::Lt,
        compare_type: None,
    };
    draft.value(Elementwise::Compare(compare), &[a, b], i1(&[2]));
    draft.value(Elementwise::Select, &[finite, a, b], f32(&[2]));
    draft.value(Elementwise::Convert, &[a], i64(&[2]));
    draft.value(
        Elementwise::Complex,
        &[a, b],
        Type::tensor(&[2], ElementType::C64),
    );
    let erf = draft.value(Chlo::Erf, &[a], f32(&[2]));
    check_pretty(
        &draft.finish(&[erf]),
        "\
module {
  func.func public @main(%arg0: tensor<2xf32>, %arg1: tensor<2xf32>) -> tensor<2xf32> {
    %0 = stablehlo.add %arg0, %arg1 : tensor<2xf32>
    %1 = stablehlo.is_finite %0 : (tensor<2xf32>) -> tensor<2xi1>
    %2 = stablehlo.compare LT, %arg0, %arg1 : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xi1>
    %3 = stablehlo.select %1, %arg0, %arg1 : tensor<2xi1>, tensor<2xf32>
    %4 = stablehlo.convert %arg0 : (tensor<2xf32>) -> tensor<2xi64>
    %5 = stablehlo.complex %arg0, %arg1 : tensor<2xcomplex<f32>>
    %6 = chlo.erf %arg0 : tensor<2xf32> -> tensor<2xf32>
    func.return %6 : tensor<2xf32>
  }
}
",
    );
}

#[test]
fn shapes() {
    let mut draft = Draft::new(&[f32(&[4, 3]), f32(&[]), i64(&[])]);
    let (a, scalar, index) = (draft.arguments[0], draft.arguments[1], draft.arguments[2]);
    let dims = BroadcastInDim {
        broadcast_dimensions: vec![],
    };
    draft.value(Shape::BroadcastInDim(dims), &[scalar], f32(&[4]));
    draft.value(Shape::Reshape, &[a], f32(&[12]));
    let slice = Slice {
        start_indices: vec![0, 1],
        limit_indices: vec![4, 3],
        strides: vec![2, 1],
    };
    draft.value(Shape::Slice(slice.into()), &[a], f32(&[2, 2]));
    let sizes = DynamicSlice {
        slice_sizes: vec![2, 2],
    };
    draft.value(Shape::DynamicSlice(sizes), &[a, index, index], f32(&[2, 2]));
    draft.value(
        Shape::Concatenate(Concatenate { dimension: 0 }),
        &[a, a],
        f32(&[8, 3]),
    );
    let pad = Pad {
        edge_padding_low: vec![0, -1],
        edge_padding_high: vec![1, 0],
        interior_padding: vec![0, 0],
    };
    draft.value(Shape::Pad(pad.into()), &[a, scalar], f32(&[5, 2]));
    draft.value(Creation::Iota(Iota { iota_dimension: 0 }), &[], i64(&[4]));
    let value = Literal::of_i64s(&[3, 4]);
    let constant = draft.value(Creation::Constant(Constant { value }), &[], i64(&[2]));
    check_pretty(
        &draft.finish(&[constant]),
        "\
module {
  func.func public @main(%arg0: tensor<4x3xf32>, %arg1: tensor<f32>, %arg2: tensor<i64>) -> tensor<2xi64> {
    %0 = stablehlo.broadcast_in_dim %arg1, dims = [] : (tensor<f32>) -> tensor<4xf32>
    %1 = stablehlo.reshape %arg0 : (tensor<4x3xf32>) -> tensor<12xf32>
    %2 = stablehlo.slice %arg0 [0:4:2, 1:3] : (tensor<4x3xf32>) -> tensor<2x2xf32>
    %3 = stablehlo.dynamic_slice %arg0, %arg2, %arg2, sizes = [2, 2] : (tensor<4x3xf32>, tensor<i64>, tensor<i64>) -> tensor<2x2xf32>
    %4 = stablehlo.concatenate %arg0, %arg0, dim = 0 : (tensor<4x3xf32>, tensor<4x3xf32>) -> tensor<8x3xf32>
    %5 = stablehlo.pad %arg0, %arg1, low = [0, -1], high = [1, 0], interior = [0, 0] : (tensor<4x3xf32>, tensor<f32>) -> tensor<5x2xf32>
    %6 = stablehlo.iota dim = 0 : tensor<4xi64>
    %7 = stablehlo.constant dense<[3, 4]> : tensor<2xi64>
    func.return %7 : tensor<2xi64>
  }
}
",
    );
}

#[test]
fn products() {
    let mut draft = Draft::new(&[
        f32(&[2, 4, 3]),
        f32(&[2, 3, 5]),
        f32(&[1, 8, 8, 3]),
        f32(&[3, 3, 3, 6]),
    ]);
    let [a, b, image, kernel] = draft.arguments[..] else {
        panic!("four arguments");
    };
    let dot = DotGeneral {
        dot_dimension_numbers: DotDimensionNumbers {
            lhs_batching_dimensions: vec![0],
            rhs_batching_dimensions: vec![0],
            lhs_contracting_dimensions: vec![2],
            rhs_contracting_dimensions: vec![1],
        },
        precision_config: Some(PrecisionConfig(vec![Precision::High, Precision::Default])),
        algorithm: None,
    };
    draft.value(Contraction::DotGeneral(Box::new(dot)), &[a, b], f32(&[2, 4, 5]));
    let convolution = Convolution {
        window_strides: Some(vec![1, 1]),
        padding: Some(Padding(vec![[1, 1], [0, 2]])),
        lhs_dilation: None,
        rhs_dilation: None,
        window_reversal: Some(vec![true, false]),
        dimension_numbers: ConvDimensionNumbers {
            input_batch_dimension: 0,
            input_feature_dimension: 3,
            input_spatial_dimensions: vec![1, 2],
            kernel_input_feature_dimension: 2,
            kernel_output_feature_dimension: 3,
            kernel_spatial_dimensions: vec![0, 1],
            output_batch_dimension: 0,
            output_feature_dimension: 3,
            output_spatial_dimensions: vec![1, 2],
        },
        feature_group_count: 1,
        batch_group_count: 1,
        precision_config: None,
    };
    let op = Contraction::Convolution(Box::new(convolution));
    let result = draft.value(op, &[image, kernel], f32(&[1, 8, 8, 6]));
    check_pretty(
        &draft.finish(&[result]),
        "\
module {
  func.func public @main(%arg0: tensor<2x4x3xf32>, %arg1: tensor<2x3x5xf32>, %arg2: tensor<1x8x8x3xf32>, %arg3: tensor<3x3x3x6xf32>) -> tensor<1x8x8x6xf32> {
    %0 = stablehlo.dot_general %arg0, %arg1, batching_dims = [0] x [0], contracting_dims = [2] x [1], precision = [HIGH, DEFAULT] : (tensor<2x4x3xf32>, tensor<2x3x5xf32>) -> tensor<2x4x5xf32>
    %1 = stablehlo.convolution(%arg2, %arg3) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {pad = [[1, 1], [0, 2]], reverse = [true, false]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x8x8x3xf32>, tensor<3x3x3x6xf32>) -> tensor<1x8x8x6xf32>
    func.return %1 : tensor<1x8x8x6xf32>
  }
}
",
    );
}

/// A sum, a sum and a maximum together, a loop, and a sort.
fn with_regions() -> Module {
    let mut draft = Draft::new(&[f32(&[4]), f32(&[])]);
    let (a, zero) = (draft.arguments[0], draft.arguments[1]);
    let reduce = Reduction::Reduce(Reduce { dimensions: vec![0] });
    let sum = draft.op(draft.entry, reduce.clone(), &[a, zero], &[f32(&[])]);
    let (block, arguments) = draft.region(sum, &[f32(&[]), f32(&[])]);
    let inner = draft.op(block, Binary::Add, &arguments, &[f32(&[])]);
    let inner = draft.body.ops[inner].results.clone();
    draft.op(block, Control::Return, &inner, &[]);

    let both = draft.op(draft.entry, reduce, &[a, a, zero, zero], &[f32(&[]), f32(&[])]);
    let (block, arguments) = draft.region(both, &[f32(&[]), f32(&[]), f32(&[]), f32(&[])]);
    let add = draft.op(block, Binary::Add, &[arguments[0], arguments[2]], &[f32(&[])]);
    let max = draft.op(block, Binary::Maximum, &[arguments[1], arguments[3]], &[f32(&[])]);
    let inner = [draft.body.ops[add].results[0], draft.body.ops[max].results[0]];
    draft.op(block, Control::Return, &inner, &[]);

    let carried = draft.body.ops[both].results.clone();
    let types = [f32(&[]), f32(&[])];
    let repeat = draft.op(draft.entry, Control::While, &carried, &types);
    let (block, arguments) = draft.region(repeat, &types);
    let less = Elementwise::Compare(Compare {
        comparison_direction: ComparisonDirection::Lt,
        compare_type: None,
    });
    let less = draft.op(block, less, &arguments, &[i1(&[])]);
    let less = draft.body.ops[less].results.clone();
    draft.op(block, Control::Return, &less, &[]);
    let (block, arguments) = draft.region(repeat, &types);
    draft.op(block, Control::Return, &[arguments[1], arguments[0]], &[]);

    let sort = Sort {
        dimension: 0,
        is_stable: true,
    };
    let sort = draft.op(draft.entry, Reduction::Sort(sort), &[a], &[f32(&[4])]);
    let (block, arguments) = draft.region(sort, &types);
    let greater = Elementwise::Compare(Compare {
        comparison_direction: ComparisonDirection::Gt,
        compare_type: None,
    });
    let greater = draft.op(block, greater, &arguments, &[i1(&[])]);
    let greater = draft.body.ops[greater].results.clone();
    draft.op(block, Control::Return, &greater, &[]);
    let result = draft.body.ops[repeat].results[1];
    draft.finish(&[result])
}

#[test]
fn regions() {
    check_pretty(
        &with_regions(),
        "\
module {
  func.func public @main(%arg0: tensor<4xf32>, %arg1: tensor<f32>) -> tensor<f32> {
    %0 = stablehlo.reduce(%arg0 init: %arg1) applies stablehlo.add across dimensions = [0] : (tensor<4xf32>, tensor<f32>) -> tensor<f32>
    %1:2 = stablehlo.reduce(%arg0 init: %arg1), (%arg0 init: %arg1) across dimensions = [0] : (tensor<4xf32>, tensor<4xf32>, tensor<f32>, tensor<f32>) -> (tensor<f32>, tensor<f32>)
    reducer(%arg2: tensor<f32>, %arg4: tensor<f32>) (%arg3: tensor<f32>, %arg5: tensor<f32>) {
      %2 = stablehlo.add %arg2, %arg4 : tensor<f32>
      %3 = stablehlo.maximum %arg3, %arg5 : tensor<f32>
      stablehlo.return %2, %3 : tensor<f32>, tensor<f32>
    }
    %4:2 = stablehlo.while(%arg6 = %1#0, %arg7 = %1#1) : tensor<f32>, tensor<f32>
    cond {
      %5 = stablehlo.compare LT, %arg6, %arg7 : (tensor<f32>, tensor<f32>) -> tensor<i1>
      stablehlo.return %5 : tensor<i1>
    } do {
      stablehlo.return %arg7, %arg6 : tensor<f32>, tensor<f32>
    }
    %6 = \"stablehlo.sort\"(%arg0) <{dimension = 0 : i64, is_stable = true}> ({
    ^bb0(%arg8: tensor<f32>, %arg9: tensor<f32>):
      %7 = stablehlo.compare GT, %arg8, %arg9 : (tensor<f32>, tensor<f32>) -> tensor<i1>
      stablehlo.return %7 : tensor<i1>
    }) : (tensor<4xf32>) -> tensor<4xf32>
    func.return %4#1 : tensor<f32>
  }
}
",
    );
}

#[test]
fn generic_form() {
    let mut draft = Draft::new(&[f32(&[4])]);
    let a = draft.arguments[0];
    let reduce = Reduction::Reduce(Reduce { dimensions: vec![0] });
    let sum = draft.op(draft.entry, reduce, &[a, a], &[f32(&[])]);
    let (block, arguments) = draft.region(sum, &[f32(&[]), f32(&[])]);
    draft.op(block, Control::Return, &arguments[..1], &[]);
    draft.body.ops[sum].attributes.insert("mhlo.x", Attribute::Unit);
    let options = PrintOptions {
        form: OperationForm::Generic,
        ..PrintOptions::default()
    };
    check(
        &draft.finish(&[]),
        &options,
        "\
module {
  func.func public @main(%arg0: tensor<4xf32>) {
    %0 = \"stablehlo.reduce\"(%arg0, %arg0) <{dimensions = array<i64: 0>}> ({
    ^bb0(%arg1: tensor<f32>, %arg2: tensor<f32>):
      \"stablehlo.return\"(%arg1) : (tensor<f32>) -> ()
    }) {mhlo.x} : (tensor<4xf32>, tensor<4xf32>) -> tensor<f32>
    \"func.return\"() : () -> ()
  }
}
",
    );
}

#[test]
fn calls_and_attributes() {
    let mut draft = Draft::new(&[f32(&[4]), i64(&[4, 1])]);
    let (a, indices) = (draft.arguments[0], draft.arguments[1]);
    let callee = SymbolRef::flat("odd name");
    draft.op(draft.entry, Control::Call(Call { callee }), &[a], &[]);
    let custom = CustomCall {
        call_target_name: ByteString::from("target"),
        has_side_effect: true,
        backend_config: Some(Attribute::string("a\"b\n")),
        api_version: artifact_ir::attribute::CustomCallApiVersion::TypedFfi,
        called_computations: vec![],
        operand_layouts: None,
        result_layouts: None,
        output_operand_aliases: vec![],
        result_tilings: None,
    };
    let custom = draft.op(draft.entry, Control::CustomCall(Box::new(custom)), &[a], &[]);
    let channel = StablehloAttribute::ChannelHandle(ChannelHandle { handle: 1, kind: 0 });
    let items: NamedAttributes = [
        ("channel".into(), Attribute::Stablehlo(channel)),
        (
            "odd-name".into(),
            Attribute::Array(vec![Attribute::i64(-1), Attribute::Type(f32(&[2]))]),
        ),
        ("unit".into(), Attribute::Unit),
    ]
    .into_iter()
    .collect();
    draft.body.ops[custom]
        .attributes
        .insert("mhlo.y", Attribute::Dictionary(items));
    let gather = Gather {
        dimension_numbers: GatherDimensionNumbers {
            collapsed_slice_dims: vec![0],
            start_index_map: vec![0],
            index_vector_dim: 1,
            ..GatherDimensionNumbers::default()
        },
        slice_sizes: vec![1],
        indices_are_sorted: false,
    };
    draft.value(Indexing::Gather(Box::new(gather)), &[a, indices], f32(&[4]));
    let foreign = ForeignOp {
        name: "mpmd.transfer".into(),
        properties: [(
            "route".into(),
            Attribute::Foreign("#mpmd.route<@mesh, [{}]>".into()),
        )]
        .into_iter()
        .collect(),
        terminator: false,
    };
    draft.value(Op::Foreign(Box::new(foreign)), &[a], f32(&[4]));
    check_pretty(
        &draft.finish(&[]),
        r#"module {
  func.func public @main(%arg0: tensor<4xf32>, %arg1: tensor<4x1xi64>) {
    func.call @"odd name"(%arg0) : (tensor<4xf32>) -> ()
    stablehlo.custom_call @target(%arg0) {api_version = 4 : i32, backend_config = "a\22b\0A", has_side_effect = true, mhlo.y = {channel = #stablehlo.channel_handle<handle = 1, type = 0>, "odd-name" = [-1 : i64, tensor<2xf32>], unit}} : (tensor<4xf32>) -> ()
    %0 = "stablehlo.gather"(%arg0, %arg1) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1>}> : (tensor<4xf32>, tensor<4x1xi64>) -> tensor<4xf32>
    %1 = "mpmd.transfer"(%arg0) <{route = #mpmd.route<@mesh, [{}]>}> : (tensor<4xf32>) -> tensor<4xf32>
    func.return
  }
}
"#,
    );
}

#[test]
fn modules_and_locations() {
    let mut draft = Draft::new(&[f32(&[])]);
    let a = draft.arguments[0];
    let doubled = draft.value(Binary::Add, &[a, a], f32(&[]));
    let mut module = draft.finish(&[doubled]);
    module.name = Some("jit_f".into());
    module.attributes.insert("mhlo.num_partitions", Attribute::i64(1));
    module.foreign.push(ForeignGlobal {
        name: "mpmd.topology".into(),
        symbol: Some("t".into()),
        text: "() {sym_name = \"t\"} : () -> ()".into(),
        source: artifact_ir::diagnostic::SourceOffset::NONE,
    });
    let file = module.locations.intern(Location::File {
        file: "a.py".into(),
        start: (3, 1),
        end: None,
    });
    let name = module.locations.intern(Location::Name {
        name: "x".into(),
        child: file,
    });
    let fused = module.locations.intern(Location::Fused {
        metadata: None,
        children: vec![name, LocationId::UNKNOWN, name],
    });
    let main = module.function("main").unwrap();
    module.functions[main].arguments[0].location = name;
    let body = module.functions[main].body.as_mut().unwrap();
    let first = body.blocks[body.entry_block().unwrap()].ops[0];
    body.ops[first].location = fused;
    let mut declared = Function::new("g");
    declared.visibility = Visibility::Private;
    declared.arguments.push(Parameter::new(f32(&[])));
    let mut result = Parameter::new(f32(&[]));
    result
        .attributes
        .insert("jax.result_info", Attribute::string("r"));
    declared.results.push(result);
    module.add_function(declared);
    let options = PrintOptions {
        locations: true,
        ..PrintOptions::default()
    };
    check(
        &module,
        &options,
        r#"module @jit_f attributes {mhlo.num_partitions = 1 : i64} {
  "mpmd.topology"() {sym_name = "t"} : () -> ()
  func.func public @main(%arg0: tensor<f32> loc(#loc2)) -> tensor<f32> {
    %0 = stablehlo.add %arg0, %arg0 : tensor<f32> loc(#loc3)
    func.return %0 : tensor<f32>
  }
  func.func private @g(tensor<f32>) -> (tensor<f32> {jax.result_info = "r"})
}
#loc1 = loc("a.py":3:1)
#loc2 = loc("x"(#loc1))
#loc3 = loc(fused[#loc2, unknown, #loc2])
"#,
    );
}

/// Two hundred thousand operations in a chain, and regions nested far deeper than a stack allows.
#[test]
fn depth_and_length_cost_no_stack() {
    let mut draft = Draft::new(&[f32(&[])]);
    let mut value = draft.arguments[0];
    for _ in 0..200_000 {
        value = draft.value(Unary::Negate, &[value], f32(&[]));
    }
    let mut block = draft.entry;
    // Indentation makes the text grow with the square of the depth.
    for _ in 0..3_000 {
        let op = draft.op(block, Control::If, &[value], &[]);
        block = draft.region(op, &[]).0;
    }
    let text = print_module(&draft.finish(&[]), &PrintOptions::default());
    assert!(text.contains("%199999 = stablehlo.negate %199998 : tensor<f32>\n"));
    assert_eq!(text.matches("\"stablehlo.if\"").count(), 3_000);
}
