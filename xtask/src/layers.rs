//! `layers`: which crate may depend on which, as a list. A dependency that is not in the list is an error.
//!
//! A new edge is a decision: add it to [`LAYERS`] and to the table in `docs/ARCHITECTURE.md` in the same change, and
//! say why. Development dependencies may reach further (tests read programs from text), but they are listed too.

use std::collections::BTreeMap;

use crate::failure::{Findings, Outcome};
use crate::workspace::{DependencyKind, Workspace};

/// Edges on the longest chain of normal and build dependencies. Deep chains serialise compilation.
const CHAIN_EDGES_MAX: usize = 7;

/// One crate and the crates of the workspace that it may use.
#[derive(Debug)]
struct Layer {
    name: &'static str,
    /// In `[dependencies]` and `[build-dependencies]`.
    uses: &'static [&'static str],
    /// In `[dev-dependencies]`, besides `uses`.
    tests_use: &'static [&'static str],
}

/// The allowed edges, lowest crate first.
const LAYERS: &[Layer] = &[
    Layer {
        name: "artifact-core",
        uses: &[],
        tests_use: &[],
    },
    Layer {
        name: "artifact-container",
        uses: &["artifact-core"],
        tests_use: &["artifact-forge"],
    },
    Layer {
        name: "artifact-cache",
        uses: &["artifact-core"],
        tests_use: &[],
    },
    Layer {
        name: "artifact-sharding",
        uses: &["artifact-core"],
        tests_use: &["artifact-testkit"],
    },
    Layer {
        name: "artifact-flatbuffer",
        uses: &[],
        tests_use: &[],
    },
    Layer {
        name: "artifact-proto",
        uses: &["artifact-flatbuffer"],
        tests_use: &[],
    },
    Layer {
        name: "artifact-jax",
        uses: &[
            "artifact-core",
            "artifact-dims",
            "artifact-flatbuffer",
            "artifact-proto",
        ],
        tests_use: &["artifact-container", "artifact-testkit"],
    },
    Layer {
        name: "artifact-dims",
        uses: &["artifact-core"],
        tests_use: &["artifact-testkit"],
    },
    Layer {
        name: "artifact-ir",
        uses: &["artifact-core", "artifact-dims"],
        tests_use: &[],
    },
    Layer {
        name: "artifact-stablehlo",
        uses: &["artifact-core", "artifact-ir"],
        tests_use: &["artifact-testkit"],
    },
    Layer {
        name: "artifact-eval",
        uses: &["artifact-core", "artifact-ir"],
        tests_use: &["artifact-stablehlo", "artifact-testkit"],
    },
    Layer {
        name: "artifact-chlo",
        uses: &["artifact-core", "artifact-ir"],
        tests_use: &[
            "artifact-dims",
            "artifact-eval",
            "artifact-refine",
            "artifact-stablehlo",
            "artifact-testkit",
        ],
    },
    Layer {
        name: "artifact-stage",
        uses: &["artifact-core", "artifact-dims", "artifact-ir"],
        tests_use: &["artifact-eval", "artifact-refine", "artifact-stablehlo"],
    },
    Layer {
        name: "artifact-refine",
        uses: &["artifact-core", "artifact-dims", "artifact-ir"],
        tests_use: &["artifact-eval", "artifact-stablehlo", "artifact-testkit"],
    },
    Layer {
        name: "artifact-lower",
        uses: &["artifact-core", "artifact-dims", "artifact-ir", "artifact-refine"],
        tests_use: &["artifact-stablehlo", "artifact-testkit"],
    },
    Layer {
        name: "artifact-cpu-tile",
        uses: &["artifact-ir"],
        tests_use: &["artifact-eval", "artifact-core", "artifact-testkit"],
    },
    Layer {
        name: "artifact-cpu-routine",
        uses: &["artifact-ir"],
        tests_use: &["artifact-eval", "artifact-core", "artifact-stablehlo"],
    },
    Layer {
        name: "artifact-engine",
        uses: &[
            "artifact-core",
            "artifact-dims",
            "artifact-ir",
            "artifact-sharding",
        ],
        tests_use: &[],
    },
    Layer {
        name: "artifact-engine-reference",
        uses: &[
            "artifact-core",
            "artifact-dims",
            "artifact-ir",
            "artifact-refine",
            "artifact-eval",
            "artifact-stablehlo",
            "artifact-chlo",
            "artifact-engine",
        ],
        tests_use: &[],
    },
    Layer {
        name: "artifact-engine-pjrt",
        uses: &[
            "artifact-core",
            "artifact-ir",
            "artifact-refine",
            "artifact-eval",
            "artifact-sharding",
            "artifact-stablehlo",
            "artifact-chlo",
            "artifact-engine",
        ],
        tests_use: &["artifact-dims", "artifact-engine-reference"],
    },
    Layer {
        name: "artifact-engine-cpu",
        uses: &[
            "artifact-core",
            "artifact-dims",
            "artifact-ir",
            "artifact-refine",
            "artifact-eval",
            "artifact-stablehlo",
            "artifact-lower",
            "artifact-engine",
            "artifact-cpu-tile",
            "artifact-cpu-routine",
            "artifact-chlo",
        ],
        tests_use: &["artifact-engine-reference", "artifact-testkit"],
    },
    Layer {
        name: "artifact-runtime",
        uses: &[
            "artifact-dims",
            "artifact-ir",
            "artifact-refine",
            "artifact-export",
            "artifact-engine",
        ],
        tests_use: &[
            "artifact-engine-reference",
            "artifact-engine-cpu",
            "artifact-stablehlo",
            "artifact-stage",
            "artifact-testkit",
        ],
    },
    Layer {
        name: "artifact-export",
        uses: &[
            "artifact-core",
            "artifact-dims",
            "artifact-ir",
            "artifact-refine",
            "artifact-stablehlo",
            "artifact-chlo",
            "artifact-container",
            "artifact-jax",
        ],
        tests_use: &["artifact-testkit"],
    },
    Layer {
        name: "artifact-cli",
        uses: &[
            "artifact-core",
            "artifact-dims",
            "artifact-ir",
            "artifact-refine",
            "artifact-stablehlo",
            "artifact-eval",
            "artifact-container",
            "artifact-export",
            "artifact-jax",
            "artifact-lower",
            "artifact-engine",
            "artifact-engine-reference",
            "artifact-engine-cpu",
            "artifact-engine-pjrt",
            "artifact-runtime",
        ],
        tests_use: &["artifact-forge", "artifact-testkit"],
    },
    // For tests alone: it makes random programs.
    Layer {
        name: "artifact-testkit",
        uses: &["artifact-core", "artifact-dims", "artifact-ir"],
        tests_use: &[],
    },
    // For tests alone: it writes files that lie. No row may have it in `uses`, which a test checks.
    Layer {
        name: "artifact-forge",
        uses: &["artifact-core"],
        tests_use: &[],
    },
    Layer {
        name: "xtask",
        uses: &[],
        tests_use: &[],
    },
];

