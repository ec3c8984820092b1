//! The table of custom calls that we know.
//!
//! A `custom_call` names something outside the program, so what it means cannot be read from the program. A target in this
//! table has a meaning that we know and that its maker keeps; every other target is opaque. What a tool does about an opaque
//! target (refuse to export, ask for a waiver) is its policy and not decided here.

/// What a target may do besides computing its results.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effects {
    /// Nothing: it may be removed when its results are unused.
    None,
    /// It fails the run when a condition does not hold.
    Assertion,
    /// It records a test expectation.
    Expectation,
}

/// A known target.
#[derive(Clone, Copy, Debug)]
pub struct Target {
    /// The name. `*` stands for each of `precisions`.
    pub name: &'static str,
    /// LAPACK's letters that `*` stands for: s (f32), d (f64), c (complex of f32), z (complex of f64).
    pub precisions: &'static str,
    /// Operands and results.
    pub signature: &'static str,
    /// What it does besides.
    pub effects: Effects,
    /// Date (year-month) of the oldest exported program with this target that its maker still tests; `None` for a target that
    /// may change.
    pub stable_since: Option<&'static str>,
}

const MATRIX_INFO: &str = "(tensor<..xMxNxT>) -> (tensor<..xMxNxT>, ..., tensor<..xi32> info)";

/// Every known target. Sources: JAX's list of targets guaranteed stable and its stored back-compatibility programs; the
/// `check` targets of StableHLO's test data.
pub const TARGETS: &[Target] = &[
    expectation("check.eq", "(actual: tensor, expected: tensor) -> tensor<i1>"),
    expectation(
        "check.expect_almost_eq",
        "(actual: tensor, expected: tensor) -> ()",
    ),
    expectation("check.expect_close", "(actual: tensor, expected: tensor) -> ()"),
    expectation("check.expect_eq", "(actual: tensor, expected: tensor) -> ()"),
    Target {
        name: "shape_assertion",
        precisions: "",
        signature: "(holds: tensor<i1>, values: tensor<i32 or i64>, ... at most 32) -> ()",
        effects: Effects::Assertion,
        stable_since: Some("2023-06"),
    },
    pure(
        "stablehlo.dynamic_approx_top_k",
        "(operand, init, k: tensor<i32>) -> (values, indices)",
        "2024-05",
    ),
    pure(
        "stablehlo.dynamic_reduce_window",
        "(inputs, inits, window sizes and paddings) -> tensors",
        "2023-06",
    ),
    pure(
        "stablehlo.dynamic_rng_bit_generator",
        "(state, shape) -> (state, bits)",
        "2023-06",
    ),
    pure(
        "stablehlo.dynamic_top_k",
        "(operand, k: tensor<i32>) -> (values, indices: tensor<..xi32>)",
        "2023-07",
    ),
    lapack(
        "lapack_*geev_ffi",
        "sdcz",
        "(tensor<..xNxNxT>) -> (w, left, right, tensor<..xi32> info)",
        "2024-08",
    ),
    lapack(
        "lapack_*gees_ffi",
        "sdcz",
        "(tensor<..xNxNxT>) -> (T, vectors, w, tensor<..xi32> info)",
        "2024-11",
    ),
    lapack(
        "lapack_*gehrd_ffi",
        "sdcz",
        "(tensor<..xNxNxT>) -> (a, taus, tensor<..xi32> info)",
        "2024-08",
    ),
    lapack(
        "lapack_*geqrf_ffi",
        "sdcz",
        "(tensor<..xMxNxT>) -> (a, taus)",
        "2024-08",
    ),
    lapack(
        "lapack_*gesdd_ffi",
        "sdcz",
        "(tensor<..xMxNxT>) -> (a, s, u, vt, tensor<..xi32> info)",
        "2024-08",
    ),
    lapack(
        "lapack_*getrf_ffi",
        "sdcz",
        "(tensor<..xMxNxT>) -> (lu, pivots, tensor<..xi32> info)",
        "2024-05",
    ),
    lapack(
        "lapack_*gtsv_ffi",
        "sdcz",
        "(dl, d, du, b) -> (dl, d, du, x, tensor<..xi32> info)",
        "2025-01",
    ),
    lapack(
        "lapack_*heevd_ffi",
        "cz",
        "(tensor<..xNxNxT>) -> (v, w, tensor<..xi32> info)",
        "2024-08",
    ),
    lapack(
        "lapack_*hetrd_ffi",
        "cz",
        "(tensor<..xNxNxT>) -> (a, d, e, taus, tensor<..xi32> info)",
        "2024-12",
    ),
    lapack("lapack_*orgqr_ffi", "sd", "(a, taus) -> q", "2025-04"),
    lapack("lapack_*potrf_ffi", "sdcz", MATRIX_INFO, "2024-05"),
    lapack(
        "lapack_*syevd_ffi",
        "sd",
        "(tensor<..xNxNxT>) -> (v, w, tensor<..xi32> info)",
        "2024-08",
    ),
    lapack(
        "lapack_*sytrd_ffi",
        "sd",
        "(tensor<..xNxNxT>) -> (a, d, e, taus, tensor<..xi32> info)",
        "2024-12",
    ),
    lapack("lapack_*trsm_ffi", "sdcz", "(a, b) -> x", "2025-10"),
    lapack("lapack_*ungqr_ffi", "cz", "(a, taus) -> q", "2025-04"),
];

const fn expectation(name: &'static str, signature: &'static str) -> Target {
    Target {
        name,
        precisions: "",
        signature,
        effects: Effects::Expectation,
        stable_since: None,
    }
}

const fn pure(name: &'static str, signature: &'static str, since: &'static str) -> Target {
    Target {
        name,
        precisions: "",
        signature,
        effects: Effects::None,
        stable_since: Some(since),
    }
}

const fn lapack(
    name: &'static str,
    precisions: &'static str,
    signature: &'static str,
    since: &'static str,
) -> Target {
    Target {
        name,
        precisions,
        signature,
        effects: Effects::None,
        stable_since: Some(since),
    }
}

/// The target called `name`; `None` for an opaque one.
#[must_use]
pub fn find(name: &str) -> Option<&'static Target> {
    TARGETS.iter().find(|target| target.matches(name))
}

impl Target {
    fn matches(&self, name: &str) -> bool {
        let Some((before, after)) = self.name.split_once('*') else {
            return self.name == name;
        };
        let letter = name
            .strip_prefix(before)
            .and_then(|rest| rest.strip_suffix(after));
        letter.is_some_and(|letter| letter.len() == 1 && self.precisions.contains(letter))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names() {
        let found = |name| find(name).map(|target| target.name);
        assert_eq!(found("check.eq"), Some("check.eq"));
        assert_eq!(found("lapack_zgetrf_ffi"), Some("lapack_*getrf_ffi"));
        for opaque in [
            "lapack_zorgqr_ffi",
            "lapack_getrf_ffi",
            "lapack_sdgetrf_ffi",
            "foo",
            "",
        ] {
            assert_eq!(found(opaque), None, "{opaque}");
        }
    }

    #[test]
    fn precisions_stand_with_a_star() {
        for target in TARGETS {
            assert_eq!(
                target.name.contains('*'),
                !target.precisions.is_empty(),
                "{}",
                target.name
            );
        }
    }
}
