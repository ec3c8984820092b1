//! Numbers by chance.

/// Numbers that follow from a seed (Marsaglia's xorshift64).
pub struct Random(u64);

impl Random {
    pub fn new(seed: u32) -> Self {
        Self(u64::from(seed).wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1)
    }

    pub fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    /// A number below `bound`; 0 where that is 0.
    pub fn below(&mut self, bound: usize) -> usize {
        // The low bits of xorshift are its worst.
        (self.next() >> 16) as usize % bound.max(1)
    }

    /// Another number in the place of `value`: near to it, small, a power of two, or anything.
    pub fn near(&mut self, value: u64) -> u64 {
        match self.below(8) {
            0 => value.wrapping_add(1),
            1 => value.wrapping_sub(1),
            2 => value ^ 1,
            3 => 1 << self.below(64),
            4 => u64::MAX - self.below(3) as u64,
            5 => self.next(),
            6 => self.below(300) as u64,
            _ => self.below(16) as u64,
        }
    }
}
