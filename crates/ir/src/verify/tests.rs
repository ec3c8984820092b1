//! Well-formedness of whole modules: what is refused, and with which words.

use super::verify;
use crate::attribute::SymbolRef;
use crate::builder::{BuildError, Builder, RegionBuilder};
use crate::location::LocationId;
use crate::module::{Body, Function, Module, NewOperation, Parameter};
use crate::op::{Binary, Call, Control, Op, Unary};
use crate::types::{ElementType, Type};

fn f32s(shape: &[u64]) -> Type {
    Type::tensor(shape, ElementType::F32)
}

/// A module with one function of one block that makes what `build` adds to it.
fn module_of(arguments: &[Type], results: &[Type], build: impl FnOnce(&mut Body)) -> Module {
    let mut function = Function::new("main");
    function.arguments = arguments.iter().cloned().map(Parameter::new).collect();
    function.results = results.iter().cloned().map(Parameter::new).collect();
    let mut body = Body::new();
    let block = body.add_block(body.root);
    for ty in arguments {
        body.add_argument(block, ty.clone(), LocationId::UNKNOWN);
    }
    build(&mut body);
    function.body = Some(body);
    let mut module = Module::new();
    module.add_function(function);
    module
}

fn check(module: &Module, expected: &[&str]) {
    let found: Vec<String> = verify(module)
        .into_iter()
        .map(|finding| finding.message)
        .collect();
    assert_eq!(found.len(), expected.len(), "{found:#?}");
    for (found, expected) in found.iter().zip(expected) {
        assert!(found.contains(expected), "expected `{expected}` in `{found}`");
    }
}

fn ret() -> Op {
    Control::FuncReturn.into()
}

#[test]
fn well_formed() {
    let module = module_of(&[f32s(&[2])], &[f32s(&[2])], |body| {
        let block = body.entry_block().unwrap();
        let argument = body.blocks[block].arguments[0];
        let add = body.add_op(
            block,
            NewOperation::new(Binary::Add, vec![argument, argument]),
            vec![f32s(&[2])],
        );
        let sum = body.ops[add].results[0];
        body.add_op(block, NewOperation::new(ret(), vec![sum]), vec![]);
    });
    check(&module, &[]);
}

#[test]
fn types_and_terminators() {
    let module = module_of(&[f32s(&[2])], &[f32s(&[3])], |body| {
        let block = body.entry_block().unwrap();
        let argument = body.blocks[block].arguments[0];
        body.add_op(
            block,
            NewOperation::new(Unary::Not, vec![argument]),
            vec![f32s(&[2])],
        );
        body.add_op(
            block,
            NewOperation::new(Unary::Negate, vec![argument]),
            vec![f32s(&[3])],
        );
        body.add_op(block, NewOperation::new(ret(), vec![argument]), vec![]);
        body.add_op(
            block,
            NewOperation::new(Binary::Add, vec![argument]),
            vec![f32s(&[2])],
        );
    });
    check(
        &module,
        &[
            "'stablehlo.not' op operand #0 must be a ranked tensor of i1, signed integer or unsigned integer values, \
             but got 'tensor<2xf32>'",
            "'stablehlo.negate' op inferred type(s) 'tensor<2xf32>' are incompatible with return type(s) of operation \
             'tensor<3xf32>'",
            "'func.return' op has operands of types 'tensor<2xf32>', but the enclosing function (@main) returns \
             'tensor<3xf32>'",
            "'func.return' op must be the last operation of its block",
            "'stablehlo.add' op expects 2 operands, but has 1",
            "'stablehlo.add' op ends a block, but is not a terminator",
        ],
    );
}

