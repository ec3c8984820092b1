//! Factorisations, transforms, random bits.

use std::sync::Arc;

use artifact_cpu_routine::fft::{self, Kind};
use artifact_cpu_routine::linalg::{self, System, Transform};
use artifact_cpu_routine::random::{self, Algorithm};
use artifact_ir::attribute::{FftType, RngAlgorithm, Transpose};
use artifact_ir::op::{Cholesky, Fft, RngBitGenerator, TriangularSolve};
use artifact_ir::types::ElementType;

use super::{Array, BoundRoutine, Hands, Routine, Site, positions};
use crate::error::CpuError;

/// Types of which matrices are factorised and systems solved.
pub(super) const fn is_field(element: ElementType) -> bool {
    matches!(
        element,
        ElementType::F32 | ElementType::F64 | ElementType::C64 | ElementType::C128
    )
}

#[derive(Debug)]
pub(super) struct BoundCholesky {
    pub(super) lower: bool,
    pub(super) a: Array,
    pub(super) out: Array,
}

impl Routine for BoundCholesky {
    unsafe fn run(&self, hands: Hands<'_>) -> Result<(), CpuError> {
        let Hands {
            buffers,
            parallel,
            workspace,
            ..
        } = hands;
        // SAFETY: the caller's promise; the result is an array of its own.
        unsafe {
            let mut out = self.out.view_mut(buffers);
            Ok(linalg::cholesky(
                parallel,
                workspace,
                self.lower,
                &self.a.view(buffers),
                &mut out,
            )?)
        }
    }
}

pub(super) fn cholesky(site: &Site<'_>, own: &Cholesky) -> Option<BoundRoutine> {
    let ([a], out) = site.fixed()?;
    is_field(a.element).then(|| {
        Arc::new(BoundCholesky {
            lower: own.lower,
            a,
            out,
        }) as BoundRoutine
    })
}

#[derive(Debug)]
struct BoundSolve {
    system: System,
    a: Array,
    b: Array,
    out: Array,
}

impl Routine for BoundSolve {
    unsafe fn run(&self, hands: Hands<'_>) -> Result<(), CpuError> {
        let Hands {
            buffers,
            parallel,
            workspace,
            ..
        } = hands;
        // SAFETY: the caller's promise; the result is an array of its own.
        unsafe {
            let (a, b) = (self.a.view(buffers), self.b.view(buffers));
            let mut out = self.out.view_mut(buffers);
            Ok(linalg::triangular_solve(
                parallel,
                workspace,
                self.system,
                &a,
                &b,
                &mut out,
            )?)
        }
    }
}

pub(super) fn triangular_solve(site: &Site<'_>, own: &TriangularSolve) -> Option<BoundRoutine> {
    let ([a, b], out) = site.fixed()?;
    let transform = match own.transpose_a {
        Transpose::NoTranspose => Transform::Identity,
        Transpose::Transpose => Transform::Transpose,
        Transpose::Adjoint => Transform::Adjoint,
        Transpose::Invalid => return None,
    };
    let system = System {
        left_side: own.left_side,
        lower: own.lower,
        unit_diagonal: own.unit_diagonal,
        transform,
    };
    is_field(a.element).then(|| solve(system, [a, b, out]))
}

/// The solution of a system: its matrix, its right sides, its result.
pub(super) fn solve(system: System, [a, b, out]: [Array; 3]) -> BoundRoutine {
    Arc::new(BoundSolve { system, a, b, out })
}

#[derive(Debug)]
struct BoundFft {
    plan: fft::Plan,
    from: Array,
    out: Array,
}

impl Routine for BoundFft {
    unsafe fn run(&self, hands: Hands<'_>) -> Result<(), CpuError> {
        let Hands {
            buffers,
            parallel,
            workspace,
            ..
        } = hands;
        // SAFETY: the caller's promise; the result is an array of its own.
        unsafe {
            let mut out = self.out.view_mut(buffers);
            Ok(self
                .plan
                .run(parallel, workspace, &self.from.view(buffers), &mut out)?)
        }
    }
}

pub(super) fn fft(site: &Site<'_>, own: &Fft) -> Option<BoundRoutine> {
    let ([from], out) = site.fixed()?;
    let kind = match own.fft_type {
        FftType::Fft => Kind::Forward,
        FftType::Ifft => Kind::Inverse,
        FftType::Rfft => Kind::RealForward,
        FftType::Irfft => Kind::RealInverse,
    };
    let plan = fft::Plan::new(kind, from.element.part(), &positions(&own.fft_length)).ok()?;
    Some(Arc::new(BoundFft { plan, from, out }))
}

#[derive(Debug)]
struct BoundRandom {
    algorithm: Algorithm,
    state: Array,
    next: Array,
    bits: Array,
}

impl Routine for BoundRandom {
    unsafe fn run(&self, hands: Hands<'_>) -> Result<(), CpuError> {
        let Hands {
            buffers, parallel, ..
        } = hands;
        let bytes = self.state.bytes();
        // SAFETY: the caller's promise.
        let state = unsafe { std::slice::from_raw_parts(buffers[self.state.buffer], bytes) };
        let words: Vec<u64> = state
            .chunks_exact(8)
            .map(|word| {
                word.iter()
                    .rev()
                    .fold(0, |value, byte| value << 8 | u64::from(*byte))
            })
            .collect();
        // SAFETY: the caller's promise; results are arrays of their own.
        unsafe {
            let mut bits = self.bits.view_mut(buffers);
            let next = random::rng_bit_generator(parallel, self.algorithm, &words, &mut bits)?;
            let next: Vec<u8> = next.iter().flat_map(|word| word.to_le_bytes()).collect();
            let length = next.len().min(self.next.bytes());
            std::ptr::copy_nonoverlapping(next.as_ptr(), buffers[self.next.buffer], length);
        }
        Ok(())
    }
}

pub(super) fn random(site: &Site<'_>, own: &RngBitGenerator) -> Option<BoundRoutine> {
    let ([state], [next, bits]) = (site.operands.as_slice(), site.results.as_slice()) else {
        return None;
    };
    let algorithm = match own.rng_algorithm {
        RngAlgorithm::ThreeFry => Algorithm::Threefry,
        RngAlgorithm::Philox | RngAlgorithm::Default => Algorithm::Philox,
    };
    let is_word = state.element == ElementType::UI64;
    let fits =
        is_word && !bits.element.is_complex() && !bits.element.is_boolean() && bits.element.bits() >= 8;
    let own = BoundRandom {
        algorithm,
        state: state.clone(),
        next: next.clone(),
        bits: bits.clone(),
    };
    fits.then(|| Arc::new(own) as BoundRoutine)
}
