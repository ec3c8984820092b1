//! The attributes of operations, in the order and spelling of a version.

use artifact_ir::attribute::{Attribute, DenseArray, NamedAttributes, ResultAccuracy, StablehloAttribute};
use artifact_ir::literal::Literal;
use artifact_ir::module::{Body, Operation};
use artifact_ir::op::{Contraction, Control, Op};
use artifact_ir::types::{ElementType, TensorType, Type};

use super::body::Own;
use super::error::WriteError;
use super::tables::Dialect;
use super::{Write, Writer};
use crate::vhlo::Version;
use crate::vhlo::forms::{DEFAULT_PRECISION, NO_TYPE, ORIGINAL_API, compound_field, compound_name};
use crate::vhlo::opset::{Opset, VersionedOp};
use crate::vhlo::row::{Absent, AttributeRow, Form};

/// The first version in which a reduction's accumulator may have another type than its operand.
const PROMOTION_SINCE: Version = Version::new(0, 17, 0);
/// The first version in which a custom call may have a dictionary as its configuration.
const DICTIONARY_CONFIG_SINCE: Version = Version::new(1, 3, 0);
/// The first version in which a custom call may take a future.
const FUTURE_OPERAND_SINCE: Version = Version::new(1, 17, 0);

impl Writer<'_> {
    /// The row of an operation in the version that is written, and the number of its name.
    pub(super) fn row(&mut self, op: &Op) -> Write<(&'static VersionedOp, u32)> {
        let address = op.spec().map_or(std::ptr::null(), std::ptr::from_ref);
        if let Some(known) = self.rows.get(&address) {
            return Ok(*known);
        }
        let row = self.find_row(op)?;
        let name = self.tables.op_name(Dialect::Vhlo, row.row.name);
        self.rows.insert(address, (row, name));
        Ok((row, name))
    }

    fn find_row(&self, op: &Op) -> Write<&'static VersionedOp> {
        let version = self.options.version.opset();
        let mut versions = Opset::get().versions(op.name()).peekable();
        let Some(first) = versions.peek().map(|row| row.row.since) else {
            return Err(WriteError::no_form(format!("'{}'", op.name())));
        };
        versions
            .find(|row| row.row.is_in(version))
            .ok_or_else(|| WriteError::needs(&format!("'{}'", op.name()), first, self.options.version))
    }

    /// An operation's own attributes.
    pub(super) fn own(&mut self, row: &VersionedOp, body: &Body, operation: &Operation) -> Write<Own> {
        if row.row.attributes.is_empty() && row.newest.is_empty() {
            return Ok(self.own_attributes(Vec::new()));
        }
        if let Some(number) = self.operations.get(&operation.op) {
            return Ok(Own::Properties(*number));
        }
        let named = operation.op.attributes();
        self.check_lost(row, operation.op.name(), &named)?;
        let mut own = Vec::with_capacity(row.row.attributes.len());
        for attribute in row.row.attributes {
            own.push((
                attribute.name,
                self.inherent_attribute(attribute, &named, body, operation)?,
            ));
        }
        let own = self.own_attributes(own);
        if let Own::Properties(number) = own
            && !row.depends_on_rank
        {
            self.operations.insert(operation.op.clone(), number);
        }
        Ok(own)
    }

    fn inherent_attribute(
        &mut self,
        row: &AttributeRow,
        named: &NamedAttributes,
        body: &Body,
        operation: &Operation,
    ) -> Write<u32> {
        let name = match row.form {
            Form::Field(compound) => compound_name(compound),
            Form::Channel => "channel_handle",
            _ => row.name,
        };
        let Some(value) = named.get(name) else {
            return self.absent(row, body, operation);
        };
        match (row.form, value) {
            (Form::Ints, Attribute::DenseArray(DenseArray::I64(values))) => self.ints(values),
            (Form::Bools, Attribute::DenseArray(DenseArray::Bool(values))) => self.bools(values),
            (Form::Symbol, Attribute::Symbol(symbol)) => self.string(&symbol.root),
            (Form::Symbols, Attribute::Array(symbols)) => {
                let names = symbols.iter().map(|symbol| match symbol {
                    Attribute::Symbol(symbol) => Attribute::string(&symbol.root),
                    other => other.clone(),
                });
                self.attribute(&Attribute::Array(names.collect()))
            }
            (Form::Flag, _) => self.attribute(&Attribute::Bool(true)),
            (Form::Channel, Attribute::Stablehlo(StablehloAttribute::ChannelHandle(channel))) => {
                self.attribute(&Attribute::i64(channel.handle))
            }
            (Form::Field(_), Attribute::Stablehlo(compound)) => match compound_field(compound, row.name) {
                Some(field) => self.attribute(&field),
                None => Err(WriteError::no_form(format!(
                    "the attribute '{name}' of '{}'",
                    operation.op.name()
                ))),
            },
            // Custom calls keep their calling convention as a number.
            (Form::Plain, _) if row.absent == Absent::OriginalApi => self.api_version(operation),
            (_, value) => self.attribute(value),
        }
    }

    fn api_version(&mut self, operation: &Operation) -> Write<u32> {
        match &operation.op {
            Op::Control(Control::CustomCall(call)) => {
                let version = StablehloAttribute::CustomCallApiVersion(call.api_version);
                self.attribute(&Attribute::Stablehlo(version))
            }
            _ => self.attribute(&ORIGINAL_API),
        }
    }

    /// What VHLO spells out where StableHLO says nothing.
    fn absent(&mut self, row: &AttributeRow, body: &Body, operation: &Operation) -> Write<u32> {
        match row.absent {
            Absent::Never => Err(WriteError::no_form(format!(
                "'{}' without the attribute '{}'",
                operation.op.name(),
                row.name
            ))),
            Absent::False => self.attribute(&Attribute::Bool(false)),
            Absent::Integer { value, narrow } => {
                let ty = if narrow {
                    ElementType::I32
                } else {
                    ElementType::I64
                };
                let value = i128::from(value);
                self.attribute(&Attribute::Integer { value, ty })
            }
            Absent::EmptyString => self.string(""),
            Absent::EmptyConfig => match &operation.op {
                Op::Control(Control::CustomCall(call)) if call.api_version == TYPED => {
                    self.attribute(&Attribute::Dictionary(NamedAttributes::new()))
                }
                _ => self.string(""),
            },
            Absent::EmptyArray | Absent::EmptyLayouts => self.attribute(&Attribute::Array(Vec::new())),
            Absent::EmptyDictionary => self.attribute(&Attribute::Dictionary(NamedAttributes::new())),
            Absent::EmptyInts => self.ints(&[]),
            Absent::Ones => self.ints(&vec![1; window_rank(body, operation)]),
            Absent::NoPadding => self.no_padding(window_rank(body, operation)),
            Absent::Falses => self.bools(&vec![false; window_rank(body, operation)]),
            Absent::DefaultPrecision => self.attribute(&Attribute::Array(vec![DEFAULT_PRECISION; 2])),
            Absent::NoType => self.attribute(&NO_TYPE),
            Absent::OriginalApi => self.attribute(&ORIGINAL_API),
            Absent::DefaultAccuracy => {
                let accuracy = StablehloAttribute::ResultAccuracy(ResultAccuracy::default());
                self.attribute(&Attribute::Stablehlo(accuracy))
            }
            Absent::NoneType => self.attribute(&Attribute::Type(Type::None)),
        }
    }

    fn no_padding(&mut self, rank: usize) -> Write<u32> {
        let ty = TensorType::of_static(&[rank as u64, 2], ElementType::I64);
        let literal = Literal::splat(ty.into(), &0_i64.to_le_bytes()).map_err(WriteError::no_form)?;
        self.literal(&literal)
    }

    /// Refuses attributes that the row lacks and a newer one has, where they are not at their default.
    fn check_lost(&self, row: &VersionedOp, name: &str, named: &NamedAttributes) -> Write<()> {
        for attribute in row.newest {
            let lost =
                row.row.attributes.iter().all(|own| own.name != attribute.name) && says(attribute, named);
            if lost {
                let newest = Opset::get()
                    .versions(name)
                    .last()
                    .map_or(row.row.since, |newest| newest.row.since);
                let what = format!("the attribute '{}' of '{name}'", attribute.name);
                return Err(WriteError::needs(&what, newest, self.options.version));
            }
        }
        Ok(())
    }

    /// Refuses numbers and types of operands and regions that the version does not allow.
    pub(super) fn check_shape(&self, row: &VersionedOp, body: &Body, operation: &Operation) -> Write<()> {
        let name = operation.op.name();
        let newest = || {
            Opset::get()
                .versions(name)
                .last()
                .map_or(row.row.since, |newest| newest.row.since)
        };
        if row.row.single && operation.operands.len() != 1 {
            let what = format!("'{name}' with {} operands", operation.operands.len());
            return Err(WriteError::needs(&what, newest(), self.options.version));
        }
        if row.row.name == "composite_v1" && !operation.regions.is_empty() {
            return Err(WriteError::needs(
                "'stablehlo.composite' with regions",
                newest(),
                self.options.version,
            ));
        }
        if row.row.reduces && self.options.version < PROMOTION_SINCE && promotes(body, operation) {
            let what = format!("'{name}' whose result has another element type than its operand");
            return Err(WriteError::needs(&what, PROMOTION_SINCE, self.options.version));
        }
        if let Op::Control(Control::CustomCall(call)) = &operation.op {
            let has_dictionary = matches!(call.backend_config, Some(Attribute::Dictionary(_)));
            if has_dictionary || call.api_version == TYPED {
                let what = || "'stablehlo.custom_call' with the typed calling convention".to_owned();
                self.require(DICTIONARY_CONFIG_SINCE, what)?;
            }
            let takes_future = operation
                .operands
                .iter()
                .any(|operand| matches!(body.ty(*operand), Type::Future(_)));
            if takes_future {
                let what = || "'stablehlo.custom_call' of a future".to_owned();
                self.require(FUTURE_OPERAND_SINCE, what)?;
            }
        }
        Ok(())
    }
}

