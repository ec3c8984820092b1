//! Files that are whole and made to do harm. Each is a real one with some entries exchanged: the frame is right.

use artifact_core::blob::Blob;
use artifact_stablehlo::bytecode::{ReadErrorKind, read};

use super::file::{Entry, File, Group, Token, append_varint};
use super::{parsed, use_it, written};

/// Numbers of dialects in what is written.
const BUILTIN: u64 = 0;
const VHLO: u64 = 1;

/// A program with a discardable attribute on its only operation, and a location.
const PROGRAM: &str = "func.func @main(%x: tensor<f32>) -> tensor<f32> {
    %0 = stablehlo.negate %x {a.a = 1 : i64} : tensor<f32> loc(\"here\")
    return %0 : tensor<f32>
}";

fn real() -> File {
    let bytes = written(&parsed(PROGRAM), "1.20.0", true).unwrap_or_else(|error| panic!("{error}"));
    File::parse(&bytes).unwrap_or_else(|| panic!("what was written is taken apart"))
}

fn entry(numbers: &[u64]) -> Entry {
    let mut bytes = Vec::new();
    for number in numbers {
        append_varint(&mut bytes, *number);
    }
    Entry { binary: true, bytes }
}

/// The number of the first attribute, of the dialect, that begins with a code.
fn find(groups: &[Group], dialect: u64, code: u64) -> u64 {
    let all = groups
        .iter()
        .flat_map(|group| group.entries.iter().map(|entry| (group.dialect, entry)));
    let found = all
        .enumerate()
        .find(|(_, (own, entry))| *own == dialect && entry.bytes[0] == entry_code(code));
    found.map_or_else(
        || panic!("no entry of {dialect} has the code {code}"),
        |(index, _)| index as u64,
    )
}

fn entry_code(code: u64) -> u8 {
    entry(&[code]).bytes[0]
}

/// Puts an entry in the place of another.
fn replace(groups: &mut [Group], number: u64, new: Entry) {
    let mut entries = groups.iter_mut().flat_map(|group| &mut group.entries);
    *entries
        .nth(number as usize)
        .unwrap_or_else(|| panic!("there is no entry {number}")) = new;
}

/// Appends entries, and gives the number of the first.
fn append(groups: &mut Vec<Group>, dialect: u64, entries: Vec<Entry>) -> u64 {
    let count: usize = groups.iter().map(|group| group.entries.len()).sum();
    groups.push(Group { dialect, entries });
    count as u64
}

fn refused(file: &File, kind: ReadErrorKind, message: &str) {
    let error = match read(&Blob::new(file.bytes())) {
        Ok(_) => panic!("it was read, and not refused: {message}"),
        Err(error) => error,
    };
    assert_eq!(error.kind(), kind, "{error}");
    assert!(error.to_string().contains(message), "{error}");
}

const INTEGER: u64 = 9;
const ARRAY: u64 = 1;
const NAME_LOCATION: u64 = 14;
const CALL_SITE: u64 = 10;
const FILE_LOCATION: u64 = 11;
const FUSED: u64 = 12;
const TUPLE: u64 = 23;
const TENSOR: u64 = 20;
const TENSOR_WITH_ENCODING: u64 = 21;
const STRING: u64 = 14;
const DICTIONARY: u64 = 6;
const TYPE: u64 = 17;

#[test]
fn the_frame_is_right() {
    let file = real();
    assert!(read(&Blob::new(file.bytes())).is_ok());
}

#[test]
fn what_contains_itself_is_refused() {
    let mut file = real();
    let own = find(&file.attributes, VHLO, INTEGER);
    replace(&mut file.attributes, own, entry(&[ARRAY, 1, own]));
    refused(
        &file,
        ReadErrorKind::Malformed,
        &format!("attribute {own} contains itself"),
    );
    // By way of another.
    let mut file = real();
    let other = append(&mut file.attributes, VHLO, vec![entry(&[ARRAY, 1, own])]);
    replace(&mut file.attributes, own, entry(&[ARRAY, 1, other]));
    refused(
        &file,
        ReadErrorKind::Malformed,
        &format!("attribute {own} contains itself"),
    );

    let mut file = real();
    let ty = find(&file.types, VHLO, TENSOR);
    replace(&mut file.types, ty, entry(&[TUPLE, 1, ty]));
    refused(
        &file,
        ReadErrorKind::Malformed,
        &format!("type {ty} contains itself"),
    );

    let mut file = real();
    let location = find(&file.attributes, BUILTIN, NAME_LOCATION);
    replace(
        &mut file.attributes,
        location,
        entry(&[CALL_SITE, location, location]),
    );
    refused(
        &file,
        ReadErrorKind::Malformed,
        &format!("location {location} contains itself"),
    );
}

