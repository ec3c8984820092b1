use super::*;

/// The bytes of hexadecimal digits.
fn bytes<const N: usize>(digits: &str) -> [u8; N] {
    vec_of(digits).try_into().unwrap()
}

fn vec_of(digits: &str) -> Vec<u8> {
    (0..digits.len())
        .step_by(2)
        .map(|at| u8::from_str_radix(&digits[at..at + 2], 16).unwrap())
        .collect()
}

/// RFC 8032, section 7.1: seed, public key, message, signature.
const RFC_8032: &[[&str; 4]] = &[
    [
        "9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60",
        "d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a",
        "",
        "e5564300c360ac729086e2cc806e828a84877f1eb8e5d974d873e065224901555fb8821590a33bacc61e39701cf9b46bd25bf5f0595bbe24655141438e7a100b",
    ],
    [
        "4ccd089b28ff96da9db6c346ec114e0f5b8a319f35aba624da8cf6ed4fb8a6fb",
        "3d4017c3e843895a92b70aa74d1b7ebc9c982ccf2ec4968cc0cd55f12af4660c",
        "72",
        "92a009a9f0d4cab8720e820b5f642540a2b27b5416503f8fb3762223ebdb69da085ac1e43e15996e458f3613d0f11d8c387b2eaeb4302aeeb00d291612bb0c00",
    ],
    [
        "c5aa8df43f9f837bedb7442f31dcb7b166d38535076f094b85ce3a2e0b4458f7",
        "fc51cd8e6218a1a38da47ed00230f0580816ed13ba3303ac5deb911548908025",
        "af82",
        "6291d657deec24024827e69c3abe01a30ce548a284743a445e3680d7db5ac3ac18ff9b538d16f290ae67f760984dc6594a7c15e9716ed28dc027beceea1ec40a",
    ],
    // TEST SHA(abc).
    [
        "833fe62409237b9d62ec77587520911e9a759cec1d19755b7da901b96dca3d42",
        "ec172b93ad5e563bf4932c70e1245034c35467ef2efd4d64ebf819683467e2bf",
        "ddaf35a193617abacc417349ae20413112e6fa4e89a97ea20a9eeee64b55d39a2192992a274fc1a836ba3c23a3feebbd454d4423643ce80e2a9ac94fa54ca49f",
        "dc2a4459e7369633a52b1bf277839a00201009a3efbf3ecb69bea2186c26b58909351fc9ac90b3ecfdfbc7c66431e0303dca179c138ac17ad9bef1177331a704",
    ],
];

#[test]
fn rfc_8032() {
    for [seed, public, message, signature] in RFC_8032 {
        let key = SecretKey::from_seed(&bytes(seed));
        assert_eq!(key.public().as_bytes(), &bytes(public));
        let message = vec_of(message);
        assert_eq!(key.sign(&message), bytes(signature));
        assert!(key.public().verifies(&message, &bytes(signature)));
        let other = [message.as_slice(), b"x"].concat();
        assert!(!key.public().verifies(&other, &bytes(signature)));
    }
}

/// Adding the order of the group to the scalar gives the second encoding of a signature, which some accept (RFC 8032,
/// section 5.1.7, asks for a scalar below the order).
#[test]
fn a_scalar_that_is_not_reduced_is_refused() {
    const ORDER: &str = "edd3f55c1a631258d69cf7a2def9de1400000000000000000000000000000010";
    let [seed, _, message, signature] = RFC_8032[2];
    let mut signature: [u8; 64] = bytes(signature);
    let mut carry = 0;
    for (byte, order) in signature[32..].iter_mut().zip(bytes::<32>(ORDER)) {
        let sum = u16::from(*byte) + u16::from(order) + carry;
        (*byte, carry) = (sum as u8, sum >> 8);
    }
    let key = SecretKey::from_seed(&bytes(seed)).public();
    assert!(!key.verifies(&vec_of(message), &signature));
}

