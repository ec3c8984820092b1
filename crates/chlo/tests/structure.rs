//! Operations that are more than a function of numbers, shapes that are not known, sharing of functions, and what is recognised.

#![expect(
    clippy::unwrap_used,
    reason = "a test fails where its programs are not as they should be"
)]

use artifact_chlo::{Form, legalize, recognise};
use artifact_dims::Scope;
use artifact_eval::{Options, Value, evaluate};
use artifact_ir::digest::program_digest;
use artifact_ir::module::Module;
use artifact_ir::op::{Control, Op};
use artifact_ir::types::{Dim, TensorType, Type};
use artifact_ir::verify::verify;
use artifact_refine::refine;
use artifact_stablehlo::parse::parse_module;
use artifact_stablehlo::print::{PrintOptions, print_module};

fn read(text: &str) -> Module {
    let module = parse_module(text)
        .into_module()
        .unwrap_or_else(|errors| panic!("{errors:?}\n{text}"));
    assert_eq!(verify(&module), [], "{text}");
    module
}

fn print(module: &Module) -> String {
    print_module(module, &PrintOptions::default())
}

/// What `main` gives, once every size is known: the evaluator does not find out the sizes of all operations.
fn results(module: &Module) -> Vec<Value> {
    let entry = module.function("main").unwrap();
    let refined = refine(module, entry, &[], &Scope::default());
    let module = &refined
        .unwrap_or_else(|error| panic!("{error}\n{}", print(module)))
        .module;
    assert_eq!(verify(module), [], "{}", print(module));
    let main = module.function("main").unwrap();
    let outcome = evaluate(module, main, Vec::new(), &Options::default());
    outcome
        .unwrap_or_else(|error| panic!("{error}\n{}", print(module)))
        .results
}

/// Every operation with its number, for what has a name that starts with `prefix`.
fn count(module: &Module, prefix: &str) -> usize {
    let bodies = module
        .functions
        .iter()
        .filter_map(|(_, function)| function.body.as_ref());
    bodies
        .flat_map(|body| body.ops.iter())
        .filter(|(_, operation)| operation.op.name().starts_with(prefix))
        .count()
}

/// In every form the program gives these results bit for bit, and it comes back from its composites and their text.
fn check(text: &str, expected: &[Value]) {
    let module = read(text);
    assert!(count(&module, "chlo.") > 0, "{text}");
    for form in [Form::CompositesWithRegions, Form::Composites, Form::Calls] {
        let mut legalized = module.clone();
        legalize(&mut legalized, form).unwrap_or_else(|error| panic!("{error} {error:?}\n{text}"));
        assert_eq!(verify(&legalized), [], "{}", print(&legalized));
        assert_eq!(count(&legalized, "chlo."), 0, "{}", print(&legalized));
        assert_eq!(results(&legalized), expected, "{}", print(&legalized));
        let mut again = read(&print(&legalized));
        recognise(&mut again);
        if form == Form::CompositesWithRegions {
            assert_eq!(
                program_digest(&again),
                program_digest(&module),
                "{}",
                print(&again)
            );
            assert_eq!(again.functions.len(), module.functions.len(), "{}", print(&again));
        }
    }
}

/// An operation: operands as type and value, attributes, types of results. In a type, sizes after `!` are always known.
struct Case<'a> {
    op: &'a str,
    operands: &'a [(&'a str, &'a str)],
    attributes: &'a str,
    results: &'a [&'a str],
    region: &'a str,
    /// Whether the decomposition gives the very results of the operation, or is compared with itself on static shapes.
    is_exact: bool,
}

