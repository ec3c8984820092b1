//! What is refused before a program is called.

use artifact_dims::{Assignment, Variable};
use artifact_engine::{Buffer, ErrorKind, Value};
use artifact_export::Shapes;
use artifact_runtime::{BindError, CallError, Definition, Session};

use crate::probe::Probe;
use crate::{exported, ones, program};

/// Two arrays of one size.
const SAME: &str = "func.func @main(%x: tensor<?xf32>, %y: tensor<?xf32>) -> tensor<?xf32> {
  %0 = stablehlo.add %x, %y : tensor<?xf32>
  return %0 : tensor<?xf32>
}";

fn session() -> Session {
    Session::new(Probe::new())
}

#[test]
fn sizes_that_do_not_fit() {
    let shapes = Shapes {
        arguments: vec![
            ("arg0".to_owned(), "(n,)".to_owned()),
            ("arg1".to_owned(), "(n,)".to_owned()),
        ],
        constraints: vec!["n <= 4".to_owned()],
    };
    let named = exported(SAME).with_shapes(&shapes).unwrap();
    let program = session().program(Definition::from(&named)).unwrap();
    assert!(program.call(&[ones(&[4]), ones(&[4])]).is_ok());
    for (x, y) in [(2, 3), (5, 5)] {
        let error = program.call(&[ones(&[x]), ones(&[y])]).unwrap_err();
        assert!(matches!(error, CallError::Bind(BindError::Sizes(_))), "{error:?}");
        assert_eq!(error.kind(), ErrorKind::InvalidInput);
    }
    let count = program.call(&[ones(&[4])]).unwrap_err();
    assert!(
        count.to_string().contains("takes 2 inputs, 1 were given"),
        "{count}"
    );
}

#[test]
fn sizes_that_a_program_computes_too_narrowly() {
    let text = "func.func @main(%x: tensor<?xi8>) -> tensor<i32> {
      %n = stablehlo.get_dimension_size %x, dim = 0 : (tensor<?xi8>) -> tensor<i32>
      %k = stablehlo.constant dense<1000000000> : tensor<i32>
      %0 = stablehlo.multiply %n, %k : tensor<i32>
      return %0 : tensor<i32> }";
    let program = program(&Probe::new(), text);
    let bytes = |count: usize| Value::from(Buffer::of_numbers(&[count as u64], &vec![1_i8; count]).unwrap());
    assert!(program.call(&[bytes(2)]).is_ok());
    let error = program.call(&[bytes(3)]).unwrap_err();
    assert!(
        matches!(error, CallError::Bind(BindError::Obligation { .. })),
        "{error:?}"
    );
    assert!(error.to_string().contains("3000000000"), "{error}");
}

#[test]
fn sizes_that_are_given() {
    let program = program(&Probe::new(), crate::ROWS);
    let variable = program.signature().dimensions.ranges().next().unwrap().0.clone();
    let given = |variable: Variable, size: i64| -> Assignment { [(variable, size)].into_iter().collect() };
    let types = [ones(&[2, 3]).ty()];
    let binding = program.bind(&types, &given(variable.clone(), 2)).unwrap();
    assert_eq!(binding.sizes().get(&variable), Some(2));
    assert!(program.bind(&types, &given(variable, 3)).is_err());
    let mut results = Vec::new();
    let other = ones(&[4, 3]);
    let error = binding.run(&mut [(&other).into()], &mut results, &Default::default());
    assert_eq!(error.unwrap_err().kind(), ErrorKind::InvalidInput);
}
