//! Places buffers in the arena, once their sizes are known: buffers whose lives meet lie apart, others may share memory.

/// A buffer to place: its bytes, and the first and the last step that uses it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Lifetime {
    pub(crate) bytes: usize,
    pub(crate) first: u32,
    pub(crate) last: u32,
}

/// An offset for each buffer, and the size of the arena. Larger buffers are placed first, each at the lowest place that is free
/// for as long as it lives.
pub(crate) fn place(lifetimes: &[Lifetime], alignment: usize) -> (Vec<usize>, usize) {
    let mut order: Vec<usize> = (0..lifetimes.len()).collect();
    order.sort_by_key(|index| {
        (
            std::cmp::Reverse(lifetimes[*index].bytes),
            lifetimes[*index].first,
            *index,
        )
    });
    let mut offsets = vec![0; lifetimes.len()];
    let mut placed: Vec<usize> = Vec::with_capacity(order.len());
    let mut end = 0;
    for index in order {
        let own = lifetimes[index];
        if own.bytes == 0 {
            continue;
        }
        let meets = |other: &&usize| {
            let other = lifetimes[**other];
            own.first <= other.last && other.first <= own.last
        };
        let mut taken: Vec<(usize, usize)> = placed
            .iter()
            .filter(meets)
            .map(|other| (offsets[*other], offsets[*other] + lifetimes[*other].bytes))
            .collect();
        taken.sort_unstable();
        let mut offset: usize = 0;
        for (start, stop) in taken {
            if offset + own.bytes <= start {
                break;
            }
            offset = offset.max(stop.next_multiple_of(alignment));
        }
        offsets[index] = offset;
        end = end.max(offset + own.bytes);
        placed.push(index);
    }
    (offsets, end.next_multiple_of(alignment))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(lifetimes: &[(usize, u32, u32)], expected: &[usize], size: usize) {
        let lifetimes: Vec<Lifetime> = lifetimes
            .iter()
            .map(|(bytes, first, last)| Lifetime {
                bytes: *bytes,
                first: *first,
                last: *last,
            })
            .collect();
        assert_eq!(place(&lifetimes, 64), (expected.to_vec(), size));
    }

    #[test]
    fn lives_that_meet_lie_apart() {
        check(&[(64, 1, 2), (64, 2, 3)], &[0, 64], 128);
        check(&[(64, 1, 2), (64, 3, 4)], &[0, 0], 64);
        check(&[(64, 1, 9), (128, 2, 3), (100, 4, 5)], &[128, 0, 0], 192);
        check(&[(0, 1, 2), (10, 1, 2)], &[0, 0], 64);
    }
}