impl Case<'_> {
    /// A function of the operands, called by `main` with constants; sizes are known in it or not.
    fn text(&self, is_static: bool) -> String {
        let known = |ty: &str| format!("tensor<{}>", ty.replace('!', ""));
        let declared = |ty: &str| {
            let shape_end = ty.find("xcomplex").or_else(|| ty.rfind('x')).unwrap();
            let (shape, element) = (&ty[..shape_end], &ty[shape_end + 1..]);
            let size = |size: &str| match size.strip_prefix('!') {
                Some(known) => known.to_owned(),
                None if is_static => size.to_owned(),
                None => "?".to_owned(),
            };
            let shape: Vec<String> = shape.split('x').map(size).collect();
            format!("tensor<{}x{element}>", shape.join("x"))
        };
        let numbered = |name: &str| -> String {
            let all = (0..self.operands.len()).map(|index| format!("%{name}{index}"));
            all.collect::<Vec<_>>().join(", ")
        };
        let inputs: Vec<String> = self.operands.iter().map(|(ty, _)| declared(ty)).collect();
        let outputs: Vec<String> = self.results.iter().map(|ty| declared(ty)).collect();
        let parameters: Vec<String> = inputs
            .iter()
            .enumerate()
            .map(|(index, ty)| format!("%a{index}: {ty}"))
            .collect();
        let constants = self
            .operands
            .iter()
            .zip(&inputs)
            .enumerate()
            .map(|(index, ((ty, value), input))| {
                let known = known(ty);
                format!(
                    "%a{index} = stablehlo.constant dense<{value}> : {known}\n\
                 %d{index} = stablehlo.convert %a{index} : ({known}) -> {input}\n"
                )
            });
        let (name, returned) = match self.results.len() {
            1 => ("%r".to_owned(), "%r".to_owned()),
            count => {
                let all: Vec<String> = (0..count).map(|index| format!("%r#{index}")).collect();
                (format!("%r:{count}"), all.join(", "))
            }
        };
        let (inputs, outputs) = (inputs.join(", "), outputs.join(", "));
        format!(
            "func.func private @f({}) -> ({outputs}) {{\n\
             {name} = \"chlo.{}\"({}) {} {} : ({inputs}) -> ({outputs})\nfunc.return {returned} : {outputs}\n}}\n\
             func.func @main() -> ({outputs}) {{\n{}\
             {name} = func.call @f({}) : ({inputs}) -> ({outputs})\nfunc.return {returned} : {outputs}\n}}",
            parameters.join(", "),
            self.op,
            numbered("a"),
            self.region,
            self.attributes,
            constants.collect::<String>(),
            numbered("d"),
        )
    }

    /// The operation on static shapes, and on shapes that are not known.
    fn check(&self) {
        let text = self.text(true);
        let mut oracle = read(&text);
        if !self.is_exact {
            legalize(&mut oracle, Form::Calls).unwrap();
        }
        let expected = results(&oracle);
        check(&text, &expected);
        check(&self.text(false), &expected);
    }
}

fn check_both(op: &str, operands: &[(&str, &str)], attributes: &str, results: &[&str]) {
    let case = Case {
        op,
        operands,
        attributes,
        results,
        region: "",
        is_exact: true,
    };
    case.check();
}

/// A function that the decomposition computes in another way; the tests of functions tell how accurately.
fn check_function(op: &str, operands: &[(&str, &str)], result: &str) {
    let case = Case {
        op,
        operands,
        attributes: "",
        results: &[result],
        region: "",
        is_exact: false,
    };
    case.check();
}

#[test]
fn broadcasting() {
    let matrix = ("2x3xi32", "[[1, 2, 3], [4, 5, -6]]");
    let row = ("3xi32", "[7, 8, 9]");
    let column = ("2x1xi32", "[[3], [2]]");
    let one = ("1xi32", "[5]");
    for op in [
        "add",
        "and",
        "divide",
        "maximum",
        "minimum",
        "multiply",
        "or",
        "power",
        "remainder",
        "shift_left",
        "shift_right_arithmetic",
        "shift_right_logical",
        "subtract",
        "xor",
    ] {
        for operands in [
            [matrix, row],
            [row, matrix],
            [column, row],
            [matrix, column],
            [one, matrix],
            [matrix, matrix],
        ] {
            check_both(&format!("broadcast_{op}"), &operands, "", &["2x3xi32"]);
        }
    }
    let vector = ("2xi32", "[10, 20]");
    let dimensions = "{broadcast_dimensions = array<i64: 0>}";
    check_both("broadcast_add", &[matrix, vector], dimensions, &["2x3xi32"]);
    check_both("broadcast_subtract", &[vector, matrix], dimensions, &["2x3xi32"]);
}

