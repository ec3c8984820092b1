//! Compares the engine with the evaluator on programs of static shape, with random inputs.
use artifact_dims::{Assignment, Scope};
use artifact_eval::comparison::{Closeness, difference};
use artifact_eval::tensor::Tensor;
use artifact_eval::{Options, Value, evaluate};
use artifact_ir::literal::Literal;
use artifact_ir::types::ElementType;
use artifact_refine::{Fact, refine};
use std::sync::Arc;

fn main() {
    let mut seed = 12345_u64;
    let mut next = move || {
        seed = seed
            .wrapping_mul(6364136223846793005)
            .wrapping_add(1442695040888963407);
        (seed >> 33) as u32
    };
    let (mut ok, mut bad, mut refused) = (0, 0, 0);
    let quiet = std::env::var("QUIET").is_ok();
    for path in std::env::args().skip(1) {
        let text = std::fs::read_to_string(&path).unwrap();
        let Ok(module) = artifact_stablehlo::parse::parse_module(&text).into_module() else {
            refused += 1;
            continue;
        };
        if !artifact_ir::verify::verify(&module).is_empty() {
            refused += 1;
            continue;
        }
        let Some(entry) = module.entry() else {
            refused += 1;
            continue;
        };
        let facts: Vec<Fact> = module.functions[entry]
            .arguments
            .iter()
            .map(|a| Fact::of_type(a.ty.clone()))
            .collect();
        let refined = match refine(&module, entry, &facts, &Scope::default()) {
            Ok(r) => r,
            Err(e) => {
                refused += 1;
                println!("{path}: refine: {e}");
                continue;
            }
        };
        let plan = match artifact_lower::lower(&refined.module, refined.entry, &Default::default()) {
            Ok(p) => p,
            Err(e) => {
                refused += 1;
                println!("{path}: lower: {e}");
                continue;
            }
        };
        let mut inputs = Vec::new();
        for a in &refined.module.functions[refined.entry].arguments {
            let Some(ty) = a.ty.as_tensor() else { continue };
            let n = ty.element_count().unwrap() as usize;
            let e = ty.element.storage();
            let mut bytes = Vec::new();
            for _ in 0..n {
                let r = next();
                let x = (r % 2000) as f64 / 1000.0 - 1.0;
                match e {
                    ElementType::F32 => bytes.extend((x as f32).to_le_bytes()),
                    ElementType::F64 => bytes.extend(x.to_le_bytes()),
                    ElementType::C64 => {
                        bytes.extend((x as f32).to_le_bytes());
                        bytes.extend((-x as f32 * 0.5).to_le_bytes());
                    }
                    ElementType::BF16 => {
                        bytes.extend(((x as f32).to_bits() >> 16).to_le_bytes()[..2].to_vec())
                    }
                    ElementType::I1 => bytes.push((r % 2) as u8),
                    _ => {
                        let mut v = vec![0; e.bytes()];
                        v[0] = (r % 5) as u8;
                        bytes.extend(v)
                    }
                }
            }
            inputs.push((ty.clone(), bytes));
        }
        let values: Vec<Value> = refined.module.functions[refined.entry]
            .arguments
            .iter()
            .scan(inputs.iter(), |it, a| {
                Some(match a.ty.as_tensor() {
                    None => Value::Token,
                    Some(_) => {
                        let (ty, b) = it.next().unwrap();
                        Value::Tensor(
                            Tensor::from_literal(
                                &Literal::dense(ty.clone(), artifact_core::blob::Blob::new(b.clone()))
                                    .unwrap(),
                            )
                            .unwrap(),
                        )
                    }
                })
            })
            .collect();
        let want = match evaluate(&refined.module, refined.entry, values, &Options::default()) {
            Ok(w) => w,
            Err(e) => {
                refused += 1;
                println!("{path}: eval: {e}");
                continue;
            }
        };
        let bytes: Vec<Vec<u8>> = inputs.iter().map(|(_, b)| b.clone()).collect();
        let target = if std::env::var("V3").is_ok() {
            artifact_engine_cpu::Target::X86_64V3
        } else {
            artifact_engine_cpu::Target::detect().unwrap()
        };
        let got = artifact_engine_cpu::run_once(plan, target, 2, &Assignment::default(), &bytes);
        match got {
            Err(e) => {
                bad += 1;
                println!(
                    "{path}: ERROR {e} {:?}",
                    std::error::Error::source(&e).map(|s| s.to_string())
                )
            }
            Ok((got, outcome)) => {
                let mut why = None;
                for f in &outcome.failures {
                    why = Some(format!("check {} {}", f.check, f.message));
                }
                if outcome.checks != want.checks {
                    why = Some(format!("checks {} {}", outcome.checks, want.checks));
                }
                let tensors: Vec<&Tensor> = want.results.iter().filter_map(|v| v.as_tensor().ok()).collect();
                for (index, (w, g)) in tensors.iter().zip(&got).enumerate() {
                    let g = Literal::dense(Arc::clone(w.ty()), artifact_core::blob::Blob::new(g.clone()))
                        .map(|l| Tensor::from_literal(&l).unwrap());
                    let Ok(g) = g else {
                        why = Some("not a value".into());
                        continue;
                    };
                    if let Some(d) = difference(
                        &g,
                        w,
                        Closeness::Relative {
                            rtol: 2e-4,
                            atol: 2e-4,
                        },
                    ) {
                        why = Some(format!("result {index} {}: {d}", w.ty()));
                    }
                }
                match why {
                    None => {
                        ok += 1;
                        if !quiet {
                            println!("{path}: ok")
                        }
                    }
                    Some(w) => {
                        bad += 1;
                        println!("{path}: WRONG {w}")
                    }
                }
            }
        }
    }
    println!("{ok} ok, {bad} wrong, {refused} refused");
}
