//! How a program is called from the language that it was written in.
//!
//! The [`Signature`](crate::Signature) is what `main` takes and returns. The [`Interface`] is what a caller in Python sees of
//! the same values, as `jax.export` stores it: trees of containers, of which the leaves have types, memory spaces and
//! shardings, and some are not passed on. What JAX's files lose and this value keeps: weak types, and with the signature the
//! names of arguments and the constraints on dimensions. Donated buffers and layouts are attributes of `main`, from which
//! [`Conventions`] reads them.
//!
//! `main` takes, in this order: the position of the platform where there are several, a token for each ordered effect, and
//! the kept leaves of the inputs. It returns the tokens and the leaves of the outputs.

mod agreement;
mod bare;
mod conventions;
mod elements;
mod names;
mod placement;
mod stored;

use std::collections::BTreeSet;
use std::num::NonZeroU32;

use artifact_core::blob::Blob;
use artifact_dims::Expr;
use artifact_jax::{CallingConventionVersion, DisabledCheck, Effect, SerializationVersion, Values};

use crate::error::ExportError;

pub(crate) use agreement::check;
pub(crate) use bare::{Bare, of_bare_program};
pub use conventions::{Conventions, Donation, Layout, Side};
pub(crate) use names::recorded;
pub(crate) use stored::{read, write};

/// The calling conventions of `jax.export` that a program may have; JAX wrote 9 from 2024-03 and 10 from 2025-07.
pub(crate) const CALLING_CONVENTIONS: std::ops::RangeInclusive<u16> = 9..=10;

/// How a program is called.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Interface {
    /// The name of the function where it was written.
    pub function_name: String,
    /// What the caller passes: a tuple of the positional arguments, a tuple, and the keyword arguments, a dictionary.
    pub inputs: Values,
    /// What the caller gets.
    pub outputs: Values,
    /// Leaves of `inputs` whose type gives way to that of another operand, by position. JAX's files do not say.
    pub weak_inputs: BTreeSet<u32>,
    /// As `weak_inputs`, of `outputs`.
    pub weak_outputs: BTreeSet<u32>,
    /// Positions of the leaves of `inputs` that `main` takes, ascending.
    pub kept_inputs: Vec<u32>,
    /// The number of devices that the program was exported for.
    pub devices: NonZeroU32,
    /// Effects for which `main` takes and returns a token each.
    pub ordered_effects: Vec<Effect>,
    /// Effects without tokens.
    pub unordered_effects: Vec<Effect>,
    /// Checks that the exporter waived.
    pub disabled_checks: Vec<DisabledCheck>,
    /// The calling convention of `jax.export`.
    pub calling_convention: CallingConventionVersion,
    /// Whether shapes must be refined before the program is compiled.
    pub uses_global_constants: bool,
    /// The file that this was read from.
    pub origin: Option<Origin>,
}

/// A file of `jax.export`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Origin {
    /// What it says of its schema.
    pub serialization_version: SerializationVersion,
    /// The release of JAX that wrote it, if it says so.
    pub jax_version: Option<String>,
}

impl Interface {
    /// What a file says, but for the program, its platforms and its vjp.
    pub(crate) fn of_jax(file: &artifact_jax::Exported) -> Self {
        Self {
            function_name: file.function_name.clone(),
            inputs: file.inputs.clone(),
            outputs: file.outputs.clone(),
            weak_inputs: BTreeSet::new(),
            weak_outputs: BTreeSet::new(),
            kept_inputs: file.module_kept_var_idx.iter().copied().map(u32::from).collect(),
            devices: file.devices,
            ordered_effects: file.ordered_effects.clone(),
            unordered_effects: file.unordered_effects.clone(),
            disabled_checks: file.disabled_checks.clone(),
            calling_convention: file.calling_convention_version,
            uses_global_constants: file.uses_global_constants,
            origin: Some(Origin {
                serialization_version: file.serialization_version,
                jax_version: file.jax_version.clone(),
            }),
        }
    }

    /// The file of a program that is called so, without its vjp.
    ///
    /// # Errors
    /// When an argument's position is over what the file can hold.
    pub(crate) fn to_jax(
        &self,
        platforms: &[String],
        module: Blob,
    ) -> Result<artifact_jax::Exported, ExportError> {
        let position = |kept: &u32| {
            u16::try_from(*kept).map_err(|_| {
                let what = format!(
                    "argument {kept} is kept, and a file of jax.export can say so of the first 65536"
                );
                ExportError::input(what)
            })
        };
        let origin = self.origin.as_ref();
        Ok(artifact_jax::Exported {
            serialization_version: origin.map_or(SerializationVersion::NEWEST, |origin| {
                origin.serialization_version
            }),
            jax_version: origin.and_then(|origin| origin.jax_version.clone()),
            function_name: self.function_name.clone(),
            inputs: self.inputs.clone(),
            outputs: self.outputs.clone(),
            devices: self.devices,
            platforms: platforms.to_vec(),
            ordered_effects: self.ordered_effects.clone(),
            unordered_effects: self.unordered_effects.clone(),
            disabled_checks: self.disabled_checks.clone(),
            module,
            calling_convention_version: self.calling_convention,
            module_kept_var_idx: self.kept_inputs.iter().map(position).collect::<Result<_, _>>()?,
            uses_global_constants: self.uses_global_constants,
            vjp: None,
        })
    }

    /// Whether the exporter waived that the program runs on a platform that it was exported for.
    #[must_use]
    pub fn runs_on_any_platform(&self) -> bool {
        self.disabled_checks.contains(&DisabledCheck::Platform)
    }

    /// How many inputs of the function the program does not take, since it does not use them.
    #[must_use]
    pub fn unused_inputs(&self) -> usize {
        self.inputs.leaves.len().saturating_sub(self.kept_inputs.len())
    }

    /// The targets of custom calls that the exporter waived; `ALL` among them stands for every one.
    pub(crate) fn waived_targets(&self) -> impl Iterator<Item = &str> {
        self.disabled_checks.iter().filter_map(|check| match check {
            DisabledCheck::CustomCall(target) => Some(target.as_str()),
            DisabledCheck::Platform | DisabledCheck::ShapeAssertions => None,
        })
    }

    /// The same, with waivers for more targets of custom calls.
    pub(crate) fn waiving(mut self, targets: Vec<String>) -> Self {
        let known: BTreeSet<String> = self.waived_targets().map(str::to_owned).collect();
        let new = targets.into_iter().filter(|target| !known.contains(target));
        self.disabled_checks.extend(new.map(DisabledCheck::CustomCall));
        self
    }

    /// The same with the sizes of its leaves changed.
    ///
    /// # Errors
    /// When a size cannot be.
    pub(crate) fn resized<E: std::fmt::Display>(
        mut self,
        change: impl Fn(&Expr) -> Result<Expr, E>,
    ) -> Result<Self, ExportError> {
        for leaf in self.inputs.leaves.iter_mut().chain(&mut self.outputs.leaves) {
            let mut aval = (*leaf.aval).clone();
            for dimension in &mut aval.shape {
                let size = change(dimension.expr()).map_err(|error| ExportError::input(error.to_string()))?;
                if size != *dimension.expr() {
                    *dimension = size.into();
                }
            }
            leaf.aval = aval.into();
        }
        Ok(self)
    }
}