#[test]
fn broadcasting_of_floats() {
    let matrix = ("2x3xf32", "[[1.0, 2.0, 3.0], [4.0, 5.0, -6.0]]");
    let row = ("3xf32", "[1.5, -0.0, 0x7F800000]");
    for op in ["polygamma", "zeta"] {
        check_function(&format!("broadcast_{op}"), &[matrix, row], "2x3xf32");
        check_function(&format!("broadcast_{op}"), &[row, matrix], "2x3xf32");
    }
    for op in ["atan2", "complex", "next_after"] {
        let result = if op == "complex" {
            "2x3xcomplex<f32>"
        } else {
            "2x3xf32"
        };
        check_both(&format!("broadcast_{op}"), &[matrix, row], "", &[result]);
        check_both(&format!("broadcast_{op}"), &[row, matrix], "", &[result]);
    }
    let attributes = "{comparison_direction = #chlo<comparison_direction GT>, compare_type = #chlo<comparison_type TOTALORDER>}";
    check_both("broadcast_compare", &[matrix, row], attributes, &["2x3xi1"]);
    let pred = ("2x1xi1", "[[true], [false]]");
    check_both("broadcast_select", &[pred, matrix, row], "", &["2x3xf32"]);
}

/// Operands that stand for other numbers than they hold, the result's parameters differing from the operands'.
#[test]
fn broadcasting_of_quantized_numbers() {
    let (ty, sum) = ("!quant.uniform<i8:f32, 0.5:3>", "!quant.uniform<i8:f32, 1.0:-2>");
    let text = format!(
        "func.func @main() -> tensor<2x2x{sum}> {{\n\
         %0 = stablehlo.constant dense<[[1.0, -2.5], [3.0, 4.0]]> : tensor<2x2xf32>\n\
         %1 = stablehlo.constant dense<[10.0, 20.5]> : tensor<2xf32>\n\
         %2 = stablehlo.uniform_quantize %0 : (tensor<2x2xf32>) -> tensor<2x2x{ty}>\n\
         %3 = stablehlo.uniform_quantize %1 : (tensor<2xf32>) -> tensor<2x{ty}>\n\
         %4 = \"chlo.broadcast_add\"(%2, %3) : (tensor<2x2x{ty}>, tensor<2x{ty}>) -> tensor<2x2x{sum}>\n\
         func.return %4 : tensor<2x2x{sum}>\n}}"
    );
    check(&text, &results(&read(&text)));
}

/// Types with bounds go through decompositions as they are.
#[test]
fn bounded_sizes() {
    let ty = "tensor<?x4xf32, #stablehlo.bounds<8, ?>>";
    let mut module = read(&format!(
        "func.func @main(%x: {ty}, %y: tensor<4xf32>) -> {ty} {{\n\
         %0 = chlo.lgamma %x : {ty} -> {ty}\n\
         %1 = \"chlo.broadcast_add\"(%0, %y) : ({ty}, tensor<4xf32>) -> {ty}\n\
         func.return %1 : {ty}\n}}"
    ));
    let before = program_digest(&module);
    legalize(&mut module, Form::Composites).unwrap();
    assert_eq!(verify(&module), [], "{}", print(&module));
    assert_eq!(recognise(&mut module), 2);
    assert_eq!(program_digest(&module), before);
}

#[test]
fn functions_of_unknown_shape() {
    let x = ("2x3xf32", "[[0.1, 0.2, -0.3], [0.4, 0.5, -0.6]]");
    for op in ["acos", "asinh", "atan", "cosh", "sinh", "tan", "square", "conj"] {
        check_function(op, &[x], "2x3xf32");
    }
    check_both("is_inf", &[x], "", &["2x3xi1"]);
    check_both(
        "mulhi",
        &[("2xi64", "[-9, 8]"), ("2xi64", "[7, 6]")],
        "",
        &["2xi64"],
    );
    check_both("next_after", &[x, x], "", &["2x3xf32"]);
}

