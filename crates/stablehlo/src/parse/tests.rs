//! Text in, what was understood or what is wrong with it out.

use super::*;
use crate::source::SourceText;

/// What is wrong with `text`, one `line:column: message` each.
fn errors(text: &str) -> Vec<String> {
    let source = SourceText::new("t", text);
    let parsed = parse_module(text);
    let show = |diagnostic: &Diagnostic| {
        let position = source.position(diagnostic.source.get().unwrap_or(0));
        format!("{}:{}: {}", position.line, position.column, diagnostic.message)
    };
    parsed.diagnostics.iter().map(show).collect()
}

fn accept(text: &str) -> Vec<Module> {
    let errors = errors(text);
    assert!(errors.is_empty(), "{text}\n{errors:#?}");
    parse_module(text).modules
}

fn refuse(text: &str, expected: &[&str]) {
    let errors = errors(text);
    assert_eq!(errors.len(), expected.len(), "{text}\n{errors:#?}");
    for (error, expected) in errors.iter().zip(expected) {
        assert!(error.starts_with(expected), "{text}\n{error}\nis not\n{expected}");
    }
}

/// Wraps operations in a function with a few arguments.
fn in_function(ops: &str) -> String {
    format!("func.func @f(%a: tensor<2xf32>, %b: tensor<2xf32>, %i: tensor<i32>) {{\n{ops}\nreturn\n}}")
}

#[test]
fn modules_and_functions() {
    let modules = accept(
        "module @m attributes {mhlo.num_partitions = 1 : i32} {\n\
         func.func public @main(%a: tensor<f32> {mhlo.sharding = \"x\"} loc(\"a\")) -> (tensor<f32> {r = \"y\"}) \
         attributes {k} { return %a : tensor<f32> loc(#l) }\n\
         func.func private @d(tensor<f32>) -> tensor<f32>\n\
         sdy.mesh @mesh = <[\"x\"=2]> {a = 1} loc(#l)\n} loc(unknown)\n#l = loc(\"f.py\":1:2 to :3)\n",
    );
    let [module] = modules.as_slice() else {
        panic!("{} modules", modules.len())
    };
    assert_eq!(module.name.as_deref(), Some("m"));
    let main = &module.functions[module.function("main").unwrap()];
    assert_eq!(
        (main.arguments.len(), main.results.len(), main.attributes.len()),
        (1, 1, 1)
    );
    assert!(module.functions[module.function("d").unwrap()].body.is_none());
    let mesh = &module.meshes[module.mesh("mesh").unwrap()];
    assert_eq!((mesh.mesh.axes[0].size, mesh.attributes.len()), (2, 1));
}

#[test]
fn generic_modules_and_functions() {
    let modules = accept(
        "\"builtin.module\"() <{sym_name = \"m\"}> ({\n\
         \"func.func\"() <{function_type = (tensor<f32>) -> tensor<f32>, sym_name = \"f\", sym_visibility = \"private\"}> ({\n\
         ^bb0(%a: tensor<f32>):\n\"func.return\"(%a) : (tensor<f32>) -> ()\n}) : () -> ()\n}) {x = 1 : i32} : () -> ()",
    );
    assert_eq!(modules[0].name.as_deref(), Some("m"));
    assert_eq!(modules[0].attributes.len(), 1);
    let function = &modules[0].functions[modules[0].entry().unwrap()];
    assert_eq!(function.visibility, artifact_ir::module::Visibility::Private);
}

#[test]
fn several_modules() {
    assert_eq!(accept("module {}\nmodule {}\nfunc.func private @f()").len(), 3);
    assert_eq!(
        accept("func.func private @f()\n// -----\nfunc.func private @f()").len(),
        2
    );
    refuse(
        "func.func private @f()\nfunc.func private @f()",
        &["2:1: redefinition of symbol"],
    );
}

#[test]
fn names_of_operations_are_plain() {
    let message = "the name of an operation consists of visible ASCII characters, without escapes";
    let located = |place: &str| format!("{place}: {message}");
    for name in ["", "other\\l.op", "other.\\41", "other. op", "oth\u{e9}r.op"] {
        let op = format!("\"{name}\"() : () -> ()");
        refuse(&in_function(&op), &[&located("2:1")]);
        refuse(&op, &[&located("1:1")]);
    }
}

