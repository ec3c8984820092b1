//! Operations with their regions.

use artifact_ir::attribute::{Attribute, NamedAttributes};
use artifact_ir::location::LocationId;
use artifact_ir::module::{BlockId, Body, Module, OpId, Operation, RegionId, ValueId};
use artifact_ir::op::{Chlo, Collective, Op, Reduce, Reduction, Testing};
use artifact_ir::types::{ElementType, Type};

use super::PrintOptions;
use super::attribute::Dialect;
use super::form::{Form, Forms, TypeSyntax, applied_name, types_are_short};
use super::location::LocationAliases;
use super::names::Names;
use super::writer::Writer;

/// Writes the inside of a function.
pub(super) struct BodyPrinter<'a> {
    pub(super) writer: &'a mut Writer,
    pub(super) body: &'a Body,
    module: &'a Module,
    options: &'a PrintOptions,
    aliases: &'a mut LocationAliases,
    forms: Forms,
    names: Names,
    /// Indentation of the current operation, in levels.
    level: usize,
}

/// What is left to write.
#[derive(Clone, Copy)]
enum Task {
    /// The blocks of a region from the `next`-th on.
    Region { region: RegionId, next: usize },
    /// The operations of a block from the `next`-th on.
    Block { block: BlockId, next: usize },
    /// The regions of an operation from the `next`-th on, and what follows them.
    Regions { op: OpId, next: usize },
}

impl<'a> BodyPrinter<'a> {
    pub(super) fn new(
        writer: &'a mut Writer,
        body: &'a Body,
        module: &'a Module,
        options: &'a PrintOptions,
        aliases: &'a mut LocationAliases,
    ) -> Self {
        let forms = Forms::of(body, options);
        let names = Names::of(body, &forms);
        Self {
            writer,
            body,
            module,
            options,
            aliases,
            forms,
            names,
            level: 2,
        }
    }

    /// Writes every operation, with a stack of our own in place of recursion.
    pub(super) fn body(&mut self) {
        let mut tasks = vec![Task::Region {
            region: self.body.root,
            next: 0,
        }];
        while let Some(task) = tasks.pop() {
            match task {
                Task::Region { region, next } => {
                    if let Some(block) = self.body.regions[region].blocks.get(next) {
                        tasks.push(Task::Region {
                            region,
                            next: next + 1,
                        });
                        self.label(region, *block, next);
                        tasks.push(Task::Block {
                            block: *block,
                            next: 0,
                        });
                    }
                }
                Task::Block { block, next } => {
                    if let Some(op) = self.body.blocks[block].ops.get(next) {
                        tasks.push(Task::Block {
                            block,
                            next: next + 1,
                        });
                        if self.head(*op) {
                            tasks.push(Task::Regions { op: *op, next: 0 });
                        }
                    }
                }
                Task::Regions { op, next } => {
                    if let Some(region) = self.body.ops[op].regions.get(next) {
                        self.open_region(op, next);
                        self.level += 1;
                        tasks.push(Task::Regions { op, next: next + 1 });
                        tasks.push(Task::Region {
                            region: *region,
                            next: 0,
                        });
                    } else {
                        self.tail(op);
                    }
                }
            }
        }
    }

    /// A block's label, where the text needs one: blocks are numbered within their region.
    fn label(&mut self, region: RegionId, block: BlockId, index: usize) {
        let Self { body, .. } = *self;
        let contents = &body.blocks[block];
        let generic = match body.regions[region].parent {
            Some(parent) => self.forms.get(parent) == Form::Generic,
            None => false,
        };
        let says_something = !contents.arguments.is_empty() || contents.ops.is_empty();
        if index == 0 && !(generic && says_something) {
            return;
        }
        self.writer.indent(self.level.saturating_sub(1));
        write!(self.writer, "^bb{index}");
        if !contents.arguments.is_empty() {
            self.writer.push("(");
            for (index, argument) in contents.arguments.iter().enumerate() {
                if index > 0 {
                    self.writer.push(", ");
                }
                let location = contents
                    .argument_locations
                    .get(index)
                    .copied()
                    .unwrap_or_default();
                self.block_argument(*argument, location);
            }
            self.writer.push(")");
        }
        self.writer.push(":\n");
    }

    /// `%arg0: tensor<f32>`.
    pub(super) fn block_argument(&mut self, argument: ValueId, location: LocationId) {
        self.writer.value(&self.names, argument);
        write!(self.writer, ": {}", self.body.ty(argument));
        self.location(location);
    }

