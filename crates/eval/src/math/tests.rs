//! Operations on tensors; elements have their tests beside the functions.

use super::*;
use ElementType::{C64, F8E4M3FN, F32, I1, I8};
use artifact_ir::attribute::{ComparisonDirection, ResultAccuracy};
use artifact_ir::op::{BroadcastBinary, Chlo, Transcendental};
use artifact_ir::types::{Element, QuantizationParameters, QuantizedType};

fn ty(shape: &[u64], element: impl Into<Element>) -> Arc<TensorType> {
    Arc::new(TensorType::of_static(shape, element))
}

fn floats(values: &[f64]) -> Tensor {
    let scalars: Vec<_> = values.iter().copied().map(Scalar::Float).collect();
    Tensor::from_scalars(ty(&[values.len() as u64], F32), &scalars).unwrap()
}

fn scalars(tensor: &Tensor) -> Vec<Scalar> {
    tensor.scalars().collect()
}

#[test]
fn scalar_bounds_and_predicates() {
    let scalar = |value| Tensor::from_scalars(ty(&[], F32), &[Scalar::Float(value)]).unwrap();
    let operand = floats(&[-5.0, 0.5, 5.0]);
    let clamped = elementwise(
        &Elementwise::Clamp,
        &[scalar(-1.0), operand.clone(), scalar(1.0)],
        operand.ty(),
    )
    .unwrap();
    assert_eq!(scalars(&clamped), [-1.0, 0.5, 1.0].map(Scalar::Float));
    let pred = Tensor::from_scalars(ty(&[], I1), &[Scalar::Bool(false)]).unwrap();
    let selected = elementwise(
        &Elementwise::Select,
        &[pred, clamped, operand.clone()],
        operand.ty(),
    )
    .unwrap();
    assert_eq!(selected.bytes(), operand.bytes());
}

#[test]
fn results_of_another_class() {
    let complex = Tensor::from_scalars(ty(&[1], C64), &[Scalar::Complex(3.0e30, 4.0e30)]).unwrap();
    let magnitude = unary(&Unary::Abs, &complex, &ty(&[1], F32)).unwrap();
    assert_eq!(scalars(&magnitude), [Scalar::Float(f64::from(5.0e30_f32))]);
    let finite = unary(&Unary::IsFinite, &floats(&[1.0, f64::NAN]), &ty(&[2], I1)).unwrap();
    assert_eq!(scalars(&finite), [Scalar::Bool(true), Scalar::Bool(false)]);
    let narrow = elementwise(&Elementwise::Convert, &[floats(&[1.1, 1e9])], &ty(&[2], F8E4M3FN)).unwrap();
    assert_eq!(narrow.bytes(), [0x39, 0x7F]);
}

/// An operation that its element type does not have is an error, not a panic.
#[test]
fn undefined_operations() {
    let error = unary(&Unary::Popcnt, &floats(&[1.0]), &ty(&[1], F32)).unwrap_err();
    assert_eq!(
        error.to_string(),
        "stablehlo.popcnt is not defined for elements of type f32"
    );
    assert!(binary(&Binary::And, &floats(&[1.0]), &floats(&[1.0]), &ty(&[1], F32)).is_err());
    assert!(
        binary(
            &Binary::Add,
            &floats(&[1.0]),
            &floats(&[1.0, 2.0]),
            &ty(&[1], F32)
        )
        .is_err()
    );
    assert!(elementwise(&Elementwise::Complex, &[floats(&[1.0])], &ty(&[1], C64)).is_err());
}

#[test]
fn quantized_operands() {
    let quantized = |scale, zero_point| {
        Element::Quantized(Arc::new(QuantizedType {
            storage: I8,
            storage_min: -128,
            storage_max: 127,
            expressed: F32,
            axis: None,
            parameters: vec![QuantizationParameters::new(scale, zero_point)],
        }))
    };
    let coarse = ty(&[2], quantized(0.5, -20));
    let lhs = quantize_tensor(&floats(&[1.0, 2.0]), &ty(&[2], quantized(0.1, -30))).unwrap();
    let rhs = quantize_tensor(&floats(&[3.0, 4.0]), &coarse).unwrap();
    let sum = binary(&Binary::Add, &lhs, &rhs, &coarse).unwrap();
    assert_eq!(sum.to_ints().unwrap(), [-12, -8]);
    let less = Elementwise::Compare(Compare {
        comparison_direction: ComparisonDirection::Lt,
        compare_type: None,
    });
    let less = elementwise(&less, &[lhs.clone(), rhs], &ty(&[2], I1)).unwrap();
    assert_eq!(scalars(&less), [Scalar::Bool(true); 2]);
    let requantized = elementwise(&Elementwise::UniformQuantize, &[lhs], &coarse).unwrap();
    assert_eq!(requantized.to_ints().unwrap(), [-18, -16]);
}

#[test]
fn client_operations() {
    let broadcast = Chlo::BroadcastMultiply(BroadcastBinary {
        broadcast_dimensions: None,
    });
    let scalar = Tensor::from_scalars(ty(&[], F32), &[Scalar::Float(2.0)]).unwrap();
    let result = chlo(&broadcast, &[floats(&[1.0, 3.0]), scalar], &[ty(&[2], F32)])
        .unwrap()
        .unwrap();
    assert_eq!(scalars(&result[0]), [2.0, 6.0].map(Scalar::Float));
    let infinite = chlo(
        &Chlo::IsInf,
        &[floats(&[1.0, f64::NEG_INFINITY])],
        &[ty(&[2], I1)],
    )
    .unwrap()
    .unwrap();
    assert_eq!(scalars(&infinite[0]), [Scalar::Bool(false), Scalar::Bool(true)]);
    let bf16 = ty(&[1], ElementType::BF16);
    let operand = Tensor::from_scalars(Arc::clone(&bf16), &[Scalar::Float(2.0)]).unwrap();
    let sine = unary(
        &Unary::Sine(Transcendental {
            result_accuracy: ResultAccuracy::default(),
        }),
        &operand,
        &bf16,
    )
    .unwrap();
    assert_eq!(scalars(&sine), [Scalar::Float(0.910_156_25)]);
}
