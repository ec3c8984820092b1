//! What refusing a hostile text costs: time, and the most memory that is held at once.
//!
//! `cargo bench -p artifact-dims --bench hostile`. Shown is the middle of several runs.

#![expect(clippy::print_stdout, reason = "a benchmark prints what it measured")]
#![expect(
    unsafe_code,
    reason = "counting allocations takes a global allocator, which is unsafe to implement"
)]

use std::alloc::{GlobalAlloc, Layout, System};
use std::hint::black_box;
use std::sync::atomic::{AtomicUsize, Ordering};

use artifact_dims::Expr;
use artifact_testkit::timing::middle;

const RUNS: usize = 101;

/// The system's allocator, which notes what is held.
struct Counting;

static HELD: AtomicUsize = AtomicUsize::new(0);
static PEAK: AtomicUsize = AtomicUsize::new(0);

// SAFETY: every call goes to the system's allocator unchanged.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let held = HELD.fetch_add(layout.size(), Ordering::Relaxed) + layout.size();
        PEAK.fetch_max(held, Ordering::Relaxed);
        // SAFETY: the caller's promises are the system's.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        HELD.fetch_sub(layout.size(), Ordering::Relaxed);
        // SAFETY: the caller's promises are the system's.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

fn main() {
    let sums = |count: usize| {
        let terms: Vec<String> = (0..count)
            .map(|n| format!("a{}^{}", n % 100, 1 + n / 100))
            .collect();
        terms.join(" + ")
    };
    for (name, text) in [
        ("a^100000000", "a^100000000".to_owned()),
        ("1 MB of parentheses", "(".repeat(1 << 20)),
        ("64 KB of parentheses", "(".repeat(1 << 16)),
        ("64 KB of mod(", "mod(".repeat(1 << 14)),
        ("1 MB of digits", "9".repeat(1 << 20)),
        ("64 KB of digits", "9".repeat(1 << 16)),
        (
            "a power of a sum",
            "(a + b + c + d + e + f + g + h)^20".to_owned(),
        ),
        (
            "100 powers of sums",
            format!("0{}", "*(a + b + c + d)^9".repeat(100)),
        ),
        ("a long name", "a".repeat(1 << 16)),
        ("10,000 terms", sums(10_000)),
        (
            "coefficients that overflow",
            "9223372036854775807*a*".repeat(2_000) + "2",
        ),
        (
            "divisions within divisions",
            format!("{}a{}", "floordiv(b*".repeat(31), ", c)".repeat(31)),
        ),
    ] {
        let time = middle(RUNS, || {
            let _ = black_box(black_box(&text).parse::<Expr>());
        });
        let before = HELD.load(Ordering::Relaxed);
        PEAK.store(before, Ordering::Relaxed);
        let refused = text.parse::<Expr>().is_err();
        let memory = PEAK.load(Ordering::Relaxed) - before;
        let word = if refused { "refused" } else { "read" };
        println!(
            "{name:<28} {word:<8} {time:>10.2?} {:>8.1} KiB",
            memory as f64 / 1024.0
        );
    }
}