/// `levels` entries, each with the one before it twice; the number of the last.
fn doubling(groups: &mut Vec<Group>, dialect: u64, code: u64, first: u64, levels: u64) -> u64 {
    let count: usize = groups.iter().map(|group| group.entries.len()).sum();
    let start = count as u64;
    let inside = |level: u64| if level == 0 { first } else { start + level - 1 };
    let entries = (0..levels).map(|level| match code {
        CALL_SITE => entry(&[code, inside(level), inside(level)]),
        _ => entry(&[code, 2, inside(level), inside(level)]),
    });
    append(groups, dialect, entries.collect());
    start + levels - 1
}

#[test]
fn attributes_that_double_are_limited() {
    // From 18 on, they would take 100 MB, twice.
    for levels in [12, 18, 20, 40] {
        let mut file = real();
        let own = find(&file.attributes, VHLO, INTEGER);
        let moved = append(&mut file.attributes, VHLO, vec![entry(&[ARRAY, 0])]);
        let last = doubling(&mut file.attributes, VHLO, ARRAY, moved, levels);
        replace(&mut file.attributes, own, entry(&[ARRAY, 1, last]));
        doubles(&file, levels);
    }
}

/// What is small in the file and large in memory, or when it is shown, is paid for by each of its uses.
#[test]
fn large_attributes_that_double_are_limited() {
    let message = "the file repeats its attributes and types so often";
    let doubled = |attribute: Entry, levels: u64| {
        let mut file = real();
        let own = find(&file.attributes, VHLO, INTEGER);
        let first = append(&mut file.attributes, VHLO, vec![attribute]);
        let last = doubling(&mut file.attributes, VHLO, ARRAY, first, levels);
        replace(&mut file.attributes, own, entry(&[ARRAY, 1, last]));
        file
    };
    let text = |length: usize| {
        let items = vec!["1"; length / 2].join(",");
        let bytes = format!("[{items}]\0").into_bytes();
        Entry { binary: false, bytes }
    };
    use_it(&doubled(text(1 << 12), 2).bytes());
    refused(&doubled(text(1 << 12), 9), ReadErrorKind::Limit, message);

    let constant = |length: u64| {
        let mut file = real();
        let byte = append(&mut file.types, VHLO, vec![entry(&[11])]);
        let ty = append(
            &mut file.types,
            VHLO,
            vec![entry(&[TENSOR, 1, length << 1, byte])],
        );
        let mut constant = entry(&[15, ty, length]);
        constant.bytes.extend((0..length).map(|index| index as u8));
        let own = find(&file.attributes, VHLO, INTEGER);
        let first = append(&mut file.attributes, VHLO, vec![constant]);
        (file, own, first)
    };
    for (levels, is_fine) in [(2, true), (11, false)] {
        let (mut file, own, first) = constant(1 << 16);
        let last = doubling(&mut file.attributes, VHLO, ARRAY, first, levels);
        replace(&mut file.attributes, own, entry(&[ARRAY, 1, last]));
        if is_fine {
            assert!(read(&Blob::new(file.bytes())).is_ok());
        } else {
            refused(&file, ReadErrorKind::Limit, message);
        }
    }
}

#[test]
fn types_that_double_are_limited() {
    for levels in [10, 60] {
        let mut file = real();
        let ty = find(&file.types, VHLO, TENSOR);
        let token = append(&mut file.types, VHLO, vec![entry(&[22])]);
        let last = doubling(&mut file.types, VHLO, TUPLE, token, levels);
        replace(&mut file.types, ty, entry(&[TUPLE, 1, last]));
        doubles(&file, levels);
        // As the value of an attribute.
        let mut file = real();
        let own = find(&file.attributes, VHLO, INTEGER);
        let token = append(&mut file.types, VHLO, vec![entry(&[22])]);
        let last = doubling(&mut file.types, VHLO, TUPLE, token, levels);
        replace(&mut file.attributes, own, entry(&[TYPE, last]));
        doubles(&file, levels);
    }
}

