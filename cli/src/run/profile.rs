//! Profiles as text and as JSON.

use std::time::Duration;

use artifact_engine::{Profile, ProfileStep};
use artifact_ir::diagnostic::SourceOffset;
use serde_json::json;

use crate::output::one_line;

/// A table of the steps in the order of the program; `place` says where an operation stands.
pub(super) fn text(profile: &Profile, place: impl Fn(SourceOffset) -> Option<String>) -> String {
    let header = ["time", "share", "calls", "bytes", "FLOPs", "kind", "step"].map(str::to_owned);
    let mut rows = vec![header];
    rows.extend(profile.steps.iter().map(|step| row(step, profile.total, &place)));
    let inside: Duration = profile.steps.iter().map(|step| step.time).sum();
    let widths: [usize; COLUMNS] = std::array::from_fn(|column| {
        let lengths = rows.iter().map(|row| row[column].chars().count());
        lengths.max().unwrap_or(0)
    });
    let mut text: String = rows.iter().map(|row| line(row, &widths)).collect();
    text.push_str(&format!(
        "{} in all, {} of it in {} steps\n",
        time_text(profile.total),
        time_text(inside),
        profile.steps.len()
    ));
    text
}

const COLUMNS: usize = 7;

fn row(
    step: &ProfileStep,
    total: Duration,
    place: &impl Fn(SourceOffset) -> Option<String>,
) -> [String; COLUMNS] {
    let share = 100.0 * step.time.as_secs_f64() / total.as_secs_f64().max(f64::MIN_POSITIVE);
    let place = place(step.source).map_or_else(String::new, |place| format!(" {place}"));
    [
        time_text(step.time),
        format!("{share:.1} %"),
        step.calls.to_string(),
        count_text(step.work.bytes),
        count_text(step.work.flops),
        step.kind.to_owned(),
        one_line(&format!("{}{place}", step.name)).into_owned(),
    ]
}

/// Numbers to the right, words to the left.
fn line(row: &[String; COLUMNS], widths: &[usize; COLUMNS]) -> String {
    const WORDS: usize = 5;
    let cells = row.iter().zip(widths).enumerate();
    let cells = cells.map(|(column, (cell, width))| match column {
        WORDS.. => format!("{cell:<width$}"),
        _ => format!("{cell:>width$}"),
    });
    let line = cells.collect::<Vec<_>>().join("  ");
    format!("{}\n", line.trim_end())
}

/// Four digits and a unit.
pub(super) fn time_text(time: Duration) -> String {
    let seconds = time.as_secs_f64();
    match time.as_nanos() {
        0..1_000_000 => format!("{:.3} us", seconds * 1e6),
        1_000_000..1_000_000_000 => format!("{:.3} ms", seconds * 1e3),
        _ => format!("{seconds:.3} s"),
    }
}

/// A count with a power of 1000.
fn count_text(count: u64) -> String {
    const POWERS: [(u64, &str); 4] = [
        (1_000_000_000_000, "T"),
        (1_000_000_000, "G"),
        (1_000_000, "M"),
        (1000, "k"),
    ];
    match POWERS.iter().find(|(power, _)| count >= *power) {
        Some((power, letter)) => format!("{:.2} {letter}", count as f64 / *power as f64),
        None => count.to_string(),
    }
}

/// The same for programs.
pub(super) fn json(profile: &Profile, place: impl Fn(SourceOffset) -> Option<String>) -> serde_json::Value {
    let step = |step: &ProfileStep| {
        json!({
            "name": step.name,
            "kind": step.kind,
            "place": place(step.source),
            "calls": step.calls,
            "seconds": step.time.as_secs_f64(),
            "bytes": step.work.bytes,
            "flops": step.work.flops,
        })
    };
    json!({
        "total_seconds": profile.total.as_secs_f64(),
        "steps": profile.steps.iter().map(step).collect::<Vec<_>>(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_short() {
        for (count, want) in [(0, "0"), (999, "999"), (1000, "1.00 k"), (12_345_678, "12.35 M")] {
            assert_eq!(count_text(count), want);
        }
        for (nanoseconds, want) in [
            (1500, "1.500 us"),
            (2_000_000, "2.000 ms"),
            (3_200_000_000, "3.200 s"),
        ] {
            assert_eq!(time_text(Duration::from_nanos(nanoseconds)), want);
        }
    }
}
