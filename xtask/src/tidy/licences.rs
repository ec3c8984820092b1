//! `deny.toml` without cargo-deny: licences, banned crates, duplicate versions and sources of everything we link.
//!
//! cargo-deny reads the same file and checks more (security advisories, licence texts). Building it takes longer than
//! building the workspace, so that is left to whoever has it installed.

use std::collections::BTreeMap;
use std::process::Command;

use serde::Deserialize;

use super::manifests::read_manifest;
use super::spdx;
use crate::failure::{During, Failure, Findings, Outcome};
use crate::{process, workspace};

/// The policy file.
const POLICY: &str = "deny.toml";

/// The one source besides this repository: cargo's default registry, as `Cargo.lock` names it.
const REGISTRY: &str = "registry+https://github.com/rust-lang/crates.io-index";

/// The part of `deny.toml` that is checked here. Unknown keys are cargo-deny's.
#[derive(Debug, Deserialize)]
struct Policy {
    graph: Graph,
    licenses: Licences,
    bans: Bans,
}

#[derive(Debug, Deserialize)]
struct Graph {
    targets: Vec<String>,
}

#[derive(Debug, Deserialize)]
struct Licences {
    allow: Vec<String>,
    #[serde(default)]
    exceptions: Vec<Exception>,
}

/// More licences for one crate.
#[derive(Debug, Deserialize)]
struct Exception {
    #[serde(rename = "crate")]
    name: String,
    allow: Vec<String>,
}

#[derive(Debug, Deserialize)]
struct Bans {
    #[serde(default)]
    deny: Vec<Named>,
    #[serde(default)]
    skip: Vec<Named>,
}

/// A crate with the reason why it is in a list; `name` or `name@version`.
#[derive(Debug, Deserialize)]
struct Named {
    #[serde(rename = "crate")]
    name: String,
    reason: String,
}

/// What `cargo metadata` says about the resolved packages.
#[derive(Debug, Deserialize)]
struct Resolved {
    packages: Vec<Package>,
    resolve: Resolve,
}

#[derive(Debug, Deserialize)]
struct Package {
    id: String,
    name: String,
    version: String,
    license: Option<String>,
    source: Option<String>,
}

#[derive(Debug, Deserialize)]
struct Resolve {
    nodes: Vec<Node>,
}

#[derive(Debug, Deserialize)]
struct Node {
    id: String,
}

/// Checks every third-party package that the supported targets use, and returns how many there are.
pub(super) fn check(findings: &mut Findings) -> Outcome<usize> {
    let policy: Policy = read_manifest(POLICY)?
        .try_into()
        .during(|| format!("understand {POLICY}"))?;
    let packages = third_party_packages(&policy.graph.targets)?;
    for package in &packages {
        check_package(&policy, package, findings);
    }
    check_duplicates(&policy, &packages, findings);
    Ok(packages.len())
}

fn third_party_packages(targets: &[String]) -> Outcome<Vec<Package>> {
    let mut options = vec!["--locked", "--all-features"];
    for target in targets {
        options.extend(["--filter-platform", target]);
    }
    let mut command: Command = workspace::metadata_command(&options);
    let resolved: Resolved = serde_json::from_str(&process::capture(&mut command)?)
        .during(|| "read the output of `cargo metadata`".to_owned())?;
    let used = |package: &Package| resolved.resolve.nodes.iter().any(|node| node.id == package.id);
    let packages: Vec<Package> = resolved
        .packages
        .into_iter()
        .filter(|package| package.source.is_some() && used(package))
        .collect();
    if packages.is_empty() {
        return Err(Failure::new(
            "cargo metadata names no third-party package; the licence check saw nothing",
        ));
    }
    Ok(packages)
}

