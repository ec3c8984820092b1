//! One test a rule.

use super::*;
use crate::attribute::ResultAccuracy;
use crate::literal::Literal;
use crate::location::{Location, LocationId};
use crate::module::NewOperation;
use crate::op::{Binary, Call, Constant, Control, Creation, Op, Transcendental, Unary};
use crate::types::{Dim, ElementType, TensorType, Type};
use artifact_core::blob::Blob;

/// A module with one public function that adds its argument to `constant`, and a private one that it calls.
struct Sample {
    constant: Literal,
    private_name: &'static str,
    op: Op,
    ty: Type,
    attributes: Vec<(&'static str, Attribute)>,
    unreachable: bool,
    location: LocationId,
}

fn vector() -> Type {
    Type::tensor(&[2], ElementType::F32)
}

fn constant(bytes: &[u8]) -> Literal {
    Literal::dense(
        Arc::clone(vector().as_tensor().unwrap()),
        Blob::new(bytes.to_vec()),
    )
    .unwrap()
}

impl Sample {
    fn new() -> Self {
        Self {
            constant: constant(&[1; 8]),
            private_name: "helper",
            op: Binary::Add.into(),
            ty: vector(),
            attributes: Vec::new(),
            unreachable: false,
            location: LocationId::UNKNOWN,
        }
    }

    fn digest(self) -> ProgramDigest {
        let mut module = Module::new();
        if self.unreachable {
            module.add_function(self.helper("nobody_calls_this"));
        }
        let mut main = Function::new("main");
        main.arguments.push(Parameter::new(self.ty.clone()));
        main.arguments[0].attributes = self
            .attributes
            .iter()
            .cloned()
            .map(|(name, value)| (name.into(), value))
            .collect();
        main.results.push(Parameter::new(vector()));
        let mut body = Body::new();
        let block = body.add_block(body.root);
        let argument = body.add_argument(block, self.ty.clone(), self.location);
        let value = Creation::Constant(Constant {
            value: self.constant.clone(),
        });
        let mut new = NewOperation::new(value, vec![]);
        new.location = self.location;
        let constant = body.add_op(block, new, vec![vector()]);
        let constant = body.ops[constant].results[0];
        let sum = body.add_op(
            block,
            NewOperation::new(self.op.clone(), vec![argument, constant]),
            vec![vector()],
        );
        let sum = body.ops[sum].results[0];
        let callee = SymbolRef::flat(self.private_name);
        let call = body.add_op(
            block,
            NewOperation::new(Control::Call(Call { callee }), vec![sum]),
            vec![vector()],
        );
        let result = body.ops[call].results[0];
        body.add_op(
            block,
            NewOperation::new(Control::FuncReturn, vec![result]),
            vec![],
        );
        main.body = Some(body);
        module.add_function(main);
        module.add_function(self.helper(self.private_name));
        program_digest(&module)
    }

    fn helper(&self, name: &str) -> Function {
        let mut helper = Function::new(name);
        helper.visibility = Visibility::Private;
        helper.arguments.push(Parameter::new(vector()));
        helper.results.push(Parameter::new(vector()));
        let mut body = Body::new();
        let block = body.add_block(body.root);
        let argument = body.add_argument(block, vector(), LocationId::UNKNOWN);
        body.add_op(
            block,
            NewOperation::new(Control::FuncReturn, vec![argument]),
            vec![],
        );
        helper.body = Some(body);
        helper
    }
}

fn base() -> ProgramDigest {
    Sample::new().digest()
}

#[test]
fn scheme_is_pinned() {
    // A change here is a new version of the scheme: change the domain too.
    assert_eq!(base().to_string(), include_str!("pinned.txt").trim());
}

#[test]
fn constants_count_by_value() {
    let ty = Arc::clone(vector().as_tensor().unwrap());
    let splat = Literal::splat(ty, &[1; 4]).unwrap();
    assert_eq!(
        Sample {
            constant: splat,
            ..Sample::new()
        }
        .digest(),
        base(),
        "a splat is a list of equal elements"
    );
    assert_ne!(
        Sample {
            constant: constant(&[1, 1, 1, 1, 1, 1, 1, 2]),
            ..Sample::new()
        }
        .digest(),
        base()
    );
}

#[test]
fn private_names_do_not_count() {
    assert_eq!(
        Sample {
            private_name: "other",
            ..Sample::new()
        }
        .digest(),
        base()
    );
}

#[test]
fn unreachable_functions_do_not_count() {
    assert_eq!(
        Sample {
            unreachable: true,
            ..Sample::new()
        }
        .digest(),
        base()
    );
}

#[test]
fn locations_do_not_count() {
    let mut locations = crate::location::Locations::new();
    let location = locations.intern(Location::Name {
        name: "x".into(),
        child: LocationId::UNKNOWN,
    });
    assert_eq!(
        Sample {
            location,
            ..Sample::new()
        }
        .digest(),
        base()
    );
}

#[test]
fn operations_count() {
    assert_ne!(
        Sample {
            op: Binary::Multiply.into(),
            ..Sample::new()
        }
        .digest(),
        base()
    );
}

#[test]
fn defaults_do_not_count() {
    let log = |accuracy| {
        Unary::Log(Transcendental {
            result_accuracy: accuracy,
        })
        .into()
    };
    let with = |op: Op| Sample { op, ..Sample::new() }.digest();
    let default = with(log(ResultAccuracy::default()));
    let asked = with(log(ResultAccuracy {
        ulps: 2,
        mode: crate::attribute::ResultAccuracyMode::Tolerance,
        ..Default::default()
    }));
    assert_ne!(default, asked);
    assert!(
        Op::from(Unary::Log(Transcendental {
            result_accuracy: ResultAccuracy::default()
        }))
        .attributes()
        .is_empty()
    );
}

#[test]
fn discardable_attributes_count_by_list() {
    let with = |name, value| {
        Sample {
            attributes: vec![(name, value)],
            ..Sample::new()
        }
        .digest()
    };
    assert_eq!(with("jax.result_info", Attribute::string("x")), base());
    assert_eq!(with("mhlo.layout_mode", Attribute::string("default")), base());
    for name in COUNTED_DISCARDABLE {
        assert_ne!(with(name, Attribute::i64(0)), base(), "{name}");
        assert_ne!(
            with(name, Attribute::i64(0)),
            with(name, Attribute::i64(1)),
            "{name}"
        );
    }
}

#[test]
fn dimension_variables_count_by_first_use() {
    let with = |a: &str, b: &str| {
        let dims = [a, b].map(|text| Dim::Symbolic(text.parse().unwrap()));
        Sample {
            ty: TensorType::new(dims, ElementType::F32).into(),
            ..Sample::new()
        }
        .digest()
    };
    assert_eq!(with("b", "t"), with("x", "y"));
    assert_ne!(with("b", "b"), with("x", "y"));
    assert_eq!(with("z", "2*z + max(a, z)"), with("a", "max(b, a) + 2*a"));
    assert_ne!(with("z", "2*z + max(a, z)"), with("a", "max(a, b) + 2*b"));
}
