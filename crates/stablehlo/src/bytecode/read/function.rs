//! The module and its functions.

use std::sync::Arc;

use artifact_ir::attribute::{Attribute, NamedAttributes};
use artifact_ir::diagnostic::SourceOffset;
use artifact_ir::module::{Body, Function, Parameter, Visibility};
use artifact_ir::types::{FunctionType, Type};

use super::super::read_error::ReadError;
use super::Reader;
use super::cursor::{Cursor, Read};
use super::names::OpName;
use super::operation::Head;

/// The properties of `func_v1`, in the order of bytecode.
const FUNCTION_ATTRIBUTES: [&str; 5] = [
    "arg_attrs",
    "function_type",
    "res_attrs",
    "sym_name",
    "sym_visibility",
];

impl Reader<'_> {
    pub(super) fn read_module(&mut self, cursor: &mut Cursor<'_>) -> Read<()> {
        let mut head = self.head(cursor)?;
        if !matches!(head.name, OpName::Module) {
            return Err(ReadError::foreign(
                head.offset,
                "the outermost operation must be a module",
            ));
        }
        self.module.location = head.location;
        self.module.name = self.module_name(&mut head)?;
        self.module.attributes = std::mem::take(&mut head.attributes);
        if !head.has_regions {
            return Err(ReadError::malformed(head.offset, "the module has no region"));
        }
        let (regions, isolated) = cursor.flagged()?;
        if regions != 1 || !isolated {
            return Err(cursor.malformed("a module has one region, which sees nothing from outside"));
        }
        self.isolated(cursor, Self::members)
    }

    /// The symbol of the module: the first of two optional properties, or an attribute.
    fn module_name(&mut self, head: &mut Head) -> Read<Option<Arc<str>>> {
        let name = match head.properties {
            None => {
                head.attributes.remove("sym_visibility");
                head.attributes.remove("sym_name")
            }
            Some(properties) => {
                let mut cursor = self.property_cursor(properties, head.offset)?;
                let (number, present) = cursor.flagged()?;
                let name = present
                    .then(|| self.pool.attribute_at(&cursor, number))
                    .transpose()?;
                let (number, present) = cursor.flagged()?;
                if present {
                    self.pool.attribute_at(&cursor, number)?;
                }
                cursor.finish("the properties of the module")?;
                name
            }
        };
        Ok(name.as_ref().and_then(Attribute::as_str).map(Into::into))
    }

    /// The only block of the module: functions and other globals.
    fn members(&mut self, cursor: &mut Cursor<'_>) -> Read<()> {
        match cursor.varint()? {
            0 => return Ok(()),
            1 => {}
            _ => return Err(cursor.malformed("a module has one block")),
        }
        let values = cursor.varint()?;
        let (ops, has_arguments) = cursor.flagged()?;
        if values != 0 || has_arguments {
            return Err(ReadError::foreign(
                cursor.offset(),
                "a module with values outside of its functions, which StableHLO does not have",
            ));
        }
        for _ in 0..cursor.checked_count(ops)? {
            self.member(cursor)?;
        }
        Ok(())
    }

    fn member(&mut self, cursor: &mut Cursor<'_>) -> Read<()> {
        let head = self.head(cursor)?;
        match head.name.clone() {
            OpName::Function => self.function(cursor, head),
            OpName::Mesh => self.mesh(head),
            OpName::Foreign { name, .. } => Err(beside_functions(&name, head.offset)),
            OpName::Sharding(spec, _) => Err(beside_functions(spec.name, head.offset)),
            OpName::Unknown(name) => Err(self.unknown(&name, head.offset)),
            OpName::Versioned(op) => Err(ReadError::malformed(
                head.offset,
                format!("'vhlo.{}' must stand in a function", op.row.name),
            )),
            OpName::Module | OpName::Cast => Err(ReadError::foreign(
                head.offset,
                "nested modules are not supported",
            )),
        }
    }

    fn function(&mut self, cursor: &mut Cursor<'_>, mut head: Head) -> Read<()> {
        let mut attributes = self.function_attributes(&mut head)?;
        let mut function = function_of(&mut attributes, head.offset)?;
        function.location = head.location;
        function.source = SourceOffset::new(head.offset);
        function.attributes = std::mem::take(&mut head.attributes);
        self.body = Body::new();
        if head.has_regions {
            self.function_region(cursor)?;
        }
        let body = std::mem::take(&mut self.body);
        if let Some(entry) = body.entry_block() {
            let entry = &body.blocks[entry];
            for (parameter, location) in function.arguments.iter_mut().zip(&entry.argument_locations) {
                parameter.location = *location;
            }
            function.body = Some(body);
        }
        if self.module.function(&function.name).is_some() {
            let message = format!("there are two functions called '{}'", function.name);
            return Err(ReadError::malformed(head.offset, message));
        }
        self.module.add_function(function);
        Ok(())
    }

    fn function_region(&mut self, cursor: &mut Cursor<'_>) -> Read<()> {
        let (regions, isolated) = cursor.flagged()?;
        if regions != 1 {
            return Err(cursor.malformed("a function has one region"));
        }
        let root = self.body.root;
        let region = |reader: &mut Self, cursor: &mut Cursor<'_>| reader.region(cursor, root);
        if isolated {
            self.isolated(cursor, region)
        } else {
            region(self, cursor)
        }
    }

    /// The function's own attributes by name.
    fn function_attributes(&mut self, head: &mut Head) -> Read<NamedAttributes> {
        let Some(properties) = head.properties else {
            let own = FUNCTION_ATTRIBUTES.iter();
            return Ok(own
                .filter_map(|name| Some(((*name).into(), head.attributes.remove(name)?)))
                .collect());
        };
        let mut cursor = self.property_cursor(properties, head.offset)?;
        let mut attributes = NamedAttributes::new();
        for name in FUNCTION_ATTRIBUTES {
            attributes.insert(name, self.pool.attribute(&mut cursor)?);
        }
        cursor.finish("the properties of a function")?;
        Ok(attributes)
    }
}

