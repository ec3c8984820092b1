//! Expressions over axes: what a kernel computes for one tensor, before kernels are joined.

use std::collections::HashMap;

use artifact_dims::Expr;
use artifact_ir::diagnostic::SourceOffset;
use artifact_ir::op::{Binary, Elementwise, Op};
use artifact_ir::types::ElementType;

use crate::demand::{Demand, composes};
use crate::error::LowerError;
use crate::graph::{Definition, Part, TensorId};
use crate::index::Index;
use crate::kernel::{Combine, has_routines};
use crate::options::LowerOptions;
use crate::sizes::{SizeId, Sizes};
use crate::trace::Traced;
use crate::view::View;

/// What is computed at each position of some axes, and where it goes.
#[derive(Clone, Debug)]
pub(crate) struct Node {
    /// Sizes of the axes: those of the rows, then those that are reduced.
    pub(crate) axes: Vec<SizeId>,
    pub(crate) parallel: usize,
    /// Whether rows hold elements that lie next to each other: the reduced dimensions are the last ones.
    pub(crate) is_trailing: bool,
    pub(crate) values: Vec<Term>,
    pub(crate) stores: Vec<Store>,
    /// Its place among all nodes, in order of the program.
    pub(crate) position: u32,
    pub(crate) name: String,
    pub(crate) source: SourceOffset,
}

/// A value of a node.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Term {
    /// An element of a tensor with a buffer, seen as a dense array of these sizes.
    Load {
        tensor: TensorId,
        dims: Vec<SizeId>,
        at: Vec<Index>,
        element: ElementType,
    },
    Constant {
        bytes: Vec<u8>,
        element: ElementType,
    },
    /// A position as a number.
    Position {
        at: Index,
        element: ElementType,
    },
    Apply {
        op: Op,
        operands: Vec<usize>,
        element: ElementType,
    },
    MultiplyAdd {
        operands: [usize; 3],
        element: ElementType,
    },
    Reduce {
        combine: Combine,
        operands: [usize; 2],
        element: ElementType,
    },
}

impl Term {
    pub(crate) const fn element(&self) -> ElementType {
        match self {
            Self::Load { element, .. }
            | Self::Constant { element, .. }
            | Self::Position { element, .. }
            | Self::Apply { element, .. }
            | Self::MultiplyAdd { element, .. }
            | Self::Reduce { element, .. } => *element,
        }
    }
}

/// Where a value of a node goes.
#[derive(Clone, Debug)]
pub(crate) struct Store {
    pub(crate) value: usize,
    pub(crate) tensor: TensorId,
    pub(crate) at: Vec<Index>,
}

/// Makes nodes.
pub(crate) struct Builder<'a> {
    pub(crate) traced: &'a mut Traced,
    pub(crate) demand: &'a Demand,
    pub(crate) options: LowerOptions,
    /// Nodes made so far.
    pub(crate) count: u32,
}

/// A node in the making.
struct Expression {
    values: Vec<Term>,
    known: HashMap<Term, usize>,
    seen: HashMap<(TensorId, Vec<Index>), usize>,
}

impl Expression {
    fn new() -> Self {
        Self {
            values: Vec::new(),
            known: HashMap::new(),
            seen: HashMap::new(),
        }
    }

    fn add(&mut self, term: Term) -> usize {
        if let Some(known) = self.known.get(&term) {
            return *known;
        }
        self.values.push(term.clone());
        self.known.insert(term, self.values.len() - 1);
        self.values.len() - 1
    }
}

/// An axis for each dimension that may have more than one position, and the positions in all dimensions.
fn axes(dims: &[SizeId], sizes: &Sizes) -> (Vec<SizeId>, Vec<Index>) {
    let mut axes = Vec::with_capacity(dims.len());
    let at = dims.iter().map(|dim| {
        if sizes.as_number(*dim) == Some(1) {
            return Index::default();
        }
        axes.push(*dim);
        Index::axis(axes.len() - 1)
    });
    let at = at.collect();
    (axes, at)
}