#[test]
fn one_mistake_gives_one_message_and_others_are_found() {
    refuse(
        &in_function(
            "%0 = stablehlo.add %a, %c : tensor<2xf32>\n%1 = stablehlo.abs %0 : tensor<2xf32>\n%2 = stablehlo.nonsense %1",
        ),
        &[
            "2:24: use of undefined value '%c'",
            "4:6: unknown operation 'stablehlo.nonsense'",
        ],
    );
    refuse(
        "func.func @f( {\n}\nfunc.func @g() {\n%0 = stablehlo.constant dense<1> : tensor<f32>\nreturn\n}",
        &[
            "1:15: expected a type, found '{'",
            "4:31: expected floating-point elements",
        ],
    );
    let many: String = (0..100).map(|_| "stablehlo.add %x\n").collect();
    assert_eq!(errors(&in_function(&many)).len(), 20);
}

#[test]
fn values() {
    refuse(
        &in_function("%a = stablehlo.abs %b : tensor<2xf32>"),
        &["2:1: redefinition of value '%a'"],
    );
    refuse(
        &in_function("%0 = stablehlo.abs %i : tensor<2xf32>"),
        &["2:20: use of value expects different type"],
    );
    refuse(
        &in_function("%0:2 = stablehlo.abs %a : tensor<2xf32>"),
        &["2:1: operation defines 1 results"],
    );
    refuse(
        &in_function("%0 = stablehlo.abs %a#1 : tensor<2xf32>"),
        &["2:20: '%a#1' is beyond"],
    );
    accept(&in_function(
        "%0:2 = stablehlo.optimization_barrier %a, %b : tensor<2xf32>, tensor<2xf32>\n%1 = stablehlo.abs %0#1 : tensor<2xf32>",
    ));
}

#[test]
fn names_of_a_region_end_with_it() {
    accept(&in_function(
        "%0 = stablehlo.while(%x = %i) : tensor<i32> cond {\n%c = stablehlo.compare LT, %x, %i : (tensor<i32>, tensor<i32>) -> tensor<i1>\n\
         stablehlo.return %c : tensor<i1>\n} do {\n%c = stablehlo.add %x, %i : tensor<i32>\nstablehlo.return %c : tensor<i32>\n}",
    ));
}

#[test]
fn attributes_are_the_operations_or_discardable() {
    let modules = accept(&in_function(
        "%0 = stablehlo.iota dim = 0 {mhlo.x = #foo.bar<1, \"a>\">} : tensor<4xi32>",
    ));
    let function = &modules[0].functions[modules[0].entry().unwrap()];
    let (_, operation) = function.body.as_ref().unwrap().ops.iter().next().unwrap();
    assert_eq!(operation.op.attributes().len(), 1);
    assert_eq!(
        operation.attributes.get("mhlo.x"),
        Some(&artifact_ir::attribute::Attribute::Foreign(
            "#foo.bar<1, \"a>\">".into()
        ))
    );
    refuse(
        &in_function("%0 = \"stablehlo.iota\"() : () -> tensor<4xi32>"),
        &["2:6: 'stablehlo.iota' op requires attribute 'iota_dimension'"],
    );
    refuse(
        &in_function("%0 = stablehlo.abs %a {x, x} : tensor<2xf32>"),
        &["2:27: the attribute 'x' stands twice"],
    );
}

#[test]
fn locations() {
    let modules = accept(
        "func.func private @f() loc(callsite(#a at fused<\"m\">[\"g\"(#b), \"f\":1:2 to 3:4]))\n\
         #a = loc(\"n\"(#b))\n#b = loc(\"f\":7:8)",
    );
    assert_eq!(modules[0].locations.len(), 7);
    refuse(
        "func.func private @f() loc(#a)\n#a = loc(\"n\"(#b))\n#b = loc(\"n\"(#a))",
        &["1:24: the alias '#a' is defined by"],
    );
    refuse(
        "func.func private @f() loc(#a)",
        &["1:24: undefined location alias '#a'"],
    );
    let chain: String = (0..20_000)
        .map(|index| format!("#l{index} = loc(\"n\"(#l{}))\n", index + 1))
        .collect();
    accept(&format!(
        "{chain}#l20000 = loc(unknown)\nfunc.func private @f() loc(#l0)"
    ));
}