/// A few levels may be read; many are refused.
fn doubles(file: &File, levels: u64) {
    if levels > 12 {
        let message = "the file repeats its attributes and types so often";
        refused(file, ReadErrorKind::Limit, message);
    } else {
        use_it(&file.bytes());
    }
}

#[test]
fn locations_that_double_are_limited() {
    for code in [CALL_SITE, FUSED] {
        for levels in [10, 60, 200] {
            let mut file = real();
            let location = find(&file.attributes, BUILTIN, NAME_LOCATION);
            let moved = append(&mut file.attributes, BUILTIN, vec![entry(&[15])]);
            let last = doubling(&mut file.attributes, BUILTIN, code, moved, levels);
            replace(&mut file.attributes, location, entry(&[FUSED, 1, last]));
            use_it(&file.bytes());
        }
    }
}

/// A chain of `levels` entries, each inside of the next.
fn chain(groups: &mut Vec<Group>, dialect: u64, head: &[u64], first: u64, levels: u64) -> u64 {
    let count: usize = groups.iter().map(|group| group.entries.len()).sum();
    let start = count as u64;
    let entries = (0..levels).map(|level| {
        let inside = if level == 0 { first } else { start + level - 1 };
        entry(&[head, &[inside]].concat())
    });
    append(groups, dialect, entries.collect());
    start + levels - 1
}

#[test]
fn what_is_nested_too_deep_is_refused() {
    for (levels, is_fine) in [(200, true), (300, false), (100_000, false)] {
        let mut file = real();
        let own = find(&file.attributes, VHLO, INTEGER);
        let moved = append(&mut file.attributes, VHLO, vec![entry(&[ARRAY, 0])]);
        let last = chain(&mut file.attributes, VHLO, &[ARRAY, 1], moved, levels);
        replace(&mut file.attributes, own, entry(&[ARRAY, 1, last]));
        use_it(&file.bytes());
        if !is_fine {
            refused(&file, ReadErrorKind::Limit, "nesting");
        }
        let mut file = real();
        let ty = find(&file.types, VHLO, TENSOR);
        let token = append(&mut file.types, VHLO, vec![entry(&[22])]);
        let last = chain(&mut file.types, VHLO, &[TUPLE, 1], token, levels);
        replace(&mut file.types, ty, entry(&[TUPLE, 1, last]));
        use_it(&file.bytes());
        if !is_fine {
            refused(&file, ReadErrorKind::Limit, "nesting");
        }
        let mut file = real();
        let location = find(&file.attributes, BUILTIN, NAME_LOCATION);
        let moved = append(&mut file.attributes, BUILTIN, vec![entry(&[15])]);
        let last = chain(&mut file.attributes, BUILTIN, &[FUSED, 1], moved, levels);
        replace(&mut file.attributes, location, entry(&[FUSED, 1, last]));
        use_it(&file.bytes());
        if !is_fine {
            refused(&file, ReadErrorKind::Limit, "nesting");
        }
    }
}

/// Regions inside one another, each with an operation with a region.
#[test]
fn regions_that_are_nested_too_deep_are_refused() {
    for (levels, is_fine) in [(100, true), (300, false), (20_000, false)] {
        let mut file = real();
        let numbers = |numbers: &[u64]| {
            numbers
                .iter()
                .map(|number| Token::Number(*number))
                .collect::<Vec<_>>()
        };
        // A block of one operation with one region, whose name is that of a negation.
        let negate = operation_number(&file, "negate_v1");
        let mut tokens = Vec::new();
        for _ in 0..levels {
            tokens.extend(numbers(&[1, 0, 1 << 1, negate]));
            tokens.push(Token::Byte(16));
            tokens.extend(numbers(&[unknown_location(&file), 1 << 1]));
        }
        tokens.extend(numbers(&[0]));
        *body(&mut file) = tokens;
        use_it(&file.bytes());
        if !is_fine {
            refused(&file, ReadErrorKind::Limit, "nesting");
        }
    }
}

/// The number of an operation in a file whose operations of VHLO follow that of the module.
fn operation_number(file: &File, name: &str) -> u64 {
    let mut cursor = super::file::Cursor(&file.dialects);
    let mut next = || cursor.varint().unwrap_or_else(|| panic!("dialects end"));
    for _ in 0..next() {
        next();
    }
    let count = next();
    let mut number = 0;
    while number < count {
        next();
        for _ in 0..next() {
            if file.strings[(next() >> 1) as usize] == name.as_bytes() {
                return number;
            }
            number += 1;
        }
    }
    panic!("there is no operation {name}")
}