#[test]
fn either_return_ends_a_function() {
    let ending = |results: &[Type]| {
        module_of(&[f32s(&[2])], results, |body| {
            let block = body.entry_block().unwrap();
            let argument = body.blocks[block].arguments[0];
            body.add_op(block, NewOperation::new(Control::Return, vec![argument]), vec![]);
        })
    };
    check(&ending(&[f32s(&[2])]), &[]);
    check(
        &ending(&[f32s(&[3])]),
        &[
            "'stablehlo.return' op has operands of types 'tensor<2xf32>', but the enclosing function (@main) returns \
           'tensor<3xf32>'",
        ],
    );
}

#[test]
fn uses_must_be_dominated() {
    let module = module_of(&[f32s(&[])], &[], |body| {
        let block = body.entry_block().unwrap();
        let argument = body.blocks[block].arguments[0];
        let first = body.add_op(
            block,
            NewOperation::new(Unary::Negate, vec![argument]),
            vec![f32s(&[])],
        );
        let second = body.add_op(
            block,
            NewOperation::new(Unary::Negate, vec![argument]),
            vec![f32s(&[])],
        );
        body.ops[first].operands = body.ops[second].results.clone();
        body.add_op(block, NewOperation::new(ret(), vec![]), vec![]);
    });
    check(
        &module,
        &["'stablehlo.negate' op operand #0 does not dominate this use"],
    );
}

#[test]
fn recursion_is_refused() {
    let call = |callee: &str| {
        let mut function = Function::new(if callee == "f" { "g" } else { "f" });
        let mut body = Body::new();
        let block = body.add_block(body.root);
        let call = Control::Call(Call {
            callee: SymbolRef::flat(callee),
        });
        body.add_op(block, NewOperation::new(call, vec![]), vec![]);
        body.add_op(block, NewOperation::new(ret(), vec![]), vec![]);
        function.body = Some(body);
        function
    };
    let mut module = Module::new();
    module.add_function(call("g"));
    module.add_function(call("f"));
    module.add_function(call("g"));
    check(
        &module,
        &[
            "redefinition of symbol named 'f'",
            "'func.call' op calls @f, which leads back to this call",
        ],
    );
}

#[test]
fn the_builder_infers_and_refuses() {
    let mut builder = Builder::new("main", &[f32s(&[2]), Type::tensor(&[], ElementType::I1)]);
    let [x, predicate] = builder.arguments()[..] else {
        panic!("two arguments")
    };
    let doubled = builder.op(Binary::Add, &[x, x]).unwrap()[0];
    assert_eq!(builder.ty(doubled), Some(&f32s(&[2])));
    let error = builder.op(Binary::Add, &[x, predicate]).unwrap_err();
    assert_eq!(
        error.to_string(),
        "'stablehlo.add' op requires compatible types for all operands and results, but got 'tensor<2xf32>' and \
         'tensor<i1>' (C1)"
    );
    let branch = |value| RegionBuilder::new(vec![], move |_: &mut Builder<'_>, _: &[_]| Ok(vec![value]));
    let chosen = builder
        .op_with_regions(
            Control::If,
            &[predicate],
            Some(&[f32s(&[2])]),
            vec![branch(x), branch(doubled)],
        )
        .unwrap();
    let function = builder.finish(&chosen).unwrap();
    assert_eq!(function.ty().results, [f32s(&[2])]);

    let mut builder = Builder::new("main", &[f32s(&[2])]);
    let x = builder.arguments()[0];
    let mut inner = None;
    let region = RegionBuilder::new(vec![f32s(&[2])], |builder: &mut Builder<'_>, arguments: &[_]| {
        inner = Some(builder.op(Unary::Negate, arguments)?[0]);
        Ok(vec![])
    });
    let foreign = crate::op::ForeignOp {
        name: "mpmd.fragment".into(),
        properties: crate::attribute::NamedAttributes::new(),
        terminator: false,
    };
    builder
        .op_with_regions(Op::Foreign(Box::new(foreign)), &[x], Some(&[]), vec![region])
        .unwrap();
    let error = builder.finish(&[inner.unwrap()]).unwrap_err();
    assert!(matches!(error, BuildError::Function(_)));
    assert!(error.to_string().contains("does not dominate"), "{error}");
}