/// Message, key and signature of the cases of Chalkias, Garillot and Nikolaenko, "Taming the many EdDSAs" (2020), in the order
/// of their table. Strict verification takes the fourth alone.
const EDGE_CASES: &[[&str; 3]] = &[
    [
        "8c93255d71dcab10e8f379c26200f3c7bd5f09d9bc3068d3ef4edeb4853022b6",
        "c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac03fa",
        "c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a0000000000000000000000000000000000000000000000000000000000000000",
    ],
    [
        "9bd9f44f4dcc75bd531b56b2cd280b0bb38fc1cd6d1230e14861d861de092e79",
        "c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac03fa",
        "f7badec5b8abeaf699583992219b7b223f1df3fbbea919844e3f7c554a43dd43a5bb704786be79fc476f91d3f3f89b03984d8068dcf1bb7dfc6637b45450ac04",
    ],
    [
        "aebf3f2601a0c8c5d39cc7d8911642f740b78168218da8471772b35f9d35b9ab",
        "f7badec5b8abeaf699583992219b7b223f1df3fbbea919844e3f7c554a43dd43",
        "c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac03fa8c4bd45aecaca5b24fb97bc10ac27ac8751a7dfe1baff8b953ec9f5833ca260e",
    ],
    [
        "9bd9f44f4dcc75bd531b56b2cd280b0bb38fc1cd6d1230e14861d861de092e79",
        "cdb267ce40c5cd45306fa5d2f29731459387dbf9eb933b7bd5aed9a765b88d4d",
        "9046a64750444938de19f227bb80485e92b83fdb4b6506c160484c016cc1852f87909e14428a7a1d62e9f22f3d3ad7802db02eb2e688b6c52fcd6648a98bd009",
    ],
    [
        "e47d62c63f830dc7a6851a0b1f33ae4bb2f507fb6cffec4011eaccd55b53f56c",
        "cdb267ce40c5cd45306fa5d2f29731459387dbf9eb933b7bd5aed9a765b88d4d",
        "160a1cb0dc9c0258cd0a7d23e94d8fa878bcb1925f2c64246b2dee1796bed5125ec6bc982a269b723e0668e540911a9a6a58921d6925e434ab10aa7940551a09",
    ],
    [
        "e47d62c63f830dc7a6851a0b1f33ae4bb2f507fb6cffec4011eaccd55b53f56c",
        "cdb267ce40c5cd45306fa5d2f29731459387dbf9eb933b7bd5aed9a765b88d4d",
        "21122a84e0b5fca4052f5b1235c80a537878b38f3142356b2c2384ebad4668b7e40bc836dac0f71076f9abe3a53f9c03c1ceeeddb658d0030494ace586687405",
    ],
    [
        "85e241a07d148b41e47d62c63f830dc7a6851a0b1f33ae4bb2f507fb6cffec40",
        "442aad9f089ad9e14647b1ef9099a1ff4798d78589e66f28eca69c11f582a623",
        "e96f66be976d82e60150baecff9906684aebb1ef181f67a7189ac78ea23b6c0e547f7690a0e2ddcd04d87dbc3490dc19b3b3052f7ff0538cb68afb369ba3a514",
    ],
    [
        "85e241a07d148b41e47d62c63f830dc7a6851a0b1f33ae4bb2f507fb6cffec40",
        "442aad9f089ad9e14647b1ef9099a1ff4798d78589e66f28eca69c11f582a623",
        "8ce5b96c8f26d0ab6c47958c9e68b937104cd36e13c33566acd2fe8d38aa19427e71f98a473474f2f13f06f97c20d58cc3f54b8bd0d272f42b695dd7e89a8c22",
    ],
    [
        "9bedc267423725d473888631ebf45988bad3db83851ee85c85e241a07d148b41",
        "f7badec5b8abeaf699583992219b7b223f1df3fbbea919844e3f7c554a43dd43",
        "ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff03be9678ac102edcd92b0210bb34d7428d12ffc5df5f37e359941266a4e35f0f",
    ],
    [
        "9bedc267423725d473888631ebf45988bad3db83851ee85c85e241a07d148b41",
        "f7badec5b8abeaf699583992219b7b223f1df3fbbea919844e3f7c554a43dd43",
        "ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffca8c5b64cd208982aa38d4936621a4775aa233aa0505711d8fdcfdaa943d4908",
    ],
    [
        "e96b7021eb39c1a163b6da4e3093dcd3f21387da4cc4572be588fafae23c155b",
        "ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff",
        "a9d55260f765261eb9b84e106f665e00b867287a761990d7135963ee0a7d59dca5bb704786be79fc476f91d3f3f89b03984d8068dcf1bb7dfc6637b45450ac04",
    ],
    [
        "39a591f5321bbe07fd5a23dc2f39d025d74526615746727ceefd6e82ae65c06f",
        "ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff",
        "a9d55260f765261eb9b84e106f665e00b867287a761990d7135963ee0a7d59dca5bb704786be79fc476f91d3f3f89b03984d8068dcf1bb7dfc6637b45450ac04",
    ],
];

