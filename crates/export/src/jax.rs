//! Functions of `jax.export`: from the value that a file holds to a verified program, and back.

use std::collections::BTreeSet;

use artifact_core::blob::Blob;
use artifact_core::version::ProgramVersion;
use artifact_dims::Expr;
use artifact_ir::location::{Location, LocationId};
use artifact_ir::module::{BlockId, Function, FunctionId, MeshId, Module, OpId};
use artifact_ir::types::{Dim, TensorType, Type};
use artifact_jax::Leaf;
use artifact_stablehlo::bytecode::{self, ReadErrorKind};

use crate::callable;
use crate::custom_calls::{Waivers, custom_calls, waivers};
use crate::dimensions::{self, Claims, Least};
use crate::error::ExportError;
use crate::exported::Exported;
use crate::interface::{self, Bare, Interface};
use crate::program::{StablehloVersion, portable};
use crate::signature::{Argument, Signature};

/// The version of StableHLO that programs for JAX are written as: what JAX 0.10 writes itself, so that it and every later
/// release reads them.
pub const JAX_STABLEHLO: StablehloVersion = StablehloVersion::of(ProgramVersion::new(1, 15, 0));

impl Exported {
    /// The function of a file of `jax.export`, verified, with those of gradients. Dimensions have the names that the file
    /// gives them, and the constraints that the program's shape assertions state.
    ///
    /// # Errors
    /// A program that cannot be read or does not verify, and a file that says something else than its program does.
    pub fn of_jax(file: artifact_jax::Exported) -> Result<Self, ExportError> {
        let mut files = vec![file];
        while let Some(vjp) = files.last_mut().and_then(|file| file.vjp.take()) {
            files.push(*vjp);
        }
        let mut exported: Option<Self> = None;
        for (order, file) in files.into_iter().enumerate().rev() {
            let function = function(&file).map_err(|error| match order {
                0 => error,
                order => error.within(&format!("the vjp of order {order}")),
            })?;
            exported = Some(Self {
                vjp: exported.map(Box::new),
                ..function
            });
        }
        exported.ok_or_else(|| ExportError::input("the file holds no function"))
    }

    /// The value of a file of `jax.export`, with those of the vjps: what JAX said of the program, or else flat tuples of the
    /// arguments and results. Targets without a guarantee need a waiver, here or in what the program came from.
    ///
    /// # Errors
    /// When the version of StableHLO cannot say what the program says, such a file cannot say how the program is called, or JAX
    /// could not call it: with bounds, sizes of 0, sizes from which it finds no names, or several platforms that it is not told
    /// apart.
    pub fn to_jax(
        &self,
        version: StablehloVersion,
        allowed: &Waivers,
    ) -> Result<artifact_jax::Exported, ExportError> {
        let mut below = None;
        for exported in self.with_vjps().collect::<Vec<_>>().into_iter().rev() {
            let mut file = exported.file(version, allowed)?;
            file.vjp = below.map(Box::new);
            below = Some(file);
        }
        below.ok_or_else(|| ExportError::input("there is no program"))
    }

    /// The names of arguments with sizes that may be 0 here, and may not in JAX, without anybody having asked for it: neither a
    /// user's constraint nor the program says what the least size is.
    ///
    /// # Errors
    /// As [`Exported::to_jax`].
    pub fn arguments_that_may_be_empty(&self) -> Result<Vec<String>, ExportError> {
        let signature = self.with_open_sizes(Least::Zero)?;
        Ok(callable::open_sizes(&signature))
    }

    fn with_open_sizes(&self, least: Least) -> Result<Signature, ExportError> {
        dimensions::opened(&self.module, self.entry, &self.signature, least, &BTreeSet::new())
    }

    /// The value of a file, without the vjp.
    fn file(
        &self,
        version: StablehloVersion,
        allowed: &Waivers,
    ) -> Result<artifact_jax::Exported, ExportError> {
        let mut module = self.module.clone();
        let waived = waivers(&custom_calls(&module), allowed, &self.waived)?;
        let conventions = self.conventions();
        callable::told_apart(&self.platforms, &conventions)?;
        callable::name_main(&mut module, self.entry)?;
        let signature = self.with_open_sizes(Least::One)?;
        callable::check(&signature)?;
        if let Some(constraint) = dimensions::unstated(&module, self.entry, &signature)? {
            return Err(ExportError::input(format!(
                "the constraint `{constraint}` is none that the program asserts, and a file of jax.export has no place for it; \
                 state it in jax.export.symbolic_shape"
            )));
        }
        let any_platform = self.platforms.is_empty();
        if any_platform && conventions.platform_index {
            let what = "the program takes the position of its platform as its first argument, and nothing says which platforms \
                        it is for; export an artifact of it with their names";
            return Err(ExportError::input(what));
        }
        let interface = match &self.interface {
            Some(interface) => interface.clone().waiving(waived),
            None => interface::of_bare_program(Bare {
                module: &mut module,
                signature: &signature,
                conventions: &conventions,
                any_platform,
                waived: waived.into_iter().collect(),
            })?,
        };
        let platforms = match any_platform {
            // The check that the platform is this one is waived.
            true => vec!["cpu".to_owned()],
            false => self.platforms.clone(),
        };
        interface::check(&interface, &platforms, &module, &conventions, &signature)?;
        keep_names_only(&mut module, self.entry, &self.signature);
        let bytes = portable(module, version, true)?;
        interface.to_jax(&platforms, Blob::new(bytes.to_vec()))
    }
}

