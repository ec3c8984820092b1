//! Products: of matrices and of windows.

use std::sync::Arc;

use artifact_core::blob::Blob;
use artifact_ir::attribute::{ByteString, ConvDimensionNumbers, DotDimensionNumbers, Padding};
use artifact_ir::literal::Literal;
use artifact_ir::op::{Contraction, Convolution, Dot, DotGeneral, Einsum};
use artifact_ir::types::{Dim, ElementType, TensorType};

use super::draft::{Draft, Made};
use super::facts::Facts;
use super::movement::permutation;
use super::value::Known;

/// Most products of two elements that one operation sums.
const WORK_MAX: u64 = 1 << 18;

fn multiplies(known: &Known) -> bool {
    known.element().bits() > 8 || !known.element().is_float()
}

/// Two factors of which sums of `count` products can be told; made smaller where they cannot.
pub(super) fn factors(
    draft: &mut Draft<'_, '_>,
    left: Known,
    right: Known,
    count: u64,
    result: ElementType,
) -> Made<Option<(Known, Known, Facts)>> {
    let element = left.element();
    if !(element.is_float() || element.is_complex()) {
        return Ok(Some((left, right, Facts::ANY)));
    }
    let product = |left: &Known, right: &Known| {
        let terms = if element.is_complex() { 2 } else { 1 };
        let mut product = left.facts.times(&right.facts);
        if element.is_complex() {
            let reach = product.magnitude();
            product = product.with_bounds(-reach, reach);
        }
        let sum = product.sum(count * terms, narrower(element, result))?;
        // A sum of one product, or of complex ones, may be a zero of either sign: whether it begins with a zero is up to the engine.
        let signless = (count <= 1 || element.is_complex() || draft.setting.is_symbolic())
            && product.low <= 0.0
            && sum.is_exact();
        Some(if signless {
            sum.with_error(f64::MIN_POSITIVE)
        } else {
            sum
        })
    };
    if let Some(facts) = product(&left, &right) {
        return Ok(Some((left, right, facts)));
    }
    if element.is_complex() {
        return Ok(None);
    }
    let (left, right) = (draft.tamed(&left, -1.0, 1.0)?, draft.tamed(&right, -1.0, 1.0)?);
    let facts = product(&left, &right);
    Ok(facts.map(|facts| (left, right, facts)))
}

/// The type of which errors count.
fn narrower(one: ElementType, other: ElementType) -> ElementType {
    if one.bits() <= other.bits() { one } else { other }
}

/// Which dimensions of two values go together.
#[derive(Default)]
struct Pairs {
    batch: [Vec<i64>; 2],
    contracted: [Vec<i64>; 2],
}

impl Pairs {
    fn draw(draft: &Draft<'_, '_>, left: &Known, right: &Known) -> Self {
        let mut pairs = Self::default();
        let mut taken = Vec::new();
        for dim in permutation(draft.choices, left.rank()) {
            let same =
                |other: &usize| left.ty.dims[dim as usize] == right.ty.dims[*other] && !taken.contains(other);
            let fitting: Vec<usize> = (0..right.rank()).filter(same).collect();
            let role = *draft.choices.weighted(&[(4, 0), (2, 1), (2, 2)]);
            if fitting.is_empty() || role == 2 {
                continue;
            }
            let other = *draft.choices.pick(&fitting);
            taken.push(other);
            let list = if role == 0 {
                &mut pairs.contracted
            } else {
                &mut pairs.batch
            };
            list[0].push(dim);
            list[1].push(other as i64);
        }
        pairs
    }

    /// Sizes of the result, and how many products an element of it sums.
    fn shape(&self, draft: &Draft<'_, '_>, left: &Known, right: &Known) -> (Vec<Dim>, u64) {
        let free = |side: usize, of: &Known| {
            let is_free = |dim: &usize| {
                let dim = *dim as i64;
                !self.batch[side].contains(&dim) && !self.contracted[side].contains(&dim)
            };
            (0..of.rank())
                .filter(is_free)
                .map(|dim| of.ty.dims[dim].clone())
                .collect::<Vec<_>>()
        };
        let batch = self.batch[0]
            .iter()
            .map(|dim| left.ty.dims[*dim as usize].clone());
        let dims = batch.chain(free(0, left)).chain(free(1, right)).collect();
        let sizes = self.contracted[0].iter().map(|dim| {
            draft
                .setting
                .size(&left.ty.dims[*dim as usize])
                .unwrap_or(WORK_MAX)
        });
        (dims, sizes.product())
    }
}

