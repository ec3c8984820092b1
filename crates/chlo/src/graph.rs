//! Builds one function of StableHLO operations, without an error to handle after each.
//!
//! A [`Graph`] keeps the first operation that could not be built, and everything that depends on it is empty; [`Graph::finish`]
//! reports it. Shapes may be static or not: what needs a shape gets one of [`Size`] for each dimension.

use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::sync::Arc;

use artifact_ir::attribute::{ComparisonDirection, ComparisonType};
use artifact_ir::builder::{BuildError, Builder, RegionBuilder};
use artifact_ir::literal::Literal;
use artifact_ir::module::{Function, ValueId};
use artifact_ir::op::{
    BroadcastInDim, Compare, Concatenate, Constant, Control, Creation, DimensionSize, DynamicBroadcastInDim,
    Elementwise, Iota, Op, Shape,
};
use artifact_ir::types::{Dim, Element, ElementType, TensorType, Type};

use crate::decompose::Refusal;
use crate::number;
use crate::term::Term;

/// What a splat is known by: the value whose shape it has unless that is static, its dimensions and its element.
type SplatKey = (Option<ValueId>, Vec<Dim>, ElementType, Vec<u8>);

/// What a size is known by: its number or the value that it is.
type SizeKey = (Option<u64>, Option<ValueId>);

/// A function, or a region of one, that is being built.
#[derive(Debug)]
pub(crate) struct Graph {
    builder: RefCell<Builder<'static>>,
    failure: RefCell<Option<BuildError>>,
    /// Splats that were made already.
    splats: RefCell<HashMap<SplatKey, Option<ValueId>>>,
    /// The value whose shape every tensor has, in a function that works element by element.
    reference: Cell<Option<ValueId>>,
    /// Sizes that were computed already.
    sizes: RefCell<HashMap<(ValueId, usize), Option<ValueId>>>,
    /// Shape operands that were made already.
    shapes: RefCell<HashMap<Vec<SizeKey>, Option<ValueId>>>,
}

/// The size of a dimension: a number, or an `i64` scalar that the function computes.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Size<'g> {
    Static(u64),
    Computed(Term<'g>),
}

impl Graph {
    pub(crate) fn new(name: &str, arguments: &[Type]) -> Self {
        Self::over(Builder::new(name, arguments))
    }

    fn over(builder: Builder<'static>) -> Self {
        Self {
            builder: RefCell::new(builder),
            failure: RefCell::new(None),
            splats: RefCell::new(HashMap::new()),
            reference: Cell::new(None),
            sizes: RefCell::new(HashMap::new()),
            shapes: RefCell::new(HashMap::new()),
        }
    }

