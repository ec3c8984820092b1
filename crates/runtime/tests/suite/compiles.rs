//! How often a program is compiled.

use std::sync::atomic::Ordering;

use artifact_engine::{Buffer, ErrorKind, ExecuteOptions, Plan, Program, ResidualDimension, ResidualValue};
use artifact_ir::diagnostic::SourceOffset;

use crate::probe::Probe;
use crate::{ROWS, floats, ones, program};

#[test]
fn once_for_all_sizes() {
    let engine = Probe::new();
    let program = program(&engine, ROWS);
    assert_eq!(engine.compiled(), 0, "nothing is compiled before it is called");
    for rows in 1..=20 {
        let outcome = program.call(&[ones(&[rows, 3])]).unwrap();
        assert_eq!(floats(&outcome.results), vec![3.0; rows as usize]);
    }
    assert_eq!(engine.compiled(), 1);
}

#[test]
fn ahead_of_the_first_call() {
    let engine = Probe::new();
    let program = program(&engine, ROWS);
    let inputs = [ones(&[2, 3])];
    let binding = program
        .bind(&[inputs[0].ty()], &artifact_dims::Assignment::new())
        .unwrap();
    binding.prepare(&inputs).unwrap();
    assert_eq!(engine.compiled(), 1);
    let mut arguments = [artifact_engine::Argument::from(&inputs[0])];
    let options = ExecuteOptions::default();
    binding.run(&mut arguments, &mut Vec::new(), &options).unwrap();
    program.call(&inputs).unwrap();
    assert_eq!(engine.compiled(), 1);
    let others = binding.prepare(&[ones(&[3, 3])]).unwrap_err();
    assert_eq!(others.kind(), ErrorKind::InvalidInput);
}

fn every_dimension(program: &Program) -> Plan {
    let residual = |(variable, _): (&artifact_dims::Variable, _)| ResidualDimension {
        variable: variable.clone(),
        reason: "a test asks for it".to_owned(),
        source: SourceOffset::NONE,
    };
    Plan {
        dimensions: program.scope().ranges().map(residual).collect(),
        values: Vec::new(),
    }
}

#[test]
fn once_for_each_size_that_is_asked_for() {
    let engine = Probe::planning(every_dimension);
    let program = program(&engine, ROWS);
    for rows in [1, 2, 1, 3, 2, 1] {
        let outcome = program.call(&[ones(&[rows, 3])]).unwrap();
        assert_eq!(floats(&outcome.results), vec![3.0; rows as usize]);
    }
    assert_eq!(engine.compiled(), 3);
}

fn second_value(_program: &Program) -> Plan {
    Plan {
        dimensions: Vec::new(),
        values: vec![ResidualValue {
            argument: 1,
            reason: "a test asks for it".to_owned(),
            source: SourceOffset::NONE,
        }],
    }
}

#[test]
fn once_for_each_value_that_is_asked_for() {
    let engine = Probe::planning(second_value);
    let text = "func.func @main(%x: tensor<?xi32>, %shape: tensor<2xi32>) -> tensor<?x?xi32> {
      %0 = stablehlo.dynamic_reshape %x, %shape : (tensor<?xi32>, tensor<2xi32>) -> tensor<?x?xi32>
      return %0 : tensor<?x?xi32> }";
    let program = program(&engine, text);
    let mut x = Buffer::of_numbers(&[6], &[0, 1, 2, 3, 4, 5]).unwrap().into();
    for shape in [[2, 3], [3, 2], [2, 3]] {
        let shape_value = Buffer::of_numbers(&[2], &shape).unwrap().into();
        let inputs: [artifact_engine::Value; 2] = [x, shape_value];
        let results = program.call(&inputs).unwrap().results;
        let shape = shape.map(|size| u64::try_from(size).unwrap());
        assert!(results[0].as_array().unwrap().shape().eq(shape));
        [x, _] = inputs;
    }
    assert_eq!(engine.compiled(), 2);
}

#[test]
fn threads_wait_for_one_compile() {
    let engine = Probe::new();
    let program = program(&engine, ROWS);
    std::thread::scope(|scope| {
        for rows in 1..=8 {
            let program = program.clone();
            scope.spawn(move || {
                for _ in 0..5 {
                    let outcome = program.call(&[ones(&[rows, 3])]).unwrap();
                    assert_eq!(floats(&outcome.results), vec![3.0; rows as usize]);
                }
            });
        }
    });
    assert_eq!(engine.compiled(), 1);
}

#[test]
fn what_failed_is_tried_again() {
    let engine = Probe::new();
    engine.failures.store(2, Ordering::Relaxed);
    let program = program(&engine, ROWS);
    let kinds = [(); 3].map(|()| program.call(&[ones(&[2, 3])]).map_err(|error| error.kind()).err());
    assert_eq!(
        kinds,
        [Some(ErrorKind::Internal), Some(ErrorKind::Internal), None]
    );
    assert_eq!(engine.compiled(), 3);
}

#[test]
fn results_are_recycled_and_donations_taken() {
    let engine = Probe::new();
    let program = program(&engine, ROWS);
    let mut results = Vec::new();
    let mut places = Vec::new();
    for _ in 0..2 {
        let mut inputs = [artifact_engine::Argument::donate(ones(&[2, 3]))];
        let options = ExecuteOptions::default();
        program.run(&mut inputs, &mut results, &options).unwrap();
        assert!(inputs[0].value().is_none());
        places.push(results[0].as_array().unwrap().bytes().as_ptr());
        let again = program.run(&mut inputs, &mut Vec::new(), &options).unwrap_err();
        assert_eq!(again.kind(), ErrorKind::InvalidInput);
    }
    assert_eq!(places[0], places[1]);
}
