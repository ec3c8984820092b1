//! Reading a schema: enumerations of a byte, and tables.

use std::fmt;

/// A schema.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Schema {
    pub(super) enumerations: Vec<Enumeration>,
    pub(super) tables: Vec<Table>,
    pub(super) root: Option<String>,
}

/// An enumeration of a byte.
#[derive(Debug, PartialEq)]
pub(super) struct Enumeration {
    pub(super) name: String,
    pub(super) comment: Vec<String>,
    pub(super) values: Vec<Value>,
}

/// One value of an enumeration.
#[derive(Debug, PartialEq)]
pub(super) struct Value {
    pub(super) name: String,
    pub(super) comment: Vec<String>,
    pub(super) number: i8,
}

/// A table.
#[derive(Debug, PartialEq)]
pub(super) struct Table {
    pub(super) name: String,
    pub(super) comment: Vec<String>,
    pub(super) fields: Vec<Field>,
}

/// One field of a table.
#[derive(Debug, PartialEq)]
pub(super) struct Field {
    pub(super) name: String,
    pub(super) comment: Vec<String>,
    /// The name of a type, which is that of the elements when it is a vector.
    pub(super) ty: String,
    pub(super) vector: bool,
    /// What is written after `=`.
    pub(super) default: Option<String>,
}

/// What cannot be read, at a line from 1.
#[derive(Debug, PartialEq)]
pub(super) struct SchemaError {
    line: usize,
    what: String,
}

impl fmt::Display for SchemaError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}: {}", self.line, self.what)
    }
}

type Parsed<T> = Result<T, SchemaError>;

/// Reads a schema.
pub(super) fn parse(text: &str) -> Parsed<Schema> {
    let mut parser = Parser {
        tokens: tokens(text),
        next: 0,
    };
    let mut schema = Schema::default();
    while parser.next < parser.tokens.len() {
        let comment = parser.comment();
        match parser
            .name("`namespace`, `enum`, `table` or `root_type`")?
            .as_str()
        {
            "namespace" => parser.namespace()?,
            "enum" => schema.enumerations.push(parser.enumeration(comment)?),
            "table" => schema.tables.push(parser.table(comment)?),
            "root_type" => {
                schema.root = Some(parser.name("a table")?);
                parser.symbol(";")?;
            }
            other => return Err(parser.error(format!("`{other}` is not supported"))),
        }
    }
    Ok(schema)
}

#[derive(Debug, Clone, PartialEq)]
enum Token {
    /// A `///` comment.
    Comment(String),
    /// A name or a number.
    Word(String),
    /// Any other character.
    Symbol(String),
}

/// The tokens with their lines. Comments of two slashes are left out.
fn tokens(text: &str) -> Vec<(Token, usize)> {
    let in_word = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    let mut tokens = Vec::new();
    for (index, line) in text.lines().enumerate() {
        let mut rest = line.trim();
        while let Some(first) = rest.chars().next() {
            let (token, length) = if let Some(comment) = rest.strip_prefix("///") {
                (Token::Comment(comment.trim().to_owned()), rest.len())
            } else if rest.starts_with("//") {
                break;
            } else if in_word(first) {
                let length = rest.find(|c| !in_word(c)).unwrap_or(rest.len());
                (Token::Word(rest[..length].to_owned()), length)
            } else {
                (Token::Symbol(first.to_string()), first.len_utf8())
            };
            tokens.push((token, index + 1));
            rest = rest[length..].trim_start();
        }
    }
    tokens
}

#[derive(Debug)]
struct Parser {
    tokens: Vec<(Token, usize)>,
    next: usize,
}

impl Parser {
    fn error(&self, what: impl Into<String>) -> SchemaError {
        let last = self.tokens.len().saturating_sub(1);
        let line = self.tokens.get(self.next.min(last)).map_or(1, |(_, line)| *line);
        SchemaError {
            line,
            what: what.into(),
        }
    }

    fn comment(&mut self) -> Vec<String> {
        let mut lines = Vec::new();
        while let Some((Token::Comment(line), _)) = self.tokens.get(self.next) {
            lines.push(line.clone());
            self.next += 1;
        }
        lines
    }

    fn name(&mut self, expected: &str) -> Parsed<String> {
        let Some((Token::Word(word), _)) = self.tokens.get(self.next) else {
            return Err(self.error(format!("expected {expected}")));
        };
        let word = word.clone();
        self.next += 1;
        Ok(word)
    }

    fn takes(&mut self, symbol: &str) -> bool {
        let found = matches!(self.tokens.get(self.next), Some((Token::Symbol(found), _)) if found == symbol);
        self.next += usize::from(found);
        found
    }

    fn symbol(&mut self, symbol: &str) -> Parsed<()> {
        if self.takes(symbol) {
            return Ok(());
        }
        Err(self.error(format!("expected `{symbol}`")))
    }

    fn namespace(&mut self) -> Parsed<()> {
        self.name("a namespace")?;
        while self.takes(".") {
            self.name("a namespace")?;
        }
        self.symbol(";")
    }

