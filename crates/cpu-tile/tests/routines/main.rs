//! Every routine of every level that this processor has, against the reference evaluator or a definition written out here; on
//! memory that ends where a page does, with values all around that must not change.

#![expect(unsafe_code, reason = "routines are called as compiled code calls them")]
#![expect(
    clippy::unwrap_used,
    reason = "a test fails where something is not as it should be"
)]
#![expect(
    clippy::print_stdout,
    reason = "how exact a function was measured to be is worth reading"
)]

mod double;
mod elementwise;
mod exhaustive;
mod memory;
mod movement;
mod oracle;
mod reduction;
mod values;

use artifact_cpu_tile::{Level, Tile, TileOp, table};

use memory::Memory;

/// The levels of this processor.
fn levels() -> impl Iterator<Item = Level> {
    Level::ALL.into_iter().filter(|level| level.is_supported())
}

/// Calls a routine.
fn call(level: Level, op: TileOp, rows: usize, cols: usize, tiles: &[Tile]) {
    let id = op.id().unwrap_or_else(|| panic!("there is no {op}"));
    // SAFETY: tests give the routine the tiles that it takes, of memory that is mapped; the processor has the level.
    unsafe { table(level)[usize::from(id)](rows, cols, tiles.as_ptr()) }
}

/// A tile of rows of `bytes` bytes that lie `gap` bytes apart, with these contents; it ends where its memory does.
fn filled(rows: usize, bytes: usize, gap: usize, contents: &[u8]) -> (Memory, Tile) {
    assert_eq!(contents.len(), rows * bytes);
    let mut memory = Memory::new((rows * (bytes + gap)).saturating_sub(if rows == 0 { 0 } else { gap }));
    for row in 0..rows {
        memory.write(row * (bytes + gap), &contents[row * bytes..][..bytes]);
    }
    let tile = Tile {
        data: memory.data(),
        row_bytes: (bytes + gap) as isize,
    };
    (memory, tile)
}

/// The rows of a tile made by [`filled`], one after the other; all bytes beside them must be as they were.
fn contents(memory: &mut Memory, rows: usize, bytes: usize, gap: usize) -> Vec<u8> {
    let rows: Vec<Vec<u8>> = (0..rows)
        .map(|row| memory.take(row * (bytes + gap), bytes))
        .collect();
    memory.check();
    rows.concat()
}

#[test]
fn ids_are_dense_and_names_are_unique() {
    let all = TileOp::all();
    let names: std::collections::HashSet<String> = all.iter().map(TileOp::to_string).collect();
    assert_eq!(names.len(), all.len());
    for (index, op) in all.iter().enumerate() {
        assert_eq!(op.id(), Some(index as u16), "{op}");
    }
    for level in Level::ALL {
        assert_eq!(table(level).len(), all.len(), "{level}");
    }
    assert!(names.contains("add.f32") && names.contains("convert.f64.bf16") && names.contains("copy.16"));
}

#[test]
fn levels_include_each_other() {
    assert!(Level::Portable.is_supported());
    assert!(Level::detect().is_supported());
    assert!(!Level::X86_64V4.is_supported() || Level::X86_64V3.is_supported());
}
