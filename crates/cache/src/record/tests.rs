//! One encoding for a record, and no other bytes.

use super::*;

fn record() -> KeyRecord {
    KeyRecord::new("cubin")
        .and_then(|record| record.with("source", Digest::of(b"source")))
        .and_then(|record| record.with("options", vec!["-O3".into(), "-lineinfo".into()]))
        .and_then(|record| record.with("toolchain.nvrtc", "12.9.86"))
        .and_then(|record| record.with("contraction", true))
        .and_then(|record| record.with("partitions", 4_u32))
        .unwrap()
}

#[test]
fn there_and_back() {
    let record = record();
    assert_eq!(KeyRecord::decode(&record.encode()), Ok(record.clone()));
    // Written down once: another encoding needs another domain.
    assert_eq!(
        record.key().to_string(),
        "30ef0ec05ba884e97b5a75aebf9df6da7a5a63a5b3d880a5e4ecc8bf59825e0b"
    );
    let again = KeyRecord::decode(&record.encode()).unwrap();
    assert_eq!(again.key(), record.key());
}

/// The order in which fields are named is none of the key; everything else is.
#[test]
fn what_counts() {
    let two = |first: (&str, Value), second: (&str, Value)| {
        KeyRecord::new("kind")
            .unwrap()
            .with(first.0, first.1)
            .unwrap()
            .with(second.0, second.1)
            .unwrap()
            .key()
    };
    let (a, b) = (("a", Value::from(1_i64)), ("b", Value::from("x")));
    assert_eq!(two(a.clone(), b.clone()), two(b.clone(), a.clone()));
    let base = two(a.clone(), b.clone());
    for (first, second) in [
        (("a", Value::from(2_i64)), b.clone()),
        (("a", Value::from("1")), b.clone()),
        (("a", Value::from(true)), b.clone()),
        (("c", Value::from(1_i64)), b),
        (a.clone(), ("b", Value::from(vec!["x".into()]))),
        (a, ("b", Value::from("xx"))),
    ] {
        assert_ne!(two(first, second), base);
    }
    // Lengths stand before texts, so that none runs into the next.
    let joined = |first: &str, second: &str| two(("a", first.into()), ("b", second.into()));
    assert_ne!(joined("ab", "c"), joined("a", "bc"));
    assert_ne!(
        KeyRecord::new("one").unwrap().key(),
        KeyRecord::new("two").unwrap().key()
    );
}

#[test]
fn bytes_of_others() {
    let whole = record().encode();
    for length in 0..whole.len() {
        assert!(
            KeyRecord::decode(&whole[..length]).is_err(),
            "its first {length} bytes"
        );
    }
    for at in 0..whole.len() {
        for bit in 0..8 {
            let mut damaged = whole.clone();
            damaged[at] ^= 1 << bit;
            // What is read is another record, and has one encoding.
            if let Ok(other) = KeyRecord::decode(&damaged) {
                assert_eq!(other.encode(), damaged);
                assert_ne!(other.key(), record().key());
            }
        }
    }
    let mut longer = whole;
    longer.push(0);
    assert!(KeyRecord::decode(&longer).is_err());
    // A count that is believed would allocate for it.
    let huge = [&[VERSION, 1, 0, 0, 0, b'k'][..], &u32::MAX.to_le_bytes()].concat();
    assert_eq!(KeyRecord::decode(&huge), Err(RecordError::Malformed(6)));
}

#[test]
fn what_is_no_record() {
    let record = || KeyRecord::new("kind").unwrap();
    assert!(KeyRecord::new("").is_err());
    assert!(KeyRecord::new(&"k".repeat(129)).is_err());
    assert!(record().with("", 1_i64).is_err());
    assert!(record().with("a", 1_i64).unwrap().with("a", 2_i64).is_err());
    assert!(record().with("a", vec![Value::List(Vec::new())]).is_err());
    assert!(record().with("a", "x".repeat(1 << 16)).is_err());
}

#[test]
fn differences_are_told() {
    let newer = KeyRecord::new("cubin")
        .and_then(|record| record.with("source", Digest::of(b"source")))
        .and_then(|record| record.with("options", vec!["-O3".into()]))
        .and_then(|record| record.with("toolchain.nvrtc", "13.5.37"))
        .and_then(|record| record.with("contraction", true))
        .and_then(|record| record.with("arch", "sm_90"))
        .unwrap();
    let told: Vec<String> = record().differences(&newer).map(|one| one.to_string()).collect();
    assert_eq!(
        told,
        [
            "options: [-O3, -lineinfo] -> [-O3]",
            "partitions: 4 -> none",
            "toolchain.nvrtc: 12.9.86 -> 13.5.37",
            "arch: none -> sm_90",
        ]
    );
    assert_eq!(record().differences(&record()).count(), 0);
}