fn unknown_location(file: &File) -> u64 {
    find(&file.attributes, BUILTIN, 15)
}

/// The region of the function.
fn body(file: &mut File) -> &mut Vec<Token> {
    let mut tokens = &mut file.operations;
    for _ in 0..2 {
        let inner = tokens.iter_mut().find_map(|token| match token {
            Token::Section(inner) => Some(inner),
            Token::Byte(_) | Token::Number(_) => None,
        });
        tokens = inner.unwrap_or_else(|| panic!("a function is in a section of its own"));
    }
    tokens
}

#[test]
fn values_are_used_where_they_are_defined() {
    // The region: 1 block, 2 values, 2 operations with arguments, 1 argument, type, [location], use list; then the negation:
    // name, parts, location, attributes, [properties], 1 result, type, 1 operand, its number.
    for used in [1, 2, 3, 1 << 40, u64::MAX] {
        let mut file = real();
        let tokens = body(&mut file);
        let place = operand_of_negation(tokens);
        assert!(matches!(tokens[place], Token::Number(0)));
        tokens[place] = Token::Number(used);
        let message = format!("value {used} is used where it is not defined");
        refused(&file, ReadErrorKind::Malformed, &message);
    }
}

/// Where the operand of the first operation stands: its mask is the second byte of the region.
fn operand_of_negation(tokens: &[Token]) -> usize {
    let is_byte = |token: &Token| matches!(token, Token::Byte(_));
    let masks: Vec<usize> = (0..tokens.len())
        .filter(|index| is_byte(&tokens[*index]))
        .collect();
    // The last mask is the return's: its name stands before it, and the operand before that.
    masks.last().map_or(0, |mask| mask - 2)
}

#[test]
fn a_region_defines_as_many_values_as_it_says() {
    let messages = [
        (0, "a region defines more values than it says"),
        (1, "a region defines more values than it says"),
        (3, "a region of 3 values defines 2"),
        (1 << 31, "items cannot stand in"),
    ];
    for (values, message) in messages {
        let mut file = real();
        body(&mut file)[1] = Token::Number(values);
        refused(&file, ReadErrorKind::Malformed, message);
    }
}

/// Many regions of an operation, each with room for many values and none defined: room is made once.
#[test]
fn regions_make_no_room_in_vain() {
    let mut file = real();
    let negate = operation_number(&file, "negate_v1");
    let (location, regions) = (unknown_location(&file), 200_000);
    let mut tokens: Vec<Token> = [1, 0, 1 << 1, negate].map(Token::Number).into();
    tokens.push(Token::Byte(16));
    tokens.extend([location, regions << 1].map(Token::Number));
    for region in 0..regions {
        tokens.extend([1, (regions - region) * 4, 0].map(Token::Number));
    }
    *body(&mut file) = tokens;
    refused(&file, ReadErrorKind::Malformed, "values defines 0");
}

/// One long string that many entries, names or locations repeat.
#[test]
fn long_strings_are_not_repeated_without_limit() {
    const COUNT: u64 = 20_000;
    let long = |file: &mut File| {
        file.strings.push(vec![b'x'; 1 << 20]);
        file.strings.len() as u64 - 1
    };
    let message = "the file repeats its attributes and types so often";
    // Strings, each an entry of its own, in an array.
    let mut file = real();
    let own = find(&file.attributes, VHLO, INTEGER);
    let string = long(&mut file);
    let first = append(
        &mut file.attributes,
        VHLO,
        vec![entry(&[STRING, string]); COUNT as usize],
    );
    let items: Vec<u64> = [ARRAY, COUNT].into_iter().chain(first..first + COUNT).collect();
    replace(&mut file.attributes, own, entry(&items));
    refused(&file, ReadErrorKind::Limit, message);
    // The files of many locations, each a name of its own: one that they share is one copy.
    let mut file = real();
    let location = find(&file.attributes, BUILTIN, NAME_LOCATION);
    let string = long(&mut file);
    let names = vec![entry(&[2, string]); COUNT as usize];
    let name = append(&mut file.attributes, BUILTIN, names);
    let places = (0..COUNT).map(|line| entry(&[FILE_LOCATION, name + line, line, 1]));
    let first = append(&mut file.attributes, BUILTIN, places.collect());
    let items: Vec<u64> = [FUSED, COUNT].into_iter().chain(first..first + COUNT).collect();
    replace(&mut file.attributes, location, entry(&items));
    refused(&file, ReadErrorKind::Limit, message);
    // Names of operations.
    let mut file = real();
    let string = long(&mut file);
    append_varint(&mut file.dialects, VHLO);
    append_varint(&mut file.dialects, COUNT);
    for _ in 0..COUNT {
        append_varint(&mut file.dialects, string << 1 | 1);
    }
    refused(
        &file,
        ReadErrorKind::Limit,
        "the names of dialects and operations do not fit",
    );
}

