//! The dialects of the specification's own tests: `check` (expectations) and `interpreter` (processes and probes).

use super::{from, n, op_family};
use crate::attribute::{ByteString, FloatAttribute, SymbolRef, op_attributes};
use crate::literal::Literal;

op_family! {
    /// Operations of `check` and `interpreter`.
    Testing {
        /// actual, expected: at most `tolerance` apart.
        ExpectAlmostEq(ExpectAlmostEq) = "check.expect_almost_eq": n(2) => n(0),
        /// actual: at most `tolerance` from the constant.
        ExpectAlmostEqConst(Box<ExpectAlmostEqConst>) = "check.expect_almost_eq_const": n(1) => n(0),
        /// actual, expected: within a range of units in the last place.
        ExpectClose(ExpectClose) = "check.expect_close": n(2) => n(0),
        /// actual, expected: equal.
        ExpectEq = "check.expect_eq": n(2) => n(0),
        /// actual: equal to the constant.
        ExpectEqConst(ExpectConst) = "check.expect_eq_const": n(1) => n(0),
        /// expected: equal to what the probe recorded.
        ExpectSerializedEq(Probe) = "check.expect_serialized_eq": n(1) => n(0),
        /// Prints the operand.
        Print = "interpreter.print": n(1) => n(0),
        /// Records the operand and passes it on.
        Probe(Probe) = "interpreter.probe": n(1) => n(1),
        /// Runs a grid of processes.
        RunParallel(Box<RunParallel>) = "interpreter.run_parallel": from(0) => from(0),
    }
}

op_attributes! {
    /// Attributes of `expect_almost_eq`.
    ExpectAlmostEq {
        /// Largest absolute difference; 1e-4 when absent.
        tolerance: Option<FloatAttribute> => optional,
    }

    /// Attributes of `expect_almost_eq_const`.
    ExpectAlmostEqConst {
        /// The expected value.
        value: Literal => required,
        /// Largest absolute difference; 1e-4 when absent.
        tolerance: Option<FloatAttribute> => optional,
    }

    /// Attributes of `expect_close`.
    ExpectClose {
        /// Largest distance.
        max_ulp_difference: u64 => default(1),
        /// Smallest distance that some element must reach.
        min_ulp_difference: u64 => default(0),
    }

    /// Attributes of `expect_eq_const`.
    ExpectConst {
        /// The expected value.
        value: Literal => required,
    }

    /// Attributes of `probe` and `expect_serialized_eq`.
    Probe {
        /// Name of the probe.
        probe_id: ByteString => required,
        /// Which of its records, counted from 0.
        iteration: u32 => default(0),
    }

    /// Attributes of `run_parallel`.
    RunParallel {
        /// Functions that supply infeed data, in order.
        infeed: Option<Vec<SymbolRef>> => optional,
        /// The function of each process: replicas by partitions.
        programs: Vec<Vec<SymbolRef>> => required,
    }
}