#[test]
fn constants() {
    let x = ("2x3xf32", "[[0.1, 0.2, -0.3], [0.4, 0.5, -0.6]]");
    check_both("constant_like", &[x], "{value = 2.5 : f32}", &["2x3xf32"]);
    check_both("constant_like", &[x], "{value = -3 : i4}", &["2x3xi4"]);
    check_both("constant_like", &[x], "{value = true}", &["2x3xi1"]);
    let complex = "{value = #complex.number<:f32 1.5, -2.0>}";
    check_both("constant_like", &[x], complex, &["2x3xcomplex<f32>"]);
    let text = "func.func @main() -> tensor<2xi8> {\n\
         %0 = \"chlo.constant\"() {value = dense<[1, 2]> : tensor<2xi8>} : () -> tensor<2xi8>\n\
         func.return %0 : tensor<2xi8>\n}";
    check(text, &results(&read(text)));
}

#[test]
fn largest_elements() {
    let k = "{k = 2 : i64}";
    for (ty, value, values, positions) in [
        (
            "2x3xf32",
            "[[1.0, 0x7FC00000, 3.0], [-0.0, 0.0, 0xFFC00000]]",
            "2x!2xf32",
            "2x!2xi32",
        ),
        (
            "2x3xf8E5M2",
            "[[1.0, 2.0, 3.0], [-0.0, 0.0, -4.0]]",
            "2x!2xf8E5M2",
            "2x!2xi32",
        ),
        ("2x3xui8", "[[1, 255, 3], [7, 7, 0]]", "2x!2xui8", "2x!2xi32"),
        ("2x3xi64", "[[1, -255, 3], [7, 7, 0]]", "2x!2xi64", "2x!2xi32"),
        (
            "2x3xi1",
            "[[false, true, true], [true, false, false]]",
            "2x!2xi1",
            "2x!2xi32",
        ),
        ("4xbf16", "[1.0, 4.0, 4.0, -2.0]", "!2xbf16", "!2xi32"),
    ] {
        check_both("top_k", &[(ty, value)], k, &[values, positions]);
    }
}

/// `ragged_dot` with dimensions in the order: batching left, batching right, contracting left, contracting right, ragged, group.
fn check_ragged(dims: [&str; 6], operands: [(&str, &str); 3], result: &str) {
    let attributes = format!(
        "{{ragged_dot_dimension_numbers = #chlo.ragged_dot<lhs_batching_dimensions = [{}], rhs_batching_dimensions = [{}], \
         lhs_contracting_dimensions = [{}], rhs_contracting_dimensions = [{}], lhs_ragged_dimensions = [{}], \
         rhs_group_dimensions = [{}]>, precision_config = [#chlo<precision HIGH>, #chlo<precision DEFAULT>]}}",
        dims[0], dims[1], dims[2], dims[3], dims[4], dims[5]
    );
    check_both("ragged_dot", &operands, &attributes, &[result]);
}

#[test]
fn ragged_products() {
    let lhs = (
        "4x2xf32",
        "[[1.0, 2.0], [3.0, 4.0], [5.0, 6.0], [7.0, 0x7F800000]]",
    );
    let rhs = ("2x2x1xf32", "[[[1.0], [10.0]], [[100.0], [0x7FC00000]]]");
    let rows = ["", "", "1", "1", "0", "0"];
    for sizes in ["[1, 3]", "[2, 1]", "[0, 9]", "[-1, 2]", "[4, 0]"] {
        check_ragged(rows, [lhs, rhs, ("2xi64", sizes)], "4x1xf32");
    }
    check_ragged(
        rows,
        [lhs, rhs, ("2xui64", "[2, 18446744073709551615]")],
        "4x1xf32",
    );
    // Group sizes that differ by batch.
    let lhs = ("2x2x1xi64", "[[[1], [2]], [[3], [4]]]");
    let rhs = ("2x2x1x1xi64", "[[[[1]], [[10]]], [[[100]], [[1000]]]]");
    check_ragged(
        ["0", "1", "2", "2", "1", "0"],
        [lhs, rhs, ("2x2xi32", "[[1, 1], [2, 0]]")],
        "2x2x1xi64",
    );
    // The ragged dimension is contracted.
    let lhs = ("1x4xf64", "[[1.0, 2.0, 0x7FF8000000000000, 4.0]]");
    let rhs = ("4x1xf64", "[[1.0], [10.0], [100.0], [1000.0]]");
    check_ragged(
        ["", "", "1", "0", "1", ""],
        [lhs, rhs, ("2xi32", "[1, 1]")],
        "2x1x1xf64",
    );
    check_ragged(
        ["", "", "1", "0", "1", ""],
        [lhs, rhs, ("2xi32", "[2, 2]")],
        "2x1x1xf64",
    );
    // It is a batching one.
    let (lhs, rhs) = (("3x1xi32", "[[1], [2], [3]]"), ("3x1xi32", "[[1], [10], [100]]"));
    check_ragged(
        ["0", "0", "1", "1", "0", ""],
        [lhs, rhs, ("2xi32", "[1, 1]")],
        "3xi32",
    );
}

