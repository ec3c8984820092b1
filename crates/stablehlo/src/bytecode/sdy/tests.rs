//! What jaxlib wrote is read as what its text says, and written again as the same bytes.

use artifact_ir::attribute::SymbolRef;
use artifact_ir::attribute::sdy::{ReductionOp, SdyAttribute};
use artifact_ir::op::OpSpec;

use super::*;
use crate::parse::parse_module;

/// Attributes and strings as they stand in a file that jaxlib 0.10.2 wrote.
const WRITTEN: &str = include_str!("jaxlib_0.10.2.txt");

#[derive(Debug, PartialEq)]
enum Failure {
    End,
    NoSuchNumber,
    Unexpected(Unexpected),
}

impl From<Unexpected> for Failure {
    fn from(unexpected: Unexpected) -> Self {
        Self::Unexpected(unexpected)
    }
}

#[derive(Default)]
struct Tables {
    strings: Vec<Vec<u8>>,
    /// Number, whether it is Shardy's, and the bytes.
    attributes: Vec<(u64, bool, Vec<u8>)>,
    /// Number and text.
    checks: Vec<(u64, String)>,
}

fn hex(text: &str) -> Vec<u8> {
    let digit = |index: usize| u8::from_str_radix(&text[index..index + 2], 16).unwrap();
    (0..text.len()).step_by(2).map(digit).collect()
}

fn tables() -> Tables {
    let mut tables = Tables::default();
    for line in WRITTEN.lines().filter(|line| !line.starts_with('#')) {
        let (kind, rest) = line.split_once(' ').unwrap();
        let (number, rest) = rest.split_once(' ').unwrap();
        let number: u64 = number.parse().unwrap();
        match kind {
            "string" => {
                assert_eq!(tables.strings.len() as u64, number);
                tables.strings.push(hex(rest));
            }
            "attribute" => {
                let (dialect, bytes) = rest.split_once(' ').unwrap();
                tables.attributes.push((number, dialect == "sdy", hex(bytes)));
            }
            "check" => tables.checks.push((number, rest.to_owned())),
            other => panic!("{other}"),
        }
    }
    tables
}

struct Reader<'a> {
    tables: &'a Tables,
    bytes: &'a [u8],
}

impl Source for Reader<'_> {
    type Error = Failure;

    fn byte(&mut self) -> Result<u8, Failure> {
        let (first, rest) = self.bytes.split_first().ok_or(Failure::End)?;
        self.bytes = rest;
        Ok(*first)
    }

    fn varint(&mut self) -> Result<u64, Failure> {
        let first = self.byte()?;
        let more = first.trailing_zeros();
        if more == 8 {
            let bytes: Result<Vec<u8>, Failure> = (0..8).map(|_| self.byte()).collect();
            return Ok(u64::from_le_bytes(bytes?.try_into().unwrap()));
        }
        let mut value = u64::from(first);
        for place in 1..=more {
            value |= u64::from(self.byte()?) << (8 * place);
        }
        Ok(value >> (more + 1))
    }

    fn signed_varint(&mut self) -> Result<i64, Failure> {
        let value = self.varint()?;
        Ok((value >> 1) as i64 ^ -((value & 1) as i64))
    }

    fn string(&mut self, index: u64) -> Result<ByteString, Failure> {
        let string = self
            .tables
            .strings
            .get(index as usize)
            .ok_or(Failure::NoSuchNumber)?;
        Ok(string.as_slice().into())
    }

    fn attribute(&mut self, index: u64) -> Result<Attribute, Failure> {
        let tables = self.tables;
        let found = tables.attributes.iter().find(|(number, ..)| *number == index);
        let (_, own, bytes) = found.ok_or(Failure::NoSuchNumber)?;
        let mut inner = Reader { tables, bytes };
        let attribute = if *own {
            Attribute::Sdy(decode(&mut inner)?)
        } else {
            // MLIR's own: 2 a string, 4 the name of a symbol.
            match inner.varint()? {
                2 => {
                    let index = inner.varint()?;
                    Attribute::String(inner.string(index)?)
                }
                _ => {
                    let index = inner.varint()?;
                    let Attribute::String(name) = inner.attribute(index)? else {
                        return Err(Failure::NoSuchNumber);
                    };
                    Attribute::Symbol(SymbolRef::flat(name.as_str().unwrap()))
                }
            }
        };
        assert!(
            inner.bytes.is_empty(),
            "attribute {index} was not read to its end"
        );
        Ok(attribute)
    }
}

struct Writer<'a> {
    tables: &'a Tables,
    bytes: Vec<u8>,
}

impl Writer<'_> {
    fn number_of(&self, attribute: &Attribute) -> u64 {
        let mut reader = Reader {
            tables: self.tables,
            bytes: &[],
        };
        let mut numbers = self.tables.attributes.iter().map(|(number, ..)| *number);
        numbers
            .find(|number| reader.attribute(*number).as_ref() == Ok(attribute))
            .unwrap()
    }
}

