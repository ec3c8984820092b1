//! What is recognised as a JAX export, and above all what is not.

use artifact_jax::{looks_cut_off, looks_like, write};

use crate::sample::{exported, fixtures};

#[test]
fn every_export_is_recognised() {
    for (name, bytes) in fixtures() {
        assert!(looks_like(&bytes), "{name}");
    }
    assert!(looks_like(&write(&exported()).unwrap()));
}

#[test]
fn nothing_else_is() {
    let check = |bytes: &[u8]| {
        let seen = looks_like(bytes) || looks_cut_off(bytes);
        assert!(!seen, "{:?}", &bytes[..bytes.len().min(40)]);
    };
    check(b"");
    check(b"mod");
    check(b"module @m { func.func @main() { return } }\n");
    check(b"// a comment\n\n\n\n\n\n\n\n\n");
    check(b"ML\xefR\rStableHLO_v1.13.0\x00\x01%\x07\x01\x05\t\x0f");
    check(&artifact_container::MAGIC);
    check(&[0; 4096]);
    check(&[4; 4096]);
    // Long enough for the first four bytes to lead somewhere within.
    let mut long = vec![0; 1 << 16];
    for magic in [b"ML\xefR".as_slice(), b"\n\n\n\n", &artifact_container::MAGIC] {
        long[..magic.len()].copy_from_slice(magic);
        check(&long);
    }
}

/// An export whose program is not bytecode, or that lacks what every export has.
#[test]
fn another_flatbuffer_is_not() {
    let file = write(&exported()).unwrap();
    let at = file.windows(4).position(|bytes| bytes == b"ML\xefR").unwrap();
    let mut damaged = file;
    damaged[at] = b'm';
    assert!(!looks_like(&damaged));
}

/// The program itself, which a file holds, is not one.
#[test]
fn what_an_export_holds_is_not() {
    for (name, bytes) in fixtures() {
        let program = crate::sample::read_bytes(&bytes).unwrap().module;
        assert!(!looks_like(&program), "{name}");
    }
}

/// A file that ends within its program is called one that was cut off, and no whole file is. JAX writes the root first and the
/// program soon after it.
#[test]
fn a_beginning_is_known_for_one() {
    for (name, bytes) in fixtures() {
        assert!(!looks_cut_off(&bytes), "{name}");
        let program = bytes.windows(4).position(|bytes| bytes == b"ML\xefR").unwrap();
        for length in program..bytes.len() {
            let part = &bytes[..length];
            assert!(looks_like(part) || looks_cut_off(part), "{name}, {length} bytes");
        }
        let half = &bytes[..program + 8];
        assert!(looks_cut_off(half) && !looks_like(half), "{name}");
    }
}
