//! Every row of the table of operations is sound.

use std::collections::BTreeSet;

use super::*;
use crate::attribute::{Attribute, DenseArray};

#[test]
fn names_are_unique_and_found() {
    let mut names = BTreeSet::new();
    for spec in OpSpec::all() {
        assert!(names.insert(spec.name), "{} stands twice", spec.name);
        assert_eq!(OpSpec::find(spec.name).map(|found| found.name), Some(spec.name));
    }
    let stablehlo = names.iter().filter(|name| name.starts_with("stablehlo.")).count();
    assert_eq!(stablehlo, 118, "the ODS of VHLO 1.20.0 has 118 operations");
    assert_eq!(OpSpec::find("stablehlo.nonsense").map(|spec| spec.name), None);
}

#[test]
fn attributes_round_trip_and_defaults_are_left_out() {
    let spec = OpSpec::find("stablehlo.reduce_window").unwrap();
    let array = |values: &[i64]| Attribute::DenseArray(DenseArray::I64(values.to_vec()));
    let mut attributes: NamedAttributes = [
        ("window_dimensions".into(), array(&[2, 2])),
        ("window_strides".into(), array(&[1, 1])),
        ("base_dilations".into(), array(&[1, 3])),
        ("mhlo.frontend_attributes".into(), Attribute::Unit),
    ]
    .into_iter()
    .collect();
    let op = spec.read(&mut attributes).unwrap();
    let names = |attributes: &NamedAttributes| {
        attributes
            .iter()
            .map(|(name, _)| name.to_string())
            .collect::<Vec<_>>()
    };
    assert_eq!(
        names(&attributes),
        ["mhlo.frontend_attributes"],
        "what is not the operation's own stays"
    );
    let mut written = op.attributes();
    assert_eq!(names(&written), ["base_dilations", "window_dimensions"]);
    assert_eq!(op.attributes(), spec.read(&mut written).unwrap().attributes());
    assert_eq!(op.name(), "stablehlo.reduce_window");
}

#[test]
fn missing_and_malformed_attributes_are_named() {
    let spec = OpSpec::find("stablehlo.iota").unwrap();
    let read = |attribute: Option<Attribute>| {
        let mut attributes: NamedAttributes = attribute
            .into_iter()
            .map(|attribute| ("iota_dimension".into(), attribute))
            .collect();
        spec.read(&mut attributes)
            .map(|_| ())
            .map_err(|error| error.to_string())
    };
    assert_eq!(read(Some(Attribute::i64(0))), Ok(()));
    assert_eq!(read(None), Err("requires attribute 'iota_dimension'".to_owned()));
    let malformed =
        "attribute 'iota_dimension' failed to satisfy constraint: it must be a 64-bit signless integer";
    assert_eq!(read(Some(Attribute::Unit)), Err(malformed.to_owned()));
}