/// The encoding of a tensor is text here, which may be longer than what it was made of.
#[test]
fn encodings_are_not_repeated_without_limit() {
    const COUNT: u64 = 20_000;
    let mut file = real();
    let bytes = 1 << 16;
    let byte = append(&mut file.types, VHLO, vec![entry(&[11])]);
    let constant = append(&mut file.types, VHLO, vec![entry(&[TENSOR, 1, bytes << 1, byte])]);
    let mut blob = entry(&[15, constant, bytes]);
    blob.bytes.extend((0..bytes).map(|index| index as u8));
    let blob = append(&mut file.attributes, VHLO, vec![blob]);
    let encoded = entry(&[TENSOR_WITH_ENCODING, blob, 0, byte]);
    let first = append(&mut file.types, VHLO, vec![encoded; COUNT as usize]);
    let ty = find(&file.types, VHLO, TENSOR);
    let items: Vec<u64> = [TUPLE, COUNT].into_iter().chain(first..first + COUNT).collect();
    replace(&mut file.types, ty, entry(&items));
    let message = "the file repeats its attributes and types so often";
    refused(&file, ReadErrorKind::Limit, message);
}

/// Names that come last first: each would be put before all others.
#[test]
fn dictionaries_in_any_order_take_no_longer() {
    const COUNT: u64 = 60_000;
    let mut file = real();
    let own = find(&file.attributes, VHLO, INTEGER);
    let first = file.strings.len() as u64;
    file.strings
        .extend((0..COUNT).rev().map(|number| format!("{number:06}").into_bytes()));
    let names = (first..first + COUNT).map(|string| entry(&[STRING, string]));
    let names = append(&mut file.attributes, VHLO, names.collect());
    let unit = append(&mut file.attributes, VHLO, vec![entry(&[2, 1])]);
    let items = (names..names + COUNT).flat_map(|name| [name, unit]);
    let items: Vec<u64> = [DICTIONARY, COUNT].into_iter().chain(items).collect();
    replace(&mut file.attributes, own, entry(&items));
    let portable = read(&Blob::new(file.bytes()));
    assert!(portable.is_ok());
    // The same name twice.
    let items: Vec<u64> = vec![DICTIONARY, 3, names, unit, names + 1, unit, names, unit];
    replace(&mut file.attributes, own, entry(&items));
    refused(
        &file,
        ReadErrorKind::Malformed,
        "the attribute '059999' stands twice in one dictionary",
    );
}

#[test]
fn operations_of_a_later_version_are_named() {
    let mut file = real();
    let name = file
        .strings
        .iter()
        .position(|string| string == b"negate_v1")
        .unwrap_or_else(|| panic!("it negates"));
    file.strings[name] = b"negate_v9".to_vec();
    refused(
        &file,
        ReadErrorKind::Foreign,
        "'vhlo.negate_v9' is an operation of a version of StableHLO after 1.20.0",
    );
}

/// An attribute of a large constant of few bytes.
#[test]
fn constants_of_many_elements_take_no_memory() {
    let mut file = real();
    let own = find(&file.attributes, VHLO, INTEGER);
    let f32 = append(&mut file.types, VHLO, vec![entry(&[4])]);
    for (dims, bytes) in [
        (vec![1 << 40], 4_u64),
        (vec![1 << 31, 1 << 31, 1 << 31], 4),
        (vec![1 << 33], 1 << 31),
    ] {
        let mut shape = vec![TENSOR, dims.len() as u64];
        shape.extend(dims.iter().map(|dim: &u64| dim << 1));
        shape.push(f32);
        let ty = append(&mut file.types, VHLO, vec![entry(&shape)]);
        let mut tensor = entry(&[15, ty, bytes]);
        tensor.bytes.extend_from_slice(&[0; 4]);
        replace(&mut file.attributes, own, tensor);
        use_it(&file.bytes());
    }
}
