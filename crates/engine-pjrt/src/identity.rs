//! What compiled an executable, and for which machine: both as precisely as it changes what runs.

use std::path::Path;

use artifact_core::digest::{Digest, Domain, Hasher};
use artifact_engine::{Component, EngineError, ErrorKind, Target, Toolchain};

use crate::client::Client;
use crate::digests::digest_now;
use crate::engine::Settings;
use crate::plugin::Plugin;

/// The version of what a payload holds.
const PAYLOAD_VERSION: &str = "1";

const MACHINE: Domain = Domain::new("artifact pjrt machine v1");

/// The toolchain of a plugin: its content, which its platform version is part of, the files that compile with it, and the interface.
/// It is the same with devices and without, so that what was compiled without is found with them.
///
/// # Errors
/// Unavailable when a file cannot be read any more.
pub(crate) fn toolchain(
    plugin: &Plugin,
    platform: &str,
    settings: &Settings,
) -> Result<Toolchain, EngineError> {
    let version = |text: String| Component::Version(text);
    let unreadable = |path: &Path| {
        let what = format!("cannot read {}", path.display());
        move |error: std::io::Error| EngineError::new(ErrorKind::Unavailable, what).because(error)
    };
    let known = settings.digests.as_deref();
    let (major, minor) = plugin.api_version();
    let digest = plugin.digest(known).map_err(unreadable(plugin.path()))?;
    let mut toolchain = Toolchain::default()
        .with("payload", version(PAYLOAD_VERSION.to_owned()))
        .with("pjrt-api", version(format!("{major}.{minor}")))
        .with("platform", version(platform.to_owned()))
        .with("plugin", Component::Digest(digest));
    for (name, value) in plugin.attributes() {
        toolchain = toolchain.with(format!("plugin.{name}"), version(value.to_string()));
    }
    for (name, path) in &settings.tools {
        let digest = digest_now(path, known).map_err(unreadable(path))?;
        toolchain = toolchain.with(format!("tool.{name}"), Component::Digest(digest));
    }
    for (name, value) in settings.environment.iter().filter(|(_, value)| !value.is_empty()) {
        let digest = Component::Digest(Digest::of(value.as_bytes()));
        toolchain = toolchain.with(format!("environment.{name}"), digest);
    }
    Ok(toolchain)
}

/// The machine that a client compiles for. XLA's CPU compiler uses whatever the processor has, so that the name stands for all of
/// that: an executable of a processor that differs in it is one of another target.
pub(crate) fn target(client: &Client) -> Result<Target, EngineError> {
    let kind = client
        .devices()
        .first()
        .map_or("none", |device| device.kind.as_str());
    if client.platform() == "cpu" {
        let machine = processor().short();
        return Target::new(&format!("xla-cpu-{machine}"));
    }
    let usable = |c: char| match c.to_ascii_lowercase() {
        c if c.is_ascii_alphanumeric() => c,
        _ => '-',
    };
    let usable = |text: &str, most: usize| -> String { text.chars().take(most).map(usable).collect() };
    Target::new(&format!("{}-{}", usable(client.platform(), 16), usable(kind, 40)))
}

/// What the processor says that it can do: the leaves of `cpuid` that LLVM's host detection reads.
#[cfg(target_arch = "x86_64")]
fn processor() -> Digest {
    use std::arch::x86_64::__cpuid_count;
    let mut hasher = Hasher::in_domain(MACHINE);
    // The first leaf has, in its second register, the number of the core that it runs on.
    let leaves: [(u32, u32, [bool; 4]); 8] = [
        (0, 0, [false, true, true, true]),
        (1, 0, [true, false, true, true]),
        (7, 0, [false, true, true, true]),
        (7, 1, [true, true, true, true]),
        // The second register is the size of the registers that the system has enabled: AVX-512 may be there and off.
        (0xd, 0, [true, true, true, true]),
        (0xd, 1, [true, false, false, false]),
        (0x19, 0, [false, true, false, false]),
        (0x8000_0001, 0, [false, false, true, true]),
    ];
    for (leaf, part, registers) in leaves {
        let found = __cpuid_count(leaf, part);
        let values = [found.eax, found.ebx, found.ecx, found.edx];
        for (value, counts) in values.into_iter().zip(registers) {
            hasher.update(&if counts { value } else { 0 }.to_le_bytes());
        }
    }
    hasher.finish()
}

/// What the processor is called and says that it can do.
#[cfg(not(target_arch = "x86_64"))]
fn processor() -> Digest {
    let mut hasher = Hasher::in_domain(MACHINE);
    let features = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let first = features.split("\n\n").next().unwrap_or_default();
    let lines = first
        .lines()
        .filter(|line| !line.starts_with("processor") && !line.starts_with("BogoMIPS"));
    lines.for_each(|line| hasher.update(line.as_bytes()));
    hasher.finish()
}
