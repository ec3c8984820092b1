//! What reading, writing and refusing exports takes.
//!
//! `ARTIFACT_CORPUS_DIR=... cargo bench -p artifact-jax --bench exports`. Shown is the middle of several runs.

#![expect(clippy::print_stdout, reason = "a benchmark prints what it measured")]
#![expect(
    clippy::unwrap_used,
    reason = "a benchmark stops where a file is not as it should be"
)]

use std::hint::black_box;
use std::sync::Arc;

use artifact_core::blob::Blob;
use artifact_flatbuffer::{TableBuilder, Writer};
use artifact_jax::{Exported, PyTree, looks_like, read, write};
use artifact_proto::jax_exported as schema;
use artifact_testkit::corpus;
use artifact_testkit::timing::middle;

const RUNS: usize = 21;

fn main() {
    let files = corpus::files("jax", "bin").unwrap_or_default();
    let all: Vec<Exported> = files
        .iter()
        .map(|file| read(Blob::new(file.bytes.clone())).unwrap())
        .collect();
    let bytes: usize = files.iter().map(|file| file.bytes.len()).sum();
    println!("{} files of the corpus, {bytes} bytes:", files.len());
    let blobs: Vec<Blob> = files.iter().map(|file| Blob::new(file.bytes.clone())).collect();
    show("recognise", || {
        blobs.iter().for_each(|file| {
            black_box(looks_like(file));
        });
    });
    show("read", || {
        blobs.iter().for_each(|file| {
            black_box(read(file.clone()).unwrap());
        });
    });
    show("write", || {
        all.iter().for_each(|exported| {
            black_box(write(exported).unwrap());
        });
    });
    if let Some(exported) = all.first() {
        many_values(exported);
    }
    let hostile = costly_dimensions();
    println!("{} bytes of dimensions that are costly to read:", hostile.len());
    show("refuse", || assert!(read(hostile.clone()).is_err()));
}

fn show(what: &str, run: impl FnMut()) {
    println!("  {what:<10} {:>10.2?}", middle(RUNS, run));
}

/// A function that returns as many values as a large model has weights, of types that differ.
fn many_values(exported: &Exported) {
    let mut exported = exported.clone();
    exported.outputs.tree = PyTree::List(vec![PyTree::Leaf; 10_000]);
    exported.outputs.leaves = (0..10_000)
        .map(|index: i64| {
            let mut leaf = exported.inputs.leaves[0].clone();
            let mut aval = (*leaf.aval).clone();
            aval.shape = vec![artifact_dims::Expr::constant(index % 100).into(); 4];
            leaf.aval = Arc::new(aval);
            leaf
        })
        .collect();
    let file = write(&exported).unwrap();
    println!("10,000 values, {} bytes:", file.len());
    show("write", || {
        black_box(write(&exported).unwrap());
    });
    let file = Blob::new(file);
    show("read", || {
        black_box(read(file.clone()).unwrap());
    });
}

/// As many different dimensions as are read, each of nearly the work that one may take; and one too many.
fn costly_dimensions() -> Blob {
    let mut writer = Writer::new();
    let mut avals = Vec::new();
    for index in 0..=512 {
        let text = format!("floordiv((a + b + c + d + e)^5*(a + b + c + d), f + {index})");
        let text = writer.text(&text).unwrap();
        let shape = writer.vector(&[text]).unwrap();
        avals.push(writer.table(TableBuilder::default().set(schema::AbstractValue::SHAPE, shape)));
    }
    let avals = writer.vector(&avals).unwrap();
    let root = TableBuilder::default()
        .set(schema::Exported::SERIALIZATION_VERSION, 12)
        .set(schema::Exported::UNIQUE_AVALS, avals);
    let root = writer.table(root);
    Blob::new(writer.finish(root).unwrap())
}
