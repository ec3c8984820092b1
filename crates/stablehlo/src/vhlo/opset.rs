//! Finding operations in the table.

use std::collections::HashMap;
use std::sync::{Arc, LazyLock};

use artifact_ir::op::OpSpec;

use super::ops::{OPS, WITHOUT_ATTRIBUTES};
use super::row::{Absent, AttributeRow, OpRow, op};

/// A row with what it means, found once.
#[derive(Debug)]
pub(crate) struct VersionedOp {
    /// The row.
    pub(crate) row: OpRow,
    /// The operation; `None` for `return_v1`, which is one of two.
    pub(crate) spec: Option<&'static OpSpec>,
    /// The names of the row's attributes.
    pub(crate) names: Vec<Arc<str>>,
    /// The attributes of the newest version, in the order of their names, and since when they are there.
    pub(crate) newest: &'static [AttributeRow],
    /// Whether what stands for an absent attribute depends on the operands.
    pub(crate) depends_on_rank: bool,
}

/// Every operation, by name in VHLO and by name in StableHLO.
#[derive(Debug)]
pub(crate) struct Opset {
    ops: Vec<VersionedOp>,
    by_name: HashMap<&'static str, usize>,
    by_op: HashMap<&'static str, Vec<usize>>,
}

impl Opset {
    /// The one table.
    pub(crate) fn get() -> &'static Self {
        static OPSET: LazyLock<Opset> = LazyLock::new(Opset::new);
        &OPSET
    }

    /// The operation called `name` in VHLO, such as `tanh_v2`.
    pub(crate) fn versioned(&self, name: &str) -> Option<&VersionedOp> {
        self.by_name.get(name).map(|index| &self.ops[*index])
    }

    /// The versions of an operation called `name` in StableHLO, oldest first; none for one without a form in VHLO.
    pub(crate) fn versions(&self, name: &str) -> impl Iterator<Item = &VersionedOp> {
        let indices = self.by_op.get(name).map(Vec::as_slice).unwrap_or_default();
        indices.iter().map(|index| &self.ops[*index])
    }

    fn new() -> Self {
        let plain = WITHOUT_ATTRIBUTES.iter().map(|name| op(name, "0.9", &[]));
        let mut opset = Self {
            ops: Vec::new(),
            by_name: HashMap::new(),
            by_op: HashMap::new(),
        };
        for row in plain.chain(OPS.iter().map(OpRow::copied)) {
            opset.add(row);
        }
        opset
    }

    fn add(&mut self, row: OpRow) {
        let base = row.name.rsplit_once("_v").map_or(row.name, |(base, _)| base);
        let newest = OPS
            .iter()
            .rfind(|other| other.name.rsplit_once("_v").map(|(base, _)| base) == Some(base));
        let names: &[String] = match base {
            "return" => &["stablehlo.return".to_owned(), "func.return".to_owned()],
            "call" => &["func.call".to_owned()],
            base => &[format!("stablehlo.{base}")],
        };
        let specs: Vec<_> = names.iter().filter_map(|name| OpSpec::find(name)).collect();
        let index = self.ops.len();
        for spec in &specs {
            self.by_op.entry(spec.name).or_default().push(index);
        }
        self.by_name.insert(row.name, index);
        self.ops.push(VersionedOp {
            spec: if specs.len() == 1 {
                specs.first().copied()
            } else {
                None
            },
            names: row
                .attributes
                .iter()
                .map(|attribute| attribute.name.into())
                .collect(),
            newest: newest.map_or(&[], |newest| newest.attributes),
            depends_on_rank: row.attributes.iter().any(|attribute| {
                matches!(
                    attribute.absent,
                    Absent::Ones | Absent::NoPadding | Absent::Falses
                )
            }),
            row,
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::vhlo::Version;

    #[test]
    fn rows_are_in_order() {
        for pair in OPS.windows(2) {
            assert!(pair[0].name < pair[1].name, "{}", pair[1].name);
        }
        for row in OPS {
            for pair in row.attributes.windows(2) {
                assert!(pair[0].name < pair[1].name, "{}: {}", row.name, pair[1].name);
            }
        }
    }

    #[test]
    fn versions_follow_each_other() {
        let opset = Opset::get();
        for spec in OpSpec::all() {
            let versions: Vec<_> = opset.versions(spec.name).collect();
            for pair in versions.windows(2) {
                let until = pair[0].row.until.unwrap();
                let since = pair[1].row.since;
                let next = Version::new(until.major, until.minor + 1, 0);
                // 0.20 is followed by 1.0.
                assert!(since == next || until == Version::new(0, 20, 0), "{}", spec.name);
            }
            if let Some(last) = versions.last() {
                assert_eq!(last.row.until, None, "{}", spec.name);
            }
        }
    }

    #[test]
    fn every_stablehlo_operation_has_a_form() {
        let opset = Opset::get();
        let without: Vec<&str> = OpSpec::all()
            .map(|spec| spec.name)
            .filter(|name| name.starts_with("stablehlo.") && opset.versions(name).next().is_none())
            .collect();
        assert_eq!(without, [""; 0]);
        let rows = WITHOUT_ATTRIBUTES.len() + OPS.len();
        // VhloOps.td of 1.20.0 has 145 operations, `func_v1` among them.
        assert_eq!(rows + 1, 145);
        let unknown: Vec<&str> = opset
            .ops
            .iter()
            .filter(|op| op.spec.is_none() && op.row.name != "return_v1")
            .map(|op| op.row.name)
            .collect();
        assert_eq!(unknown, [""; 0]);
    }
}