fn check_package(policy: &Policy, package: &Package, findings: &mut Findings) {
    let place = format!("{} {}", package.name, package.version);
    if package.source.as_deref() != Some(REGISTRY) {
        findings.push(
            &place,
            format!(
                "comes from {:?}; only the default registry is allowed",
                package.source
            ),
        );
    }
    for banned in policy
        .bans
        .deny
        .iter()
        .filter(|banned| banned.name == package.name)
    {
        findings.push(&place, format!("is banned by {POLICY}: {}", banned.reason));
    }
    let exceptions = policy
        .licenses
        .exceptions
        .iter()
        .filter(|exception| exception.name == package.name);
    let mut allowed = policy.licenses.allow.clone();
    allowed.extend(exceptions.flat_map(|exception| exception.allow.clone()));
    let license = package.license.as_deref().unwrap_or_default();
    if !spdx::is_allowed(license, &allowed) {
        findings.push(&place, format!("licence `{license}` is not allowed by {POLICY}"));
    }
}

/// A crate in two versions is built twice; each is listed with a reason.
fn check_duplicates(policy: &Policy, packages: &[Package], findings: &mut Findings) {
    let mut versions: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for package in packages {
        versions.entry(&package.name).or_default().push(&package.version);
    }
    versions.retain(|_, versions| versions.len() > 1);
    let skips = |name: &str| policy.bans.skip.iter().any(|skip| crate_name(&skip.name) == name);
    for (name, versions) in &versions {
        if !skips(name) {
            findings.push(
                name,
                format!(
                    "in versions {}; update what pulls the old one, or add it to `skip` in {POLICY}",
                    versions.join(", ")
                ),
            );
        }
    }
}

fn crate_name(specification: &str) -> &str {
    specification.split('@').next().unwrap_or(specification)
}

#[cfg(test)]
mod tests {
    use super::*;

    const POLICY_TEXT: &str = r#"
        graph.targets = []
        licenses.allow = ["MIT"]
        licenses.exceptions = [{ crate = "data", allow = ["Unicode-3.0"] }]
        bans.deny = [{ crate = "evil", reason = "because" }]
        bans.skip = [{ crate = "twice@1", reason = "old user" }]
    "#;

    /// Reads `name version licence [source]`, one package a line.
    fn parse_packages(text: &str) -> Vec<Package> {
        let parse = |line: &str| {
            let words: Vec<&str> = line.split_whitespace().collect();
            Package {
                id: line.to_owned(),
                name: words[0].to_owned(),
                version: words[1].to_owned(),
                license: Some(words[2].to_owned()),
                source: Some((*words.get(3).unwrap_or(&REGISTRY)).to_owned()),
            }
        };
        text.split(';').map(parse).collect()
    }

    #[test]
    fn each_rule_of_the_policy_is_applied() {
        let check = |packages: &str, want: &[&str]| {
            let policy: Policy = toml::from_str(POLICY_TEXT).expect("TOML");
            let (packages, mut findings) = (parse_packages(packages), Findings::default());
            packages
                .iter()
                .for_each(|package| check_package(&policy, package, &mut findings));
            check_duplicates(&policy, &packages, &mut findings);
            let lines = findings.lines();
            assert_eq!(lines.len(), want.len(), "{lines:?}");
            for (line, part) in lines.iter().zip(want) {
                assert!(line.contains(part), "{line:?} lacks {part:?}");
            }
        };
        let twice = "twice 1.0 MIT;twice 2.0 MIT";
        check(twice, &[]);
        check(&format!("{twice};data 1.0 Unicode-3.0"), &[]);
        check(
            &format!("{twice};other 1.0 Unicode-3.0"),
            &["licence `Unicode-3.0`"],
        );
        check(
            &format!("{twice};evil 1.0 MIT"),
            &["banned by deny.toml: because"],
        );
        check(
            &format!("{twice};x 1.0 MIT git+https://host.example/x"),
            &["default registry"],
        );
        check(
            &format!("{twice};x 1.0 MIT;x 2.0 MIT"),
            &["x: in versions 1.0, 2.0"],
        );
    }
}