/// The type of a product: sometimes one that is wider.
fn result_element(draft: &Draft<'_, '_>, element: ElementType) -> ElementType {
    let wider = match element {
        ElementType::BF16 | ElementType::F16 => ElementType::F32,
        ElementType::I8 | ElementType::I16 | ElementType::I4 => ElementType::I32,
        ElementType::UI8 | ElementType::UI4 => ElementType::UI32,
        other => other,
    };
    if draft.choices.once_in(3) { wider } else { element }
}

pub(super) fn dot_general(draft: &mut Draft<'_, '_>) -> Made<()> {
    let Some(left) = draft.find(|known| known.rank() >= 1 && multiplies(known)) else {
        return Ok(());
    };
    let element = left.element();
    let shares = |known: &Known| {
        known.element() == element && known.ty.dims.iter().any(|dim| left.ty.dims.contains(dim))
    };
    let right = match draft.choices.once_in(3) {
        true => None,
        false => draft.find(shares),
    };
    let right = match (right, left.ty.static_shape()) {
        (Some(right), _) => right,
        (None, Some(shape)) => {
            let inner = *draft.choices.pick(&shape);
            let columns = *draft.choices.pick(&[3, 1, 2, 8, 17, 33]);
            let shape = if draft.choices.flip() {
                [inner, columns]
            } else {
                [columns, inner]
            };
            draft.fresh(&shape, element)?
        }
        (None, None) => left.clone(),
    };
    let pairs = Pairs::draw(draft, &left, &right);
    let (dims, count) = pairs.shape(draft, &left, &right);
    let result = result_element(draft, element);
    let ty = TensorType::new(dims, result);
    let Some(elements) = draft
        .setting
        .count(&ty)
        .filter(|count| *count <= draft.setting.elements_max)
    else {
        return Ok(());
    };
    if ty.rank() > 6 || elements * count > WORK_MAX {
        return Ok(());
    }
    let Some((left, right, facts)) = factors(draft, left, right, count, result)? else {
        return Ok(());
    };
    let [lhs_batching_dimensions, rhs_batching_dimensions] = pairs.batch;
    let [lhs_contracting_dimensions, rhs_contracting_dimensions] = pairs.contracted;
    let op = Contraction::DotGeneral(Box::new(DotGeneral {
        dot_dimension_numbers: DotDimensionNumbers {
            lhs_batching_dimensions,
            rhs_batching_dimensions,
            lhs_contracting_dimensions,
            rhs_contracting_dimensions,
        },
        precision_config: None,
        algorithm: None,
    }));
    draft.add_typed(op, &[&left, &right], ty, facts).map(drop)
}

/// The legacy forms, of matrices.
pub(super) fn legacy_dot(draft: &mut Draft<'_, '_>) -> Made<()> {
    let suits = |known: &Known| known.rank() == 2 && multiplies(known) && known.ty.is_static();
    let Some(left) = draft.find(suits) else {
        return Ok(());
    };
    let einsum = |text: &str| Einsum {
        einsum_config: ByteString::from(text),
    };
    let shape = left.shape();
    if draft.choices.once_in(3) {
        let ty = TensorType::of_static(&[shape[1], shape[0]], left.element());
        let op = Contraction::UnaryEinsum(einsum("ab->ba"));
        return draft.add_typed(op, &[&left], ty, left.facts).map(drop);
    }
    let columns = *draft.choices.pick(&[3, 1, 8, 17]);
    let right = draft.fresh(&[shape[1], columns], left.element())?;
    let ty = TensorType::of_static(&[shape[0], columns], left.element());
    if shape[0] * shape[1] * columns > WORK_MAX || shape[0] * columns > draft.setting.elements_max {
        return Ok(());
    }
    let element = left.element();
    let Some((left, right, facts)) = factors(draft, left, right, shape[1], element)? else {
        return Ok(());
    };
    let op = match draft.choices.flip() {
        true => Contraction::Einsum(einsum("ab,bc->ac")),
        false => Contraction::Dot(Dot {
            precision_config: None,
        }),
    };
    draft.add_typed(op, &[&left, &right], ty, facts).map(drop)
}

