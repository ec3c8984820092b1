//! Shardy as text: every form is read and printed again, wrong ones are refused with their place, and names of meshes are no
//! part of what a program means. That jaxlib reads and refuses the same was checked when this was written.

#![expect(
    clippy::unwrap_used,
    reason = "a test fails where its texts are not as they should be"
)]

use artifact_ir::attribute::Attribute;
use artifact_ir::digest::{ProgramDigest, program_digest};
use artifact_ir::module::Module;
use artifact_ir::op::Op;
use artifact_ir::verify::verify;
use artifact_stablehlo::parse::parse_module;
use artifact_stablehlo::print::{OperationForm, PrintOptions, print_module};

const MESHES: &str = "sdy.mesh @mesh = <[\"x\"=2, \"y\"=4]>\n\
     sdy.mesh @turned = <[\"x\"=2, \"y\"=4], device_ids=[7, 6, 5, 4, 3, 2, 1, 0]>\n\
     sdy.mesh @one = <[], device_ids=[3]>\n";

/// The text of a function of one argument, sharded over both axes, around some lines.
fn function(lines: &str) -> String {
    format!(
        "{MESHES}func.func @f(%a: tensor<8x16xf32> {{sdy.sharding = #sdy.sharding<@mesh, [{{\"x\"}}, {{\"y\"}}]>}}) {{\n\
         {lines}\nreturn\n}}\n"
    )
}

fn read(text: &str) -> Module {
    parse_module(text)
        .into_module()
        .unwrap_or_else(|findings| panic!("{text}\n{findings:#?}"))
}

/// Attributes that read and print as the same text.
#[test]
fn attributes() {
    for text in [
        r#"#sdy<manual_axes{"x", "y"}>"#,
        "#sdy<manual_axes{}>",
        r#"#sdy<mesh_axis"x"=2>"#,
        r#"#sdy.mesh<["x"=2, "y"=4]>"#,
        r#"#sdy.mesh<["x"=2], device_ids=[1, 0]>"#,
        "#sdy.mesh<[]>",
        "#sdy.mesh<[], device_ids=[3]>",
        "#sdy<sub_axis_info(1)2>",
        r#"#sdy<axis_ref"x":(1)2>"#,
        r#"#sdy<dimension_sharding{"a\22b", "c":(2)4, ?}p12>"#,
        "#sdy<dimension_sharding{?}>",
        "#sdy<dimension_sharding{}>",
        r#"#sdy.sharding<@mesh, [{"x", ?}, {}p0], replicated={"y":(1)2}, unreduced={"y":(2)2}>"#,
        r#"#sdy.sharding<mesh<["x"=2]>, [], unreduced=max{"x"}>"#,
        r#"#sdy.sharding<@"odd name", [{}]>"#,
        "#sdy.sharding_per_value<[]>",
        "#sdy.sharding_per_value<[<@mesh, [{}]>, <@one, []>]>",
        "#sdy<dim_mapping ijz_1z_22>",
        "#sdy<tensor_mapping[i, jk]>",
        "#sdy.op_sharding_rule<([])->([])>",
        "#sdy.op_sharding_rule<([i, j], [j])->([ij]) {i=2, j=3} reduction={i, j} need_replication={j} \
         permutation={i} blocked_propagation={i, j}, custom>",
        r#"#sdy<axis_ref_list{"x", "y":(1)2}>"#,
        r#"#sdy<list_of_axis_ref_lists[{"x"}, {}]>"#,
        r#"#sdy<all_to_all_param{"x"}: 0->1>"#,
        r#"#sdy<all_to_all_param_list[{"x"}: 0->1, {"y", "z"}: 2->3]>"#,
        "#sdy<edge_value_ref operand-1>",
        r#"#sdy<axis_to_propagation_details{"x" = operand-1 -> [operand-0, result-0]}>"#,
        "#sdy<propagation_one_step{step-2 = [{\"y\" = operand-1 -> [result-0]}]}>",
        r#"#sdy.propagation_edges<[{step-2 = [{"y" = operand-1 -> [result-0]}]}]>"#,
    ] {
        let module = read(&format!("module attributes {{a.b = {text}}} {{}}"));
        assert!(
            matches!(module.attributes.get("a.b"), Some(Attribute::Sdy(_))),
            "{text}"
        );
        let printed = print_module(&module, &PrintOptions::default());
        assert!(
            printed.starts_with(&format!("module attributes {{a.b = {text}}}")),
            "{text}\n{printed}"
        );
    }
}

