//! The IR as MLIR text.
//!
//! The text is canonical: one module always prints to the same bytes, so it can be stored and compared. Values are numbered anew,
//! attributes are sorted by name, those at their default are left out, constants are spelled by their value and not by how they
//! were written. Our parser and that of StableHLO read it back to the same program.
//!
//! Nothing here recurses over operations or regions, so a module prints however deep it is nested.

mod attribute;
mod dialect;
mod form;
mod literal;
mod location;
mod module;
mod names;
mod operation;
mod plain;
mod sdy;
mod sharding;
mod writer;

#[cfg(test)]
mod tests;

use artifact_ir::attribute::Attribute;
use artifact_ir::module::Module;

use attribute::Dialect;
use location::LocationAliases;
use writer::Writer;

/// What the text says and how.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PrintOptions {
    /// Whether locations are written. They are no part of a program's meaning.
    pub locations: bool,
    /// How operations are spelled.
    pub form: OperationForm,
}

/// How operations are spelled. Modules, meshes and functions are always in their short form.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum OperationForm {
    /// The short form of StableHLO where an operation has one.
    #[default]
    Pretty,
    /// MLIR's generic form: everything quoted, named and typed.
    Generic,
}

/// The text of a module.
#[must_use]
pub fn print_module(module: &Module, options: &PrintOptions) -> String {
    let mut writer = Writer::default();
    let mut aliases = LocationAliases::default();
    module::print(&mut writer, module, options, &mut aliases);
    writer.location_definitions(&aliases, &module.locations);
    writer.finish()
}

/// The text of an attribute.
pub(crate) fn attribute_text(attribute: &Attribute) -> String {
    let mut writer = Writer::default();
    writer.attribute(attribute, Dialect::Stablehlo);
    writer.finish()
}