/// One dependency between two crates of the workspace.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Edge {
    from: String,
    to: String,
    only_tests: bool,
}

/// The task.
pub(crate) fn run(workspace: &Workspace, _options: &[String]) -> Outcome {
    let names: Vec<&str> = workspace
        .members
        .iter()
        .map(|member| member.name.as_str())
        .collect();
    let edges = edges(workspace);
    let mut findings = Findings::default();
    check_edges(LAYERS, &names, &edges, &mut findings);
    let chain = longest_chain(&names, &edges);
    if chain.len() > CHAIN_EDGES_MAX + 1 {
        findings.push(
            "workspace",
            format!(
                "the chain {} has more than {CHAIN_EDGES_MAX} edges; move what is shared down, or cut an edge",
                chain.join(" > ")
            ),
        );
    }
    findings.into_outcome("layers")?;
    println!(
        "layers: {} crates, {} edges, longest chain {}",
        names.len(),
        edges.len(),
        chain.join(" > ")
    );
    Ok(())
}

fn edges(workspace: &Workspace) -> Vec<Edge> {
    let mut edges = Vec::new();
    for member in &workspace.members {
        for dependency in member
            .dependencies
            .iter()
            .filter(|dependency| dependency.path.is_some())
        {
            edges.push(Edge {
                from: member.name.clone(),
                to: dependency.name.clone(),
                only_tests: dependency.kind == Some(DependencyKind::Dev),
            });
        }
    }
    edges
}

