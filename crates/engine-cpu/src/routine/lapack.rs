//! LAPACK, as JAX's exports call it: what the routines of linear algebra do, behind another name.

use std::sync::Arc;

use artifact_cpu_routine::linalg::{System, Transform};
use artifact_ir::attribute::Attribute;
use artifact_ir::op::CustomCall;
use artifact_ir::types::ElementType;

use super::linear::{BoundCholesky, is_field, solve};
use super::{Array, BoundRoutine, Hands, Routine, Site};
use crate::error::CpuError;

/// The routine that a custom call names; `None` where the evaluator does it.
pub(super) fn call(site: &Site<'_>, call: &CustomCall) -> Option<BoundRoutine> {
    let name = call.call_target_name.as_str()?;
    let name = name.strip_prefix("lapack_")?.strip_suffix("_ffi")?;
    let (precision, name) = name.split_at_checked(1)?;
    let element = match precision {
        "s" => ElementType::F32,
        "d" => ElementType::F64,
        "c" => ElementType::C64,
        "z" => ElementType::C128,
        _ => return None,
    };
    let options = Options::of(site, call)?;
    match name {
        "potrf" => potrf(site, call, &options, element),
        "trsm" => trsm(site, call, &options, element),
        _ => None,
    }
}

/// LAPACK's letters.
struct Options<'a>(&'a Attribute);

impl<'a> Options<'a> {
    /// The dictionary of a typed custom call; JAX keeps it beside the operation's own attributes.
    fn of(site: &Site<'a>, call: &'a CustomCall) -> Option<Self> {
        match &call.backend_config {
            Some(options @ Attribute::Dictionary(_)) => Some(Self(options)),
            _ => site.op.attributes.get("mhlo.backend_config").map(Self),
        }
    }

    /// An option as the code of its letter.
    fn letter(&self, name: &str) -> Option<u8> {
        let Attribute::Dictionary(options) = self.0 else {
            return None;
        };
        u8::try_from(options.get(name)?.as_i64()?).ok()
    }

    /// Whether an option is the first of two letters.
    fn is_first(&self, name: &str, letters: [u8; 2]) -> Option<bool> {
        let letter = self.letter(name)?;
        letters.contains(&letter).then_some(letter == letters[0])
    }
}

/// Whether an array of matrices has its columns where LAPACK looks for them, so that it sees the matrices of the program.
fn is_seen(layouts: Option<&Attribute>, index: usize, rank: usize) -> bool {
    let mut columns_first: Vec<i64> = (0..rank as i64).rev().collect();
    if rank < 2 {
        return false;
    }
    columns_first.swap(0, 1);
    let Some(Attribute::Array(layouts)) = layouts else {
        return false;
    };
    match layouts.get(index) {
        Some(Attribute::Elements(order)) => order.to_i64s(rank) == Some(columns_first),
        _ => false,
    }
}

fn potrf(
    site: &Site<'_>,
    call: &CustomCall,
    options: &Options<'_>,
    element: ElementType,
) -> Option<BoundRoutine> {
    let ([a], [factor, info]) = (site.operands.as_slice(), site.results.as_slice()) else {
        return None;
    };
    let rank = a.shape.len();
    let (operands, results) = (call.operand_layouts.as_ref(), call.result_layouts.as_ref());
    let seen = is_seen(operands, 0, rank) && is_seen(results, 0, rank);
    let [batch @ .., rows, columns] = a.shape.as_slice() else {
        return None;
    };
    let fits = seen && rows == columns && factor.shape == a.shape && info.shape == batch;
    let types = (a.element, factor.element, info.element) == (element, element, ElementType::I32);
    (fits && types && is_field(element)).then_some(())?;
    let cholesky = BoundCholesky {
        lower: options.is_first("uplo", [b'L', b'U'])?,
        a: a.clone(),
        out: factor.clone(),
    };
    let info = info.clone();
    Some(Arc::new(Potrf { cholesky, info }))
}

/// The Cholesky factor in one triangle, the other triangle as it was; 0 for each matrix that has one. A matrix without a factor
/// is left to the evaluator, which says where that shows.
#[derive(Debug)]
struct Potrf {
    cholesky: BoundCholesky,
    info: Array,
}

