//! Programs with other shapes than they came with: sizes that get names, other names, or numbers.
//!
//! What changes, changes for the signature, the interface, and the programs of the vector-Jacobian products alike, so that they
//! agree afterwards as before.

use std::collections::BTreeSet;

use artifact_dims::{Assignment, Constraint, Expr, Range, Scope, ScopeBuilder, Variable};
use artifact_ir::module::Module;
use artifact_refine::{Fact, refine};

use crate::dimensions::{self, Given, Least, Shapes};
use crate::error::ExportError;
use crate::exported::Exported;
use crate::signature::{Argument, Signature};

impl Exported {
    /// Names every size that the program leaves open: as the program does where JAX wrote it, else `d0`, `d1` and so on. Sizes
    /// that it asserts or needs to be equal have one name, and what it asserts besides becomes their ranges and constraints. A
    /// program with an interface has its names from there.
    ///
    /// # Errors
    /// When no sizes fit the program.
    pub fn with_named_sizes(self) -> Result<Self, ExportError> {
        self.with_shapes(&Shapes::default())
    }

    /// Says the sizes that the program leaves open in other words: shapes of arguments, and constraints. A name stands for the
    /// same size wherever the program has it; sizes that no shape mentions are named as by [`Exported::with_named_sizes`]. A
    /// number makes the program static there. The shapes of results follow, and what the program asserts holds besides.
    ///
    /// # Errors
    /// A text that cannot be read, a shape that contradicts the program or another shape, constraints that no sizes satisfy, or
    /// shapes for which an operation or an assertion of the program fails.
    pub fn with_shapes(mut self, shapes: &Shapes) -> Result<Self, ExportError> {
        let before = self.signature.clone();
        if self.interface.is_none() {
            let reserved = dimensions::words(shapes);
            let opened = |exported: &Self| {
                let signature = &exported.signature;
                dimensions::opened(
                    &exported.module,
                    exported.entry,
                    signature,
                    Least::Zero,
                    &reserved,
                )
            };
            self.signature = opened(&self)?;
        }
        if *shapes == Shapes::default() {
            return Ok(self);
        }
        let fresh = &dimensions::variables(&self.signature.inputs) - &dimensions::variables(&before.inputs);
        if !fresh.is_empty() {
            // Errors in terms of names of ours say less than what the program has against the shapes as they were written.
            dimensions::check_written(&self.module, self.entry, before.clone(), shapes)?;
        }
        let given = Given::read(&self.signature, shapes)?;
        if given.is_empty() {
            return Ok(self);
        }
        if !fresh.is_empty() {
            // What the program asserts of them, it says again of what is given, in its own words where that is wrong.
            self.signature.dimensions = before.dimensions;
        }
        let inputs = given.inputs(&self.signature)?;
        given.check_constraints(&inputs)?;
        if self.interface.is_some() {
            given.check_kept(&inputs)?;
        }
        let said = self.said(&given, inputs, &fresh)?;
        match given.values.iter().next() {
            None => Ok(said),
            Some(_) => said
                .specialized(&given.values)
                .map(|(specialized, _)| specialized),
        }
    }

    /// The program with these inputs, and all else as it follows.
    fn said(
        self,
        given: &Given,
        inputs: Vec<Argument>,
        fresh: &BTreeSet<Variable>,
    ) -> Result<Self, ExportError> {
        let of_interface = self.interface.is_some();
        let claims = given.claims(&self.signature, &inputs, fresh, of_interface)?;
        let signature = Signature {
            inputs,
            ..self.signature
        };
        let signature = dimensions::scoped(&self.module, self.entry, signature, &claims)?;
        let interface = self
            .interface
            .map(|interface| interface.resized(|size| given.substitution.of(size)))
            .transpose()?;
        let vjp = self.vjp.map(|vjp| {
            let inputs = given.renamed(&vjp.signature.inputs)?;
            vjp.said(given, inputs, fresh)
        });
        let named = Self {
            signature,
            interface,
            vjp: vjp.transpose()?.map(Box::new),
            ..self
        };
        named.agreed()
    }