fn check_edges(layers: &[Layer], names: &[&str], edges: &[Edge], findings: &mut Findings) {
    for name in names {
        if !layers.iter().any(|layer| layer.name == *name) {
            findings.push(
                name,
                "the crate has no row in LAYERS (xtask/src/layers.rs); add one",
            );
        }
    }
    for edge in edges {
        let Some(layer) = layers.iter().find(|layer| layer.name == edge.from) else {
            continue;
        };
        let to = edge.to.as_str();
        let allowed = layer.uses.contains(&to) || (edge.only_tests && layer.tests_use.contains(&to));
        if !allowed {
            let kind = if edge.only_tests {
                "dev-dependency"
            } else {
                "dependency"
            };
            findings.push(
                &edge.from,
                format!("{kind} on `{to}` is not allowed by LAYERS (xtask/src/layers.rs)"),
            );
        }
    }
}

/// The longest chain of normal and build dependencies, highest crate first. Cargo has refused cycles already.
fn longest_chain<'a>(names: &[&'a str], edges: &'a [Edge]) -> Vec<&'a str> {
    let mut known = BTreeMap::new();
    for name in names {
        chain_from(name, edges, &mut known);
    }
    known.into_values().max_by_key(Vec::len).unwrap_or_default()
}

fn chain_from<'a>(
    name: &'a str,
    edges: &'a [Edge],
    known: &mut BTreeMap<&'a str, Vec<&'a str>>,
) -> Vec<&'a str> {
    if let Some(chain) = known.get(name) {
        return chain.clone();
    }
    let below = edges
        .iter()
        .filter(|edge| edge.from == name && !edge.only_tests)
        .map(|edge| chain_from(&edge.to, edges, known))
        .max_by_key(Vec::len)
        .unwrap_or_default();
    let chain = [vec![name], below].concat();
    known.insert(name, chain.clone());
    chain
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEST_LAYERS: &[Layer] = &[
        Layer {
            name: "low",
            uses: &[],
            tests_use: &[],
        },
        Layer {
            name: "side",
            uses: &["low"],
            tests_use: &[],
        },
        Layer {
            name: "high",
            uses: &["low"],
            tests_use: &["side"],
        },
    ];

    /// Reads `from > to` and `from ?> to` (only tests), separated by commas.
    fn parse_edges(text: &str) -> Vec<Edge> {
        let parse = |edge: &str| {
            let only_tests = edge.contains("?>");
            let (from, to) = edge
                .split_once(if only_tests { "?>" } else { ">" })
                .expect("FROM > TO");
            Edge {
                from: from.trim().to_owned(),
                to: to.trim().to_owned(),
                only_tests,
            }
        };
        text.split(',')
            .filter(|edge| !edge.trim().is_empty())
            .map(parse)
            .collect()
    }

    #[test]
    fn an_edge_outside_the_list_is_found() {
        let check = |edges: &str, want: &[&str]| {
            let mut findings = Findings::default();
            check_edges(
                TEST_LAYERS,
                &["low", "side", "high"],
                &parse_edges(edges),
                &mut findings,
            );
            let lines = findings.lines();
            assert_eq!(lines.len(), want.len(), "{edges}: {lines:?}");
            for (line, part) in lines.iter().zip(want) {
                assert!(line.contains(part), "{edges}: {line:?} lacks {part:?}");
            }
        };
        check("high > low, side > low, high ?> side, high ?> low", &[]);
        check("high > side", &["high: dependency on `side`"]);
        check("low > high", &["low: dependency on `high`"]);
        check("side ?> high", &["side: dev-dependency on `high`"]);
    }

    #[test]
    fn what_is_for_tests_reaches_no_product() {
        for layer in LAYERS {
            for only_tests in ["artifact-forge", "artifact-testkit"] {
                assert!(
                    !layer.uses.contains(&only_tests),
                    "{} uses {only_tests}",
                    layer.name
                );
            }
        }
    }

    #[test]
    fn a_crate_without_a_row_is_found() {
        let mut findings = Findings::default();
        check_edges(TEST_LAYERS, &["low", "new"], &[], &mut findings);
        assert!(findings.lines()[0].starts_with("new: "), "{:?}", findings.lines());
    }

    #[test]
    fn the_longest_chain_ignores_tests() {
        let check = |edges: &str, want: &[&str]| {
            let edges = parse_edges(edges);
            assert_eq!(longest_chain(&["a", "b", "c", "d"], &edges), want, "{edges:?}");
        };
        check("a > b, b > c, a > c, c ?> d", &["a", "b", "c"]);
        check("c > d, b > d, a > b, a > c, b > c", &["a", "b", "c", "d"]);
    }
}