    pub(crate) fn arguments(&self) -> Vec<Term<'_>> {
        let arguments = self.builder.borrow().arguments();
        arguments.into_iter().map(|id| self.term(id)).collect()
    }

    /// Says that from here on every tensor has the shape of this one, so that shapes are computed once.
    pub(crate) fn work_on(&self, reference: Term<'_>) {
        self.reference.set(reference.id());
    }

    pub(crate) const fn term(&self, id: ValueId) -> Term<'_> {
        Term::new(self, Some(id))
    }

    /// The tensor type of a value; `None` after a failure.
    pub(crate) fn tensor(&self, term: Term<'_>) -> Option<Arc<TensorType>> {
        let builder = self.builder.borrow();
        builder.ty(term.id()?)?.as_tensor().map(Arc::clone)
    }

    /// Ends the function. Results are given the declared types, which may say more or less of a size than those computed.
    ///
    /// # Errors
    /// The first operation that could not be built.
    pub(crate) fn finish(self, results: &[ValueId], types: &[Type]) -> Result<Function, Refusal> {
        let declared = results.iter().zip(types).map(|(id, ty)| {
            let declared = self.as_type(self.term(*id), ty);
            declared.id()
        });
        let declared: Option<Vec<ValueId>> = declared.collect();
        if let Some(failure) = self.failure.into_inner() {
            return Err(failure.into());
        }
        let declared = declared.ok_or(Refusal::Form("gives no result"))?;
        Ok(self.builder.into_inner().finish(&declared)?)
    }

    /// The value under a type that may say more or less of its sizes.
    pub(crate) fn as_type<'g>(&'g self, term: Term<'g>, ty: &Type) -> Term<'g> {
        let is_same = term
            .id()
            .is_some_and(|id| self.builder.borrow().ty(id) == Some(ty));
        if is_same {
            return term;
        }
        self.typed(Elementwise::Convert, &[term], ty.clone())
    }

    /// An operation of one result, whose type is inferred.
    pub(crate) fn op<'g>(&'g self, op: impl Into<Op>, operands: &[Term<'_>]) -> Term<'g> {
        Term::new(
            self,
            self.add(op.into(), operands, None, Vec::new()).first().copied(),
        )
    }

    /// An operation of one result of this type.
    pub(crate) fn typed<'g>(&'g self, op: impl Into<Op>, operands: &[Term<'_>], ty: Type) -> Term<'g> {
        let results = self.add(op.into(), operands, Some(&[ty]), Vec::new());
        Term::new(self, results.first().copied())
    }

    /// Any operation. There is no result after a failure.
    pub(crate) fn add(
        &self,
        op: Op,
        operands: &[Term<'_>],
        types: Option<&[Type]>,
        regions: Vec<RegionBuilder<'_, 'static>>,
    ) -> Vec<ValueId> {
        let operands: Option<Vec<ValueId>> = operands.iter().map(|term| term.id()).collect();
        let Some(operands) = operands.filter(|_| self.failure.borrow().is_none()) else {
            return Vec::new();
        };
        let results = self
            .builder
            .borrow_mut()
            .op_with_regions(op, &operands, types, regions);
        results.unwrap_or_else(|error| {
            self.failure.borrow_mut().get_or_insert(error);
            Vec::new()
        })
    }

    /// A constant.
    pub(crate) fn constant(&self, value: Literal) -> Term<'_> {
        self.op(Creation::Constant(Constant { value }), &[])
    }

    /// A constant whose every element has these bytes.
    fn splat_of_type(&self, ty: TensorType, bytes: &[u8]) -> Term<'_> {
        match Literal::splat(Arc::new(ty), bytes) {
            Ok(literal) => self.constant(literal),
            Err(_) => Term::new(self, None),
        }
    }

    /// A tensor in the shape of `like`, whose every element has these bytes.
    pub(crate) fn splat_bytes<'g>(&'g self, like: Term<'_>, element: &Element, bytes: &[u8]) -> Term<'g> {
        let Some(shape) = self.tensor(like) else {
            return Term::new(self, None);
        };
        // Values of one static shape share their constants.
        let like = Term::new(self, self.reference.get().or(like.id()));
        let owner = like.id().filter(|_| !shape.is_static());
        let plain = element.storage();
        let key = (owner, shape.dims.to_vec(), plain, bytes.to_vec());
        let known = self.splats.borrow().get(&key).copied();
        if let (Some(id), Some(_)) = (known, element.as_plain()) {
            return Term::new(self, id);
        }
        let ty = shape.with_element(element.clone());
        let splat = if shape.is_static() {
            self.splat_of_type(ty, bytes)
        } else {
            let scalar = self.splat_of_type(TensorType::new([], element.clone()), bytes);
            let op = DynamicBroadcastInDim {
                broadcast_dimensions: Vec::new(),
                known_expanding_dimensions: None,
                known_nonexpanding_dimensions: None,
            };
            let shape = self.shape_of(like);
            self.typed(
                Shape::DynamicBroadcastInDim(op.into()),
                &[scalar, shape],
                ty.into(),
            )
        };
        if element.as_plain().is_some() {
            self.splats.borrow_mut().insert(key, splat.id());
        }
        splat
    }

    /// A tensor in the shape of `like`, whose every element is the number nearest to `value`.
    pub(crate) fn splat<'g>(&'g self, like: Term<'_>, element: ElementType, value: f64) -> Term<'g> {
        match number::bytes(element, value) {
            Some(bytes) => self.splat_bytes(like, &element.into(), &bytes),
            None => Term::new(self, None),
        }
    }

    /// A scalar of an integer type.
    pub(crate) fn scalar(&self, element: ElementType, value: i64) -> Term<'_> {
        let bytes = value.to_le_bytes();
        self.scalar_of_bytes(element, &bytes[..element.bytes()])
    }

    /// A scalar with these bytes.
    pub(crate) fn scalar_of_bytes(&self, element: ElementType, bytes: &[u8]) -> Term<'_> {
        self.splat_of_type(TensorType::new([], element), bytes)
    }

    /// A vector of `i64`.
    pub(crate) fn vector(&self, values: &[i64]) -> Term<'_> {
        self.constant(Literal::of_i64s(values))
    }

    /// The size of each dimension.
    pub(crate) fn sizes<'g>(&'g self, term: Term<'g>) -> Vec<Size<'g>> {
        let (Some(id), Some(ty)) = (term.id(), self.tensor(term)) else {
            return Vec::new();
        };
        let size = |(dimension, dim): (usize, &Dim)| match dim {
            Dim::Static(size) => Size::Static(*size),
            Dim::Symbolic(_) | Dim::Unknown => Size::Computed(self.size(id, dimension)),
        };
        ty.dims.iter().enumerate().map(size).collect()
    }

    /// The size of a dimension as an `i64` scalar, computed once.
    fn size(&self, id: ValueId, dimension: usize) -> Term<'_> {
        let known = self.sizes.borrow().get(&(id, dimension)).copied();
        let size = known.unwrap_or_else(|| {
            let op = DimensionSize {
                dimension: dimension as i64,
            };
            let size = self.op(Shape::GetDimensionSize(op), &[self.term(id)]);
            let size = size.convert(ElementType::I64).id();
            self.sizes.borrow_mut().insert((id, dimension), size);
            size
        });
        Term::new(self, size)
    }

    /// A size as an `i64` scalar.
    pub(crate) fn size_scalar<'g>(&'g self, size: Size<'g>) -> Term<'g> {
        match size {
            Size::Static(size) => self.scalar(ElementType::I64, size as i64),
            Size::Computed(term) => term,
        }
    }

    /// The shape operand of dynamic operations: a vector of `i64`, made once for each shape.
    pub(crate) fn shape_vector<'g>(&'g self, sizes: &[Size<'g>]) -> Term<'g> {
        let key: Vec<SizeKey> = sizes
            .iter()
            .map(|size| match size {
                Size::Static(size) => (Some(*size), None),
                Size::Computed(term) => (None, term.id()),
            })
            .collect();
        let known = self.shapes.borrow().get(&key).copied();
        let shape = known.unwrap_or_else(|| {
            let shape = self.new_shape_vector(sizes).id();
            self.shapes.borrow_mut().insert(key, shape);
            shape
        });
        Term::new(self, shape)
    }

    fn new_shape_vector<'g>(&'g self, sizes: &[Size<'g>]) -> Term<'g> {
        let known = sizes.iter().map(|size| match size {
            Size::Static(size) => Some(*size as i64),
            Size::Computed(_) => None,
        });
        if let Some(known) = known.collect::<Option<Vec<_>>>() {
            return self.vector(&known);
        }
        let one = |size: &Size<'g>| match size {
            Size::Static(size) => self.vector(&[*size as i64]),
            Size::Computed(term) => {
                self.typed(Shape::Reshape, &[*term], Type::tensor(&[1], ElementType::I64))
            }
        };
        let parts: Vec<Term<'_>> = sizes.iter().map(one).collect();
        match parts.as_slice() {
            [only] => *only,
            parts => self.op(Shape::Concatenate(Concatenate { dimension: 0 }), parts),
        }
    }

    /// The shape of a value as a vector of `i64`.
    fn shape_of<'g>(&'g self, term: Term<'g>) -> Term<'g> {
        self.shape_vector(&self.sizes(term))
    }

    /// Repeats along new dimensions and those of size 1; `dimensions` says where each dimension of the operand goes.
    pub(crate) fn broadcast<'g>(
        &'g self,
        operand: Term<'g>,
        dimensions: &[usize],
        sizes: &[Size<'g>],
        ty: &TensorType,
    ) -> Term<'g> {
        let Some(from) = self.tensor(operand) else {
            return Term::new(self, None);
        };
        let broadcast_dimensions = dimensions.iter().map(|dimension| *dimension as i64).collect();
        let ty = Type::from(ty.with_element(from.element.clone()));
        if from.is_static() && ty.as_tensor().is_some_and(|ty| ty.is_static()) {
            let op = BroadcastInDim { broadcast_dimensions };
            return self.typed(Shape::BroadcastInDim(op), &[operand], ty);
        }
        let op = DynamicBroadcastInDim {
            broadcast_dimensions,
            known_expanding_dimensions: None,
            known_nonexpanding_dimensions: None,
        };
        let shape = self.shape_vector(sizes);
        self.typed(Shape::DynamicBroadcastInDim(op.into()), &[operand, shape], ty)
    }

    /// The same elements in another shape.
    pub(crate) fn reshape<'g>(&'g self, operand: Term<'g>, sizes: &[Size<'g>], dims: &[Dim]) -> Term<'g> {
        let Some(from) = self.tensor(operand) else {
            return Term::new(self, None);
        };
        let ty = TensorType::new(dims, from.element.clone());
        if from.is_static() && ty.is_static() {
            return self.typed(Shape::Reshape, &[operand], ty.into());
        }
        let shape = self.shape_vector(sizes);
        self.typed(Shape::DynamicReshape, &[operand, shape], ty.into())
    }

    /// Positions along one dimension.
    pub(crate) fn iota<'g>(&'g self, dimension: usize, sizes: &[Size<'g>], ty: TensorType) -> Term<'g> {
        let iota = Iota {
            iota_dimension: dimension as i64,
        };
        if ty.is_static() {
            return self.typed(Creation::Iota(iota), &[], ty.into());
        }
        let shape = self.shape_vector(sizes);
        self.typed(Creation::DynamicIota(iota), &[shape], ty.into())
    }

    pub(crate) fn compare<'g>(
        &'g self,
        comparison_direction: ComparisonDirection,
        compare_type: Option<ComparisonType>,
        [a, b]: [Term<'g>; 2],
    ) -> Term<'g> {
        let op = Compare {
            comparison_direction,
            compare_type,
        };
        self.op(Elementwise::Compare(op), &[a, b])
    }

    /// Repeats `body` for positions from 0 up to `count`, an `i64` scalar. `body` gets a graph for the region, the position and
    /// the state, and gives the next state.
    pub(crate) fn repeat<'g>(
        &'g self,
        count: Term<'g>,
        state: &[Term<'g>],
        body: impl for<'r> FnOnce(&'r Self, Term<'r>, &[Term<'r>]) -> Vec<Term<'r>>,
    ) -> Vec<Term<'g>> {
        let position = self.scalar(ElementType::I64, 0);
        let operands: Vec<Term<'g>> = [position].into_iter().chain(state.iter().copied()).collect();
        let ids: Option<Vec<ValueId>> = operands.iter().map(|term| term.id()).collect();
        let (Some(ids), Some(count)) = (ids, count.id()) else {
            return vec![Term::new(self, None); state.len()];
        };
        let types: Option<Vec<Type>> = {
            let builder = self.builder.borrow();
            ids.iter().map(|id| builder.ty(*id).cloned()).collect()
        };
        let types = types.unwrap_or_default();
        let condition = RegionBuilder::new(types.clone(), move |builder, arguments| {
            within(builder, |graph| {
                let position = Term::new(graph, arguments.first().copied());
                let pair = [position, graph.term(count)];
                vec![graph.compare(ComparisonDirection::Lt, None, pair)]
            })
        });
        let step = RegionBuilder::new(types, |builder, arguments| {
            within(builder, |graph| {
                let terms: Vec<Term<'_>> = arguments.iter().map(|id| graph.term(*id)).collect();
                let Some((position, state)) = terms.split_first() else {
                    return Vec::new();
                };
                let next = *position + graph.scalar(ElementType::I64, 1);
                let state = body(graph, *position, state);
                [next].into_iter().chain(state).collect()
            })
        });
        let results = self.add(Control::While.into(), &operands, None, vec![condition, step]);
        if results.len() != operands.len() {
            return vec![Term::new(self, None); state.len()];
        }
        results.into_iter().skip(1).map(|id| self.term(id)).collect()
    }

    /// What one of two regions gives: as many scalars of `i64` each.
    pub(crate) fn choose<'g>(
        &'g self,
        condition: Term<'g>,
        then: impl for<'r> FnOnce(&'r Self) -> Vec<Term<'r>>,
        otherwise: impl for<'r> FnOnce(&'r Self) -> Vec<Term<'r>>,
        count: usize,
    ) -> Vec<Term<'g>> {
        let regions = vec![
            RegionBuilder::new(Vec::new(), |builder, _| within(builder, then)),
            RegionBuilder::new(Vec::new(), |builder, _| within(builder, otherwise)),
        ];
        let types = vec![Type::tensor(&[], ElementType::I64); count];
        let results = self.add(Control::If.into(), &[condition], Some(&types), regions);
        let term = |index: usize| Term::new(self, results.get(index).copied());
        (0..count).map(term).collect()
    }
}

/// Runs `build` on a graph over a builder that is in a region, and gives what the region returns.
pub(crate) fn within(
    builder: &mut Builder<'static>,
    build: impl for<'r> FnOnce(&'r Graph) -> Vec<Term<'r>>,
) -> Result<Vec<ValueId>, BuildError> {
    let graph = Graph::over(std::mem::replace(builder, Builder::new("", &[])));
    let returns: Option<Vec<ValueId>> = build(&graph).into_iter().map(Term::id).collect();
    *builder = graph.builder.into_inner();
    match (graph.failure.into_inner(), returns) {
        (Some(failure), _) => Err(failure),
        (None, returns) => Ok(returns.unwrap_or_default()),
    }
}