const SUM: &str = "({\n^bb0(%x: tensor<2xi32>, %c: tensor<2xi32>):\n\
    %t = \"chlo.mulhi\"(%x, %c) : (tensor<2xi32>, tensor<2xi32>) -> tensor<2xi32>\n\
    %s = stablehlo.add %x, %c : tensor<2xi32>\n%u = stablehlo.add %s, %t : tensor<2xi32>\n\
    stablehlo.return %s, %u : tensor<2xi32>, tensor<2xi32>\n})";

#[test]
fn scans() {
    let input = ("3x!2xi32", "[[1, 2147483647], [3, 4], [-5, 6]]");
    for more in [
        "",
        ", is_reverse = true",
        ", scan_dim_size = 3 : i64, is_associative = true",
    ] {
        let attributes = format!(
            "{{dimension = 0 : i64{more}, operand_segment_sizes = array<i32: 1, 1>, result_segment_sizes = array<i32: 1, 1>}}"
        );
        let case = Case {
            op: "scan",
            operands: &[input, ("!2xi32", "[0, 2147483647]")],
            attributes: &attributes,
            results: &["3x!2xi32", "!2xi32"],
            region: SUM,
            is_exact: true,
        };
        case.check();
    }
}

/// Outputs of a size that only the body tells.
#[test]
fn scans_of_unknown_slices() {
    let body = |ty: &str| {
        format!(
            "({{\n^bb0(%a: {ty}, %b: {ty}):\n%s = stablehlo.add %a, %b : {ty}\n\
             stablehlo.return %s, %s : {ty}, {ty}\n}})"
        )
    };
    let text = |ty: &str, size: &str| {
        format!(
            "func.func private @f(%x: {ty}, %c: tensor<{size}xi32>) -> ({ty}, tensor<{size}xi32>) {{\n\
             %0:2 = \"chlo.scan\"(%x, %c) {} {{dimension = 0 : i64, operand_segment_sizes = array<i32: 1, 1>, \
             result_segment_sizes = array<i32: 1, 1>}} : ({ty}, tensor<{size}xi32>) -> ({ty}, tensor<{size}xi32>)\n\
             func.return %0#0, %0#1 : {ty}, tensor<{size}xi32>\n}}\n\
             func.func @main() -> ({ty}, tensor<{size}xi32>) {{\n\
             %0 = stablehlo.constant dense<[[1, 2], [3, 4], [5, 6]]> : tensor<3x2xi32>\n\
             %1 = stablehlo.constant dense<[10, 20]> : tensor<2xi32>\n\
             %2 = stablehlo.convert %0 : (tensor<3x2xi32>) -> {ty}\n\
             %3 = stablehlo.convert %1 : (tensor<2xi32>) -> tensor<{size}xi32>\n\
             %4:2 = func.call @f(%2, %3) : ({ty}, tensor<{size}xi32>) -> ({ty}, tensor<{size}xi32>)\n\
             func.return %4#0, %4#1 : {ty}, tensor<{size}xi32>\n}}",
            body(&format!("tensor<{size}xi32>"))
        )
    };
    let expected = results(&read(&text("tensor<3x2xi32>", "2")));
    for ty in ["tensor<3x?xi32>", "tensor<?x?xi32>"] {
        check(&text(ty, "?"), &expected);
    }
}

/// Scalars, which have no shape to compute.
#[test]
fn scalars() {
    let text = "func.func @main() -> (tensor<f32>, tensor<f32>, tensor<i32>) {\n\
        %0 = stablehlo.constant dense<0.0> : tensor<f32>\n%1 = stablehlo.constant dense<-3> : tensor<i32>\n\
        %2 = chlo.cosh %0 : tensor<f32> -> tensor<f32>\n\
        %3 = \"chlo.broadcast_subtract\"(%2, %0) : (tensor<f32>, tensor<f32>) -> tensor<f32>\n\
        %4 = \"chlo.mulhi\"(%1, %1) : (tensor<i32>, tensor<i32>) -> tensor<i32>\n\
        func.return %2, %3, %4 : tensor<f32>, tensor<f32>, tensor<i32>\n}";
    check(text, &results(&read(text)));
}