/// Spellings that another one replaces.
#[test]
fn other_spellings() {
    for (text, same) in [
        ("#sdy<sharding<@m, [{}]>>", "#sdy.sharding<@m, [{}]>"),
        (
            r#"#sdy.sharding<@m, [{}], unreduced=sum{"y"}, replicated={"x"}>"#,
            r#"#sdy.sharding<@m, [{}], replicated={"x"}, unreduced={"y"}>"#,
        ),
        (
            r#"#sdy.mesh<["x"=2], device_ids=[0, 1]>"#,
            r#"#sdy.mesh<["x"=2]>"#,
        ),
        (
            "#sdy.op_sharding_rule<([i])->([i])   {i=2} reduction={}>",
            "#sdy.op_sharding_rule<([i])->([i]) {i=2}>",
        ),
    ] {
        let attribute = |text: &str| {
            read(&format!("module attributes {{a.b = {text}}} {{}}"))
                .attributes
                .get("a.b")
                .cloned()
        };
        assert_eq!(attribute(text), attribute(same));
    }
}

/// Every operation, in the form that upstream prints.
const OPERATIONS: &[&str] = &[
    r#"%0 = sdy.sharding_constraint %arg0 <@mesh, [{"x", ?}, {?}p1], replicated={"y"}> : tensor<8x16xf32>"#,
    r#"%0 = sdy.reshard %arg0 <mesh<["x"=2, "y"=4]>, [{}, {"x"}]> {a} : tensor<8x16xf32>"#,
    r#"%0 = sdy.all_gather [{}, {"y"}] %arg0 out_sharding=<@mesh, [{"x"}, {}]> : tensor<8x16xf32>"#,
    r#"%0 = sdy.all_gather [{}, {"y":(2)2}] %arg0 out_sharding=<@mesh, [{"x"}, {"y":(1)2}]> : tensor<8x16xf32>"#,
    r#"%0 = sdy.all_slice [{}, {}] %arg0 out_sharding=<@mesh, [{"x"}, {"y"}]> : tensor<8x16xf32>"#,
    r#"%0 = sdy.all_to_all [{"x"}: 0->1] %arg0 out_sharding=<@mesh, [{}, {"y", "x"}]> : tensor<8x16xf32>"#,
    r#"%0 = sdy.collective_permute %arg0 out_sharding=<@mesh, [{"y":(1)2}, {"y":(2)2, "x"}]> : tensor<8x16xf32>"#,
    r#"%0 = sdy.collective_permute %arg0 out_sharding=<@turned, [{"x"}, {"y"}]> : tensor<8x16xf32>"#,
    r#"%0 = sdy.sharded_to_unreduced [{"x"}, {}] %arg0 out_sharding=<@mesh, [{}, {"y"}], unreduced={"x"}> : tensor<8x16xf32>"#,
    r#"%0 = sdy.all_reduce {} %arg0 out_sharding=<@mesh, [{"x"}, {"y"}]> : tensor<8x16xf32>"#,
    r#"%0 = sdy.reduce_scatter max [{}, {}] %arg0 out_sharding=<@mesh, [{"x"}, {"y"}]> : tensor<8x16xf32>"#,
    "%0 = sdy.data_flow_edge %arg0 : tensor<8x16xf32>",
    r#"%0 = sdy.data_flow_edge %arg0 sharding=<@mesh, [{"x"}, {?}]> : tensor<8x16xf32>"#,
    "%0 = sdy.func_data_flow_edge %arg0 : tensor<8x16xf32>",
    "%0 = sdy.propagation_barrier %arg0 allowed_direction=FORWARD : tensor<8x16xf32>",
    "sdy.sharding_group %arg0 group_id=21 : tensor<8x16xf32>",
    "%0 = sdy.constant dense<1.000000e+00> : tensor<2xf32>",
    "%0 = sdy.named_computation<\"n\">(%arg0) out_shardings=[<@mesh, [{}, {}]>] (%arg1: tensor<8x16xf32>) {\n\
     sdy.return %arg1 : tensor<8x16xf32>\n} : (tensor<8x16xf32>) -> tensor<8x16xf32>",
    "%0 = sdy.manual_computation(%arg0) in_shardings=[<@mesh, [{\"x\", \"y\":(1)2}, {}]>] \
     out_shardings=[<@mesh, [{\"x\"}, {\"y\"}]>] manual_axes={\"x\"} (%arg1: tensor<4x16xf32>) {\n\
     sdy.return %arg1 : tensor<4x16xf32>\n} {a = 1 : i64} : (tensor<8x16xf32>) -> tensor<8x16xf32>",
    "sdy.manual_computation() in_shardings=[] out_shardings=[] manual_axes={} () {\nsdy.return\n} : () -> ()",
];

