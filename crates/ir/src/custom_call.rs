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
    /// Whatever the kernel or function that it carries does.
    Unknown,
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
    /// Date (year-month) of the oldest exported program with this target that its maker still tests, or, where no such program
    /// is kept, the release that guarantees it; `None` for a target that may change.
    pub stable_since: Option<&'static str>,
    /// Whether the reference evaluator computes it.
    pub evaluated: bool,
}

/// Every known target. Sources: JAX's list of targets guaranteed stable (0.10.2) and its stored back-compatibility programs; the
/// `check` targets of StableHLO's test data.
#[rustfmt::skip]
pub const TARGETS: &[Target] = &[
    expectation("check.eq", "(actual: tensor, expected: tensor) -> tensor<i1>"),
    expectation("check.expect_almost_eq", "(actual: tensor, expected: tensor) -> ()"),
    expectation("check.expect_close", "(actual: tensor, expected: tensor) -> ()"),
    expectation("check.expect_eq", "(actual: tensor, expected: tensor) -> ()"),

    // Any platform.
    assertion("shape_assertion", "(holds: tensor<i1>, values: tensor<i32 or i64>, ... at most 32) -> ()", "2023-07"),
    evaluated("stablehlo.dynamic_approx_top_k", "(operands, inits, k: tensor<i32>, sizes) -> results", "2024-05"),
    evaluated("stablehlo.dynamic_reduce_window", "(inputs, inits, window sizes and paddings) -> tensors", "2023-06"),
    evaluated("stablehlo.dynamic_rng_bit_generator", "(state, shape) -> (state, bits)", "2023-06"),
    evaluated("stablehlo.dynamic_top_k", "(operand, k: tensor<i32>) -> (values, indices: tensor<..xi32>)", "2023-07"),
    evaluated("AllocateBuffer", "() -> tensor, its elements undefined", "2025-09"),
    evaluated("ApproxTopK", "(operands, inits) -> results", "2023-04"),
    evaluated("Sharding", "(tensor) -> tensor, the same", "2023-03"),
    elsewhere("SPMDFullToShardShape", "(tensor) -> tensor, one device's part", "2023-03"),
    elsewhere("SPMDShardToFullShape", "(tensor) -> tensor, of all devices' parts", "2023-03"),
    evaluated("annotate_device_placement", "(tensor) -> tensor, the same", "2025-04"),
    opaque("tf.call_tf_function", "(tensors) -> tensors", "jax 0.10.2"),

    // CPU, LAPACK; sizes may follow the operands where dimensions are symbolic.
    lapack("lapack_*geev_ffi", "sdcz", "(tensor<..xNxNxT>) -> (w, left, right, tensor<..xi32> info)", "2024-08"),
    lapack("lapack_*gees_ffi", "sdcz", "(tensor<..xNxNxT>) -> (T, vectors, w, selected, tensor<..xi32> info)", "2024-11"),
    lapack("lapack_*gehrd_ffi", "sdcz", "(tensor<..xNxNxT>) -> (a, taus, tensor<..xi32> info)", "2024-08"),
    lapack("lapack_*geqrf_ffi", "sdcz", "(tensor<..xMxNxT>) -> (a, taus)", "2025-04"),
    lapack("lapack_*gesdd_ffi", "sdcz", "(tensor<..xMxNxT>) -> (a, s, u, vt, tensor<..xi32> info)", "2024-08"),
    lapack("lapack_*getrf_ffi", "sdcz", "(tensor<..xMxNxT>) -> (lu, pivots, tensor<..xi32> info)", "2024-05"),
    lapack("lapack_*gtsv_ffi", "sdcz", "(dl, d, du, b) -> (dl, d, du, x, tensor<..xi32> info)", "2025-01"),
    lapack("lapack_*heevd_ffi", "cz", "(tensor<..xNxNxT>) -> (v, w, tensor<..xi32> info)", "2024-08"),
    lapack("lapack_*hetrd_ffi", "cz", "(tensor<..xNxNxT>) -> (a, d, e, taus, tensor<..xi32> info)", "2024-12"),
    lapack("lapack_*orgqr_ffi", "sd", "(a, taus) -> q", "2025-04"),
    lapack("lapack_*potrf_ffi", "sdcz", "(tensor<..xNxNxT>) -> (tensor<..xNxNxT>, tensor<..xi32> info)", "2024-05"),
    lapack("lapack_*syevd_ffi", "sd", "(tensor<..xNxNxT>) -> (v, w, tensor<..xi32> info)", "2024-08"),
    lapack("lapack_*sytrd_ffi", "sd", "(tensor<..xNxNxT>) -> (a, d, e, taus, tensor<..xi32> info)", "2024-12"),
    lapack("lapack_*trsm_ffi", "sdcz", "(a, b) -> x", "2025-10"),
    lapack("lapack_*ungqr_ffi", "cz", "(a, taus) -> q", "2025-04"),

    // GPU.
    elsewhere("cu_lu_pivots_to_permutation", "(pivots) -> permutation", "2024-08"),
    elsewhere("cu_threefry2x32_ffi", "(keys and counters, in pairs) -> pair of bits", "2024-07"),
    elsewhere("cusolver_geqrf_ffi", "(a) -> (a, taus)", "2024-09"),
    elsewhere("cusolver_gesvd_ffi", "(a) -> (a, s, u, vt, info)", "2024-10"),
    elsewhere("cusolver_gesvdj_ffi", "(a) -> (a, s, u, v, info)", "2024-10"),
    elsewhere("cusolver_getrf_ffi", "(a) -> (lu, pivots, info)", "2024-08"),
    elsewhere("cusolver_orgqr_ffi", "(a, taus) -> q", "2024-09"),
    elsewhere("cusolver_potrf_ffi", "(a) -> (a, info)", "2025-10"),
    elsewhere("cusolver_syevd_ffi", "(a) -> (v, w, info)", "2024-09"),
    elsewhere("cusolver_sytrd_ffi", "(a) -> (a, d, e, taus, info)", "2025-01"),
    elsewhere("cusparse_gtsv2_ffi", "(dl, d, du, b) -> x", "2025-06"),
    elsewhere("hip_lu_pivots_to_permutation", "(pivots) -> permutation", "2026-02"),
    elsewhere("hip_threefry2x32_ffi", "(keys and counters, in pairs) -> pair of bits", "2026-02"),
    elsewhere("hipsolver_geqrf_ffi", "(a) -> (a, taus)", "2026-02"),
    elsewhere("hipsolver_gesdd_ffi", "(a) -> (a, s, u, vt, info)", "2026-02"),
    elsewhere("hipsolver_gesvd_ffi", "(a) -> (a, s, u, vt, info)", "2026-02"),
    elsewhere("hipsolver_gesvdj_ffi", "(a) -> (a, s, u, v, info)", "2026-02"),
    elsewhere("hipsolver_getrf_ffi", "(a) -> (lu, pivots, info)", "2026-02"),
    elsewhere("hipsolver_orgqr_ffi", "(a, taus) -> q", "2026-02"),
    elsewhere("hipsolver_potrf_ffi", "(a) -> (a, info)", "2026-02"),
    elsewhere("hipsolver_syevd_ffi", "(a) -> (v, w, info)", "2026-02"),
    elsewhere("hipsolver_sytrd_ffi", "(a) -> (a, d, e, taus, info)", "2026-02"),
    opaque("mosaic_gpu_v2", "(tensors) -> tensors, by the kernel in it", "2025-09"),

    // TPU.
    elsewhere("Eigh", "(a, ..) -> (v, w)", "2023-03"),
    elsewhere("LuDecomposition", "(a) -> (lu, pivots, permutation)", "2023-03"),
    elsewhere("ProductOfElementaryHouseholderReflectors", "(a, taus) -> q", "2023-03"),
    elsewhere("Qr", "(a) -> (a, taus)", "2023-03"),
    opaque("tpu_custom_call", "(tensors) -> tensors, by the kernel in it", "2024-04"),
];