    fn enumeration(&mut self, comment: Vec<String>) -> Parsed<Enumeration> {
        let name = self.name("the name of an enumeration")?;
        self.symbol(":")?;
        if self.name("`byte`")? != "byte" {
            return Err(self.error(format!(
                "enumeration `{name}`: only those of a byte are supported"
            )));
        }
        self.symbol("{")?;
        let mut values = Vec::new();
        loop {
            let comment = self.comment();
            if self.takes("}") {
                break;
            }
            let name = self.name("a value")?;
            self.symbol("=")?;
            let number = self.name("a number")?;
            let number = number
                .parse()
                .map_err(|_| self.error(format!("`{number}` is no byte")))?;
            values.push(Value {
                name,
                comment,
                number,
            });
            if !self.takes(",") {
                self.symbol("}")?;
                break;
            }
        }
        Ok(Enumeration {
            name,
            comment,
            values,
        })
    }

    fn table(&mut self, comment: Vec<String>) -> Parsed<Table> {
        let name = self.name("the name of a table")?;
        self.symbol("{")?;
        let mut fields = Vec::new();
        loop {
            let comment = self.comment();
            if self.takes("}") {
                break;
            }
            fields.push(self.field(comment)?);
        }
        Ok(Table {
            name,
            comment,
            fields,
        })
    }

    fn field(&mut self, comment: Vec<String>) -> Parsed<Field> {
        let name = self.name("a field")?;
        self.symbol(":")?;
        let vector = self.takes("[");
        let ty = self.name("a type")?;
        if vector {
            self.symbol("]")?;
        }
        let default = if self.takes("=") {
            Some(self.name("a default")?)
        } else {
            None
        };
        self.symbol(";")?;
        Ok(Field {
            name,
            comment,
            ty,
            vector,
            default,
        })
    }
}

impl Schema {
    /// The schema, if everything has a comment and every type is known.
    pub(super) fn checked(self) -> Parsed<Self> {
        let fault = |what: String| Err(SchemaError { line: 1, what });
        let of_enumerations = self.enumerations.iter().flat_map(|enumeration| {
            let values = enumeration
                .values
                .iter()
                .map(|value| (&value.name, &value.comment));
            std::iter::once((&enumeration.name, &enumeration.comment)).chain(values)
        });
        let of_tables = self.tables.iter().flat_map(|table| {
            let fields = table.fields.iter().map(|field| (&field.name, &field.comment));
            std::iter::once((&table.name, &table.comment)).chain(fields)
        });
        if let Some((name, _)) = of_enumerations
            .chain(of_tables)
            .find(|(_, comment)| comment.is_empty())
        {
            return fault(format!("`{name}` has no `///` comment"));
        }
        for (table, field) in self
            .tables
            .iter()
            .flat_map(|table| table.fields.iter().map(move |field| (table, field)))
        {
            if self.kind(&field.ty).is_none() {
                return fault(format!(
                    "`{}.{}` has the unknown type `{}`",
                    table.name, field.name, field.ty
                ));
            }
        }
        match &self.root {
            Some(root) if self.tables.iter().any(|table| table.name == *root) => Ok(self),
            _ => fault("`root_type` names no table of the schema".to_owned()),
        }
    }

    /// What a type's name stands for.
    pub(super) fn kind(&self, name: &str) -> Option<Kind> {
        let integer = match name {
            "bool" => Some("bool"),
            "byte" | "int8" => Some("i8"),
            "ubyte" | "uint8" => Some("u8"),
            "short" | "int16" => Some("i16"),
            "ushort" | "uint16" => Some("u16"),
            "int" | "int32" => Some("i32"),
            "uint" | "uint32" => Some("u32"),
            _ => None,
        };
        let enumeration = self.enumerations.iter().any(|known| known.name == name);
        let table = self.tables.iter().any(|known| known.name == name);
        integer.map(Kind::Number).or(match name {
            "string" => Some(Kind::Text),
            _ if enumeration => Some(Kind::Enumeration),
            _ if table => Some(Kind::Table),
            _ => None,
        })
    }
}

/// What a type is.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Kind {
    /// A number or a boolean, as Rust names it.
    Number(&'static str),
    Text,
    Enumeration,
    Table,
}

#[cfg(test)]
mod tests {
    use super::*;

    const SMALL: &str = "namespace a.b; // left out\n/// One.\nenum E : byte {\n/// Zero.\nzero = 0, }\n/// Two.\ntable T {\n/// Three.\n/// Four.\nx: [E] = null;\n}\nroot_type T;\n";

    #[test]
    fn a_schema_is_read() {
        let schema = parse(SMALL).and_then(Schema::checked).unwrap();
        assert_eq!(schema.enumerations[0].values[0].number, 0);
        let field = &schema.tables[0].fields[0];
        assert_eq!(
            (field.name.as_str(), field.ty.as_str(), field.vector),
            ("x", "E", true)
        );
        assert_eq!(field.default.as_deref(), Some("null"));
        assert_eq!(field.comment, ["Three.", "Four."]);
    }

    #[test]
    fn what_is_not_supported_is_refused_at_its_line() {
        let check = |from: &str, to: &str, want: &str| {
            let error = parse(&SMALL.replace(from, to))
                .and_then(Schema::checked)
                .unwrap_err();
            assert_eq!(error.to_string(), want, "{to}");
        };
        check("table T", "struct T", "7: `struct` is not supported");
        check(
            ": byte",
            ": short",
            "3: enumeration `E`: only those of a byte are supported",
        );
        check("zero = 0", "zero = 200", "5: `200` is no byte");
        check("[E]", "[F]", "1: `T.x` has the unknown type `F`");
        check("/// Two.", "", "1: `T` has no `///` comment");
        check(
            "root_type T",
            "root_type U",
            "1: `root_type` names no table of the schema",
        );
        check("x: [E] = null;", "x: [E] = null", "11: expected `;`");
    }
}