#[test]
fn operations() {
    let lines = |text: &str| -> Vec<String> { text.lines().map(|line| line.trim().to_owned()).collect() };
    for text in OPERATIONS {
        let module = read(&function(&text.replace("%arg0", "%a")));
        assert_eq!(verify(&module), [], "{text}");
        let function = &module.functions[module.entry().unwrap()];
        let ops = function.body.as_ref().unwrap().ops.iter();
        let own = ops.filter(|(_, operation)| matches!(operation.op, Op::Sharding(_)));
        assert!(own.count() > 0, "{text}");
        let printed = lines(&print_module(&module, &PrintOptions::default()));
        let wanted = lines(text);
        let found = printed.windows(wanted.len()).any(|lines| lines == wanted);
        assert!(found, "{text}\n{printed:#?}");
        for form in [OperationForm::Pretty, OperationForm::Generic] {
            let options = PrintOptions {
                form,
                ..PrintOptions::default()
            };
            let again = read(&print_module(&module, &options));
            assert_eq!(
                print_module(&again, &PrintOptions::default()),
                print_module(&module, &PrintOptions::default()),
                "{text}"
            );
            assert_eq!(program_digest(&again), program_digest(&module), "{text}");
        }
    }
}

/// The first finding in a text: line, column, and what is said.
fn first_finding(text: &str) -> (usize, usize, String) {
    let findings = parse_module(text).into_module().unwrap_err();
    let before = &text[..findings[0].source.get().unwrap()];
    let line_start = before.rfind('\n').map_or(0, |end| end + 1);
    (
        before.matches('\n').count() + 1,
        before.len() - line_start + 1,
        findings[0].message.clone(),
    )
}