    /// Writes an operation up to its regions, or all of it when it shows none; whether regions follow.
    fn head(&mut self, op: OpId) -> bool {
        let Self { body, level, .. } = *self;
        let operation = &body.ops[op];
        self.writer.indent(level);
        self.writer.result_names(&self.names, &operation.results);
        let form = self.forms.get(op);
        match form {
            Form::Generic => self.generic_head(operation),
            Form::Plain => self.plain(operation),
            Form::While => self.while_head(operation),
            Form::Sharded => self.sharded_head(operation),
            Form::Applies | Form::Reducer => self.reduce_head(operation, form),
        }
        let regions_follow = !operation.regions.is_empty() && form != Form::Applies;
        if !regions_follow {
            if form == Form::Generic {
                self.generic_tail(operation);
            }
            self.end(operation);
        }
        regions_follow
    }

    /// What stands before the `index`-th region, the end of the one before it included.
    fn open_region(&mut self, op: OpId, index: usize) {
        let form = self.forms.get(op);
        if index > 0 {
            self.level -= 1;
            self.writer.indent(self.level);
            self.writer.push("}");
        }
        match (form, index) {
            (Form::Generic, 0) => self.writer.push(" ({\n"),
            (Form::Generic, _) => self.writer.push(", {\n"),
            (Form::While, 0) => {
                self.writer.push("\n");
                self.writer.indent(self.level);
                self.writer.push("cond {\n");
            }
            (Form::While, _) => self.writer.push(" do {\n"),
            (Form::Sharded, _) => self.sharded_arguments(op),
            (Form::Reducer | Form::Applies | Form::Plain, _) => {
                self.writer.push("\n");
                self.writer.indent(self.level);
                self.reducer_arguments(op);
                self.writer.push("{\n");
            }
        }
    }

    /// What follows the last region.
    fn tail(&mut self, op: OpId) {
        let Self { body, .. } = *self;
        let operation = &body.ops[op];
        self.level -= 1;
        self.writer.indent(self.level);
        self.writer.push("}");
        match self.forms.get(op) {
            Form::Generic => {
                self.writer.push(")");
                self.generic_tail(operation);
            }
            Form::Sharded => self.generic_tail(operation),
            Form::Plain | Form::Applies | Form::Reducer | Form::While => {}
        }
        self.end(operation);
    }

    /// Location and end of line.
    fn end(&mut self, operation: &Operation) {
        self.location(operation.location);
        self.writer.push("\n");
    }

    fn location(&mut self, location: LocationId) {
        if self.options.locations {
            self.writer
                .location(self.aliases, &self.module.locations, location);
        }
    }

    /// `"stablehlo.sort"(%0, %1) <{dimension = 0 : i64}>`.
    fn generic_head(&mut self, operation: &Operation) {
        self.writer.string(operation.op.name().as_bytes());
        self.writer.push("(");
        self.operands(&operation.operands);
        self.writer.push(")");
        let properties = properties(&operation.op);
        if !properties.is_empty() {
            self.writer.push(" <");
            let dialect = Dialect::of_operation(operation.op.name());
            self.writer.dictionary(&properties, dialect);
            self.writer.push(">");
        }
    }

    /// ` {mhlo.x} : (tensor<f32>) -> tensor<f32>`.
    fn generic_tail(&mut self, operation: &Operation) {
        self.writer.optional_dictionary(&operation.attributes);
        self.writer.push(" : ");
        self.function_type(operation);
    }

    /// `stablehlo.while(%arg0 = %0) : tensor<i32> attributes {..}`.
    fn while_head(&mut self, operation: &Operation) {
        let Self { body, .. } = *self;
        self.writer.push("stablehlo.while(");
        let block = operation
            .regions
            .first()
            .and_then(|region| body.single_block(*region));
        let arguments = block.map_or(&[][..], |block| &body.blocks[block].arguments);
        for (index, (argument, operand)) in arguments.iter().zip(&operation.operands).enumerate() {
            if index > 0 {
                self.writer.push(", ");
            }
            self.writer.value(&self.names, *argument);
            self.writer.push(" = ");
            self.writer.value(&self.names, *operand);
        }
        self.writer.push(") : ");
        self.type_list(&operation.operands);
        if !operation.attributes.is_empty() {
            self.writer.push(" attributes");
            self.writer.optional_dictionary(&operation.attributes);
        }
    }

    /// `stablehlo.reduce(%0 init: %1) applies stablehlo.add across dimensions = [0] : (..) -> ..`.
    fn reduce_head(&mut self, operation: &Operation, form: Form) {
        self.writer.push("stablehlo.reduce");
        let (inputs, initial) = operation.operands.split_at(operation.operands.len() / 2);
        for (index, (input, initial)) in inputs.iter().zip(initial).enumerate() {
            self.writer.push(if index > 0 { ", (" } else { "(" });
            self.writer.value(&self.names, *input);
            self.writer.push(" init: ");
            self.writer.value(&self.names, *initial);
            self.writer.push(")");
        }
        if form == Form::Applies
            && let Some(name) = applied_name(self.body, operation)
        {
            write!(self.writer, " applies {name}");
        }
        self.writer.push(" across dimensions = ");
        if let Op::Reduction(Reduction::Reduce(Reduce { dimensions })) = &operation.op {
            self.writer.numbers(dimensions);
        }
        self.writer.optional_dictionary(&operation.attributes);
        self.writer.push(" : ");
        self.function_type(operation);
    }

