//! Points in time, to the second.

use std::fmt;

use toml::value::{Datetime, Offset};

const DAY_SECONDS: i64 = 86_400;
/// Days from the first of January of the year 0 to that of 1970, in the proleptic Gregorian calendar of RFC 3339.
const EPOCH_DAYS: i64 = days_before_year(1970);
const MONTH_DAYS: [i64; 12] = [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];

/// Seconds since 1970-01-01T00:00:00Z, leap seconds not counted. `Display` is that of RFC 3339, in UTC.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Timestamp(i64);

impl Timestamp {
    /// As the operating system counts.
    #[must_use]
    pub const fn from_unix_seconds(seconds: i64) -> Self {
        Self(seconds)
    }

    /// Seconds since 1970-01-01T00:00:00Z.
    #[must_use]
    pub const fn unix_seconds(self) -> i64 {
        self.0
    }

    /// A date-time of TOML, which is that of RFC 3339. It must have an offset, and no fraction of a second.
    pub(super) fn of_toml(value: &Datetime) -> Result<Self, TimestampError> {
        let (Some(date), Some(time), Some(offset)) = (value.date, value.time, value.offset) else {
            return Err(TimestampError::Partial);
        };
        if time.nanosecond.is_some_and(|fraction| fraction != 0) {
            return Err(TimestampError::Fraction);
        }
        let (year, month) = (i64::from(date.year), usize::from(date.month));
        let days_of = |month: usize| MONTH_DAYS.get(month - 1).map(|days| days + leap_day(year, month));
        let in_month = (1..=12).contains(&month)
            && days_of(month).is_some_and(|days| (1..=days).contains(&i64::from(date.day)));
        if !in_month {
            return Err(TimestampError::Date);
        }
        let days =
            days_before_year(year) + (1..month).filter_map(days_of).sum::<i64>() + i64::from(date.day) - 1;
        let minutes = i64::from(time.hour) * 60 + i64::from(time.minute)
            - match offset {
                Offset::Z => 0,
                Offset::Custom { minutes } => i64::from(minutes),
            };
        let seconds = minutes * 60 + i64::from(time.second.unwrap_or(0));
        Ok(Self((days - EPOCH_DAYS) * DAY_SECONDS + seconds))
    }
}

impl fmt::Display for Timestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (mut day, second) = (
            self.0.div_euclid(DAY_SECONDS) + EPOCH_DAYS,
            self.0.rem_euclid(DAY_SECONDS),
        );
        // 146,097 days in 400 years: at most one year off.
        let mut year = (i128::from(day) * 400).div_euclid(146_097) as i64;
        while days_before_year(year) > day {
            year -= 1;
        }
        while days_before_year(year + 1) <= day {
            year += 1;
        }
        day -= days_before_year(year);
        let mut month = 1;
        for days in MONTH_DAYS {
            let days = days + leap_day(year, month);
            if day < days {
                break;
            }
            (day, month) = (day - days, month + 1);
        }
        let (hour, minute, second) = (second / 3600, second / 60 % 60, second % 60);
        write!(
            f,
            "{year:04}-{month:02}-{:02}T{hour:02}:{minute:02}:{second:02}Z",
            day + 1
        )
    }
}

/// Days from the first of January of the year 0 to that of `year`. The year 0 is a leap year.
const fn days_before_year(year: i64) -> i64 {
    let before = year - 1;
    365 * year + before.div_euclid(4) - before.div_euclid(100) + before.div_euclid(400) + 1
}

/// One for February of a leap year.
const fn leap_day(year: i64, month: usize) -> i64 {
    let is_leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    (is_leap && month == 2) as i64
}

/// A date-time that names no second.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum TimestampError {
    /// It leaves something out.
    #[error("a date needs a time and an offset, as in 2026-01-01T00:00:00Z")]
    Partial,
    /// It says more than can be kept.
    #[error("a time is given in whole seconds")]
    Fraction,
    /// There is no such day.
    #[error("there is no such day in the calendar")]
    Date,
}
