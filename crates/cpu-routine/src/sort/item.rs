//! A key and a position in one number.

/// Numbers that order by key first, then by position.
pub(super) trait Item: Copy + Ord + Send + Sync + 'static {
    /// Bytes of the key.
    const KEY_BYTES: u32;

    fn new(key: u64, position: u32) -> Self;

    /// Byte `at` of the key, from the least significant.
    fn digit(self, at: u32) -> usize;

    fn position(self) -> u32;
}

impl Item for u64 {
    const KEY_BYTES: u32 = 4;

    #[inline(always)]
    fn new(key: u64, position: u32) -> Self {
        key << 32 | Self::from(position)
    }

    #[inline(always)]
    fn digit(self, at: u32) -> usize {
        (self >> (32 + 8 * at) & 0xFF) as usize
    }

    #[inline(always)]
    fn position(self) -> u32 {
        self as u32
    }
}

impl Item for u128 {
    const KEY_BYTES: u32 = 8;

    #[inline(always)]
    fn new(key: u64, position: u32) -> Self {
        Self::from(key) << 64 | Self::from(position)
    }

    #[inline(always)]
    fn digit(self, at: u32) -> usize {
        (self >> (64 + 8 * at) & 0xFF) as usize
    }

    #[inline(always)]
    fn position(self) -> u32 {
        self as u32
    }
}
