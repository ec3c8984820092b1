//! `chlo.scan`: a loop that calls the body, which is a function of its own.

use artifact_ir::attribute::SymbolRef;
use artifact_ir::module::{Function, ValueId};
use artifact_ir::op::{Call, ChloScan, Control, Op};
use artifact_ir::types::{Dim, ElementType, TensorType, Type};

use super::Refusal;
use super::slices::{fill, put, take};
use crate::graph::{Graph, Size};
use crate::term::Term;

/// A scan and the function that its body became.
pub(crate) struct Scan<'a> {
    pub(crate) op: &'a ChloScan,
    /// Types of the inputs, then of the initial values.
    pub(crate) operands: &'a [Type],
    /// Types of the outputs, then of the final carries.
    pub(crate) results: &'a [Type],
    pub(crate) body: &'a Function,
}

/// The decomposition, under a name.
///
/// # Errors
/// [`Refusal`], for what is not a scan of tensors, and for outputs of a size that nothing tells without running a body that may do
/// more than compute.
pub(crate) fn scan(scan: &Scan<'_>, name: &str) -> Result<Function, Refusal> {
    let graph = Graph::new(name, scan.operands);
    let terms = scan.results(&graph)?;
    let ids: Option<Vec<_>> = terms.into_iter().map(Term::id).collect();
    graph.finish(&ids.unwrap_or_default(), scan.results)
}

