//! Numbers in MLIR bytecode: the low zero bits of the first byte count the bytes that follow it.

/// Longest form: a zero byte and eight more.
const BYTES_MAX: usize = 9;

/// Reads a number from the start of `bytes`, and says how many bytes it takes; `None` where the bytes end before.
#[inline]
pub(super) fn decode(bytes: &[u8]) -> Option<(u64, usize)> {
    let first = *bytes.first()?;
    if first & 1 == 1 {
        return Some((u64::from(first >> 1), 1));
    }
    decode_long(first, bytes)
}

fn decode_long(first: u8, bytes: &[u8]) -> Option<(u64, usize)> {
    if first == 0 {
        let rest = bytes.get(1..BYTES_MAX)?;
        return Some((u64::from_le_bytes(rest.try_into().ok()?), BYTES_MAX));
    }
    let length = first.trailing_zeros() as usize + 1;
    let wide = match bytes.first_chunk::<8>() {
        Some(wide) => u64::from_le_bytes(*wide),
        None => {
            let mut wide = [0; 8];
            wide[..length].copy_from_slice(bytes.get(..length)?);
            u64::from_le_bytes(wide)
        }
    };
    // Only the bits of the first `length` bytes count.
    let unused = 64 - 8 * length as u32;
    Some((wide << unused >> unused >> length, length))
}

/// Appends a number in its shortest form.
#[inline]
pub(super) fn encode(value: u64, bytes: &mut Vec<u8>) {
    if value < 1 << 7 {
        bytes.push((value << 1 | 1) as u8);
    } else {
        encode_long(value, bytes);
    }
}

fn encode_long(value: u64, bytes: &mut Vec<u8>) {
    let bits = 64 - (value | 1).leading_zeros() as usize;
    let length = bits.div_ceil(7);
    if length > 8 {
        bytes.push(0);
        bytes.extend_from_slice(&value.to_le_bytes());
    } else {
        let encoded = (value << length) | (1 << (length - 1));
        // A copy of known length is much cheaper than one of any.
        let end = bytes.len() + length;
        bytes.extend_from_slice(&encoded.to_le_bytes());
        bytes.truncate(end);
    }
}

/// The number that stands for a signed one: small magnitudes are small.
pub(super) const fn zigzag(value: i64) -> u64 {
    ((value << 1) ^ (value >> 63)) as u64
}

/// The signed number that a number stands for.
pub(super) const fn unzigzag(value: u64) -> i64 {
    (value >> 1) as i64 ^ -((value & 1) as i64)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(value: u64, expected: &[u8]) {
        let mut bytes = Vec::new();
        encode(value, &mut bytes);
        assert_eq!(bytes, expected, "{value}");
        assert_eq!(decode(&bytes), Some((value, expected.len())), "{value}");
        assert_eq!(decode(&bytes[..bytes.len() - 1]), None);
    }

    #[test]
    fn lengths() {
        check(0, &[1]);
        check(127, &[0xFF]);
        check(128, &[0b0000_0010, 0b0000_0010]);
        check((1 << 14) - 1, &[0b1111_1110, 0xFF]);
        check((1 << 56) - 1, &[0x80, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF]);
        check(1 << 56, &[0, 0, 0, 0, 0, 0, 0, 0, 1]);
        check(u64::MAX, &[0, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF]);
    }

    #[test]
    fn signs() {
        for (value, expected) in [
            (0, 0),
            (-1, 1),
            (1, 2),
            (i64::MIN, u64::MAX),
            (i64::MAX, u64::MAX - 1),
        ] {
            assert_eq!(zigzag(value), expected);
            assert_eq!(unzigzag(expected), value);
        }
    }
}
