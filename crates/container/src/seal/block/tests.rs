use super::*;
use crate::identity::FileDigest;
use crate::seal::key::SecretKey;
use crate::seal::label::{Comment, Scope};
use crate::seal::record::Ed25519Seal;

/// The bytes of the example in `FORMAT.md`, which another implementation of Ed25519 and BLAKE3 made by that page.
fn example() -> Vec<u8> {
    let page = include_str!("../../../../../schemas/artifact/FORMAT.md");
    let (_, rest) = page.split_once("<!-- seal: begin -->").unwrap();
    let (dump, _) = rest.split_once("<!-- seal: end -->").unwrap();
    let lines = dump.lines().filter_map(|line| line.split_once("  "));
    let digits = lines.flat_map(|(_, line)| line.split('|').next().unwrap().split_whitespace());
    digits
        .map(|digits| u8::from_str_radix(digits, 16).unwrap())
        .collect()
}

fn seal() -> Ed25519Seal {
    let seed: Digest = "9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60"
        .parse()
        .unwrap();
    let file = FileDigest::new(Digest::from_bytes(std::array::from_fn(|byte| byte as u8)));
    let (scope, comment) = (
        Scope::new("production/vision").unwrap(),
        Comment::new("hi").unwrap(),
    );
    Ed25519Seal::sign(&SecretKey::from_seed(seed.as_bytes()), file, scope, comment)
}

#[test]
fn the_example_is_what_is_written_and_read() {
    let mut seals = Seals::default();
    seals.insert(Seal::Ed25519(seal()), false).unwrap();
    assert_eq!(seals.encode().unwrap(), example());
    assert_eq!(SealBlock(example()).parse().unwrap(), seals);
    assert_eq!(seal().key_id().to_string(), "01acc2cdb895f90e");
    assert!(include_str!("../../../../../schemas/artifact/FORMAT.md").contains("`01acc2cdb895f90e`"));
}

#[test]
fn no_seals_are_no_bytes() {
    assert!(Seals::default().encode().unwrap().is_empty());
    assert!(SealBlock::default().parse().unwrap().is_empty());
    assert!(SealBlock::default().is_empty());
}

#[test]
fn the_longest_seals_fit() {
    let (scope, comment) = ("s".repeat(255), "é".repeat(512));
    let mut seals = Seals::default();
    for seed in 0..64 {
        let (scope, comment) = (
            Scope::new(scope.clone()).unwrap(),
            Comment::new(comment.clone()).unwrap(),
        );
        let file = FileDigest::new(Digest::of(b""));
        let seal = Ed25519Seal::sign(&SecretKey::from_seed(&[seed; 32]), file, scope, comment);
        seals.insert(Seal::Ed25519(seal), false).unwrap();
    }
    let block = seals.encode().unwrap();
    assert_eq!(block.len(), 16 + 64 * (104 + 255 + 1024) + 32);
    assert_eq!(SealBlock(block).parse().unwrap(), seals);
    assert!(Scope::new("s".repeat(256)).is_err());
    assert!(Comment::new("é".repeat(513)).is_err());
}

#[test]
fn a_block_that_is_too_long_is_not_written() {
    let mut seals = Seals::default();
    for algorithm in 100..117 {
        let content = vec![0; usize::from(u16::MAX) - 4];
        seals.insert(Seal::Unknown { algorithm, content }, false).unwrap();
    }
    seals.encode().unwrap_err();
}
