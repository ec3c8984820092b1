//! The top level of a text, and modules.

use artifact_ir::attribute::{Attribute, SdyAttribute};
use artifact_ir::diagnostic::SourceOffset;
use artifact_ir::location::Locations;
use artifact_ir::module::{Body, ForeignGlobal, Function, MeshGlobal, Module};

use super::cursor::{Parser, Read};
use super::operation::is_own_dialect;
use crate::lex::Kind;

impl Parser<'_> {
    /// Everything: modules, functions outside of them, definitions of aliases.
    pub(super) fn read_file(&mut self) {
        let mut implicit = Module::new();
        self.members(&mut implicit, true);
        implicit.locations = std::mem::take(&mut self.locations);
        if !implicit.functions.is_empty() || !implicit.meshes.is_empty() || !implicit.foreign.is_empty() {
            self.modules.push(implicit);
        }
    }

    /// Functions and other members, up to `}` or the end of the text.
    fn members(&mut self, module: &mut Module, top: bool) {
        loop {
            if self.at(Kind::End) || (self.at(Kind::RightBrace) && !top) {
                return;
            }
            let start = self.token.start();
            if self.member(module, top).is_err() {
                self.abandon();
                self.recover(start);
                if top && self.at(Kind::RightBrace) {
                    self.bump();
                }
            }
        }
    }

    /// Forgets a function that could not be read.
    fn abandon(&mut self) {
        self.depth = 0;
        self.block = None;
        self.in_function_block = false;
        self.scope.clear();
        self.body = Body::new();
    }

    fn member(&mut self, module: &mut Module, top: bool) -> Read<()> {
        match self.kind() {
            Kind::Hash | Kind::Bang if top => self.alias_definition(),
            Kind::Word => match self.slice(self.token) {
                "func.func" => {
                    let function = self.function()?;
                    self.add_function(module, function)
                }
                "module" | "builtin.module" if top => self.module(),
                "module" | "builtin.module" => Err(self.error_here("nested modules are not supported")),
                "sdy.mesh" => {
                    let mesh = self.mesh_global()?;
                    self.add_mesh(module, mesh)
                }
                name => Err(self.misplaced(name)),
            },
            Kind::String => match self.slice(self.token) {
                "\"func.func\"" => {
                    let function = self.generic_function()?;
                    self.add_function(module, function)
                }
                "\"sdy.mesh\"" => {
                    let mesh = self.generic_mesh()?;
                    self.add_mesh(module, mesh)
                }
                "\"builtin.module\"" if top => self.generic_module(),
                "\"builtin.module\"" => Err(self.error_here("nested modules are not supported")),
                name if is_own_dialect(name.trim_matches('"')) => Err(self.misplaced(name.trim_matches('"'))),
                _ => {
                    module.foreign.push(self.generic_global()?);
                    Ok(())
                }
            },
            Kind::Percent => Err(self.error_here("operations must stand in a function")),
            _ => Err(self.unexpected("a function or a module")),
        }
    }

    fn misplaced(&mut self, name: &str) -> super::cursor::Failed {
        if is_own_dialect(name) {
            self.error_here(format!("'{name}' must stand in a function"))
        } else {
            self.error_here(format!("'{name}' is unknown: expected a function or a module"))
        }
    }

    fn add_function(&mut self, module: &mut Module, function: Function) -> Read<()> {
        if module.function(&function.name).is_some() || module.mesh(&function.name).is_some() {
            let offset = function.source.get().unwrap_or(0);
            return Err(self.error(
                offset,
                format!("redefinition of symbol named '{}'", function.name),
            ));
        }
        module.add_function(function);
        Ok(())
    }

    /// `#name = ...`: the value was or will be read where it is used; one that never is, is read now.
    fn alias_definition(&mut self) -> Read<()> {
        let token = self.bump();
        let name = self.slice(token);
        self.expect(Kind::Equal)?;
        let value = self.token.start();
        if !self.aliases.claim(name, token.start(), value) {
            return Err(self.error(token.start(), format!("redefinition of alias '{name}'")));
        }
        if token.kind == Kind::Bang {
            self.define_type(name, value)?;
        } else if self.at_word("loc") {
            if self.aliases.is_read_location(name) {
                self.bump();
                self.skip_balanced()?;
            } else {
                self.trailing_location()?;
            }
        } else {
            self.define_attribute(name, value)?;
        }
        Ok(())
    }

    /// `module @name attributes {...} {...}`; the word is ahead.
    fn module(&mut self) -> Read<()> {
        self.bump();
        let mut module = Module::new();
        if self.at(Kind::Symbol) {
            let symbol = self.bump();
            module.name = Some(self.symbol_text(symbol)?);
        }
        if self.take_word("attributes") {
            module.attributes = self.dictionary()?;
        }
        let outer = self.begin_module();
        let result = self.module_body(&mut module);
        self.end_module(module, outer);
        result
    }

    fn module_body(&mut self, module: &mut Module) -> Read<()> {
        self.expect(Kind::LeftBrace)?;
        self.members(module, false);
        self.expect(Kind::RightBrace)?;
        module.location = self.trailing_location()?;
        Ok(())
    }

    /// Locations are numbered anew in each module. What was numbered outside comes back later.
    fn begin_module(&mut self) -> Locations {
        self.aliases.forget_locations();
        std::mem::take(&mut self.locations)
    }

    fn end_module(&mut self, mut module: Module, outer: Locations) {
        self.aliases.forget_locations();
        module.locations = std::mem::replace(&mut self.locations, outer);
        self.modules.push(module);
    }

    /// `"builtin.module"() <{sym_name = "x"}> ({...}) {...} : () -> ()`; the string is ahead.
    fn generic_module(&mut self) -> Read<()> {
        self.bump();
        self.expect(Kind::LeftParen)?;
        self.expect(Kind::RightParen)?;
        let mut module = Module::new();
        module.attributes = self.properties()?;
        let outer = self.begin_module();
        let result = self.generic_module_body(&mut module);
        self.end_module(module, outer);
        result
    }

    fn generic_module_body(&mut self, module: &mut Module) -> Read<()> {
        self.expect(Kind::LeftParen)?;
        self.expect(Kind::LeftBrace)?;
        if self.take(Kind::Caret) {
            self.expect(Kind::Colon)?;
        }
        self.members(module, false);
        self.expect(Kind::RightBrace)?;
        self.expect(Kind::RightParen)?;
        let offset = self.token.start();
        let more = self.optional_dictionary()?;
        self.merge(&mut module.attributes, more, offset)?;
        self.empty_signature()?;
        module.location = self.trailing_location()?;
        if let Some(name) = module.attributes.remove("sym_name") {
            match name.as_str() {
                Some(name) => module.name = Some(name.into()),
                None => return Err(self.error(offset, "the attribute 'sym_name' must be a string")),
            }
        }
        Ok(())
    }

    fn add_mesh(&mut self, module: &mut Module, mesh: MeshGlobal) -> Read<()> {
        if module.mesh(&mesh.name).is_some() || module.function(&mesh.name).is_some() {
            let offset = mesh.source.get().unwrap_or(0);
            return Err(self.error(offset, format!("redefinition of symbol named '{}'", mesh.name)));
        }
        module.add_mesh(mesh);
        Ok(())
    }

    /// `sdy.mesh @name = <...> {...} loc(...)`; the word is ahead.
    fn mesh_global(&mut self) -> Read<MeshGlobal> {
        let token = self.bump();
        let symbol = self.expect(Kind::Symbol)?;
        let name = self.symbol_text(symbol)?;
        self.expect(Kind::Equal)?;
        let mesh = self.sdy_mesh()?;
        let attributes = self.optional_dictionary()?;
        Ok(MeshGlobal {
            name,
            mesh,
            attributes,
            location: self.trailing_location()?,
            source: SourceOffset::new(token.start()),
        })
    }

    /// `"sdy.mesh"() <{mesh = #sdy.mesh<...>, sym_name = "x"}> {...} : () -> ()`; the string is ahead.
    fn generic_mesh(&mut self) -> Read<MeshGlobal> {
        let token = self.bump();
        self.expect(Kind::LeftParen)?;
        self.expect(Kind::RightParen)?;
        let mut attributes = self.properties()?;
        let offset = self.token.start();
        let more = self.optional_dictionary()?;
        self.merge(&mut attributes, more, offset)?;
        self.empty_signature()?;
        let location = self.trailing_location()?;
        let (name, mesh) = (attributes.remove("sym_name"), attributes.remove("mesh"));
        let name = name.as_ref().and_then(Attribute::as_str);
        let (Some(name), Some(Attribute::Sdy(SdyAttribute::Mesh(mesh)))) = (name, mesh) else {
            return Err(self.error(
                token.start(),
                "a mesh needs 'sym_name', a string, and 'mesh', such as #sdy.mesh<[\"x\"=2]>",
            ));
        };
        Ok(MeshGlobal {
            name: name.into(),
            mesh,
            attributes,
            location,
            source: SourceOffset::new(token.start()),
        })
    }

    /// `"dialect.op"() ... : () -> ()` of an unknown dialect: carried as text.
    fn generic_global(&mut self) -> Read<ForeignGlobal> {
        let token = self.bump();
        let name = self.operation_name(token)?;
        let start = self.token.start();
        self.expect(Kind::LeftParen)?;
        self.expect(Kind::RightParen)?;
        let mut properties = self.properties()?;
        if self.at(Kind::LeftParen) {
            self.skip_balanced()?;
        }
        let offset = self.token.start();
        let more = self.optional_dictionary()?;
        self.merge(&mut properties, more, offset)?;
        self.empty_signature()?;
        let text = self.slice_from(start).into();
        self.trailing_location()?;
        Ok(ForeignGlobal {
            name: self.name(name),
            symbol: properties
                .get("sym_name")
                .and_then(Attribute::as_str)
                .map(Into::into),
            text,
            source: SourceOffset::new(token.start()),
        })
    }
}