/// One spatial dimension of a convolution.
struct Spatial {
    kernel: u64,
    stride: i64,
    padding: [i64; 2],
    input_dilation: i64,
    kernel_dilation: i64,
    output: u64,
}

impl Spatial {
    fn draw(draft: &Draft<'_, '_>, size: u64) -> Self {
        let choices = draft.choices;
        let size = size as i64;
        let input_dilation = *choices.pick(&[1, 1, 1, 2]);
        let kernel_dilation = *choices.pick(&[1, 1, 1, 2, 3]);
        let padding = [*choices.pick(&[0, 1, 2, -1]), *choices.pick(&[0, 1, 2, -1])];
        let padding = if size < 3 { padding.map(i64::abs) } else { padding };
        let dilated = if size == 0 {
            0
        } else {
            (size - 1) * input_dilation + 1
        };
        let wide = dilated + padding[0] + padding[1];
        let fitting: Vec<i64> = [1, 2, 3, 5]
            .into_iter()
            .filter(|own| *own == 1 || (own - 1) * kernel_dilation < wide)
            .collect();
        let kernel = *choices.pick(&fitting);
        let stride = *choices.pick(&[1, 2, 3]);
        let window = (kernel - 1) * kernel_dilation + 1;
        let output = if wide < window {
            0
        } else {
            (wide - window) / stride + 1
        };
        Self {
            kernel: kernel.unsigned_abs(),
            stride,
            padding,
            input_dilation,
            kernel_dilation,
            output: output.unsigned_abs(),
        }
    }
}

/// What a convolution works on: which dimension of the input is which, how it is cut into groups, and its windows.
struct Layers {
    order: Vec<i64>,
    batch: Dim,
    features: u64,
    groups: u64,
    batch_groups: u64,
    outputs: u64,
    spatial: Vec<Spatial>,
}

impl Layers {
    fn draw(draft: &Draft<'_, '_>, input: &Known) -> Option<Self> {
        let choices = draft.choices;
        let order = permutation(choices, input.rank());
        let dim = |role: usize| &input.ty.dims[order[role] as usize];
        let (batch, features) = (dim(0).clone(), dim(1).as_static()?);
        let sizes: Option<Vec<u64>> = (2..input.rank()).map(|role| dim(role).as_static()).collect();
        let spatial = sizes?.iter().map(|size| Spatial::draw(draft, *size)).collect();
        let halves = |size: u64| size > 0 && size.is_multiple_of(2);
        let groups = match halves(features) && choices.flip() {
            true if choices.once_in(3) => features,
            true => 2,
            false => 1,
        };
        let batch_groups = match batch.as_static() {
            Some(size) if groups == 1 && halves(size) && choices.once_in(6) => 2,
            _ => 1,
        };
        let outputs = groups * batch_groups * *choices.pick(&[1, 2, 3, 8]);
        Some(Self {
            order,
            batch,
            features,
            groups,
            batch_groups,
            outputs,
            spatial,
        })
    }

    /// Products that an element of the result sums.
    fn window(&self) -> u64 {
        let kernel = self.spatial.iter().map(|one| one.kernel);
        kernel.product::<u64>() * (self.features / self.groups)
    }

    /// Sizes of the kernel: output features, input features, windows.
    fn kernel(&self) -> Vec<u64> {
        let features = [self.outputs, self.features / self.groups];
        features
            .into_iter()
            .chain(self.spatial.iter().map(|one| one.kernel))
            .collect()
    }

    /// Sizes of the result: batch, features, places of windows.
    fn output(&self) -> Vec<Dim> {
        let batch = match self.batch.as_static() {
            Some(size) => Dim::Static(size / self.batch_groups),
            None => self.batch.clone(),
        };
        let places = self.spatial.iter().map(|one| Dim::Static(one.output));
        [batch, Dim::Static(self.outputs)]
            .into_iter()
            .chain(places)
            .collect()
    }