fn beside_functions(name: &str, offset: usize) -> ReadError {
    ReadError::foreign(
        offset,
        format!("'{name}' stands beside the functions of the module, where it is not known here"),
    )
}

fn function_of(attributes: &mut NamedAttributes, offset: usize) -> Read<Function> {
    let wrong = |name: &str| {
        ReadError::malformed(
            offset,
            format!("the attribute '{name}' of a function is missing or wrong"),
        )
    };
    let name = attributes.remove("sym_name");
    let name = name
        .as_ref()
        .and_then(Attribute::as_str)
        .ok_or_else(|| wrong("sym_name"))?;
    let mut function = Function::new(name);
    function.visibility = match attributes
        .remove("sym_visibility")
        .as_ref()
        .and_then(Attribute::as_str)
    {
        Some("" | "public") => Visibility::Public,
        Some("private") => Visibility::Private,
        Some("nested") => Visibility::Nested,
        _ => return Err(wrong("sym_visibility")),
    };
    let Some(Attribute::Type(Type::Function(ty))) = attributes.remove("function_type") else {
        return Err(wrong("function_type"));
    };
    let FunctionType { inputs, results } = &*ty;
    let arguments = attributes.remove("arg_attrs");
    function.arguments = parameters(inputs, arguments).ok_or_else(|| wrong("arg_attrs"))?;
    let result_attributes = attributes.remove("res_attrs");
    function.results = parameters(results, result_attributes).ok_or_else(|| wrong("res_attrs"))?;
    Ok(function)
}

/// Types with a dictionary each, or with none at all.
fn parameters(types: &[Type], attributes: Option<Attribute>) -> Option<Vec<Parameter>> {
    let mut parameters: Vec<Parameter> = types.iter().cloned().map(Parameter::new).collect();
    let items = match attributes {
        Some(Attribute::Array(items)) if items.is_empty() => return Some(parameters),
        Some(Attribute::Array(items)) if items.len() == types.len() => items,
        _ => return None,
    };
    for (parameter, item) in parameters.iter_mut().zip(items) {
        let Attribute::Dictionary(dictionary) = item else {
            return None;
        };
        parameter.attributes = dictionary;
    }
    Some(parameters)
}
