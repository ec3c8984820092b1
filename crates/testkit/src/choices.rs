//! A stream of choices that random tests are made of: from a seed, from the bytes of a fuzzer, or from choices that were taken before.
//!
//! What was taken is recorded, so that a failing test can be repeated and made smaller ([`shrink`]) without knowing what was made
//! of the choices. For that to work, 0 must stand for the simplest choice everywhere.

use std::cell::RefCell;

/// The stream. It is drawn from through a shared reference, since what draws from it is often nested.
#[derive(Debug)]
pub struct Choices(RefCell<State>);

#[derive(Debug)]
struct State {
    source: Source,
    taken: Vec<u64>,
    marks: Vec<usize>,
}

#[derive(Debug)]
enum Source {
    Seed(SplitMix),
    /// What is left of it, in reverse.
    Bytes(Vec<u8>),
    /// What is left of them, in reverse.
    Taken(Vec<u64>),
}

impl Choices {
    fn of(source: Source) -> Self {
        Self(RefCell::new(State {
            source,
            taken: Vec::new(),
            marks: Vec::new(),
        }))
    }

    /// Random choices.
    #[must_use]
    pub fn of_seed(seed: u64) -> Self {
        Self::of(Source::Seed(SplitMix::new(seed)))
    }

    /// Choices by the bytes of a fuzzer; where these end, every choice is the simplest.
    #[must_use]
    pub fn of_bytes(bytes: &[u8]) -> Self {
        Self::of(Source::Bytes(bytes.iter().rev().copied().collect()))
    }

    /// Choices that were taken before; where these end, every choice is the simplest.
    #[must_use]
    pub fn of_taken(taken: &[u64]) -> Self {
        Self::of(Source::Taken(taken.iter().rev().copied().collect()))
    }

    /// A number below `count`, which is not 0.
    pub fn below(&self, count: usize) -> usize {
        let state = &mut *self.0.borrow_mut();
        let count = count.max(1) as u64;
        let choice = match &mut state.source {
            Source::Seed(random) => random.next() % count,
            Source::Bytes(bytes) => {
                let width = if count <= 256 { 1 } else { 4 };
                let number = (0..width).fold(0, |number, _| {
                    number << 8 | u64::from(bytes.pop().unwrap_or_default())
                });
                number % count
            }
            Source::Taken(taken) => taken.pop().unwrap_or_default().min(count - 1),
        };
        state.taken.push(choice);
        choice as usize
    }

    /// True once in `count` times. False is simpler.
    pub fn once_in(&self, count: usize) -> bool {
        self.below(count) == count.saturating_sub(1)
    }

    /// True or false, which is simpler.
    pub fn flip(&self) -> bool {
        self.once_in(2)
    }

    /// One of them, the first being the simplest.
    ///
    /// # Panics
    /// When there is none.
    pub fn pick<'a, T>(&self, all: &'a [T]) -> &'a T {
        &all[self.below(all.len())]
    }

    /// One of them by their weights, the first being the simplest.
    ///
    /// # Panics
    /// When there is none.
    pub fn weighted<'a, T>(&self, all: &'a [(usize, T)]) -> &'a T {
        let mut at = self.below(all.iter().map(|(weight, _)| weight).sum());
        for (weight, one) in all {
            if at < *weight {
                return one;
            }
            at -= weight;
        }
        &all[0].1
    }

    /// A number of so many bits, for another stream of random numbers.
    pub fn seed(&self) -> u64 {
        self.below(1 << 16) as u64
    }

    /// Says that what is drawn next belongs together: it may be left out as a whole.
    pub fn mark(&self) {
        let state = &mut *self.0.borrow_mut();
        state.marks.push(state.taken.len());
    }

    /// What was taken, and where the parts of it begin that belong together.
    #[must_use]
    pub fn into_taken(self) -> (Vec<u64>, Vec<usize>) {
        let state = self.0.into_inner();
        (state.taken, state.marks)
    }
}

/// Random numbers (`SplitMix64`), the same on every machine.
#[derive(Clone, Debug)]
pub struct SplitMix(u64);

