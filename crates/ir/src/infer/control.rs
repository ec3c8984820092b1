//! Control flow, calls, tuples and tokens.

use super::compatible::{self, quoted};
use super::custom_call;
use super::element::Elements;
use super::extent::{combine, least_specific};
use super::operand::tensor;
use super::region;
use crate::op::{Composite, Control, GetTupleElement};
use crate::types::{ElementType, Type};
use crate::verify::context::{OpContext, OpError, OpResult, RegionTypes, Results, ensure, owned};

pub(super) fn rules(op: &Control, cx: &OpContext<'_>) -> OpResult {
    match op {
        Control::AfterAll => after_all(cx),
        Control::AsyncDone => async_done(cx),
        Control::AsyncStart => async_start(cx),
        Control::Case => case(cx),
        Control::Composite(op) => composite(op, cx),
        Control::CreateToken => Ok(Results::Inferred(vec![Type::Token])),
        Control::CustomCall(op) => custom_call::rules(op, cx),
        Control::GetTupleElement(op) => get_tuple_element(op, cx),
        Control::If => if_(cx),
        Control::OptimizationBarrier => optimization_barrier(cx),
        Control::Tuple => tuple(cx),
        Control::While => while_(cx),
        Control::Return => {
            check_values(
                cx.operands,
                "operand",
                Kinds {
                    buffer: true,
                    ..Kinds::TENSOR_OR_TOKEN
                },
            )?;
            Ok(Results::Declared)
        }
        // Signatures are compared where the functions are known.
        Control::Call(_) | Control::FuncReturn => Ok(Results::Declared),
    }
}

/// What else than a tensor a value may be.
#[derive(Clone, Copy)]
struct Kinds {
    tensors: Elements,
    token: bool,
    tuple: bool,
    buffer: bool,
}

impl Kinds {
    const TENSOR_OR_TOKEN: Self = Self {
        tensors: Elements::ANY_PER_AXIS,
        token: true,
        tuple: false,
        buffer: false,
    };
}

/// Checks that each value is of one of the kinds.
fn check_values(types: &[&Type], role: &str, kinds: Kinds) -> OpResult<()> {
    for (index, ty) in types.iter().enumerate() {
        let allowed = match ty {
            Type::Token => kinds.token,
            Type::Tuple(_) => kinds.tuple,
            Type::Buffer(_) => kinds.buffer,
            Type::Foreign(_) => true,
            _ => tensor(ty, role, index, kinds.tensors).is_ok(),
        };
        ensure!(allowed, "{role} #{index} must not be of type '{ty}'");
    }
    Ok(())
}

fn after_all(cx: &OpContext<'_>) -> OpResult {
    for (index, ty) in cx.operands.iter().enumerate() {
        ensure!(
            **ty == Type::Token,
            "operand #{index} must be a token, but got '{ty}'"
        );
    }
    Ok(Results::Inferred(vec![Type::Token]))
}

fn async_start(cx: &OpContext<'_>) -> OpResult {
    let body = cx.region(0)?;
    cx.tensors_from(0, Elements::ANY)?;
    ensure!(
        compatible::equal_lists(cx.operands, &body.arguments),
        "operand types {} must match region argument types {}",
        quoted(cx.operands),
        quoted(&body.arguments)
    );
    Ok(Results::Inferred(vec![Type::Future(body.returns.clone().into())]))
}

fn async_done(cx: &OpContext<'_>) -> OpResult {
    match cx.operand(0)? {
        Type::Future(items) => Ok(Results::Inferred(items.to_vec())),
        other => Err(OpError::new(format!(
            "operand #0 must be a future, but got '{other}'"
        ))),
    }
}

fn case(cx: &OpContext<'_>) -> OpResult {
    let index = cx.scalar(0, Elements::SIGNED)?;
    ensure!(
        index.element == ElementType::I32.into(),
        "operand #0 must be an i32 scalar, but got '{index}'"
    );
    branches(cx)
}

fn if_(cx: &OpContext<'_>) -> OpResult {
    cx.scalar(0, Elements::PRED)?;
    branches(cx)
}

