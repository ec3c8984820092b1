//! Any bytes as an artifact: opening it and reading all of it must return. The digests are then computed anew, as who lies
//! would, so that the checks behind them are reached as well.

#![no_main]

use artifact_container::fuzzing::{read_everything, reseal};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let _ = read_everything(bytes);
    let mut resealed = bytes.to_vec();
    reseal(&mut resealed);
    let _ = read_everything(&resealed);
});