impl Sink for Writer<'_> {
    type Error = std::convert::Infallible;

    fn byte(&mut self, value: u8) {
        self.bytes.push(value);
    }

    fn varint(&mut self, value: u64) {
        let length = (1..=8_u32).find(|length| value >> (7 * length) == 0);
        match length {
            Some(length) => {
                let coded = (value << length) | (1 << (length - 1));
                self.bytes
                    .extend_from_slice(&coded.to_le_bytes()[..length as usize]);
            }
            None => {
                self.bytes.push(0);
                self.bytes.extend_from_slice(&value.to_le_bytes());
            }
        }
    }

    fn signed_varint(&mut self, value: i64) {
        self.varint(((value << 1) ^ (value >> 63)) as u64);
    }

    fn string(&mut self, bytes: &[u8]) {
        let position = self.tables.strings.iter().position(|string| string == bytes);
        self.varint(position.unwrap() as u64);
    }

    fn attribute(&mut self, attribute: &Attribute) -> Result<(), Self::Error> {
        let number = self.number_of(attribute);
        self.varint(number);
        Ok(())
    }

    fn optional_attribute(&mut self, attribute: Option<&Attribute>) -> Result<(), Self::Error> {
        let number = attribute.map_or(0, |attribute| self.number_of(attribute) << 1 | 1);
        self.varint(number);
        Ok(())
    }
}

/// The attribute that a text says.
fn parsed(text: &str) -> Attribute {
    let module = parse_module(&format!("module attributes {{a.b = {text}}} {{}}"))
        .into_module()
        .unwrap();
    module.attributes.get("a.b").unwrap().clone()
}

#[test]
fn what_jaxlib_wrote() {
    let tables = tables();
    assert!(tables.checks.len() > 40);
    for (number, text) in &tables.checks {
        let mut reader = Reader {
            tables: &tables,
            bytes: &[],
        };
        let attribute = reader.attribute(*number).unwrap();
        assert_eq!(attribute, parsed(text), "{text}");
    }
    for (number, own, bytes) in &tables.attributes {
        if *own {
            let mut reader = Reader {
                tables: &tables,
                bytes,
            };
            let attribute = decode(&mut reader).unwrap();
            let mut writer = Writer {
                tables: &tables,
                bytes: Vec::new(),
            };
            assert_eq!(encode(&mut writer, &attribute), Ok(true));
            assert_eq!(&writer.bytes, bytes, "attribute {number}");
        }
    }
}

#[test]
fn damaged_bytes_are_refused() {
    let tables = tables();
    let read = |bytes: &[u8]| {
        decode(&mut Reader {
            tables: &tables,
            bytes,
        })
    };
    for (_, _, bytes) in tables.attributes.iter().filter(|(_, own, _)| *own) {
        for end in 0..bytes.len() {
            assert_eq!(read(&bytes[..end]), Err(Failure::End));
        }
    }
    // Code 18 is nobody's; a list of 2^63 items ends with the bytes; reduction 3 is none.
    assert_eq!(
        read(&[18 << 1 | 1]),
        Err(Failure::Unexpected(Unexpected::Code(18)))
    );
    assert_eq!(
        read(&[8 << 1 | 1, 0, 0, 0, 0, 0, 0, 0, 0, 0x80, 1]),
        Err(Failure::End)
    );
    let mut reader = Reader {
        tables: &tables,
        bytes: &[],
    };
    let named = |text: &str| {
        let found = tables.checks.iter().find(|(_, check)| check == text);
        found.unwrap().0
    };
    let Ok(Attribute::Sdy(SdyAttribute::TensorSharding(mut sharding))) =
        reader.attribute(named("#sdy.sharding<@mesh, [{}]>"))
    else {
        panic!("a sharding");
    };
    let Ok(Attribute::Sdy(SdyAttribute::AxisRef(axis))) = reader.attribute(named("#sdy<axis_ref\"x\">"))
    else {
        panic!("an axis");
    };
    sharding.unreduced_axes.push(axis);
    sharding.reduction_op = ReductionOp::Max;
    let sharding = SdyAttribute::TensorSharding(sharding);
    let mut writer = Writer {
        tables: &tables,
        bytes: Vec::new(),
    };
    assert_eq!(encode(&mut writer, &sharding), Ok(true));
    assert_eq!(writer.bytes.first(), Some(&(17 << 1 | 1)));
    assert_eq!(read(&writer.bytes), Ok(sharding));
    *writer.bytes.last_mut().unwrap() = 6 << 1 | 1;
    assert_eq!(
        read(&writer.bytes),
        Err(Failure::Unexpected(Unexpected::Number { field: "reduction" }))
    );
}

#[test]
fn edges_have_no_code() {
    let Attribute::Sdy(edges) =
        parsed("#sdy.propagation_edges<[{step-2 = [{\"y\" = operand-1 -> [result-0]}]}]>")
    else {
        panic!("edges");
    };
    let tables = Tables::default();
    let mut writer = Writer {
        tables: &tables,
        bytes: Vec::new(),
    };
    assert_eq!(encode(&mut writer, &edges), Ok(false));
    assert!(writer.bytes.is_empty());
}

#[test]
fn properties_are_in_order_and_known() {
    let names = OpSpec::all()
        .map(|spec| spec.name)
        .filter(|name| name.starts_with("sdy."));
    for name in names {
        let known = OP_PROPERTIES.iter().any(|row| row.op == name);
        assert_eq!(
            known,
            !matches!(name, "sdy.func_data_flow_edge" | "sdy.return"),
            "{name}"
        );
    }
    for row in OP_PROPERTIES {
        assert!(row.properties.is_sorted(), "{}", row.op);
        // What an operation refuses to be without is what must be there.
        let Some(spec) = OpSpec::find(row.op) else {
            assert_eq!(row.op, "sdy.mesh");
            continue;
        };
        let missing = spec.read(&mut artifact_ir::attribute::NamedAttributes::new());
        let required = row.properties.iter().any(|(_, optional)| !optional);
        assert_eq!(missing.is_err(), required, "{}", row.op);
        if let Err(error) = missing {
            let named = |name: &str| error.to_string().contains(&format!("'{name}'"));
            assert!(
                row.properties
                    .iter()
                    .any(|(name, optional)| !optional && named(name))
            );
        }
    }
}