#[test]
fn equal_operations_share_a_function() {
    let mut module = read(
        "func.func @main(%x: tensor<2xf32>, %y: tensor<3xf32>) -> tensor<2xf32> {\n\
         %0 = chlo.erf %x : tensor<2xf32> -> tensor<2xf32>\n%1 = chlo.erf %0 : tensor<2xf32> -> tensor<2xf32>\n\
         %2 = chlo.erf %y : tensor<3xf32> -> tensor<3xf32>\n%3 = chlo.square %1 : tensor<2xf32> -> tensor<2xf32>\n\
         func.return %3 : tensor<2xf32>\n}\n\
         func.func private @chlo.erf.impl() -> tensor<f32> {\n%0 = stablehlo.constant dense<0.0> : tensor<f32>\n\
         func.return %0 : tensor<f32>\n}",
    );
    let before = program_digest(&module);
    legalize(&mut module, Form::Composites).unwrap();
    let names: Vec<String> = module
        .functions
        .iter()
        .map(|(_, function)| function.name.to_string())
        .collect();
    assert_eq!(
        names,
        [
            "main",
            "chlo.erf.impl",
            "chlo.erf.impl_0",
            "chlo.erf.impl_1",
            "chlo.square.impl"
        ]
    );
    assert_eq!(recognise(&mut module), 4);
    // The function that was there before is nobody's decomposition, and stays.
    assert_eq!(module.functions.len(), 2);
    assert_eq!(program_digest(&module), before);
}

#[test]
fn forms_of_versions() {
    for (version, form) in [
        ((0, 9), Form::Calls),
        ((0, 18), Form::Calls),
        ((0, 19), Form::Composites),
        ((1, 13), Form::Composites),
        ((1, 14), Form::CompositesWithRegions),
        ((2, 0), Form::CompositesWithRegions),
    ] {
        assert_eq!(Form::for_vhlo(version.0, version.1), form, "{version:?}");
    }
}

#[test]
fn one_operation_needs_no_function() {
    let mut module = read(
        "func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> {\n%0 = chlo.square %x : tensor<2xf32> -> tensor<2xf32>\n\
         func.return %0 : tensor<2xf32>\n}",
    );
    legalize(&mut module, Form::Calls).unwrap();
    assert_eq!(
        (module.functions.len(), count(&module, "stablehlo.multiply")),
        (1, 1)
    );
}

const IMPLEMENTATION: &str = "func.func private @g(%x: tensor<2x3xf32>) -> (tensor<2x2xf32>, tensor<2x2xi32>) {\n\
    %0 = stablehlo.constant dense<0.0> : tensor<2x2xf32>\n%1 = stablehlo.constant dense<0> : tensor<2x2xi32>\n\
    func.return %0, %1 : tensor<2x2xf32>, tensor<2x2xi32>\n}";

/// How many of the composites in a program are recognised: a composite of `g`, and what else it holds.
fn check_recognised(composite: &str, expected: usize) {
    let mut module = read(&format!(
        "func.func @main(%x: tensor<2x3xf32>) -> tensor<2x2xf32> {{\n\
         %0:2 = stablehlo.composite {composite} : (tensor<2x3xf32>) -> (tensor<2x2xf32>, tensor<2x2xi32>)\n\
         func.return %0#0 : tensor<2x2xf32>\n}}\n{IMPLEMENTATION}"
    ));
    let before = program_digest(&module);
    assert_eq!(recognise(&mut module), expected, "{composite}");
    assert_eq!(verify(&module), []);
    assert_eq!(count(&module, "chlo."), expected);
    assert_eq!(module.functions.len(), 2 - expected);
    assert_eq!(program_digest(&module) == before, expected == 0, "{composite}");
}

