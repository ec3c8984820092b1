//! What a row of the table of operations says.

use super::Version;

/// One version of an operation.
#[derive(Debug)]
pub(crate) struct OpRow {
    /// Its name in the dialect, version included: `tanh_v2`.
    pub(crate) name: &'static str,
    /// The first opset that has it.
    pub(crate) since: Version,
    /// The last one; `None` for the current one.
    pub(crate) until: Option<Version>,
    /// Its attributes in the order of bytecode, which is that of their names.
    pub(crate) attributes: &'static [AttributeRow],
    /// Whether it takes exactly one data operand where later versions take any number.
    pub(crate) single: bool,
    /// Whether its regions may be of another element type than its operands only from 0.17 on.
    pub(crate) reduces: bool,
}

/// An attribute of an operation.
#[derive(Debug)]
pub(crate) struct AttributeRow {
    /// Its name in VHLO.
    pub(crate) name: &'static str,
    /// What it is in StableHLO.
    pub(crate) form: Form,
    /// The value that stands for its absence in StableHLO, since VHLO has no optional attributes.
    pub(crate) absent: Absent,
}

/// How an attribute of VHLO is spelt in StableHLO.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Form {
    /// The same, by the general rules.
    Plain,
    /// A dense array of `i64`; in VHLO a tensor.
    Ints,
    /// A dense array of `i1`; in VHLO a tensor.
    Bools,
    /// A symbol; in VHLO a string.
    Symbol,
    /// An array of symbols; in VHLO of strings.
    Symbols,
    /// A unit attribute; in VHLO a boolean.
    Flag,
    /// `channel_handle`, of which VHLO keeps the number.
    Channel,
    /// A field of a compound attribute, which VHLO spreads out.
    Field(Compound),
}

/// Attributes of StableHLO that are several in VHLO.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Compound {
    /// `dimension_numbers` of `gather` and `dynamic_gather`.
    Gather,
    /// `scatter_dimension_numbers`.
    Scatter,
    /// `dot_dimension_numbers`.
    Dot,
    /// `algorithm` of `dot_general`.
    Algorithm,
    /// `dimension_numbers` of the convolutions.
    Convolution,
    /// `channel_handle` of `send` and `recv`.
    Channel,
}

/// What stands in VHLO for an attribute that is absent in StableHLO.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Absent {
    /// Nothing: it is never absent.
    Never,
    /// `false`.
    False,
    /// An integer: `i64`, or `i32` where `narrow`.
    Integer { value: i64, narrow: bool },
    /// `""`.
    EmptyString,
    /// `""`, or `{}` where the calling convention is the typed one.
    EmptyConfig,
    /// `[]`.
    EmptyArray,
    /// `[]`, and so is the other list of layouts.
    EmptyLayouts,
    /// `{}`.
    EmptyDictionary,
    /// A tensor of no `i64`.
    EmptyInts,
    /// Ones, one for each dimension of the window.
    Ones,
    /// Zeros, two for each dimension of the window.
    NoPadding,
    /// Falses, one for each dimension of the window.
    Falses,
    /// `DEFAULT` for each of the two operands.
    DefaultPrecision,
    /// `NOTYPE`.
    NoType,
    /// `API_VERSION_ORIGINAL`.
    OriginalApi,
    /// The accuracy that asks for nothing.
    DefaultAccuracy,
    /// The type `none`.
    NoneType,
}

pub(super) const fn attribute(name: &'static str, form: Form, absent: Absent) -> AttributeRow {
    AttributeRow { name, form, absent }
}

pub(super) const fn plain(name: &'static str) -> AttributeRow {
    attribute(name, Form::Plain, Absent::Never)
}

pub(super) const fn plain_or(name: &'static str, absent: Absent) -> AttributeRow {
    attribute(name, Form::Plain, absent)
}

pub(super) const fn ints(name: &'static str) -> AttributeRow {
    attribute(name, Form::Ints, Absent::Never)
}

pub(super) const fn ints_or(name: &'static str, absent: Absent) -> AttributeRow {
    attribute(name, Form::Ints, absent)
}

pub(super) const fn flag(name: &'static str) -> AttributeRow {
    attribute(name, Form::Flag, Absent::False)
}

pub(super) const fn field(name: &'static str, compound: Compound) -> AttributeRow {
    let absent = match compound {
        Compound::Algorithm => Absent::NoneType,
        _ => Absent::Never,
    };
    attribute(name, Form::Field(compound), absent)
}

pub(super) const fn channel() -> AttributeRow {
    let absent = Absent::Integer {
        value: 0,
        narrow: false,
    };
    attribute("channel_id", Form::Channel, absent)
}

pub(super) const fn op(name: &'static str, since: &str, attributes: &'static [AttributeRow]) -> OpRow {
    OpRow {
        name,
        since: Version::literal(since),
        until: None,
        attributes,
        single: false,
        reduces: false,
    }
}

impl OpRow {
    pub(super) const fn until(self, last: &str) -> Self {
        let until = Some(Version::literal(last));
        Self { until, ..self }
    }

    pub(super) const fn single(self) -> Self {
        Self { single: true, ..self }
    }

    pub(super) const fn reduces(self) -> Self {
        Self {
            reduces: true,
            ..self
        }
    }

    pub(super) const fn copied(&self) -> Self {
        Self { ..*self }
    }

    /// Whether an opset has it.
    pub(crate) fn is_in(&self, version: Version) -> bool {
        self.since <= version && self.until.is_none_or(|until| version <= until)
    }
}
