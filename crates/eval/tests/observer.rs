//! Runs that somebody watches.

#![expect(
    clippy::unwrap_used,
    reason = "a test fails where its program is not as it should be"
)]

use std::sync::{Arc, Mutex};
use std::time::Duration;

use artifact_eval::{EvalError, EvalErrorKind, Observer, Options, evaluate_observed};
use artifact_ir::module::{Body, Module, Operation};
use artifact_stablehlo::parse::parse_module;

/// Notes what runs, and ends the run before an operation.
#[derive(Debug, Default)]
struct Notes {
    ends_before: &'static str,
    lines: Mutex<Vec<String>>,
}

impl Observer for Notes {
    fn before(&self, operation: &Operation) -> Result<(), EvalError> {
        let name = operation.op.name();
        self.lines.lock().unwrap().push(format!("before {name}"));
        match name == self.ends_before {
            true => Err(EvalError::new(EvalErrorKind::Stopped, "enough")),
            false => Ok(()),
        }
    }

    fn after(&self, operation: &Operation, body: &Body, _own_time: Duration) {
        assert!(body.ops.iter().any(|(_, op)| std::ptr::eq(op, operation)));
        let name = operation.op.name();
        self.lines.lock().unwrap().push(format!("after {name}"));
    }
}

fn check(text: &str, ends_before: &'static str, want: &[&str]) -> Option<EvalError> {
    let module: Module = parse_module(text).into_module().unwrap();
    let notes = Arc::new(Notes {
        ends_before,
        ..Notes::default()
    });
    let observer = Arc::clone(&notes) as Arc<dyn Observer>;
    let entry = module.entry().unwrap();
    let outcome = evaluate_observed(&module, entry, Vec::new(), &Options::default(), observer);
    assert_eq!(*notes.lines.lock().unwrap(), want);
    outcome.err()
}

const IF: &str = "func.func @main() -> tensor<i32> {
  %p = stablehlo.constant dense<true> : tensor<i1>
  %0 = \"stablehlo.if\"(%p) ({
    %1 = stablehlo.constant dense<1> : tensor<i32>
    %2 = stablehlo.negate %1 : tensor<i32>
    stablehlo.return %2 : tensor<i32>
  }, {
    %1 = stablehlo.constant dense<2> : tensor<i32>
    stablehlo.return %1 : tensor<i32>
  }) : (tensor<i1>) -> tensor<i32>
  return %0 : tensor<i32>
}";

#[test]
fn operations_in_the_order_in_which_they_run() {
    let all = [
        "before stablehlo.constant",
        "after stablehlo.constant",
        "before stablehlo.if",
        "before stablehlo.constant",
        "after stablehlo.constant",
        "before stablehlo.negate",
        "after stablehlo.negate",
        "after stablehlo.if",
    ];
    assert_eq!(check(IF, "", &all), None);
    let error = check(IF, "stablehlo.negate", &all[..6]).unwrap();
    assert_eq!(error.kind(), EvalErrorKind::Stopped);
    assert_eq!(error.source_offset().get(), IF.find("stablehlo.negate"));
}

/// A loop in which nothing runs can be ended as well.
#[test]
fn empty_loops() {
    let text = "func.func @main() -> tensor<i1> {
      %0 = stablehlo.constant dense<true> : tensor<i1>
      %1 = \"stablehlo.while\"(%0) ({
      ^bb0(%x: tensor<i1>):
        stablehlo.return %x : tensor<i1>
      }, {
      ^bb0(%x: tensor<i1>):
        stablehlo.return %x : tensor<i1>
      }) : (tensor<i1>) -> tensor<i1>
      return %1 : tensor<i1>
    }";
    let module = parse_module(text).into_module().unwrap();
    let calls = Arc::new(Count::default());
    let observer = Arc::clone(&calls) as Arc<dyn Observer>;
    let entry = module.entry().unwrap();
    let outcome = evaluate_observed(&module, entry, Vec::new(), &Options::default(), observer);
    assert_eq!(outcome.unwrap_err().kind(), EvalErrorKind::Stopped);
}

/// Ends a run after some questions.
#[derive(Debug, Default)]
struct Count(Mutex<u32>);

impl Observer for Count {
    fn before(&self, _operation: &Operation) -> Result<(), EvalError> {
        let mut count = self.0.lock().unwrap();
        *count += 1;
        match *count {
            0..100 => Ok(()),
            _ => Err(EvalError::new(EvalErrorKind::Stopped, "enough")),
        }
    }

    fn after(&self, _operation: &Operation, _body: &Body, _own_time: Duration) {}
}