#[test]
fn only_what_fits_is_recognised() {
    check_recognised(
        "\"chlo.top_k\" %x {composite_attributes = {k = 2 : i64}, decomposition = @g, version = 1 : i32}",
        1,
    );
    check_recognised(
        "\"chlo.top_k\" %x {composite_attributes = {k = 2 : i64, is_stable = false}, decomposition = @g, version = 1 : i32}",
        1,
    );
    for other in [
        // Another version, another name, another size, an attribute too few, of another type and too many.
        "\"chlo.top_k\" %x {composite_attributes = {k = 2 : i64}, decomposition = @g}",
        "\"chlo.top_k\" %x {composite_attributes = {k = 2 : i64}, decomposition = @g, version = 2 : i32}",
        "\"mine.top_k\" %x {composite_attributes = {k = 2 : i64}, decomposition = @g, version = 1 : i32}",
        "\"chlo.top_j\" %x {composite_attributes = {k = 2 : i64}, decomposition = @g, version = 1 : i32}",
        "\"stablehlo.sort\" %x {composite_attributes = {}, decomposition = @g, version = 1 : i32}",
        "\"chlo.top_k\" %x {composite_attributes = {k = 3 : i64}, decomposition = @g, version = 1 : i32}",
        "\"chlo.top_k\" %x {decomposition = @g, version = 1 : i32}",
        "\"chlo.top_k\" %x {composite_attributes = {k = \"2\"}, decomposition = @g, version = 1 : i32}",
        "\"chlo.top_k\" %x {composite_attributes = {k = 2 : i64, l = 1 : i64}, decomposition = @g, version = 1 : i32}",
        "\"chlo.erf\" %x {decomposition = @g, version = 1 : i32}",
    ] {
        check_recognised(other, 0);
    }
}

#[test]
fn a_function_that_something_else_uses_stays() {
    let composite = "stablehlo.composite \"chlo.erf\" %x {decomposition = @g, version = 1 : i32} : (tensor<f32>) -> tensor<f32>";
    for (other, functions) in [
        ("func.call @g(%x) : (tensor<f32>) -> tensor<f32>", 2),
        (
            "stablehlo.composite \"mine.f\" %x {decomposition = @g} : (tensor<f32>) -> tensor<f32>",
            2,
        ),
        (composite, 1),
    ] {
        let mut module = read(&format!(
            "func.func @main(%x: tensor<f32>) -> tensor<f32> {{\n%0 = {composite}\n%1 = {other}\n\
             func.return %1 : tensor<f32>\n}}\nfunc.func private @g(%x: tensor<f32>) -> tensor<f32> {{\n\
             func.return %x : tensor<f32>\n}}"
        ));
        assert!(recognise(&mut module) > 0);
        assert_eq!(
            (module.functions.len(), verify(&module)),
            (functions, Vec::new()),
            "{other}"
        );
    }
}

/// A composite's region may use values from outside; that of a scan may not.
#[test]
fn a_region_that_is_not_isolated_is_not_recognised() {
    let input = "tensor<3xi32>, tensor<i32>";
    let scan = |region: &str| {
        read(&format!(
            "func.func @main(%x: tensor<3xi32>, %c: tensor<i32>) -> tensor<i32> {{\n\
             %0:2 = \"chlo.scan\"(%x, %c) ({{\n^bb0(%a: tensor<i32>, %b: tensor<i32>):\n{region}\n}}) \
             {{dimension = 0 : i64, operand_segment_sizes = array<i32: 1, 1>, result_segment_sizes = array<i32: 1, 1>}} \
             : ({input}) -> (tensor<3xi32>, tensor<i32>)\nfunc.return %0#1 : tensor<i32>\n}}"
        ))
    };
    let mut module =
        scan("%s = stablehlo.add %a, %b : tensor<i32>\nstablehlo.return %s, %s : tensor<i32>, tensor<i32>");
    legalize(&mut module, Form::CompositesWithRegions).unwrap();
    let main = module.function("main").unwrap();
    let body = module.functions[main].body.as_mut().unwrap();
    let entry = body.entry_block().unwrap();
    let outside = body.blocks[entry].arguments[1];
    let composite = body.blocks[entry].ops[0];
    assert!(matches!(
        body.ops[composite].op,
        Op::Control(Control::Composite(_))
    ));
    let block = body.single_block(body.ops[composite].regions[0]).unwrap();
    let add = body.blocks[block].ops[0];
    let mut isolated = module.clone();
    assert_eq!(recognise(&mut isolated), 1);
    let body = module.functions[main].body.as_mut().unwrap();
    body.ops[add].operands[1] = outside;
    assert_eq!(verify(&module), []);
    assert_eq!(recognise(&mut module), 0);
}