/// Text that cannot be read: where, and what is said.
#[test]
fn unreadable() {
    // The place is marked.
    for (text, message) in [
        ("`#sdy.nonsense<1>", "unknown Shardy attribute"),
        ("#sdy.manual_axes`{}", "expected '<'"),
        ("#sdy.sharding<mesh`, [{}]>", "expected '<'"),
        ("#sdy.sharding<`[{}]>", "expected a mesh"),
        ("#sdy.sharding<@m, [{?`, \"x\"}]>", "expected '}'"),
        ("#sdy.sharding<@m, [{}`p01]>", "leading zeros"),
        ("#sdy.sharding<@m, [{}`q]>", "expecting priority"),
        ("#sdy.sharding<@m, [{}], replicated=`{}>", "not empty"),
        (
            "#sdy.sharding<@m, [{}], `other={}>",
            "expected 'replicated' or 'unreduced'",
        ),
        ("#sdy.mesh`<[\"x\"=0]>", "axis size must be at least 1"),
        ("#sdy.mesh`<[\"x\"=2, \"x\"=2]>", "duplicate axis name"),
        (
            "#sdy.mesh`<[\"x\"=2], device_ids=[0]>",
            "total product of axis sizes",
        ),
        ("#sdy.mesh`<[\"x\"=2], device_ids=[1, 1]>", "iota"),
        ("#sdy.mesh`<[\"x\"=4294967296, \"y\"=4294967296]>", "does not fit"),
        ("#sdy.op_sharding_rule<([`h])->([i]) {i=2}>", "from 'i' to 'z'"),
        ("#sdy.op_sharding_rule<([`z_0])->([i]) {i=2}>", "after 'z_'"),
        (
            "#sdy.op_sharding_rule<([`z_9223372036854775807])->([i])>",
            "after 'z_'",
        ),
        ("#sdy.op_sharding_rule<([i])->([i]) {`j=2}>", "like an iota"),
        ("#sdy.op_sharding_rule<([i])->([i]) {`ij=2}>", "single factor"),
        ("#sdy<edge_value_ref `value-1>", "'operand' or 'result'"),
    ] {
        let text = format!("module attributes {{a.b = {text}}} {{}}");
        let place = text.find('`').unwrap();
        let finding = first_finding(&text.replace('`', ""));
        assert_eq!((finding.0, finding.1), (1, place + 1), "{text}\n{}", finding.2);
        assert!(finding.2.contains(message), "{text}\n{}", finding.2);
    }
    for (line, message) in [
        ("%0 = sdy.nonsense %a : tensor<8x16xf32>", "unknown operation"),
        ("sdy.mesh @inner = <[]>", "unknown operation"),
        (
            "%0 = sdy.propagation_barrier %a allowed_direction=UP : tensor<8x16xf32>",
            "expected a direction",
        ),
        ("%0 = sdy.reshard %a : tensor<8x16xf32>", "expected '<'"),
        (
            "%0 = \"sdy.reshard\"(%a) <{sharding = 1}> : (tensor<8x16xf32>) -> tensor<8x16xf32>",
            "must be a sharding",
        ),
    ] {
        let finding = first_finding(&function(line));
        assert_eq!(finding.0, 5, "{line}\n{}", finding.2);
        assert!(finding.2.contains(message), "{line}\n{}", finding.2);
    }
    let twice = parse_module(&format!("{MESHES}sdy.mesh @mesh = <[]>")).into_module();
    assert!(twice.unwrap_err()[0].to_string().contains("redefinition"));
}