    /// `reducer(%arg0: tensor<f32>, %arg1: tensor<f32>) `: arguments of the region in pairs.
    fn reducer_arguments(&mut self, op: OpId) {
        let Self { body, .. } = *self;
        self.writer.push("reducer");
        let region = body.ops[op].regions.first();
        let Some(block) = region.and_then(|region| body.single_block(*region)) else {
            return;
        };
        let block = &body.blocks[block];
        let pairs = block.arguments.len() / 2;
        for index in 0..pairs {
            for (separator, index) in [("(", index), (", ", index + pairs)] {
                self.writer.push(separator);
                let location = block.argument_locations.get(index).copied().unwrap_or_default();
                self.block_argument(block.arguments[index], location);
            }
            self.writer.push(") ");
        }
    }

    /// `%0, %1`.
    pub(super) fn operands(&mut self, operands: &[ValueId]) {
        let names = &self.names;
        self.writer
            .list(operands, |writer, operand| writer.value(names, *operand));
    }

    /// `tensor<f32>, tensor<i32>`.
    pub(super) fn type_list(&mut self, values: &[ValueId]) {
        let body = self.body;
        self.writer
            .list(values, |writer, value| write!(writer, "{}", body.ty(*value)));
    }

    /// `(tensor<f32>) -> tensor<f32>`.
    fn function_type(&mut self, operation: &Operation) {
        self.writer.push("(");
        self.type_list(&operation.operands);
        self.writer.push(") -> ");
        match operation.results.as_slice() {
            [result] if !matches!(self.body.ty(*result), Type::Function(_)) => self.type_list(&[*result]),
            results => {
                self.writer.push("(");
                self.type_list(results);
                self.writer.push(")");
            }
        }
    }

    /// Attributes that the short form does not say, then the types: ` {a = 1} : tensor<f32>`.
    pub(super) fn attributes_and_types(&mut self, operation: &Operation, said: &[&str], syntax: TypeSyntax) {
        self.remaining_attributes(operation, said);
        self.writer.push(" : ");
        self.types(operation, syntax);
    }

    /// ` {a = 1}`: the operation's own attributes except those named, and the discardable ones.
    pub(super) fn remaining_attributes(&mut self, operation: &Operation, said: &[&str]) {
        let mut attributes = operation.op.attributes();
        for name in said {
            attributes.remove(name);
        }
        for (name, attribute) in operation.attributes.iter() {
            attributes.insert(name.clone(), attribute.clone());
        }
        self.writer.optional_dictionary(&attributes);
    }

    fn types(&mut self, operation: &Operation, syntax: TypeSyntax) {
        if !types_are_short(self.body, operation, syntax) {
            return self.function_type(operation);
        }
        match syntax {
            TypeSyntax::Select => {
                self.type_list(&operation.operands[..1]);
                self.writer.push(", ");
            }
            TypeSyntax::Arrow => {
                self.type_list(&operation.operands);
                self.writer.push(" -> ");
            }
            TypeSyntax::Functional | TypeSyntax::Same | TypeSyntax::Complex | TypeSyntax::Results => {}
        }
        self.type_list(&operation.results);
    }
}

/// An operation's own attributes in the generic form: those at their default are left out, unless readers insist on them.
fn properties(op: &Op) -> NamedAttributes {
    let mut properties = op.attributes();
    match op {
        Op::Collective(Collective::Infeed(infeed)) => {
            properties.insert("infeed_config", Attribute::String(infeed.infeed_config.clone()));
        }
        Op::Collective(Collective::Outfeed(outfeed)) => {
            properties.insert(
                "outfeed_config",
                Attribute::String(outfeed.outfeed_config.clone()),
            );
        }
        Op::Testing(Testing::ExpectClose(expect)) => {
            let value = i128::from(expect.max_ulp_difference);
            let ty = ElementType::UI64;
            properties.insert("max_ulp_difference", Attribute::Integer { value, ty });
        }
        Op::Chlo(Chlo::Scan(_)) => {
            // Properties spell these two in their own way.
            for (field, written) in [
                ("operand_segment_sizes", "operandSegmentSizes"),
                ("result_segment_sizes", "resultSegmentSizes"),
            ] {
                if let Some(sizes) = properties.remove(field) {
                    properties.insert(written, sizes);
                }
            }
        }
        _ => {}
    }
    properties
}
