//! Vector code for the instruction sets of the machine at hand.

use std::sync::atomic::{AtomicU8, Ordering};

/// Instruction sets that loops are compiled for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Level {
    /// What the crate is compiled for.
    Base,
    /// x86-64-v3: AVX2.
    V3,
    /// x86-64-v4: AVX-512.
    V4,
}

/// The level of this machine.
#[inline]
pub(crate) fn level() -> Level {
    static FOUND: AtomicU8 = AtomicU8::new(0);
    match FOUND.load(Ordering::Relaxed) {
        1 => Level::Base,
        2 => Level::V3,
        3 => Level::V4,
        _ => {
            let found = detect();
            FOUND.store(found as u8 + 1, Ordering::Relaxed);
            found
        }
    }
}

#[cfg(target_arch = "x86_64")]
fn detect() -> Level {
    let v3 = is_x86_feature_detected!("avx2") && is_x86_feature_detected!("bmi2");
    let v4 = is_x86_feature_detected!("avx512f")
        && is_x86_feature_detected!("avx512bw")
        && is_x86_feature_detected!("avx512dq")
        && is_x86_feature_detected!("avx512vl");
    match (v3, v4) {
        (true, true) => Level::V4,
        (true, false) => Level::V3,
        (false, _) => Level::Base,
    }
}

#[cfg(not(target_arch = "x86_64"))]
fn detect() -> Level {
    Level::Base
}

/// Asks for bytes that will be written soon; an address that is none does no harm.
#[inline(always)]
pub(crate) fn prefetch(at: *const u8, bytes: usize) {
    #[cfg(target_arch = "x86_64")]
    for line in (0..bytes).step_by(64) {
        // SAFETY: a hint, which touches no memory that the program sees.
        unsafe {
            std::arch::x86_64::_mm_prefetch::<{ std::arch::x86_64::_MM_HINT_T0 }>(
                at.wrapping_add(line).cast(),
            );
        }
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = (at, bytes);
}

/// Compiles a function once for each level and calls the one of this machine.
///
/// Multiplications and additions are not contracted, so that every level gives the same bits. Type parameters stand in
/// brackets: `leveled! { fn name[T: Bound](argument: Type) -> Type { body } }`.
macro_rules! leveled {
    (
        $(#[$meta:meta])*
        $vis:vis fn $name:ident $([$($generic:ident : $bound:path),*])? ($($argument:ident : $ty:ty),* $(,)?) $(-> $result:ty)?
        $body:block
    ) => {
        $(#[$meta])*
        $vis fn $name $(<$($generic: $bound),*>)? ($($argument: $ty),*) $(-> $result)? {
            #[inline(always)]
            fn body $(<$($generic: $bound),*>)? ($($argument: $ty),*) $(-> $result)? $body

            #[cfg(target_arch = "x86_64")]
            #[target_feature(enable = "avx2,bmi2")]
            fn v3 $(<$($generic: $bound),*>)? ($($argument: $ty),*) $(-> $result)? {
                body $(::<$($generic),*>)? ($($argument),*)
            }

            #[cfg(target_arch = "x86_64")]
            #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx2,bmi2")]
            fn v4 $(<$($generic: $bound),*>)? ($($argument: $ty),*) $(-> $result)? {
                body $(::<$($generic),*>)? ($($argument),*)
            }

            match $crate::level::level() {
                // SAFETY: the machine has the features of its level.
                #[cfg(target_arch = "x86_64")]
                $crate::level::Level::V4 => unsafe { v4 $(::<$($generic),*>)? ($($argument),*) },
                // SAFETY: as above.
                #[cfg(target_arch = "x86_64")]
                $crate::level::Level::V3 => unsafe { v3 $(::<$($generic),*>)? ($($argument),*) },
                _ => body $(::<$($generic),*>)? ($($argument),*),
            }
        }
    };
}

pub(crate) use leveled;