#[test]
fn edge_cases_are_judged_strictly() {
    let accepted = |[message, key, signature]: &[&str; 3]| {
        PublicKey::from_bytes(&bytes(key)).is_ok_and(|key| key.verifies(&vec_of(message), &bytes(signature)))
    };
    let accepted: Vec<usize> = (0..EDGE_CASES.len())
        .filter(|case| accepted(&EDGE_CASES[*case]))
        .collect();
    assert_eq!(accepted, [3]);
}

/// The eight points whose order divides eight, in their canonical encodings.
const SMALL_ORDER: [&str; 8] = [
    "0100000000000000000000000000000000000000000000000000000000000000",
    "ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
    "0000000000000000000000000000000000000000000000000000000000000000",
    "0000000000000000000000000000000000000000000000000000000000000080",
    "26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05",
    "26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc85",
    "c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a",
    "c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac03fa",
];

#[test]
fn keys_of_small_order_are_refused() {
    for point in SMALL_ORDER {
        assert_eq!(
            PublicKey::from_bytes(&bytes(point)),
            Err(KeyError::SmallOrder),
            "{point}"
        );
    }
}

/// A coordinate of p = 2^255 - 19 or more is the same as one that is less by p. There are 19 of them, with two signs.
#[test]
fn keys_that_are_not_canonical_are_refused() {
    let mut refused = 0;
    for excess in 0..19_u8 {
        for sign in [0, 0x80] {
            let mut point = [0xff; 32];
            (point[0], point[31]) = (0xed + excess, 0x7f | sign);
            match PublicKey::from_bytes(&point) {
                Err(KeyError::NotCanonical) => refused += 1,
                Err(KeyError::NotAPoint) => {}
                other => panic!("{excess} {sign}: {other:?}"),
            }
        }
    }
    assert!(refused > 8, "some of them are points, {refused}");
    // The sign of a coordinate that is zero (RFC 8032, section 5.1.3, step 4).
    for point in [
        "0100000000000000000000000000000000000000000000000000000000000080",
        "ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff",
    ] {
        let refused = PublicKey::from_bytes(&bytes(point)).unwrap_err();
        assert!(
            matches!(refused, KeyError::NotCanonical | KeyError::NotAPoint),
            "{refused}"
        );
    }
    // y = 2 is on no point.
    let mut point = [0; 32];
    point[0] = 2;
    assert_eq!(PublicKey::from_bytes(&point), Err(KeyError::NotAPoint));
}

#[test]
fn texts() {
    let key = SecretKey::from_seed(&[7; 32]).public();
    assert_eq!(key.to_string().parse(), Ok(key));
    let digits = key.to_string()["ed25519:".len()..].to_owned();
    for text in [
        "",
        "ed25519:",
        &digits,
        &format!("ed25519:{digits}0"),
        &format!("ed25519: {digits}"),
        &format!("ED25519:{digits}"),
        &format!("ed25519:{}", "g".repeat(64)),
    ] {
        assert_eq!(text.parse::<PublicKey>(), Err(KeyError::Text), "{text}");
    }
}

#[test]
fn a_secret_key_is_not_printed() {
    let key = SecretKey::from_seed(&[0xab; 32]);
    let shown = format!("{key:?}");
    assert_eq!(shown, format!("SecretKey({})", key.public().id()));
}

/// The first 16 digits that another implementation of BLAKE3 gives for 32 zeros and the context `artifact key id v1`.
#[test]
fn key_ids_are_for_ever() {
    assert_eq!(KeyId::of(&[0; 32]).to_string(), "ac0ba4c6fb7603a9");
}
