//! Aliases: `#name = attribute`, `!name = type`, at the top level of a text.
//!
//! They may be used before they are defined (locations usually are), so their places are found first, and each is read when it
//! is first used.

use std::collections::{HashMap, HashSet};

use artifact_core::limit::Limit;
use artifact_ir::attribute::Attribute;
use artifact_ir::location::LocationId;
use artifact_ir::types::Type;

use super::cursor::{Failed, Parser, Read};
use crate::lex::{Kind, Lexer};

/// Text that all uses of compound aliases may stand for. In memory it is up to eighty times as large: `[1,1]` has an attribute for
/// every two bytes.
const ALIAS_BYTES: Limit = Limit::new("what aliases stand for", 1 << 21, "bytes");

/// What is known of an alias.
#[derive(Clone, Debug)]
enum State {
    /// Where its value begins.
    At(usize),
    /// It is being read: using it now would be a cycle.
    Reading,
    Attribute(Known<Attribute>),
    Type(Known<Type>),
    /// A location, whose value begins there; its id is another in each module.
    Location(usize),
    /// It could not be read.
    Broken,
}

/// A value that was read.
#[derive(Clone, Debug)]
struct Known<T> {
    value: T,
    /// What each use of it costs, in bytes of text.
    cost: u64,
    /// Where its text ends.
    end: usize,
}

#[derive(Debug, Default)]
pub(super) struct Aliases<'a> {
    /// By name, `#` or `!` included.
    states: HashMap<&'a str, State>,
    /// Where each name is defined first.
    places: HashMap<&'a str, usize>,
    /// Text that uses of aliases stand for, so far.
    pub(super) written_out: u64,
    /// The part of it that belongs to the alias that is being read.
    own: u64,
    /// Locations by name, of the module that is being read.
    locations: HashMap<&'a str, LocationId>,
}

impl<'a> Aliases<'a> {
    /// Finds the definitions: lines that begin with a name and `=`.
    pub(super) fn find(text: &'a str, start: usize) -> Self {
        let mut aliases = Self::default();
        let bytes = text.as_bytes();
        let mut line = start;
        while line < bytes.len() {
            let rest = &bytes[line..];
            let blank = rest
                .iter()
                .position(|byte| !matches!(byte, b' ' | b'\t'))
                .unwrap_or(rest.len());
            if matches!(rest.get(blank), Some(b'#' | b'!')) {
                aliases.find_at(text, line + blank);
            }
            let length = rest.iter().position(|byte| *byte == b'\n').unwrap_or(rest.len());
            line += length + 1;
        }
        aliases
    }

    fn find_at(&mut self, text: &'a str, position: usize) {
        let mut lexer = Lexer::new(text);
        lexer.seek(position);
        let name = lexer.next();
        let equal = lexer.next();
        if matches!(name.kind, Kind::Hash | Kind::Bang)
            && equal.kind == Kind::Equal
            && let Some(name) = text.get(name.start()..name.end())
        {
            self.add(name, position, equal.end());
        }
    }

    /// The first definition counts.
    fn add(&mut self, name: &'a str, position: usize, value: usize) {
        if !self.places.contains_key(name) {
            self.places.insert(name, position);
            self.states.insert(name, State::At(value));
        }
    }

    /// Whether the definition at `position`, with its value at `value`, is the one that counts.
    pub(super) fn claim(&mut self, name: &'a str, position: usize, value: usize) -> bool {
        self.add(name, position, value);
        self.places.get(name) == Some(&position)
    }

    /// Whether the alias is a location that was read already.
    pub(super) fn is_read_location(&self, name: &str) -> bool {
        matches!(self.states.get(name), Some(State::Location(_)))
    }

    /// Forgets the ids of locations, which belong to one module.
    pub(super) fn forget_locations(&mut self) {
        self.locations.clear();
    }
}

