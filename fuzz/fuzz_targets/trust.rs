//! Any text as a trust file: parsing it must return, and what it accepts must judge a seal block of any bytes without a panic.

#![no_main]

use artifact_container::fuzzing::judge_seals;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| judge_seals(bytes));
