//! Tables of function values in tests.

/// Collects the rows of a table that are wrong, so that a failure shows all of them.
#[derive(Debug, Default)]
pub(super) struct Table {
    rows: usize,
    failures: Vec<String>,
}

impl Table {
    /// The function's name and the numbers of a row, given as bits.
    pub(super) fn row(line: &str) -> (&str, Vec<f64>) {
        let (name, numbers) = line.split_once(' ').unwrap();
        let number = |text| f64::from_bits(u64::from_str_radix(text, 16).unwrap());
        (name, numbers.split(' ').map(number).collect())
    }

    pub(super) fn check(&mut self, is_right: bool, failure: impl FnOnce() -> String) {
        self.rows += 1;
        if !is_right {
            self.failures.push(failure());
        }
    }

    pub(super) fn finish(self) {
        assert!(self.rows > 0, "an empty table checks nothing");
        assert!(
            self.failures.is_empty(),
            "{} of {} rows:\n{}",
            self.failures.len(),
            self.rows,
            self.failures.join("\n")
        );
    }
}

/// Units in the last place between two numbers; two NaN are equal, and so are the two zeros.
pub(super) fn ulps(a: f64, b: f64) -> u64 {
    if a.is_nan() || b.is_nan() {
        return if a.is_nan() && b.is_nan() { 0 } else { u64::MAX };
    }
    if a.is_infinite() != b.is_infinite() {
        return u64::MAX;
    }
    let key = |x: f64| {
        let magnitude = (x.to_bits() & !(1 << 63)) as i64;
        if x.is_sign_negative() {
            -magnitude
        } else {
            magnitude
        }
    };
    key(a).abs_diff(key(b))
}