impl Builder<'_> {
    /// Computes a tensor into its buffer.
    pub(crate) fn tensor(&mut self, tensor: TensorId, name: &str) -> Result<Node, LowerError> {
        let dims = self.traced.tensors[tensor].dims.clone();
        let (dims, at) = axes(&dims, &self.traced.sizes);
        let mut expression = Expression::new();
        let value = self.definition(tensor, &at, &mut expression)?;
        let store = Store { value, tensor, at };
        Ok(self.map(dims, expression, store, name))
    }

    /// Copies a tensor's elements, or computes them, to a tensor of the same shape.
    pub(crate) fn fill(&mut self, from: TensorId, to: TensorId, name: &str) -> Result<Node, LowerError> {
        let dims = self.traced.tensors[from].dims.clone();
        let (dims, at) = axes(&dims, &self.traced.sizes);
        let mut expression = Expression::new();
        let value = self.value(from, &at, &mut expression)?;
        Ok(self.map(
            dims,
            expression,
            Store {
                value,
                tensor: to,
                at,
            },
            name,
        ))
    }

    /// Writes a part of a tensor.
    pub(crate) fn part(&mut self, part: &Part, to: TensorId, name: &str) -> Result<Node, LowerError> {
        let dims = self.traced.tensors[part.tensor].dims.clone();
        let (dims, at) = axes(&dims, &self.traced.sizes);
        let mut expression = Expression::new();
        let value = self.value(part.tensor, &at, &mut expression)?;
        let place = |(index, place): (&Index, &crate::graph::Place)| {
            let offset = self.traced.sizes.expression(place.offset);
            let index = index.scaled(&Expr::constant(place.stride))?.shifted(offset)?;
            Ok(match place.start {
                Some((start, max)) => index.started(start, max),
                None => index,
            })
        };
        let to_index = at
            .iter()
            .zip(&part.at)
            .map(place)
            .collect::<Result<_, LowerError>>()?;
        Ok(self.map(
            dims,
            expression,
            Store {
                value,
                tensor: to,
                at: to_index,
            },
            name,
        ))
    }

    /// Combines elements along dimensions.
    pub(crate) fn reduce(
        &mut self,
        [operand, init, result]: [TensorId; 3],
        dimensions: &[usize],
        combine: Combine,
        name: &str,
    ) -> Result<Node, LowerError> {
        let dims = self.traced.tensors[operand].dims.clone();
        let kept: Vec<usize> = (0..dims.len()).filter(|dim| !dimensions.contains(dim)).collect();
        let mut reduced = dimensions.to_vec();
        reduced.sort_unstable();
        let is_open = |dim: &usize| self.traced.sizes.as_number(dims[*dim]) != Some(1);
        let order: Vec<usize> = kept.iter().chain(&reduced).copied().filter(is_open).collect();
        let parallel = kept.iter().filter(|dim| is_open(dim)).count();
        let mut at = vec![Index::default(); dims.len()];
        for (axis, dim) in order.iter().enumerate() {
            at[*dim] = Index::axis(axis);
        }
        let kept_dims: Vec<SizeId> = kept.iter().map(|dim| dims[*dim]).collect();
        let (_, kept_at) = axes(&kept_dims, &self.traced.sizes);
        let mut expression = Expression::new();
        let value = self.value(operand, &at, &mut expression)?;
        let init = self.value(init, &[], &mut expression)?;
        let element = expression.values[value].element();
        let value = if parallel == order.len() {
            // One element: it is combined with the initial value and with nothing else.
            let (op, operands) = (Op::Binary(combine.operation()), vec![init, value]);
            expression.add(Term::Apply {
                op,
                operands,
                element,
            })
        } else {
            expression.add(Term::Reduce {
                combine,
                operands: [value, init],
                element,
            })
        };
        let store = Store {
            value,
            tensor: result,
            at: kept_at,
        };
        let mut node = self.map(
            order.iter().map(|dim| dims[*dim]).collect(),
            expression,
            store,
            name,
        );
        node.parallel = parallel;
        node.is_trailing = order.is_sorted();
        node.source = self.traced.tensors[result].source;
        Ok(node)
    }

    fn map(&mut self, dims: Vec<SizeId>, expression: Expression, store: Store, name: &str) -> Node {
        self.count += 1;
        Node {
            position: self.count,
            parallel: dims.len(),
            axes: dims,
            is_trailing: true,
            values: expression.values,
            source: self.traced.tensors[store.tensor].source,
            stores: vec![store],
            name: name.to_owned(),
        }
    }

    /// The value of a tensor at a position: loaded where it has a buffer, else computed.
    fn value(
        &mut self,
        tensor: TensorId,
        at: &[Index],
        expression: &mut Expression,
    ) -> Result<usize, LowerError> {
        let key = (tensor, at.to_vec());
        if let Some(known) = expression.seen.get(&key) {
            return Ok(*known);
        }
        let found = &self.traced.tensors[tensor];
        let is_stored = matches!(found.definition, Definition::Given | Definition::Literal(_))
            || self.demand.is_kept(tensor, &found.definition);
        let value = if is_stored {
            let (dims, element) = (found.dims.clone(), found.element.storage());
            expression.add(Term::Load {
                tensor,
                dims,
                at: at.to_vec(),
                element,
            })
        } else {
            self.definition(tensor, at, expression)?
        };
        expression.seen.insert(key, value);
        Ok(value)
    }

    fn definition(
        &mut self,
        tensor: TensorId,
        at: &[Index],
        expression: &mut Expression,
    ) -> Result<usize, LowerError> {
        let element = self.traced.tensors[tensor].element.storage();
        match self.traced.tensors[tensor].definition.clone() {
            Definition::Given | Definition::Literal(_) => self.value(tensor, at, expression),
            Definition::Splat(bytes) => Ok(expression.add(Term::Constant { bytes, element })),
            Definition::Iota { dimension } => Ok(position(at[dimension].clone(), element, expression)),
            Definition::Size(size) => {
                let at = Index::default().shifted(self.traced.sizes.expression(size))?;
                Ok(expression.add(Term::Position { at, element }))
            }
            Definition::Apply { op, operands } => {
                if let Some(operands) = self.multiply_add(&op, &operands, element) {
                    let mut values = [0; 3];
                    for (value, operand) in values.iter_mut().zip(operands) {
                        *value = self.value(operand, at, expression)?;
                    }
                    return Ok(expression.add(Term::MultiplyAdd {
                        operands: values,
                        element,
                    }));
                }
                let operands = operands
                    .into_iter()
                    .map(|operand| self.value(operand, at, expression))
                    .collect::<Result<_, _>>()?;
                Ok(expression.add(Term::Apply {
                    op,
                    operands,
                    element,
                }))
            }
            Definition::View { view, operand } => self.viewed(tensor, &view, operand, at, expression),
        }
    }

    /// The operands of a product and what it is added to, when it is used for nothing else.
    fn multiply_add(&self, op: &Op, operands: &[TensorId], element: ElementType) -> Option<[TensorId; 3]> {
        let is_sum =
            matches!(op, Op::Binary(Binary::Add)) && matches!(element, ElementType::F32 | ElementType::F64);
        let [left, right] = operands else { return None };
        if !self.options.contract || !is_sum || left == right {
            return None;
        }
        let product = |tensor: TensorId, other: TensorId| {
            let definition = &self.traced.tensors[tensor].definition;
            match definition {
                Definition::Apply {
                    op: Op::Binary(Binary::Multiply),
                    operands,
                } if self.demand.is_used_once(tensor) && !self.demand.is_kept(tensor, definition) => {
                    Some([*operands.first()?, *operands.get(1)?, other])
                }
                _ => None,
            }
        };
        product(*left, *right).or_else(|| product(*right, *left))
    }

    fn viewed(
        &mut self,
        tensor: TensorId,
        view: &View,
        operand: TensorId,
        at: &[Index],
        expression: &mut Expression,
    ) -> Result<usize, LowerError> {
        let Traced { tensors, sizes, .. } = &mut *self.traced;
        let (from, to) = (tensors[operand].dims.clone(), tensors[tensor].dims.clone());
        match view.compose(&from, &to, at, sizes)? {
            Some(position) => self.value(operand, &position, expression),
            // The same bytes as a dense array of another shape.
            None => {
                let base = self.dense_base(operand);
                let element = self.traced.tensors[base].element.storage();
                Ok(expression.add(Term::Load {
                    tensor: base,
                    dims: to,
                    at: at.to_vec(),
                    element,
                }))
            }
        }
    }

    /// The tensor whose buffer a tensor has.
    pub(crate) fn dense_base(&self, tensor: TensorId) -> TensorId {
        match self.traced.tensors[tensor].definition {
            Definition::View {
                view: View::Reshape,
                operand,
            } => self.dense_base(operand),
            _ => tensor,
        }
    }

    /// Where the elements of a tensor lie in a buffer, for something that follows strides.
    pub(crate) fn reach(
        &mut self,
        tensor: TensorId,
        at: &[Index],
    ) -> Result<(TensorId, Vec<SizeId>, Vec<Index>), LowerError> {
        let found = &self.traced.tensors[tensor];
        if let Definition::View { view, operand } = found.definition.clone()
            && !self.demand.is_kept(tensor, &found.definition)
        {
            let to = found.dims.clone();
            let Traced { tensors, sizes, .. } = &mut *self.traced;
            let from = tensors[operand].dims.clone();
            if composes(&view, &from, &to, sizes)?
                && let Some(position) = view.compose(&from, &to, at, sizes)?
            {
                return self.reach(operand, &position);
            }
            return Ok((self.dense_base(tensor), to, at.to_vec()));
        }
        Ok((tensor, found.dims.clone(), at.to_vec()))
    }
}

/// A position as a number of a type. Types that have no routines get it by a conversion.
fn position(at: Index, element: ElementType, expression: &mut Expression) -> usize {
    if has_routines(element) {
        return expression.add(Term::Position { at, element });
    }
    let wide = ElementType::I64;
    let number = expression.add(Term::Position { at, element: wide });
    expression.add(Term::Apply {
        op: Elementwise::Convert.into(),
        operands: vec![number],
        element,
    })
}