/// Operations that break a rule, and what the verifier says.
const REFUSED: &[(&str, &str)] = &[
    (
        r#"%0 = sdy.reshard %a <@none, [{}, {}]> : tensor<8x16xf32>"#,
        "unknown mesh: @none",
    ),
    (
        r#"%0 = sdy.reshard %a <@mesh, [{}]> : tensor<8x16xf32>"#,
        "tensor rank: 1 != 2",
    ),
    (
        r#"%0 = sdy.reshard %a <@one, [{}, {}]> : tensor<8x16xf32>"#,
        "maximal sharding",
    ),
    (
        r#"%0 = sdy.reshard %a <@mesh, [{"z"}, {}]> : tensor<8x16xf32>"#,
        "unknown axis name",
    ),
    (
        r#"%0 = sdy.reshard %a <@mesh, [{"x"}, {"x"}]> : tensor<8x16xf32>"#,
        "duplicate axis",
    ),
    (
        r#"%0 = sdy.reshard %a <@mesh, [{"y"}, {"y":(1)2}]> : tensor<8x16xf32>"#,
        "overlapping",
    ),
    (
        r#"%0 = sdy.reshard %a <@mesh, [{"y":(1)2, "y":(2)2}, {}]> : tensor<8x16xf32>"#,
        "merged",
    ),
    (
        r#"%0 = sdy.reshard %a <@mesh, [{"y":(0)2}, {}]> : tensor<8x16xf32>"#,
        "at least 1",
    ),
    (
        r#"%0 = sdy.reshard %a <@mesh, [{"y":(2)1}, {}]> : tensor<8x16xf32>"#,
        "greater than 1",
    ),
    (
        r#"%0 = sdy.reshard %a <@mesh, [{"y":(2)4}, {}]> : tensor<8x16xf32>"#,
        "doesn't divide",
    ),
    (
        r#"%0 = sdy.reshard %a <@mesh, [{"y":(9223372036854775807)2}, {}]> : tensor<8x16xf32>"#,
        "doesn't divide",
    ),
    (
        r#"%0 = sdy.reshard %a <@mesh, [{"y":(1)4}, {}]> : tensor<8x16xf32>"#,
        "full axis size",
    ),
    (
        r#"%0 = sdy.reshard %a <@mesh, [{}, {}], replicated={"y", "x"}> : tensor<8x16xf32>"#,
        "not ordered",
    ),
    (
        r#"%0 = sdy.reshard %a <@mesh, [{}p1, {}]> : tensor<8x16xf32>"#,
        "has a priority",
    ),
    (
        "%0 = sdy.propagation_barrier %a allowed_direction=BOTH : tensor<8x16xf32>",
        "cannot specify `BOTH`",
    ),
    (
        r#"%0 = sdy.all_gather [{}, {"x"}] %a out_sharding=<@mesh, [{"x"}, {}]> : tensor<8x16xf32>"#,
        "can't apply gathering",
    ),
    (
        r#"%0 = sdy.all_gather [{}, {"y"}] %a out_sharding=<@mesh, [{}, {}]> : tensor<8x16xf32>"#,
        "on dimension 0",
    ),
    (
        r#"%0 = sdy.all_gather [{}, {"y"}] %a out_sharding=<@turned, [{"x"}, {}]> : tensor<8x16xf32>"#,
        "result mesh does not match",
    ),
    (
        "%c = stablehlo.constant dense<0.0> : tensor<2xf32>\n\
         %0 = sdy.all_gather [{}] %c out_sharding=<@mesh, [{}]> : tensor<2xf32>",
        "without sharding",
    ),
    (
        r#"%0 = sdy.all_to_all [{"x"}: 0->2] %a out_sharding=<@mesh, [{}, {"y", "x"}]> : tensor<8x16xf32>"#,
        "out of range",
    ),
    (
        r#"%0 = sdy.collective_permute %a out_sharding=<@mesh, [{"y"}, {"x"}]> : tensor<8x16xf32>"#,
        "sharded size",
    ),
    (
        r#"%0 = sdy.all_reduce {"x"} %a out_sharding=<@mesh, [{"x"}, {"y"}]> : tensor<8x16xf32>"#,
        "overlaps with operand",
    ),
    (
        r#"%0 = sdy.reshard %a <@mesh, [{}, {}], unreduced=max{"x"}> : tensor<8x16xf32>"#,
        "cannot introduce 'max'",
    ),
    (
        r#"%0 = stablehlo.abs %a {sdy.sharding = #sdy.sharding_per_value<[]>} : tensor<8x16xf32>"#,
        "0 shardings vs 1 values",
    ),
    (
        "%0 = stablehlo.abs %a {sdy.sharding = 1} : tensor<8x16xf32>",
        "TensorShardingPerValueAttr",
    ),
    (
        "%0 = stablehlo.abs %a {sdy.sharding_rule = #sdy.op_sharding_rule<([i, j])->([i, j]) {i=8, j=16, k=2}>} : tensor<8x16xf32>",
        "factor #2 that isn't used",
    ),
    (
        "%0 = stablehlo.abs %a {sdy.sharding_rule = #sdy.op_sharding_rule<([i, j])->([i, j]) {i=8, j=16} reduction={i}>} : tensor<8x16xf32>",
        "cannot be in result",
    ),
    (
        "%0 = sdy.manual_computation(%a) in_shardings=[<@mesh, [{\"x\"}, {}]>] out_shardings=[<@mesh, [{}, {}]>] \
         manual_axes={\"x\"} (%b: tensor<8x16xf32>) { sdy.return %b : tensor<8x16xf32> } \
         : (tensor<8x16xf32>) -> tensor<8x16xf32>",
        "expected 4 in dimension 0",
    ),
    (
        "%0 = sdy.manual_computation(%a) in_shardings=[<@mesh, [{\"y\", \"x\"}, {}]>] out_shardings=[<@mesh, [{}, {}]>] \
         manual_axes={\"x\"} (%b: tensor<4x16xf32>) { sdy.return %a : tensor<8x16xf32> } \
         : (tensor<8x16xf32>) -> tensor<8x16xf32>",
        "before free axes",
    ),
    (
        "%0 = sdy.manual_computation(%a) in_shardings=[<@mesh, [{}, {}]>] out_shardings=[<@mesh, [{}, {}]>] \
         manual_axes={\"z\"} (%b: tensor<8x16xf32>) { sdy.return %b : tensor<8x16xf32> } \
         : (tensor<8x16xf32>) -> tensor<8x16xf32>",
        "unknown manual axis",
    ),
    (
        "%0 = sdy.manual_computation(%a) in_shardings=[<@mesh, [{\"x\"}, {}]>] out_shardings=[<@mesh, [{\"x\"}, {}]>] \
         manual_axes={\"x\"} (%b: tensor<4x16xf32>) {\n\
         %1 = sdy.reshard %b <@mesh, [{\"x\"}, {}]> : tensor<4x16xf32>\n\
         sdy.return %1 : tensor<4x16xf32> } : (tensor<8x16xf32>) -> tensor<8x16xf32>",
        "already bound by a parent",
    ),
    (
        "%0 = sdy.named_computation<\"n\">(%a) (%b: tensor<8x8xf32>) { sdy.return %b : tensor<8x8xf32> } \
         : (tensor<8x16xf32>) -> tensor<8x8xf32>",
        "block arguments of the operands' types",
    ),
    ("sdy.return", "must be the last operation"),
];

