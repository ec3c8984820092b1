//! Entries there and back, and bytes that are none.

use super::*;

fn entry(signature: Option<Signature>) -> Entry {
    let record = KeyRecord::new("cubin")
        .and_then(|record| record.with("source", "x"))
        .unwrap();
    let file = |name: &str, bytes: &[u8]| PayloadFile {
        name: name.to_owned(),
        bytes: Blob::new(bytes.to_vec()),
    };
    Entry {
        record,
        namespace: "team".to_owned(),
        producer: "artifact 0.1.0".to_owned(),
        compile_time: Duration::from_millis(1500),
        files: vec![
            file("kernel.cubin", &[7; 3000]),
            file("meta.json", b"{}"),
            file("empty", b""),
        ],
        signature,
    }
}

fn read(bytes: Vec<u8>) -> Result<Entry, Refusal> {
    let key = entry(None).record.key();
    Entry::open(&Blob::new(bytes))?.verify(&key, "team")
}

#[test]
fn there_and_back() {
    let signature = Signature {
        key_id: Digest::of(b"key"),
        bytes: [9; 64],
    };
    for signature in [None, Some(signature)] {
        for codec in [Codec::Raw, Codec::Zstd] {
            let entry = entry(signature);
            let bytes = entry.encode(codec).unwrap();
            assert_eq!(read(bytes.clone()), Ok(entry));
            assert_eq!(bytes.len() < 1000, codec == Codec::Zstd);
        }
    }
    let digest = |signature| {
        let bytes = entry(signature).encode(Codec::Zstd).unwrap();
        Entry::open(&Blob::new(bytes)).unwrap().signed_digest()
    };
    // A signature is of what it does not change.
    assert_eq!(digest(None), digest(Some(signature)));
}

#[test]
fn every_flipped_bit_and_every_cut_is_found() {
    for codec in [Codec::Raw, Codec::Zstd] {
        let whole = entry(None).encode(codec).unwrap();
        for at in (0..whole.len()).step_by(if codec == Codec::Raw { 7 } else { 1 }) {
            for bit in 0..8 {
                let mut damaged = whole.clone();
                damaged[at] ^= 1 << bit;
                assert!(read(damaged).is_err(), "bit {bit} of byte {at}");
            }
            assert!(read(whole[..at].to_vec()).is_err(), "its first {at} bytes");
        }
        let mut longer = whole;
        longer.push(0);
        assert!(matches!(read(longer), Err(Refusal::Size { .. })));
    }
}

#[test]
fn the_entry_of_another() {
    let bytes = Blob::new(entry(None).encode(Codec::Zstd).unwrap());
    let other = KeyRecord::new("other").unwrap().key();
    let refusal = Entry::open(&bytes).unwrap().verify(&other, "team");
    assert!(matches!(refusal, Err(Refusal::Key(_))));
    let key = entry(None).record.key();
    let refusal = Entry::open(&bytes).unwrap().verify(&key, "elsewhere");
    assert_eq!(refusal, Err(Refusal::Namespace("team".to_owned())));
}

/// A header that somebody wrote on purpose, with the digest that belongs to it.
fn forged(change: impl FnOnce(&mut Header)) -> Refusal {
    let entry = entry(None);
    let raw: Vec<u8> = entry.files.iter().flat_map(|file| file.bytes.to_vec()).collect();
    let mut header = entry.header(&raw, &raw, Codec::Raw);
    change(&mut header);
    let header = header.encode(None);
    let mut bytes = [
        &MAGIC[..],
        &VERSION.to_le_bytes(),
        &(header.len() as u32).to_le_bytes(),
    ]
    .concat();
    bytes.extend_from_slice(digest_of(&header).as_bytes());
    bytes.extend_from_slice(&header);
    bytes.extend_from_slice(&raw);
    read(bytes).unwrap_err()
}

#[test]
fn forged_headers() {
    let malformed = |what| Refusal::Malformed(what);
    assert_eq!(
        forged(|header| header.files[0].1 += 1),
        malformed("list of files")
    );
    assert_eq!(
        forged(|header| header.files[0].1 = u64::MAX),
        malformed("list of files")
    );
    assert_eq!(forged(|header| header.files.clear()), malformed("list of files"));
    assert_eq!(
        forged(|header| header.files[1].0 = "kernel.cubin".to_owned()),
        malformed("list of files")
    );
    let other = KeyRecord::new("other").unwrap().key();
    assert_eq!(forged(|header| header.key = other), malformed("key"));
    assert!(matches!(
        forged(|header| header.raw_size = u64::MAX),
        Refusal::Limit(_)
    ));
    assert!(matches!(
        forged(|header| header.stored_size = 1 << 40),
        Refusal::Limit(_)
    ));
    assert!(matches!(
        forged(|header| header.stored_size += 1),
        Refusal::Size { .. }
    ));
    // The stored bytes are as they are said to be, and no frame.
    assert_eq!(
        forged(|header| header.codec = Codec::Zstd),
        Refusal::Damaged("compression")
    );
}

/// A small frame of many zeros is not believed further than it says.
#[test]
fn a_frame_that_grows() {
    let bomb = zstd::bulk::compress(&vec![0; 64 << 20], 3).unwrap();
    assert!(bomb.len() < 10_000);
    assert_eq!(decompress(&bomb, 1000), Err(Refusal::Damaged("compression")));
    assert_eq!(decompress(&bomb, 64 << 20).map(|raw| raw.len()), Ok(64 << 20));
}

#[test]
fn what_cannot_be_kept() {
    let refused = |change: fn(&mut Entry)| {
        let mut entry = entry(None);
        change(&mut entry);
        assert!(entry.encode(Codec::Raw).is_err());
    };
    refused(|entry| entry.files.clear());
    refused(|entry| entry.files[0].name.clear());
    refused(|entry| entry.files[0].name = "meta.json".to_owned());
    refused(|entry| entry.namespace = "n".repeat(2000));
}
