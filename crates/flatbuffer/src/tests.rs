//! What the module's writer writes, its reader reads; and bytes written by hand, which are the format's own.

use crate::{
    Buffer, Bytes, Enumeration, Fault, Field, Nested, Optional, Problem, Table, TableBuilder, Text, Vector,
    Writer,
};

#[derive(Clone, Copy, Debug, PartialEq)]
enum Colour {
    Red,
    Blue,
}

impl Enumeration for Colour {
    const NAME: &'static str = "Colour";
    const VALUES: &'static [(Self, i8, &'static str)] = &[(Self::Red, 0, "red"), (Self::Blue, 3, "blue")];
}

enum Node {}

impl Table for Node {
    const NAME: &'static str = "Node";
}

impl Node {
    const COLOUR: Field<Self, Colour> = Field::new(0, "colour", Colour::Red);
    const SIZE: Field<Self, u16> = Field::new(1, "size", 0);
    const CORES: Field<Self, Optional<u32>> = Field::new(2, "cores", ());
    const NAME: Field<Self, Text> = Field::new(3, "name", ());
    const CHILDREN: Field<Self, Vector<Nested<Self>>> = Field::new(4, "children", ());
    const NAMES: Field<Self, Vector<Text>> = Field::new(5, "names", ());
    const DATA: Field<Self, Bytes> = Field::new(6, "data", ());
    const NUMBERS: Field<Self, Vector<u16>> = Field::new(7, "numbers", ());
    const FLAG: Field<Self, bool> = Field::new(8, "flag", false);
    const NEXT: Field<Self, Nested<Self>> = Field::new(9, "next", ());
}

/// A node with every field set, and one below it without any.
fn sample() -> Vec<u8> {
    let mut writer = Writer::new();
    let empty = writer.table(TableBuilder::<Node>::default());
    let name = writer.text("größe").unwrap();
    let names = writer.vector(&[name, name]).unwrap();
    let children = writer.vector(&[empty, empty]).unwrap();
    let data = writer.bytes(&[1, 2, 3]).unwrap();
    let numbers = writer.vector::<u16>(&[7, 8, 65_535]).unwrap();
    let root = TableBuilder::default()
        .set(Node::COLOUR, Colour::Blue)
        .set(Node::SIZE, 513)
        .set(Node::CORES, 0)
        .set(Node::NAME, name)
        .set(Node::CHILDREN, children)
        .set(Node::NAMES, names)
        .set(Node::DATA, data)
        .set(Node::NUMBERS, numbers)
        .set(Node::FLAG, true)
        .set(Node::NEXT, empty);
    let root = writer.table(root);
    writer.finish(root).unwrap()
}

/// Visits every field, so that whatever is wrong is met. `depth` nodes below are entered.
fn visit(node: &crate::View<'_, Node>, depth: usize) -> Result<usize, Fault> {
    node.get(Node::COLOUR)?;
    node.get(Node::SIZE)?;
    node.get(Node::CORES)?;
    node.get(Node::NAME)?;
    node.get(Node::FLAG)?;
    node.get(Node::DATA)?;
    for name in node.get(Node::NAMES)?.into_iter().flatten() {
        name?;
    }
    for number in node.get(Node::NUMBERS)?.into_iter().flatten() {
        number?;
    }
    let mut count = 1;
    let children = node.get(Node::CHILDREN)?.into_iter().flatten();
    for child in children.chain(node.get(Node::NEXT)?.map(Ok)) {
        let child = child?;
        if depth > 0 {
            count += visit(&child, depth - 1)?;
        }
    }
    Ok(count)
}

fn visit_all(bytes: &[u8], budget: u64) -> Result<usize, Fault> {
    visit(&Buffer::new(bytes, budget).root()?, 3)
}

#[test]
fn what_was_written_is_read() {
    let file = sample();
    let buffer = Buffer::new(&file, 10_000);
    let root = buffer.root::<Node>().unwrap();
    assert_eq!(root.get(Node::COLOUR).unwrap(), Colour::Blue);
    assert_eq!(root.get(Node::SIZE).unwrap(), 513);
    assert_eq!(root.get(Node::CORES).unwrap(), Some(0));
    assert_eq!(root.required(Node::NAME).unwrap(), "größe");
    let names: Result<Vec<&str>, Fault> = root.required(Node::NAMES).unwrap().collect();
    assert_eq!(names.unwrap(), ["größe", "größe"]);
    let data = root.required(Node::DATA).unwrap();
    assert_eq!(data.bytes, [1, 2, 3]);
    assert_eq!(file[data.range], [1, 2, 3]);
    let numbers: Result<Vec<u16>, Fault> = root.required(Node::NUMBERS).unwrap().collect();
    assert_eq!(numbers.unwrap(), [7, 8, 65_535]);
    assert!(root.get(Node::FLAG).unwrap());
    let empty = root.required(Node::NEXT).unwrap();
    assert_eq!(empty.get(Node::COLOUR).unwrap(), Colour::Red);
    assert_eq!(empty.get(Node::CORES).unwrap(), None);
    assert!(!empty.has(Node::NAME).unwrap());
    assert_eq!(empty.required(Node::NAME).unwrap_err().problem(), Problem::Absent);
    assert_eq!(visit_all(&file, 10_000), Ok(4));
}

