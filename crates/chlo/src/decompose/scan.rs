//! `chlo.scan`: a loop that calls the body, which is a function of its own.

use artifact_ir::attribute::SymbolRef;
use artifact_ir::module::Function;
use artifact_ir::op::{Call, ChloScan, Control};
use artifact_ir::types::{Dim, TensorType, Type};

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
/// [`Refusal`], for outputs whose size no operand tells.
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
        let length = self.length(graph, inputs, dimension);
        let outputs = self.results.len() - carries;
        let mut state = initial.to_vec();
        for ty in &self.results[..outputs] {
            state.push(empty_output(graph, ty, &arguments, dimension, length)?);
        }
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

    /// Number of steps.
    fn length<'g>(&self, graph: &'g Graph, inputs: &[Term<'g>], dimension: usize) -> Size<'g> {
        if let Some(size) = self.op.scan_dim_size.and_then(|size| u64::try_from(size).ok()) {
            return Size::Static(size);
        }
        let sizes: Vec<Size<'g>> = inputs
            .iter()
            .filter_map(|input| graph.sizes(*input).get(dimension).copied())
            .collect();
        let known = sizes.iter().find(|size| matches!(size, Size::Static(_)));
        known
            .or_else(|| sizes.first())
            .copied()
            .unwrap_or(Size::Static(0))
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
        let dimension = self.op.dimension as usize;
        let carries = self.operands.len() - inputs.len();
        let slices = inputs.iter().map(|input| take(region, *input, dimension, at));
        let arguments: Vec<Term<'_>> = slices
            .chain(state[..carries].iter().copied())
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
        if values.len() != state.len() {
            return Vec::new();
        }
        let (slices, next) = values.split_at(state.len() - carries);
        let next = next.iter().zip(types).map(|(id, ty)| match ty {
            Some(ty) => region.as_type(region.term(*id), ty),
            None => region.term(*id),
        });
        let outputs = state[carries..].iter().zip(slices);
        let outputs = outputs.map(|(output, slice)| put(region, *output, region.term(*slice), dimension, at));
        next.chain(outputs).collect()
    }
}

/// Outputs before carries.
fn in_result_order<'g>(state: &[Term<'g>], carries: usize) -> Vec<Term<'g>> {
    let (carries, outputs) = state.split_at(carries);
    [outputs, carries].concat()
}

/// Zeros for an output, of which the loop replaces every slice.
fn empty_output<'g>(
    graph: &'g Graph,
    ty: &Type,
    arguments: &[Term<'g>],
    dimension: usize,
    length: Size<'g>,
) -> Result<Term<'g>, Refusal> {
    let ty = ty
        .as_tensor()
        .ok_or(Refusal::Form("gives something else than tensors"))?;
    let sizes = ty.dims.iter().enumerate().map(|(index, dim)| match dim {
        Dim::Static(size) => Some(Size::Static(*size)),
        _ if index == dimension => Some(length),
        dim => size_of(graph, dim, arguments),
    });
    let sizes: Option<Vec<Size<'g>>> = sizes.collect();
    let sizes = sizes.ok_or(Refusal::Form("has an output of a size that only its body knows"))?;
    let element = &ty.element;
    let zero = graph.splat_bytes(
        graph.scalar(artifact_ir::types::ElementType::I64, 0),
        element,
        &vec![0; element.storage().bytes()],
    );
    Ok(fill(graph, zero, &sizes, &TensorType::clone(ty)))
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