/// Something that an alias can stand for.
trait Aliased: Sized {
    const WHAT: &'static str;
    fn read(parser: &mut Parser<'_>) -> Read<Self>;
    fn of_state(state: &State) -> Option<&Known<Self>>;
    fn into_state(known: Known<Self>) -> State;
    /// Whether a copy shares memory, and takes little room when it is shown.
    fn is_small(&self) -> bool;
}

impl Aliased for Attribute {
    const WHAT: &'static str = "attribute";

    fn read(parser: &mut Parser<'_>) -> Read<Self> {
        parser.attribute()
    }

    fn of_state(state: &State) -> Option<&Known<Self>> {
        match state {
            State::Attribute(known) => Some(known),
            _ => None,
        }
    }

    fn into_state(known: Known<Self>) -> State {
        State::Attribute(known)
    }

    fn is_small(&self) -> bool {
        match self {
            Self::Type(ty) => ty.is_small(),
            Self::Symbol(symbol) => symbol.nested.is_empty(),
            Self::Array(_)
            | Self::Dictionary(_)
            | Self::DenseArray(_)
            | Self::Stablehlo(_)
            | Self::Sdy(_) => false,
            Self::Unit
            | Self::Bool(_)
            | Self::Integer { .. }
            | Self::Float(_)
            | Self::String(_)
            | Self::Elements(_)
            | Self::Foreign(_)
            | Self::Opaque(_) => true,
        }
    }
}

impl Aliased for Type {
    const WHAT: &'static str = "type";

    fn read(parser: &mut Parser<'_>) -> Read<Self> {
        parser.ty()
    }

    fn of_state(state: &State) -> Option<&Known<Self>> {
        match state {
            State::Type(known) => Some(known),
            _ => None,
        }
    }

    fn into_state(known: Known<Self>) -> State {
        State::Type(known)
    }

    fn is_small(&self) -> bool {
        !matches!(self, Self::Tuple(_) | Self::Future(_) | Self::Function(_))
    }
}

impl<'a> Parser<'a> {
    /// The attribute that `name` stands for; `offset` is where it is used.
    pub(super) fn attribute_alias(&mut self, name: &'a str, offset: usize) -> Read<Attribute> {
        self.alias(name, offset)
    }

    /// The type that `name` stands for.
    pub(super) fn type_alias(&mut self, name: &'a str, offset: usize) -> Read<Type> {
        self.alias(name, offset)
    }

    /// Goes to the end of the attribute that `name` stands for, which begins at `value`, and reads it unless that was done.
    pub(super) fn define_attribute(&mut self, name: &'a str, value: usize) -> Read<()> {
        let end = self.known::<Attribute>(name, value)?.end;
        self.seek(end);
        Ok(())
    }

    /// As [`Parser::define_attribute`], for a type.
    pub(super) fn define_type(&mut self, name: &'a str, value: usize) -> Read<()> {
        let end = self.known::<Type>(name, value)?.end;
        self.seek(end);
        Ok(())
    }

    /// A copy, which is paid for before it is made.
    fn alias<T: Aliased + Clone>(&mut self, name: &'a str, offset: usize) -> Read<T> {
        let cost = self.known::<T>(name, offset)?.cost;
        self.charge(cost, offset)?;
        Ok(self.known::<T>(name, offset)?.value.clone())
    }

    fn known<T: Aliased>(&mut self, name: &'a str, offset: usize) -> Read<&Known<T>> {
        if let Some(State::At(value)) = self.aliases.states.get(name) {
            self.read_alias::<T>(name, *value)?;
        }
        let mistake = match self.aliases.states.get(name) {
            None => Some(format!("undefined {} alias '{name}'", T::WHAT)),
            Some(State::Reading) => Some(format!("the alias '{name}' is defined by itself")),
            Some(State::Broken) => return Err(Failed),
            Some(state) => {
                let is_other = T::of_state(state).is_none();
                is_other.then(|| format!("the alias '{name}' is no {}", T::WHAT))
            }
        };
        if let Some(mistake) = mistake {
            return Err(self.error(offset, mistake));
        }
        self.aliases.states.get(name).and_then(T::of_state).ok_or(Failed)
    }