#[test]
fn what_has_no_form_is_named() {
    let check = |text: &str, message: &str| {
        let mut module = read(text);
        let before = print(&module);
        let error = legalize(&mut module, Form::Composites).unwrap_err();
        assert_eq!(error.to_string(), message);
        assert_eq!(print(&module), before);
    };
    let of = |op: &str, operands: usize, ty: &str| {
        let (names, types) = (vec!["%x"; operands].join(", "), vec![ty; operands].join(", "));
        format!(
            "func.func @main(%x: {ty}) -> {ty} {{\n%1 = \"chlo.{op}\"({names}) : ({types}) -> {ty}\nfunc.return %1 : {ty}\n}}"
        )
    };
    check(
        &of("bessel_i1e", 1, "tensor<2xcomplex<f32>>"),
        "'chlo.bessel_i1e' op in function @main has no form in StableHLO for elements of type complex<f32>; \
         convert its operands first",
    );
    check(
        &of("next_after", 2, "tensor<2xf6E3M2FN>"),
        "'chlo.next_after' op in function @main has no form in StableHLO for elements of type f6E3M2FN; \
         convert its operands first",
    );
    let scan = |body: &str| {
        format!(
            "func.func private @g(tensor<?xi8>) -> tensor<?xi8>\n\
             func.func @main(%x: tensor<3x?xi8>) -> tensor<3x?xi8> {{\n\
             %0 = \"chlo.scan\"(%x) ({{\n^bb0(%a: tensor<?xi8>):\n{body}\nstablehlo.return %b : tensor<?xi8>\n}}) \
             {{dimension = 0 : i64, operand_segment_sizes = array<i32: 1, 0>, result_segment_sizes = array<i32: 1, 0>}} \
             : (tensor<3x?xi8>) -> tensor<3x?xi8>\nfunc.return %0 : tensor<3x?xi8>\n}}"
        )
    };
    check(
        &scan("%b = func.call @g(%a) : (tensor<?xi8>) -> tensor<?xi8>"),
        "'chlo.scan' op in function @main has no form in StableHLO: it has an output of a size that only its body knows, \
         which may do more than compute",
    );
    let mut module = read(&scan("%b = stablehlo.negate %a : tensor<?xi8>"));
    assert!(legalize(&mut module, Form::Composites).is_ok());
}

/// Sizes with names: types of results keep them, and equal ones need no broadcast.
#[test]
fn named_sizes() {
    let mut module = read(
        "func.func @main(%x: tensor<?xf32>) -> tensor<?xf32> {\n\
         %0 = \"chlo.broadcast_add\"(%x, %x) : (tensor<?xf32>, tensor<?xf32>) -> tensor<?xf32>\n\
         %1 = chlo.erf_inv %0 : tensor<?xf32> -> tensor<?xf32>\nfunc.return %1 : tensor<?xf32>\n}",
    );
    let size = "b".parse().unwrap();
    let named = Type::from(TensorType::new(
        [Dim::Symbolic(size)],
        artifact_ir::types::ElementType::F32,
    ));
    let main = module.function("main").unwrap();
    let function = &mut module.functions[main];
    function.arguments[0].ty = named.clone();
    function.results[0].ty = named.clone();
    let body = function.body.as_mut().unwrap();
    let values: Vec<_> = body.values.iter().map(|(id, _)| id).collect();
    for value in values {
        body.values[value].ty = named.clone();
    }
    assert_eq!(verify(&module), []);
    let before = program_digest(&module);
    legalize(&mut module, Form::CompositesWithRegions).unwrap();
    assert_eq!(verify(&module), []);
    let add = module.functions[module.function("chlo.broadcast_add.impl").unwrap()]
        .body
        .as_ref()
        .unwrap();
    assert_eq!(add.ops.len(), 2, "{}", print(&module));
    assert_eq!(recognise(&mut module), 2);
    assert_eq!(program_digest(&module), before);
}
