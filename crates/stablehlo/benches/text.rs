//! Reading and writing every text of the corpus, in MB/s on one core.
//!
//! `ARTIFACT_CORPUS_DIR=... cargo bench -p artifact-stablehlo --bench text`. Everything is read into memory first. One pass is
//! every file once; the middle of several passes is shown. Files of which less than a tenth is inside `dense<...>` are measured
//! by themselves too, because constants are read much faster than operations.

#![expect(clippy::print_stdout, reason = "a benchmark prints what it measured")]

use std::hint::black_box;
use std::time::Duration;

use artifact_ir::module::Module;
use artifact_stablehlo::parse::parse_module;
use artifact_stablehlo::print::{PrintOptions, print_module};
use artifact_testkit::corpus::all_programs;
use artifact_testkit::timing::middle;

/// Passes over the corpus; the middle one counts.
const PASSES: usize = 9;
/// Share of a file inside `dense<...>` under which it counts as operations.
const LITERAL_PERCENT_MAX: usize = 10;

fn main() {
    let Some(programs) = all_programs() else { return };
    let texts: Vec<String> = programs.into_iter().map(|program| program.text).collect();
    let operations: Vec<&String> = texts.iter().filter(|text| is_mostly_operations(text)).collect();
    measure_reading("read, all files", texts.iter());
    measure_reading("read, files of operations", operations.into_iter());
    measure_writing(&texts);
}

fn is_mostly_operations(text: &str) -> bool {
    let literals: usize = text
        .split("dense<")
        .skip(1)
        .map(|rest| rest.find('>').unwrap_or(rest.len()))
        .sum();
    literals * 100 < text.len() * LITERAL_PERCENT_MAX
}

fn measure_reading<'a>(what: &str, texts: impl Iterator<Item = &'a String> + Clone) {
    let bytes: usize = texts.clone().map(String::len).sum();
    let count = texts.clone().count();
    let time = middle(PASSES, || {
        for text in texts.clone() {
            black_box(parse_module(black_box(text)));
        }
    });
    show(what, count, bytes, time);
}

fn measure_writing(texts: &[String]) {
    let modules: Vec<Module> = texts.iter().flat_map(|text| parse_module(text).modules).collect();
    let options = PrintOptions::default();
    let bytes: usize = modules
        .iter()
        .map(|module| print_module(module, &options).len())
        .sum();
    let time = middle(PASSES, || {
        for module in &modules {
            black_box(print_module(black_box(module), &options));
        }
    });
    show("write, all modules", modules.len(), bytes, time);
}

fn show(what: &str, count: usize, bytes: usize, time: Duration) {
    let megabytes = bytes as f64 / 1e6;
    let rate = megabytes / time.as_secs_f64();
    println!("{what:28} {count:5} of {megabytes:7.2} MB: {rate:7.1} MB/s");
}