const TYPED: artifact_ir::attribute::CustomCallApiVersion =
    artifact_ir::attribute::CustomCallApiVersion::TypedFfi;

/// Whether an operation says anything by an attribute that a newer version added.
fn says(attribute: &AttributeRow, named: &NamedAttributes) -> bool {
    match attribute.form {
        Form::Field(_) => {
            let mut compounds = named.iter().filter_map(|(_, value)| match value {
                Attribute::Stablehlo(compound) => compound_field(compound, attribute.name),
                _ => None,
            });
            compounds.any(|field| field != Attribute::DenseArray(DenseArray::I64(Vec::new())))
        }
        _ => named.get(attribute.name).is_some(),
    }
}

/// Whether the results of a reduction have other element types than its operands.
fn promotes(body: &Body, operation: &Operation) -> bool {
    let element = |value| body.ty(value).as_tensor().map(|tensor| tensor.element.clone());
    let pairs = operation.operands.iter().zip(&operation.results);
    pairs
        .into_iter()
        .any(|(operand, result)| element(*operand) != element(*result))
}

/// The number of dimensions of an operation's window: those of its first operand, without batch and feature for a convolution.
fn window_rank(body: &Body, operation: &Operation) -> usize {
    let operand = operation
        .operands
        .first()
        .and_then(|operand| body.ty(*operand).as_tensor());
    let rank = operand.map_or(0, |tensor| tensor.rank());
    match operation.op {
        Op::Contraction(Contraction::Convolution(_) | Contraction::DynamicConv(_)) => rank.saturating_sub(2),
        _ => rank,
    }
}