impl Scan<'_> {
    /// How many of the operands and results are initial values and final carries.
    fn carries(&self) -> Result<usize, Refusal> {
        let of =
            |segments: &Option<Vec<i32>>| segments.as_ref().and_then(|segments| segments.get(1)).copied();
        of(&self.op.operand_segment_sizes)
            .or_else(|| of(&self.op.result_segment_sizes))
            .and_then(|count| usize::try_from(count).ok())
            .filter(|count| *count <= self.operands.len().min(self.results.len()))
            .ok_or(Refusal::Form("does not say how many carries it has"))
    }

    fn dimension(&self) -> Result<usize, Refusal> {
        usize::try_from(self.op.dimension).map_err(|_| Refusal::Form("scans a dimension before the first"))
    }

    fn results<'g>(&self, graph: &'g Graph) -> Result<Vec<Term<'g>>, Refusal> {
        let carries = self.carries()?;
        let dimension = self.dimension()?;
        let arguments = graph.arguments();
        let (inputs, initial) = arguments.split_at(arguments.len() - carries);
        let length = self.length(graph, inputs, dimension)?;
        let mut state = initial.to_vec();
        state.extend(self.empty_outputs(graph, &arguments, length)?);
        if matches!(length, Size::Static(0)) {
            return Ok(in_result_order(&state, carries));
        }
        let count = graph.size_scalar(length);
        let types: Vec<Option<Type>> = state
            .iter()
            .map(|term| graph.tensor(*term).map(Type::Tensor))
            .collect();
        let last = graph.repeat(count, &state, |region, position, state| {
            let at = if self.op.is_reverse {
                Term::new(region, count.id()) - 1.0 - position
            } else {
                position
            };
            let inputs: Vec<Term<'_>> = inputs.iter().map(|term| Term::new(region, term.id())).collect();
            self.step(region, &inputs, state, at, &types)
        });
        Ok(in_result_order(&last, carries))
    }

    /// Number of steps: what the attribute, an input or an output says.
    fn length<'g>(
        &self,
        graph: &'g Graph,
        inputs: &[Term<'g>],
        dimension: usize,
    ) -> Result<Size<'g>, Refusal> {
        if let Some(size) = self.op.scan_dim_size.and_then(|size| u64::try_from(size).ok()) {
            return Ok(Size::Static(size));
        }
        let outputs = &self.results[..self.results.len() - self.carries()?];
        let of_output = |ty: &Type| ty.as_tensor()?.dims.get(dimension)?.as_static();
        let of_inputs = inputs
            .iter()
            .filter_map(|input| graph.sizes(*input).get(dimension).copied());
        let all: Vec<Size<'g>> = of_inputs
            .chain(outputs.iter().filter_map(of_output).map(Size::Static))
            .collect();
        let known = all.iter().find(|size| matches!(size, Size::Static(_)));
        let size = known.or_else(|| all.first()).copied();
        size.ok_or(Refusal::Form("does not say how many steps it takes"))
    }

    /// Whether the body does nothing besides computing, so that it may be called once more.
    fn is_pure(&self) -> bool {
        let body = self.body.body.as_ref();
        body.is_some_and(|body| {
            body.ops.iter().all(|(_, operation)| {
                let op = &operation.op;
                op.is_pure() || op.is_terminator() || matches!(op, Op::Control(Control::While))
            })
        })
    }

    /// One application of the body; gives the next carries and outputs.
    fn step<'r>(
        &self,
        region: &'r Graph,
        inputs: &[Term<'r>],
        state: &[Term<'r>],
        at: Term<'r>,
        types: &[Option<Type>],
    ) -> Vec<Term<'r>> {
        let (carries, outputs) = state.split_at(self.operands.len() - inputs.len());
        let values = self.call(region, inputs, carries, at);
        if values.len() != state.len() {
            return Vec::new();
        }
        let (slices, next) = values.split_at(outputs.len());
        let next = next.iter().zip(types).map(|(term, ty)| match ty {
            Some(ty) => region.as_type(*term, ty),
            None => *term,
        });
        let outputs = outputs.iter().zip(slices);
        let outputs =
            outputs.map(|(output, slice)| put(region, *output, *slice, self.op.dimension as usize, at));
        next.chain(outputs).collect()
    }

    /// What the body gives for a position: slices of outputs, then carries.
    fn call<'r>(
        &self,
        region: &'r Graph,
        inputs: &[Term<'r>],
        carries: &[Term<'r>],
        at: Term<'r>,
    ) -> Vec<Term<'r>> {
        let slices = inputs
            .iter()
            .map(|input| take(region, *input, self.op.dimension as usize, at));
        let arguments: Vec<Term<'_>> = slices
            .chain(carries.iter().copied())
            .zip(&self.body.arguments)
            .map(|(term, parameter)| region.as_type(term, &parameter.ty))
            .collect();
        let call = Control::Call(Call {
            callee: SymbolRef::flat(self.body.name.clone()),
        });
        let returned: Vec<Type> = self
            .body
            .results
            .iter()
            .map(|parameter| parameter.ty.clone())
            .collect();
        let values = region.add(call.into(), &arguments, Some(&returned), Vec::new());
        values.into_iter().map(|id| region.term(id)).collect()
    }

    /// Zeros for the outputs, of which the loop replaces every slice.
    fn empty_outputs<'g>(
        &self,
        graph: &'g Graph,
        arguments: &[Term<'g>],
        length: Size<'g>,
    ) -> Result<Vec<Term<'g>>, Refusal> {
        let dimension = self.dimension()?;
        let outputs = &self.results[..self.results.len() - self.carries()?];
        let types: Option<Vec<&TensorType>> = outputs
            .iter()
            .map(|ty| ty.as_tensor().map(AsRef::as_ref))
            .collect();
        let types = types.ok_or(Refusal::Form("gives something else than tensors"))?;
        let known = |ty: &TensorType| -> Vec<Option<Size<'g>>> {
            let dims = ty.dims.iter().enumerate();
            dims.map(|(index, dim)| match dim {
                Dim::Static(size) => Some(Size::Static(*size)),
                _ if index == dimension => Some(length),
                dim => size_of(graph, dim, arguments),
            })
            .collect()
        };
        let sizes: Vec<Vec<Option<Size<'g>>>> = types.iter().map(|ty| known(ty)).collect();
        let mut asked: Vec<(usize, usize)> = Vec::new();
        for (output, sizes) in sizes.iter().enumerate() {
            let unknown = sizes.iter().enumerate().filter(|(_, size)| size.is_none());
            asked.extend(unknown.map(|(index, _)| (output, index)));
        }
        let mut found = self
            .sizes_of_slices(graph, arguments, length, &asked)?
            .into_iter();
        let zeros = types.iter().zip(sizes).map(|(ty, sizes)| {
            let sizes: Vec<Size<'g>> = sizes
                .into_iter()
                .map(|size| {
                    size.or_else(|| found.next().map(Size::Computed))
                        .unwrap_or(Size::Static(0))
                })
                .collect();
            let one = graph.scalar(ElementType::I64, 0);
            let zero = graph.splat_bytes(one, &ty.element, &vec![0; ty.element.storage().bytes()]);
            fill(graph, zero, &sizes, ty)
        });
        Ok(zeros.collect())
    }

    /// Sizes of dimensions of outputs that no operand tells: those of the slices that the body gives first. Without a step there
    /// is no element, so that they are 0.
    fn sizes_of_slices<'g>(
        &self,
        graph: &'g Graph,
        arguments: &[Term<'g>],
        length: Size<'g>,
        asked: &[(usize, usize)],
    ) -> Result<Vec<Term<'g>>, Refusal> {
        if asked.is_empty() {
            return Ok(Vec::new());
        }
        if !self.is_pure() {
            return Err(Refusal::Form(
                "has an output of a size that only its body knows, which may do more than compute",
            ));
        }
        let carries = self.carries()?;
        let measure = |region: &'_ Graph| self.measure(region, arguments, carries, asked);
        match length {
            Size::Static(0) => Ok(asked.iter().map(|_| graph.scalar(ElementType::I64, 0)).collect()),
            Size::Static(_) => {
                let ids = measure(graph);
                Ok(ids.into_iter().map(|id| Term::new(graph, id)).collect())
            }
            Size::Computed(length) => Ok(graph.choose(
                length.above(0.0),
                |region| {
                    measure(region)
                        .into_iter()
                        .map(|id| Term::new(region, id))
                        .collect()
                },
                |region| asked.iter().map(|_| region.scalar(ElementType::I64, 0)).collect(),
                asked.len(),
            )),
        }
    }

    /// Calls the body for the first position and takes the sizes of its slices.
    fn measure(
        &self,
        region: &Graph,
        arguments: &[Term<'_>],
        carries: usize,
        asked: &[(usize, usize)],
    ) -> Vec<Option<ValueId>> {
        let arguments: Vec<Term<'_>> = arguments
            .iter()
            .map(|term| Term::new(region, term.id()))
            .collect();
        let (inputs, initial) = arguments.split_at(arguments.len() - carries);
        let first = region.scalar(ElementType::I64, 0);
        let values = self.call(region, inputs, initial, first);
        let size = |(output, index): &(usize, usize)| {
            // The slice has no scanned dimension.
            let index = index - usize::from(*index > self.op.dimension as usize);
            let size = region.sizes(*values.get(*output)?).get(index).copied()?;
            region.size_scalar(size).id()
        };
        asked.iter().map(size).collect()
    }
}

/// Outputs before carries.
fn in_result_order<'g>(state: &[Term<'g>], carries: usize) -> Vec<Term<'g>> {
    let (carries, outputs) = state.split_at(carries);
    [outputs, carries].concat()
}

/// A symbolic size that a dimension of some argument has too.
fn size_of<'g>(graph: &'g Graph, dim: &Dim, arguments: &[Term<'g>]) -> Option<Size<'g>> {
    if *dim == Dim::Unknown {
        return None;
    }
    arguments.iter().find_map(|argument| {
        let ty = graph.tensor(*argument)?;
        let position = ty.dims.iter().position(|other| other == dim)?;
        graph.sizes(*argument).get(position).copied()
    })
}