    /// The program for these values of its dimension variables, with those of its vector-Jacobian products, and how many values
    /// in them keep a size that only a run tells. Variables without a value stay.
    ///
    /// # Errors
    /// When a value is out of range or breaks a constraint, when an operation or an assertion of the program fails for them, or
    /// when it computes a size in integers that are too narrow for it.
    pub fn specialized(mut self, values: &Assignment) -> Result<(Self, usize), ExportError> {
        let (vjp, mut unknown) = match self.vjp.take() {
            Some(vjp) => {
                let (vjp, unknown) = vjp.specialized(values)?;
                (Some(Box::new(vjp)), unknown)
            }
            None => (None, 0),
        };
        let dimensions = bound_scope(&self.signature, values)?;
        let (module, entry) = (&self.module, self.entry);
        let open: Vec<Fact> = dimensions::facts(module, entry, &self.signature);
        let scope = &self.signature.dimensions;
        let for_all = refine(module, entry, &open, scope).map_err(|error| dimensions::unfit(&error))?;
        let mut broken = for_all.obligations.iter().filter_map(|one| one.broken(values));
        if let Some(what) = broken.next() {
            return Err(ExportError::input(format!("the sizes do not fit: {what}")));
        }
        let mut signature = self.signature.clone();
        let numbers = dimensions::expressions(values);
        for input in &mut signature.inputs {
            let ty = input.type_for(values);
            let ty = ty.map_err(|error| ExportError::because("the sizes do not fit", error))?;
            // Sizes that need others have numbers, too.
            input.ty = dimensions::substituted(&ty, &numbers)?;
        }
        signature.dimensions = dimensions;
        let facts = dimensions::facts(module, entry, &signature);
        // What the program asserts of sizes that stay, it goes on to assert: it may leave the artifact that says so.
        let refined = refine(module, entry, &facts, &any_sizes(&signature.dimensions)?);
        let refined = refined.map_err(|error| dimensions::unfit(&error))?;
        unknown += refined.unknown.len();
        let exported = self.rewritten(refined.module, signature, values)?;
        Ok((Self { vjp, ..exported }, unknown))
    }

    /// The same function with the program that it became, without its vector-Jacobian product.
    fn rewritten(
        self,
        module: Module,
        signature: Signature,
        values: &Assignment,
    ) -> Result<Self, ExportError> {
        let new = Self::new(module)?;
        let named = |old: Vec<Argument>, new: Vec<Argument>| {
            let pairs = old.into_iter().zip(new);
            let named = pairs.map(|(old, new)| Argument {
                name: old.name,
                ty: new.ty,
            });
            named.collect()
        };
        let mut signature = Signature {
            function: new.signature.function,
            inputs: named(signature.inputs, new.signature.inputs),
            outputs: named(signature.outputs, new.signature.outputs),
            dimensions: signature.dimensions,
        };
        if signature.dimensions.ranges().next().is_some() {
            signature = dimensions::completed(&new.module, new.entry, signature)?;
        }
        let numbers = dimensions::expressions(values);
        let interface = self
            .interface
            .map(|interface| interface.resized(|size| size.substitute(&numbers)));
        let new = Self {
            module: new.module,
            entry: new.entry,
            signature,
            platforms: self.platforms,
            interface: interface.transpose()?,
            waived: self.waived,
            vjp: None,
        };
        new.agreed()
    }
}

/// The variables of a scope, of which nothing is known.
fn any_sizes(scope: &Scope) -> Result<Scope, ExportError> {
    let any = |builder: ScopeBuilder, (variable, _): (&Variable, &Range)| {
        builder.range(variable.clone(), Range::at_least(0))
    };
    let scope = scope.ranges().fold(Scope::builder(), any).build();
    scope.map_err(|error| ExportError::input(error.to_string()))
}

/// What a signature says of the variables without a value.
fn bound_scope(signature: &Signature, values: &Assignment) -> Result<Scope, ExportError> {
    let mut builder = Scope::builder();
    for (variable, range) in signature.dimensions.ranges() {
        match values.get(variable) {
            None => builder = builder.range(variable.clone(), *range),
            Some(value) if range.contains(value) => {}
            Some(value) => {
                let what = format!("the size '{variable}' is {range}, and is given as {value}");
                return Err(ExportError::input(what));
            }
        }
    }
    let numbers = dimensions::expressions(values);
    for constraint in signature.dimensions.constraints() {
        let Constraint {
            left,
            comparison,
            right,
        } = constraint;
        let side = |side: &Expr| {
            let bound = side.substitute(&numbers);
            bound.map_err(|error| ExportError::because(format!("the constraint `{constraint}`"), error))
        };
        let bound = Constraint::new(side(left)?, *comparison, side(right)?);
        if !bound.variables().is_empty() {
            builder = builder.constraint(bound);
        } else if bound.holds(values) != Ok(true) {
            let what = format!("the constraint `{constraint}` does not hold for {values}: {bound}");
            return Err(ExportError::input(what));
        }
    }
    let scope = builder.build();
    scope.map_err(|error| ExportError::input(error.to_string()))
}