    /// Reads the alias whose value begins at `value`.
    fn read_alias<T: Aliased>(&mut self, name: &'a str, value: usize) -> Read<()> {
        self.aliases.states.insert(name, State::Reading);
        let outer = std::mem::take(&mut self.aliases.own);
        let result = self.elsewhere(value, |parser| Ok((parser.nested(T::read)?, parser.taken_end)));
        let own = std::mem::replace(&mut self.aliases.own, outer);
        let Ok((read, end)) = result else {
            self.aliases.states.insert(name, State::Broken);
            return Err(Failed);
        };
        let cost = if read.is_small() {
            1
        } else {
            own.saturating_add(end.saturating_sub(value) as u64)
        };
        let known = Known {
            value: read,
            cost,
            end,
        };
        self.aliases.states.insert(name, T::into_state(known));
        Ok(())
    }

    /// Counts a use of an alias. Aliases of aliases could otherwise double in size with each line. One that is over the limit ends
    /// the text: what follows would be over it too.
    fn charge(&mut self, cost: u64, offset: usize) -> Read<()> {
        let aliases = &mut self.aliases;
        aliases.own = aliases.own.saturating_add(cost);
        aliases.written_out = aliases.written_out.saturating_add(cost);
        if let Err(error) = ALIAS_BYTES.check(aliases.written_out) {
            let failed = self.error(offset, error.to_string());
            self.stop();
            return Err(failed);
        }
        Ok(())
    }

    /// Reads at another place and comes back.
    fn elsewhere<T>(&mut self, position: usize, read: impl FnOnce(&mut Self) -> Read<T>) -> Read<T> {
        let (token, taken_end, lexer) = (self.token, self.taken_end, self.lexer.clone());
        self.seek(position);
        let result = read(self);
        if !self.gave_up() {
            (self.token, self.taken_end, self.lexer) = (token, taken_end, lexer);
        }
        result
    }

    /// The location that `name` stands for. Chains of aliases may be long, so this keeps its own stack.
    pub(super) fn location_alias(&mut self, name: &'a str, offset: usize) -> Read<LocationId> {
        let mut pending = vec![name];
        let mut waiting = HashSet::new();
        while let Some(next) = pending.last().copied() {
            if self.aliases.locations.contains_key(next) {
                pending.pop();
                continue;
            }
            match self.read_location_alias(next, offset) {
                Ok(Ok(id)) => {
                    self.aliases.locations.insert(next, id);
                }
                // Those come first, then this one is read again.
                Ok(Err(missing)) => {
                    waiting.insert(next);
                    if let Some(cycle) = missing.iter().find(|name| waiting.contains(*name)) {
                        let failed = self.error(offset, format!("the alias '{cycle}' is defined by itself"));
                        self.break_aliases(pending);
                        return Err(failed);
                    }
                    pending.extend(missing);
                }
                Err(failed) => {
                    self.break_aliases(pending);
                    return Err(failed);
                }
            }
        }
        self.aliases.locations.get(name).copied().ok_or(Failed)
    }

    fn read_location_alias(
        &mut self,
        name: &'a str,
        offset: usize,
    ) -> Read<Result<LocationId, Vec<&'a str>>> {
        let value = match self.aliases.states.get(name) {
            None => return Err(self.error(offset, format!("undefined location alias '{name}'"))),
            Some(State::At(value) | State::Location(value)) => *value,
            Some(State::Broken) => return Err(Failed),
            Some(_) => return Err(self.error(offset, format!("the alias '{name}' is no location"))),
        };
        let read = self.elsewhere(value, Self::location_value)?;
        if read.is_ok() {
            self.aliases.states.insert(name, State::Location(value));
        }
        Ok(read)
    }

    /// Using any of these is no further mistake.
    fn break_aliases(&mut self, names: Vec<&'a str>) {
        for name in names {
            self.aliases.states.insert(name, State::Broken);
        }
    }

    /// The location that `name` stands for, if it has been read.
    pub(super) fn known_location(&self, name: &str) -> Option<LocationId> {
        self.aliases.locations.get(name).copied()
    }
}
