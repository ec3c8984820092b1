//! Modules and functions.

use artifact_ir::location::LocationId;
use artifact_ir::module::{ForeignGlobal, Function, MeshGlobal, Module, Parameter, Visibility};
use artifact_ir::types::Type;

use super::PrintOptions;
use super::attribute::Dialect;
use super::location::LocationAliases;
use super::operation::BodyPrinter;
use super::writer::Writer;

/// Writes a module, its locations' definitions apart.
pub(super) fn print(
    writer: &mut Writer,
    module: &Module,
    options: &PrintOptions,
    aliases: &mut LocationAliases,
) {
    let mut printer = ModulePrinter {
        writer,
        module,
        options,
        aliases,
    };
    printer.module();
}

struct ModulePrinter<'a> {
    writer: &'a mut Writer,
    module: &'a Module,
    options: &'a PrintOptions,
    aliases: &'a mut LocationAliases,
}

impl ModulePrinter<'_> {
    fn module(&mut self) {
        let module = self.module;
        self.writer.push("module");
        if let Some(name) = &module.name {
            self.writer.push(" ");
            self.writer.symbol(name.as_bytes());
        }
        if !module.attributes.is_empty() {
            self.writer.push(" attributes ");
            self.writer.dictionary(&module.attributes, Dialect::Stablehlo);
        }
        self.writer.push(" {\n");
        for (_, mesh) in module.meshes.iter() {
            self.mesh(mesh);
        }
        for foreign in &module.foreign {
            self.foreign(foreign);
        }
        for (_, function) in module.functions.iter() {
            self.function(function);
        }
        self.writer.push("}");
        self.location(module.location);
        self.writer.push("\n");
    }

    /// `sdy.mesh @mesh = <["x"=2]> {...}`.
    fn mesh(&mut self, mesh: &MeshGlobal) {
        self.writer.indent(1);
        self.writer.push("sdy.mesh ");
        self.writer.symbol(mesh.name.as_bytes());
        self.writer.push(" = ");
        self.writer.sdy_mesh(&mesh.mesh);
        self.writer.optional_dictionary(&mesh.attributes);
        self.location(mesh.location);
        self.writer.push("\n");
    }

    /// An operation of another dialect, as it was written; its symbol is among its attributes.
    fn foreign(&mut self, global: &ForeignGlobal) {
        self.writer.indent(1);
        self.writer.string(global.name.as_bytes());
        self.writer.push(&global.text);
        self.writer.push("\n");
    }

    fn function(&mut self, function: &Function) {
        self.writer.indent(1);
        self.writer.push("func.func ");
        self.writer.push(match function.visibility {
            Visibility::Public => "public ",
            Visibility::Private => "private ",
            Visibility::Nested => "nested ",
        });
        self.writer.symbol(function.name.as_bytes());
        self.arguments(function);
        self.results(&function.results);
        if !function.attributes.is_empty() {
            self.writer.push(" attributes ");
            self.writer.dictionary(&function.attributes, Dialect::Stablehlo);
        }
        if let Some(body) = &function.body {
            self.writer.push(" {\n");
            BodyPrinter::new(self.writer, body, self.module, self.options, self.aliases).body();
            self.writer.indent(1);
            self.writer.push("}");
        }
        self.location(function.location);
        self.writer.push("\n");
    }

    /// Arguments are named in a definition, and numbered as the entry block's arguments are; a declaration has types only.
    fn arguments(&mut self, function: &Function) {
        self.writer.push("(");
        for (index, argument) in function.arguments.iter().enumerate() {
            if index > 0 {
                self.writer.push(", ");
            }
            if function.body.is_some() {
                write!(self.writer, "%arg{index}: ");
            }
            self.parameter(argument);
            self.location(argument.location);
        }
        self.writer.push(")");
    }

    fn results(&mut self, results: &[Parameter]) {
        match results {
            [] => {}
            [result] if result.attributes.is_empty() && !matches!(result.ty, Type::Function(_)) => {
                write!(self.writer, " -> {}", result.ty);
            }
            several => {
                self.writer.push(" -> (");
                for (index, result) in several.iter().enumerate() {
                    if index > 0 {
                        self.writer.push(", ");
                    }
                    self.parameter(result);
                }
                self.writer.push(")");
            }
        }
    }

    fn parameter(&mut self, parameter: &Parameter) {
        write!(self.writer, "{}", parameter.ty);
        self.writer.optional_dictionary(&parameter.attributes);
    }

    fn location(&mut self, location: LocationId) {
        if self.options.locations {
            self.writer
                .location(self.aliases, &self.module.locations, location);
        }
    }
}