#[test]
fn aliases() {
    accept(
        "!t = tensor<2xf32>\n#d = dense<1.0> : !t\nfunc.func @f() -> !t {\n%0 = stablehlo.constant #d\nreturn %0 : !t\n}",
    );
    accept("func.func private @f(tensor<2x!q>)\n!q = !quant.uniform<i8<-127:127>:f32:1, {0.1:3, 0.2}>");
    refuse("#a = 1\n#a = 2", &["2:1: redefinition of alias '#a'"]);
    refuse("#a = [#a]", &["1:7: the alias '#a' is defined by itself"]);
    refuse("func.func private @f(!x)", &["1:22: undefined type alias '!x'"]);
}

/// Whatever the order of definitions is, there is one message, and reading ends with it.
#[test]
fn aliases_of_aliases_are_limited() {
    let doubled = |sigil: &str, open: &str, close: &str| -> Vec<String> {
        let line = |level: u32| {
            let below = format!("{sigil}a{}", level - 1);
            format!("{sigil}a{level} = {open}{below}, {below}{close}\n")
        };
        let first = format!("{sigil}a0 = {open}{close}\n");
        std::iter::once(first).chain((1..64).map(line)).collect()
    };
    for (sigil, open, close) in [("#", "[", "]"), ("!", "tuple<", ">"), ("!", "(", ") -> ()")] {
        let mut lines = doubled(sigil, open, close);
        let forward = lines.concat();
        lines.reverse();
        for text in [forward, lines.concat()] {
            let errors = errors(&text);
            assert_eq!(errors.len(), 1, "{errors:#?}");
            assert!(errors[0].contains("what aliases stand for is"), "{errors:#?}");
        }
    }
}

#[test]
fn copies_of_what_an_alias_stands_for_are_limited() {
    let nested = "::@b".repeat(1000);
    let axes = "{\"x\"}, ".repeat(200);
    for value in [format!("@a{nested}"), format!("#sdy.sharding<@m, [{axes}{{}}]>")] {
        let uses = |count: usize| format!("#x = {value}\n#y = [{}]", vec!["#x"; count].join(", "));
        accept(&uses(10));
        let errors = errors(&uses(3000));
        assert_eq!(errors.len(), 1, "{errors:#?}");
        assert!(errors[0].contains("what aliases stand for is"), "{errors:#?}");
    }
    // Parts of a text are held at once.
    let part = format!(
        "#x = [{}]\nfunc.func private @f() attributes {{a = #x}}\n",
        vec!["1"; 20_000].join(",")
    );
    accept(&[part.as_str(); 3].join("// -----\n"));
    let errors = errors(&[part.as_str(); 200].join("// -----\n"));
    assert_eq!(errors.len(), 1, "{errors:#?}");
}

#[test]
fn bad_input_ends_with_a_message() {
    let nested = |open: &str, close: &str| {
        format!(
            "func.func private @f() attributes {{a = {}{}}}",
            open.repeat(5000),
            close.repeat(5000)
        )
    };
    refuse(
        &nested("[", "]"),
        &["1:295: nesting is 257 levels, over the limit of 256"],
    );
    assert_eq!(errors(&nested("{a = ", "}")).len(), 1);
    assert_eq!(
        errors(&format!("func.func private @f({}", "tuple<".repeat(5000))).len(),
        1
    );
    assert_eq!(
        errors(&format!("func.func private @f() loc({}", "\"a\"(".repeat(5000))).len(),
        1
    );
    let regions = "\"stablehlo.case\"(%i) ({\n".repeat(5000);
    assert!(!errors(&in_function(&regions)).is_empty());
    for text in [
        "module",
        "module {",
        "func.func @",
        "\"",
        "@\"",
        "%",
        "loc(",
        "#",
        "#x =",
        "}",
        "\u{0}",
        "é",
    ] {
        assert!(!errors(text).is_empty(), "{text}");
    }
}

#[test]
fn other_forms_are_refused_with_a_reason() {
    refuse(
        "func.func @f() {\n\"cf.br\"()[^bb1] : () -> ()\n}",
        &["2:10: successors are not supported"],
    );
    refuse(
        &in_function("foo.bar %a"),
        &["2:1: unknown operation 'foo.bar': operations of other dialects"],
    );
    refuse(
        &in_function("%0 = stablehlo.all_gather %a"),
        &["2:6: 'stablehlo.all_gather' has no pretty form"],
    );
    refuse("module { module {} }", &["1:10: nested modules"]);
    refuse(
        "%0 = stablehlo.constant dense<1> : tensor<i32>",
        &["1:1: operations must stand in a function"],
    );
}