    fn op(&self, draft: &Draft<'_, '_>, kernel: &[i64], output: &[i64]) -> Convolution {
        let column = |of: fn(&Spatial) -> i64| Some(self.spatial.iter().map(of).collect());
        let reversal = self.spatial.iter().map(|_| draft.choices.once_in(4)).collect();
        let order = &self.order;
        Convolution {
            window_strides: column(|one| one.stride),
            padding: Some(Padding(self.spatial.iter().map(|one| one.padding).collect())),
            lhs_dilation: column(|one| one.input_dilation),
            rhs_dilation: column(|one| one.kernel_dilation),
            window_reversal: Some(reversal),
            dimension_numbers: ConvDimensionNumbers {
                input_batch_dimension: order[0],
                input_feature_dimension: order[1],
                input_spatial_dimensions: order[2..].to_vec(),
                kernel_output_feature_dimension: kernel[0],
                kernel_input_feature_dimension: kernel[1],
                kernel_spatial_dimensions: kernel[2..].to_vec(),
                output_batch_dimension: output[0],
                output_feature_dimension: output[1],
                output_spatial_dimensions: output[2..].to_vec(),
            },
            feature_group_count: self.groups as i64,
            batch_group_count: self.batch_groups as i64,
            precision_config: None,
        }
    }
}

/// The padding as an operand.
#[expect(clippy::expect_used, reason = "the bytes are made for the type")]
fn padding_operand(draft: &mut Draft<'_, '_>, padding: &[[i64; 2]]) -> Made {
    let ty = TensorType::of_static(&[padding.len() as u64, 2], ElementType::I64);
    let bytes = padding
        .as_flattened()
        .iter()
        .flat_map(|amount| amount.to_le_bytes());
    let literal = Literal::dense(Arc::new(ty), Blob::new(bytes.collect()));
    draft.constant(
        literal.expect("two numbers for each dimension"),
        Facts::of(ElementType::I64),
    )
}

/// Sizes by their roles, as an array has them where role `i` is dimension `order[i]`.
fn placed<T: Clone>(order: &[i64], roles: &[T]) -> Vec<T> {
    let mut dims = roles.to_vec();
    for (role, position) in roles.iter().zip(order) {
        dims[*position as usize] = role.clone();
    }
    dims
}

fn image(draft: &mut Draft<'_, '_>) -> Made {
    let element = *draft.choices.pick(super::shapes::FLOATS);
    let shape = [
        *draft.choices.pick(&[2, 1, 4]),
        *draft.choices.pick(&[5, 8, 17]),
        *draft.choices.pick(&[3, 7, 9]),
        *draft.choices.pick(&[4, 1, 2, 16]),
    ];
    draft.fresh(&shape, element)
}

pub(super) fn convolution(draft: &mut Draft<'_, '_>) -> Made<()> {
    let suits =
        |known: &Known| (3..=4).contains(&known.rank()) && multiplies(known) && !known.element().is_boolean();
    let input = match draft.find(suits) {
        Some(input) => input,
        None => image(draft)?,
    };
    let Some(layers) = Layers::draw(draft, &input) else {
        return Ok(());
    };
    let element = input.element();
    let (kernel_order, output_order) = (
        permutation(draft.choices, input.rank()),
        permutation(draft.choices, input.rank()),
    );
    let kernel_shape = placed(&kernel_order, &layers.kernel());
    let dims = placed(&output_order, &layers.output());
    let ty = TensorType::new(dims, result_element(draft, element));
    let elements = draft.setting.count(&ty).unwrap_or(u64::MAX);
    let work = elements.saturating_mul(layers.window().max(1));
    if elements > draft.setting.elements_max
        || work > WORK_MAX
        || kernel_shape.iter().product::<u64>() > draft.setting.elements_max
    {
        return Ok(());
    }
    let kernel = draft.fresh(&kernel_shape, element)?;
    let result = ty.element.storage();
    let Some((input, kernel, facts)) = factors(draft, input, kernel, layers.window(), result)? else {
        return Ok(());
    };
    let op = Box::new(layers.op(draft, &kernel_order, &output_order));
    if draft.choices.once_in(8) {
        let amounts: Vec<[i64; 2]> = layers.spatial.iter().map(|one| one.padding).collect();
        let padding = padding_operand(draft, &amounts)?;
        let op = Contraction::DynamicConv(Box::new(Convolution { padding: None, ..*op }));
        return draft
            .add_typed(op, &[&input, &kernel, &padding], ty, facts)
            .map(drop);
    }
    draft
        .add_typed(Contraction::Convolution(op), &[&input, &kernel], ty, facts)
        .map(drop)
}