#[test]
fn refused() {
    for (text, message) in REFUSED {
        let findings = verify(&read(&function(text)));
        let said = findings.iter().any(|finding| finding.message.contains(message));
        assert!(said, "{text}\n{findings:#?}");
    }
    let argument =
        "func.func @f(%a: tensor<2xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}]>}) { return }";
    let findings = verify(&read(&format!("{MESHES}{argument}")));
    assert!(
        findings[0]
            .message
            .contains("argument 0 - sharding doesn't match tensor rank")
    );
}

fn digest(text: &str) -> ProgramDigest {
    program_digest(&read(text))
}

#[test]
fn meshes_count_by_what_they_are() {
    let with = |mesh: &str, reference: &str| {
        digest(&format!(
            "{mesh}\nfunc.func @f(%a: tensor<8xf32>) -> tensor<8xf32> {{\n\
             %0 = sdy.reshard %a <{reference}, [{{\"x\"}}]> : tensor<8xf32>\nreturn %0 : tensor<8xf32>\n}}"
        ))
    };
    let base = with("sdy.mesh @m = <[\"x\"=2]>", "@m");
    assert_eq!(with("sdy.mesh @other = <[\"x\"=2]>", "@other"), base);
    assert_eq!(with("sdy.mesh @m = <[\"x\"=2], device_ids=[0, 1]>", "@m"), base);
    assert_eq!(with("", "mesh<[\"x\"=2]>"), base, "in place or by name");
    assert_eq!(
        with("sdy.mesh @m = <[\"x\"=2]>\nsdy.mesh @unused = <[\"x\"=4]>", "@m"),
        base,
        "one that nothing refers to"
    );
    assert_ne!(with("sdy.mesh @m = <[\"x\"=4]>", "@m"), base);
    assert_ne!(with("sdy.mesh @m = <[\"x\"=2], device_ids=[1, 0]>", "@m"), base);
    assert_ne!(with("", "@m"), base, "a name of nothing");
}

#[test]
fn shardings_count() {
    let with = |attribute: &str| {
        digest(&format!(
            "{MESHES}func.func @f(%a: tensor<8xf32> {{sdy.sharding = #sdy.sharding<{attribute}>}}) {{ return }}"
        ))
    };
    let texts = [
        "@mesh, [{}]",
        "@turned, [{}]",
        "@mesh, [{?}]",
        "@mesh, [{?}p0]",
        "@mesh, [{?}p1]",
        "@mesh, [{\"x\"}]",
        "@mesh, [{\"y\"}]",
        "@mesh, [{\"y\":(1)2}]",
        "@mesh, [{\"y\":(2)2}]",
        "@mesh, [{}], replicated={\"x\"}",
        "@mesh, [{}], unreduced={\"x\"}",
        "@mesh, [{}], unreduced=max{\"x\"}",
    ];
    let digests: std::collections::HashSet<String> =
        texts.iter().map(|text| with(text).to_string()).collect();
    assert_eq!(digests.len(), texts.len());
}