impl SplitMix {
    /// The numbers of a seed.
    #[must_use]
    pub const fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// The next number.
    pub const fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    }

    /// The next number, between 0 and 1.
    pub fn fraction(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1_u64 << 53) as f64
    }
}

/// Makes a failing list of choices smaller for as long as it fails and `budget` attempts last. `fails` gives the marks of choices
/// that still fail.
pub fn shrink(
    taken: Vec<u64>,
    marks: Vec<usize>,
    budget: usize,
    fails: &mut dyn FnMut(&[u64]) -> Option<Vec<usize>>,
) -> Vec<u64> {
    let mut smaller = Shrinking {
        taken,
        marks,
        budget,
        fails,
    };
    loop {
        let before = smaller.taken.clone();
        smaller.leave_out_parts();
        smaller.leave_out_runs();
        smaller.lower();
        if smaller.taken == before || smaller.budget == 0 {
            return smaller.taken;
        }
    }
}

struct Shrinking<'a> {
    taken: Vec<u64>,
    marks: Vec<usize>,
    budget: usize,
    fails: &'a mut dyn FnMut(&[u64]) -> Option<Vec<usize>>,
}

impl Shrinking<'_> {
    fn attempt(&mut self, taken: Vec<u64>) -> bool {
        if self.budget == 0 {
            return false;
        }
        self.budget -= 1;
        match (self.fails)(&taken) {
            Some(marks) => {
                (self.taken, self.marks) = (taken, marks);
                true
            }
            None => false,
        }
    }

    fn without(&mut self, from: usize, to: usize) -> bool {
        if from >= to || to > self.taken.len() {
            return false;
        }
        let shorter = [&self.taken[..from], &self.taken[to..]].concat();
        self.attempt(shorter)
    }

    /// From the last part on, since others draw on the earlier ones.
    fn leave_out_parts(&mut self) {
        let mut part = self.marks.len();
        while part > 0 && self.budget > 0 {
            part -= 1;
            let from = self.marks.get(part).copied();
            let to = self.marks.get(part + 1).copied().unwrap_or(self.taken.len());
            if let Some(from) = from {
                self.without(from, to);
            }
            part = part.min(self.marks.len());
        }
    }

    fn leave_out_runs(&mut self) {
        for length in [16, 4, 1] {
            let mut from = 0;
            while from + length <= self.taken.len() && self.budget > 0 {
                if !self.without(from, from + length) {
                    from += length;
                }
            }
        }
    }

    fn lower(&mut self) {
        for at in 0..self.taken.len() {
            for lower in [0, 1, self.taken.get(at).map_or(0, |choice| choice / 2)] {
                let smaller = self.taken.get(at).is_some_and(|choice| lower < *choice);
                if smaller && self.budget > 0 {
                    let mut taken = self.taken.clone();
                    taken[at] = lower;
                    self.attempt(taken);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_taken_gives_the_same() {
        let draw = |choices: &Choices| (0..20).map(|_| choices.below(1000)).collect::<Vec<_>>();
        let first = Choices::of_seed(7);
        let drawn = draw(&first);
        assert_ne!(drawn, draw(&Choices::of_seed(8)));
        let (taken, _) = first.into_taken();
        assert_eq!(drawn, draw(&Choices::of_taken(&taken)));
        assert_eq!(draw(&Choices::of_taken(&[])), [0; 20]);
        assert_eq!(draw(&Choices::of_bytes(&[]))[0], 0);
    }

    #[test]
    fn the_smallest_that_fails_is_found() {
        // Fails where a part has a number over 10.
        let mut fails = |taken: &[u64]| {
            let marks = (0..taken.len()).step_by(2).collect();
            taken.iter().any(|number| *number > 10).then_some(marks)
        };
        let found = shrink(vec![3, 4, 99, 1, 7, 7], vec![0, 2, 4], 1000, &mut fails);
        assert_eq!(found.len(), 1);
        assert!((11..=12).contains(&found[0]), "{found:?}");
    }
}
