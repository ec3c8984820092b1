//! Factorisations, FFT and batch normalisation.

use super::{n, op_family};
use crate::attribute::{FftType, FloatAttribute, Transpose, op_attributes};

op_family! {
    /// Linear algebra and normalisation.
    Linalg {
        /// operand, scale, mean, variance, gradient of the output.
        BatchNormGrad(BatchNorm) = "stablehlo.batch_norm_grad": n(5) => n(3),
        /// operand, scale, offset, mean, variance.
        BatchNormInference(BatchNorm) = "stablehlo.batch_norm_inference": n(5) => n(1),
        /// operand, scale, offset.
        BatchNormTraining(BatchNorm) = "stablehlo.batch_norm_training": n(3) => n(3),
        /// Cholesky factor of each matrix.
        Cholesky(Cholesky) = "stablehlo.cholesky": n(1) => n(1),
        /// Fourier transforms over the last one to three dimensions.
        Fft(Fft) = "stablehlo.fft": n(1) => n(1),
        /// a, b.
        TriangularSolve(TriangularSolve) = "stablehlo.triangular_solve": n(2) => n(1),
    }
}

op_attributes! {
    /// Attributes of the batch normalisations.
    BatchNorm {
        /// Added to the variance; an `f32`.
        epsilon: FloatAttribute => required,
        /// The dimension that holds features.
        feature_index: i64 => required,
    }

    /// Attributes of `cholesky`.
    Cholesky {
        /// Whether the lower triangle is read and written.
        lower: bool => default(false),
    }

    /// Attributes of `fft`.
    Fft {
        /// Which transform.
        fft_type: FftType => required,
        /// Length of each transformed dimension.
        fft_length: Vec<i64> => required,
    }

    /// Attributes of `triangular_solve`.
    TriangularSolve {
        /// op(a) x = b, else x op(a) = b.
        left_side: bool => required,
        /// Whether `a` is lower triangular.
        lower: bool => required,
        /// Whether the diagonal of `a` is taken as ones.
        unit_diagonal: bool => required,
        /// op: identity, transpose or adjoint.
        transpose_a: Transpose => required,
    }
}