/// One function, without its vjp.
fn function(file: &artifact_jax::Exported) -> Result<Exported, ExportError> {
    let interface = Interface::of_jax(file);
    let exported = Exported::new(module(&file.module)?)?;
    let conventions = exported.conventions();
    let kept = interface.kept_inputs.iter();
    let leaves: Vec<&Leaf> = kept
        .filter_map(|kept| interface.inputs.leaves.get(*kept as usize))
        .collect();
    let signature = interface::recorded(exported.signature.clone(), &interface, &conventions);
    let signature = named_sizes(signature, &leaves);
    let claims = Claims::default();
    let signature = dimensions::scoped(&exported.module, exported.entry, signature, &claims)?;
    interface::check(
        &interface,
        &file.platforms,
        &exported.module,
        &conventions,
        &signature,
    )?;
    Ok(Exported {
        signature,
        platforms: file.platforms.clone(),
        waived: Waivers::of_jax(interface.waived_targets()),
        interface: Some(interface),
        ..exported
    })
}

fn module(bytes: &Blob) -> Result<Module, ExportError> {
    let read = bytecode::read(bytes).map_err(|error| match error.kind() {
        ReadErrorKind::Unsupported => ExportError::version(error),
        _ => ExportError::because("the program of the file cannot be read", error),
    })?;
    Ok(read.module)
}

/// The signature with the sizes that its last inputs have as leaves, where the program leaves them open.
fn named_sizes(mut signature: Signature, leaves: &[&Leaf]) -> Signature {
    let first = signature.inputs.len().saturating_sub(leaves.len());
    for (input, leaf) in signature.inputs[first..].iter_mut().zip(leaves) {
        let Type::Tensor(ty) = &input.ty else { continue };
        let mut named = TensorType::clone(ty);
        for (dim, size) in named.dims.iter_mut().zip(&leaf.aval.shape) {
            let size: &Expr = size.expr();
            if *dim == Dim::Unknown && size.as_constant().is_none() {
                *dim = size.clone().into();
            }
        }
        input.ty = named.into();
    }
    signature
}

/// Leaves the names of arguments as the only locations: what else a program was made of is nobody's business.
fn keep_names_only(module: &mut Module, entry: FunctionId, signature: &Signature) {
    module.location = LocationId::UNKNOWN;
    let meshes: Vec<MeshId> = module.meshes.iter().map(|(id, _)| id).collect();
    for mesh in meshes {
        module.meshes[mesh].location = LocationId::UNKNOWN;
    }
    let functions: Vec<FunctionId> = module.functions.iter().map(|(id, _)| id).collect();
    for function in functions {
        forget_locations(&mut module.functions[function]);
    }
    let name = |(index, input): (usize, &Argument)| {
        let by_position = input.name == format!("arg{index}");
        let name = (!by_position).then(|| input.name.as_str().into())?;
        Some((
            index,
            Location::Name {
                name,
                child: LocationId::UNKNOWN,
            },
        ))
    };
    let names: Vec<(usize, Location)> = signature.inputs.iter().enumerate().filter_map(name).collect();
    for (index, name) in names {
        let location = module.locations.intern(name);
        let function = &mut module.functions[entry];
        function.arguments[index].location = location;
        let block = function
            .body
            .as_mut()
            .and_then(|body| body.entry_block().map(|block| &mut body.blocks[block]));
        if let Some(place) = block.and_then(|block| block.argument_locations.get_mut(index)) {
            *place = location;
        }
    }
}

fn forget_locations(function: &mut Function) {
    function.location = LocationId::UNKNOWN;
    for parameter in function.arguments.iter_mut().chain(&mut function.results) {
        parameter.location = LocationId::UNKNOWN;
    }
    let Some(body) = &mut function.body else { return };
    let ops: Vec<OpId> = body.ops.iter().map(|(id, _)| id).collect();
    for op in ops {
        body.ops[op].location = LocationId::UNKNOWN;
    }
    let blocks: Vec<BlockId> = body.blocks.iter().map(|(id, _)| id).collect();
    for block in blocks {
        body.blocks[block].argument_locations.fill(LocationId::UNKNOWN);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_version_for_jax_exists() {
        assert_eq!(JAX_STABLEHLO.to_string().parse(), Ok(JAX_STABLEHLO));
    }
}
