//! Calendar dates, as release dates are written: `YYYY-MM-DD` (ISO 8601), proleptic Gregorian.
//!
//! Nothing here reads a clock.

use std::fmt;
use std::str::FromStr;

/// A day of the calendar, from 0001-01-01 to 9999-12-31.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Date {
    // In this order, so that the derived order is that of time.
    year: u16,
    month: u8,
    day: u8,
}

/// The last year that has four digits.
const YEAR_MAX: u16 = 9999;

impl Date {
    /// The day, or `None` where the calendar has none.
    #[must_use]
    pub const fn new(year: u16, month: u8, day: u8) -> Option<Self> {
        let exists = year >= 1 && year <= YEAR_MAX && day >= 1 && day <= days_in(year, month);
        if exists {
            Some(Self { year, month, day })
        } else {
            None
        }
    }

    /// The same day `years` later; the last of February where a leap day has no anniversary, and 9999-12-31 at most.
    #[must_use]
    pub const fn plus_years(self, years: u16) -> Self {
        let year = self.year.saturating_add(years);
        if year > YEAR_MAX {
            return Self {
                year: YEAR_MAX,
                month: 12,
                day: 31,
            };
        }
        let last = days_in(year, self.month);
        let day = if self.day > last { last } else { self.day };
        Self {
            year,
            month: self.month,
            day,
        }
    }
}

/// Days of a month; none where there is no such month.
const fn days_in(year: u16, month: u8) -> u8 {
    let leap = year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400));
    match month {
        2 if leap => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        1 | 3 | 5 | 7 | 8 | 10 | 12 => 31,
        _ => 0,
    }
}

impl fmt::Display for Date {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:04}-{:02}-{:02}", self.year, self.month, self.day)
    }
}

/// Text that is no day of the calendar in the form `YYYY-MM-DD`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParseDateError(String);

impl fmt::Display for ParseDateError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}` is not a day in the form YYYY-MM-DD", self.0)
    }
}

impl std::error::Error for ParseDateError {}

impl FromStr for Date {
    type Err = ParseDateError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let parse = || {
            let [year, month, day] = <[&str; 3]>::try_from(text.split('-').collect::<Vec<_>>()).ok()?;
            let widths = [(year, 4), (month, 2), (day, 2)];
            let plain = |(part, width): &(&str, usize)| {
                part.len() == *width && part.bytes().all(|byte| byte.is_ascii_digit())
            };
            if !widths.iter().all(plain) {
                return None;
            }
            Self::new(year.parse().ok()?, month.parse().ok()?, day.parse().ok()?)
        };
        // A date has ten characters: a longer text is not taken apart.
        let parsed = if text.len() == 10 { parse() } else { None };
        parsed.ok_or_else(|| ParseDateError(text.to_owned()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn date(text: &str) -> Date {
        text.parse().unwrap()
    }

    #[test]
    fn text_and_back() {
        for text in [
            "2026-11-30",
            "0001-01-01",
            "2024-02-29",
            "2000-02-29",
            "9999-12-31",
        ] {
            assert_eq!(date(text).to_string(), text);
        }
        for wrong in [
            "2026-11-31",
            "2025-02-29",
            "1900-02-29",
            "2026-13-01",
            "2026-00-01",
            "2026-01-00",
            "0000-01-01",
            "2026-1-01",
            "26-11-30",
            "+026-11-30",
            "2026-11-3a",
            "2026/11/30",
            "2026-11-300",
            "",
        ] {
            assert!(wrong.parse::<Date>().is_err(), "{wrong}");
        }
    }

    #[test]
    fn years_later() {
        let check =
            |from: &str, years, to: &str| assert_eq!(date(from).plus_years(years), date(to), "{from}");
        check("2026-11-30", 5, "2031-11-30");
        check("2024-02-29", 5, "2029-02-28");
        check("2024-02-29", 4, "2028-02-29");
        check("9998-01-01", 5, "9999-12-31");
        check("2026-11-30", u16::MAX, "9999-12-31");
        assert!(date("2026-11-30") < date("2026-12-01") && date("2025-12-31") < date("2026-01-01"));
    }
}