/// The layout of <https://flatbuffers.dev/internals/>, by hand: offset of the root; vtable; table; string.
#[test]
fn bytes_by_hand() {
    let file: Vec<u8> = [
        &[16, 0, 0, 0][..],
        // Vtable: 12 bytes, table of 12; slots 0 to 3: absent, 8, absent, 4.
        &[12, 0, 12, 0, 0, 0, 8, 0, 0, 0, 4, 0],
        // Table: vtable 12 before; name 8 further; size 0x0201, padding.
        &[12, 0, 0, 0, 8, 0, 0, 0, 1, 2, 0, 0],
        &[2, 0, 0, 0, b'a', b'b', 0, 0],
    ]
    .concat();
    let buffer = Buffer::new(&file, 1_000);
    let root = buffer.root::<Node>().unwrap();
    assert_eq!(root.get(Node::SIZE).unwrap(), 0x0201);
    assert_eq!(root.required(Node::NAME).unwrap(), "ab");
    assert_eq!(root.get(Node::COLOUR).unwrap(), Colour::Red);

    let check = |at: usize, byte: u8, want: &str| {
        let mut damaged = file.clone();
        damaged[at] = byte;
        let error = visit_all(&damaged, 1_000).unwrap_err();
        assert_eq!(error.to_string(), want);
    };
    check(0, 0, "`Node` at byte 0: the offset is 0, which leads nowhere");
    check(
        0,
        40,
        "`Node` at byte 40: a table lies outside the 36 bytes there are",
    );
    check(
        4,
        13,
        "`Node` at byte 16: the vtable claims 13 bytes: it has an even number, and 4 at least",
    );
    check(
        5,
        1,
        "`Node` at byte 16: a vtable lies outside the 36 bytes there are",
    );
    check(
        6,
        99,
        "`Node` at byte 16: a table lies outside the 36 bytes there are",
    );
    check(
        10,
        12,
        "`Node.size` at byte 16: the field lies outside its table of 12 bytes",
    );
    check(
        16,
        99,
        "`Node` at byte 16: a vtable lies outside the 36 bytes there are",
    );
    check(
        20,
        0,
        "`Node.name` at byte 20: the offset is 0, which leads nowhere",
    );
    check(
        28,
        9,
        "`Node.name` at byte 20: a string lies outside the 36 bytes there are",
    );
    check(32, 0xff, "`Node.name` at byte 20: the string is not UTF-8");
    check(
        8,
        8,
        "`Node.colour` at byte 24: Colour has no value 1: a newer writer may know it",
    );
}

#[test]
fn truncation_and_flipped_bits_never_panic() {
    let file = sample();
    let mut refused = 0;
    for length in 0..file.len() {
        refused += usize::from(visit_all(&file[..length], 10_000).is_err());
    }
    // The last string's zero and the padding are not read.
    assert!(refused > file.len() - 4, "{refused} of {}", file.len());
    for bit in 0..file.len() * 8 {
        let mut damaged = file.clone();
        damaged[bit / 8] ^= 1 << (bit % 8);
        let _ = visit_all(&damaged, 10_000);
    }
}

/// Each of 64 vectors holds the next one twice: 2^64 paths in a file of a kilobyte.
#[test]
fn sharing_is_paid_for() {
    let mut writer = Writer::new();
    let mut node = writer.table(TableBuilder::<Node>::default());
    for _ in 0..64 {
        let children = writer.vector(&[node, node]).unwrap();
        node = writer.table(TableBuilder::default().set(Node::CHILDREN, children));
    }
    let file = writer.finish(node).unwrap();
    let error = visit(&Buffer::new(&file, 1 << 20).root().unwrap(), usize::MAX).unwrap_err();
    assert_eq!(error.problem(), Problem::Budget { budget: 1 << 20 });
}

#[test]
fn a_vector_is_paid_for_before_it_is_walked() {
    let numbers = vec![0; 1_000];
    let mut writer = Writer::new();
    let numbers = writer.vector::<u16>(&numbers).unwrap();
    let root = writer.table(TableBuilder::<Node>::default().set(Node::NUMBERS, numbers));
    let file = writer.finish(root).unwrap();
    assert_eq!(
        visit_all(&file, 2_000).unwrap_err().problem(),
        Problem::Budget { budget: 2_000 }
    );
    assert_eq!(visit_all(&file, 2_128), Ok(1));
}

#[test]
fn equal_vtables_are_written_once() {
    let file_of = |count: usize| {
        let mut writer = Writer::new();
        let name = writer.text("a").unwrap();
        let nodes: Vec<_> = (0..count)
            .map(|_| writer.table(TableBuilder::<Node>::default().set(Node::NAME, name)))
            .collect();
        let children = writer.vector(&nodes).unwrap();
        let root = writer.table(TableBuilder::default().set(Node::CHILDREN, children));
        writer.finish(root).unwrap().len()
    };
    // An offset in the vector, and a table of one field.
    assert_eq!(file_of(11) - file_of(10), 4 + 8);
}