/// Branches take nothing (`if_c1`, `case_c2`) and return one list of types (`if_c2`, `case_c3`), which are the results'.
fn branches(cx: &OpContext<'_>) -> OpResult {
    let [first, rest @ ..] = cx.regions else {
        return Err(OpError::new("expects at least one branch (C1)"));
    };
    for (index, branch) in cx.regions.iter().enumerate() {
        let count = branch.arguments.len();
        ensure!(
            count == 0,
            "branch {index} must have no arguments, but has {count}"
        );
    }
    for (index, branch) in rest.iter().enumerate() {
        ensure!(
            compatible::lists(&first.returns, &branch.returns),
            "branch 0 and branch {} have mismatched return types {} and {}",
            index + 1,
            quoted(&first.returns),
            quoted(&branch.returns)
        );
    }
    check_values(cx.results, "result", Kinds::TENSOR_OR_TOKEN)?;
    let result = |index| joined(cx.regions, index);
    (0..first.returns.len())
        .map(result)
        .collect::<OpResult<_>>()
        .map(Results::Inferred)
}

/// A type that holds what any branch returns.
fn joined(branches: &[RegionTypes], index: usize) -> OpResult<Type> {
    let types: Vec<&Type> = branches.iter().map(|branch| &branch.returns[index]).collect();
    let tensors: Option<Vec<_>> = types.iter().map(|ty| ty.as_tensor().map(AsRef::as_ref)).collect();
    match tensors {
        Some(tensors) => combine(&tensors, least_specific),
        None => Ok(types[0].clone()),
    }
}

/// A name with a namespace: `chlo.top_k` (`composite_c1`). The signature is compared where the functions are known.
fn composite(op: &Composite, cx: &OpContext<'_>) -> OpResult {
    let name = op.name.as_str().unwrap_or_default();
    let mut parts = name.split('.');
    let word = |part: &str, more: &str| {
        !part.is_empty()
            && part
                .chars()
                .all(|c| c.is_ascii_alphanumeric() || c == '_' || more.contains(c))
    };
    let namespace = parts.next().unwrap_or_default();
    let rest: Vec<&str> = parts.collect();
    let valid = namespace.starts_with(|c: char| c.is_ascii_alphabetic())
        && word(namespace, "")
        && !rest.is_empty()
        && rest.iter().all(|part| word(part, "$"));
    ensure!(
        valid,
        "name {:?} must be a name with a namespace, such as \"my_namespace.my_op\" (C1)",
        op.name
    );
    let kinds = Kinds {
        tuple: true,
        ..Kinds::TENSOR_OR_TOKEN
    };
    check_values(cx.operands, "operand", kinds)?;
    check_values(cx.results, "result", kinds)?;
    Ok(Results::Declared)
}

fn get_tuple_element(op: &GetTupleElement, cx: &OpContext<'_>) -> OpResult {
    let Type::Tuple(items) = cx.operand(0)? else {
        let found = cx.operand(0)?;
        return Err(OpError::new(format!(
            "operand #0 must be a tuple, but got '{found}'"
        )));
    };
    let item = usize::try_from(op.index).ok().and_then(|index| items.get(index));
    let item = item.ok_or_else(|| {
        OpError::new(format!(
            "index {} is out of range for a tuple of {} components (C1)",
            op.index,
            items.len()
        ))
    })?;
    // C2.
    Ok(Results::Inferred(vec![item.clone()]))
}

fn tuple(cx: &OpContext<'_>) -> OpResult {
    let kinds = Kinds {
        tuple: true,
        buffer: true,
        ..Kinds::TENSOR_OR_TOKEN
    };
    check_values(cx.operands, "operand", kinds)?;
    // C1.
    Ok(Results::Inferred(vec![Type::Tuple(owned(cx.operands).into())]))
}

fn optimization_barrier(cx: &OpContext<'_>) -> OpResult {
    let kinds = Kinds {
        tensors: Elements::ANY,
        ..Kinds::TENSOR_OR_TOKEN
    };
    check_values(cx.operands, "operand", kinds)?;
    // C1.
    Ok(Results::Inferred(owned(cx.operands)))
}

fn while_(cx: &OpContext<'_>) -> OpResult {
    check_values(
        cx.operands,
        "operand",
        Kinds {
            buffer: true,
            ..Kinds::TENSOR_OR_TOKEN
        },
    )?;
    let (condition, body) = (cx.region(0)?, cx.region(1)?);
    let lists = [
        ("the arguments of the condition", &condition.arguments, "C1"),
        ("the arguments of the body", &body.arguments, "C2"),
        ("what the body returns", &body.returns, "C2"),
    ];
    for (what, types, rule) in lists {
        ensure!(
            compatible::lists(cx.operands, types),
            "expects operands to be compatible with {what}, but got {} and {} ({rule})",
            quoted(cx.operands),
            quoted(types)
        );
    }
    // C1.
    region::check_predicate("the condition", condition)?;
    // C3.
    Ok(Results::Inferred(owned(cx.operands)))
}