const fn expectation(name: &'static str, signature: &'static str) -> Target {
    Target {
        name,
        precisions: "",
        signature,
        effects: Effects::Expectation,
        stable_since: None,
        evaluated: true,
    }
}

const fn evaluated(name: &'static str, signature: &'static str, since: &'static str) -> Target {
    Target {
        effects: Effects::None,
        stable_since: Some(since),
        ..expectation(name, signature)
    }
}

const fn assertion(name: &'static str, signature: &'static str, since: &'static str) -> Target {
    Target {
        effects: Effects::Assertion,
        ..evaluated(name, signature, since)
    }
}

const fn lapack(
    name: &'static str,
    precisions: &'static str,
    signature: &'static str,
    since: &'static str,
) -> Target {
    Target {
        precisions,
        ..evaluated(name, signature, since)
    }
}

/// A target that computes and does nothing else, on machines other than this one.
const fn elsewhere(name: &'static str, signature: &'static str, since: &'static str) -> Target {
    Target {
        evaluated: false,
        ..evaluated(name, signature, since)
    }
}

/// A target that runs what it carries.
const fn opaque(name: &'static str, signature: &'static str, since: &'static str) -> Target {
    Target {
        effects: Effects::Unknown,
        ..elsewhere(name, signature, since)
    }
}

/// The target called `name`; `None` for an opaque one.
#[must_use]
pub fn find(name: &str) -> Option<&'static Target> {
    TARGETS.iter().find(|target| target.matches(name))
}

impl Target {
    /// Every name that the row stands for.
    pub fn names(&self) -> impl Iterator<Item = String> {
        let plain = self.precisions.is_empty().then(|| self.name.to_owned());
        let letters = self.precisions.chars();
        plain
            .into_iter()
            .chain(letters.map(|letter| self.name.replace('*', letter.encode_utf8(&mut [0; 4]))))
    }

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
    fn every_stable_target_is_there_once() {
        let stable = TARGETS.iter().filter(|target| target.stable_since.is_some());
        let mut names: Vec<String> = stable.flat_map(Target::names).collect();
        // As many as JAX 0.10.2 guarantees.
        assert_eq!(names.len(), 88);
        for name in &names {
            assert!(find(name).is_some(), "{name}");
        }
        names.sort();
        names.dedup();
        assert_eq!(names.len(), 88);
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