impl Potrf {
    /// Positions of the elements of a row of the triangle that is not computed.
    fn other_triangle(&self, row: usize, size: usize) -> std::ops::Range<usize> {
        if self.cholesky.lower {
            row + 1..size
        } else {
            0..row
        }
    }

    fn size(&self) -> usize {
        self.cholesky.a.shape.last().copied().unwrap_or(0)
    }

    /// Offsets of the rows of all matrices, each with its number in its matrix.
    fn rows(&self) -> impl Iterator<Item = (usize, usize)> {
        let (size, width) = (self.size(), self.cholesky.a.element.bytes());
        let count = self
            .cholesky
            .a
            .shape
            .split_last()
            .map_or(0, |(_, rows)| rows.iter().product());
        (0..count).map(move |row| (row * size * width, row % size.max(1)))
    }
}

impl Routine for Potrf {
    unsafe fn run(&self, hands: Hands<'_>) -> Result<(), CpuError> {
        let buffers = hands.buffers;
        // SAFETY: the caller's promise.
        unsafe { self.cholesky.run(hands)? };
        let (from, to) = (buffers[self.cholesky.a.buffer], buffers[self.cholesky.out.buffer]);
        let (size, width) = (self.size(), self.cholesky.a.element.bytes());
        for (start, row) in self.rows() {
            let range = self.other_triangle(row, size);
            let start = start + range.start * width;
            // SAFETY: both arrays have such a row.
            unsafe {
                let (from, to) = (from.add(start), to.add(start));
                std::ptr::copy_nonoverlapping(from, to, range.len() * width);
            }
        }
        // SAFETY: the array has so many bytes.
        unsafe { buffers[self.info.buffer].write_bytes(0, self.info.bytes()) };
        Ok(())
    }

    unsafe fn is_declined(&self, buffers: &[*mut u8]) -> bool {
        let width = self.cholesky.a.element.bytes();
        let is_wide = self.cholesky.a.element.part() == ElementType::F64;
        self.rows().any(|(start, row)| {
            let pivot = buffers[self.cholesky.out.buffer].wrapping_add(start + row * width);
            // SAFETY: an element of the diagonal; of a complex one, the real part.
            unsafe {
                if is_wide {
                    pivot.cast::<f64>().read_unaligned().is_nan()
                } else {
                    pivot.cast::<f32>().read_unaligned().is_nan()
                }
            }
        })
    }
}

fn trsm(
    site: &Site<'_>,
    call: &CustomCall,
    options: &Options<'_>,
    element: ElementType,
) -> Option<BoundRoutine> {
    let ([a, b, rest @ ..], [out]) = (site.operands.as_slice(), site.results.as_slice()) else {
        return None;
    };
    // Exporters of 2024 pass a number by which `b` is multiplied; others the shape of the result.
    let is_plain = rest.iter().all(|array| array.element.is_integer());
    let rank = a.shape.len();
    let operands = call.operand_layouts.as_ref();
    let seen = is_seen(operands, 0, rank) && is_seen(operands, 1, b.shape.len());
    let seen = seen && is_seen(call.result_layouts.as_ref(), 0, out.shape.len());
    let alike = [a, b, out].iter().all(|array| array.element == element);
    let batch = |array: &Array| array.shape[..rank.saturating_sub(2)].to_vec();
    let fits = b.shape == out.shape && b.shape.len() == rank && batch(a) == batch(b);
    (is_plain && seen && alike && fits && is_field(element)).then_some(())?;
    let system = System {
        left_side: options.is_first("side", [b'L', b'R'])?,
        lower: options.is_first("uplo", [b'L', b'U'])?,
        unit_diagonal: options.is_first("diag", [b'U', b'N'])?,
        transform: match options.letter("trans_x")? {
            b'N' => Transform::Identity,
            b'T' => Transform::Transpose,
            b'C' => Transform::Adjoint,
            _ => return None,
        },
    };
    Some(solve(system, [a.clone(), b.clone(), out.clone()]))
}
