//! What compiled an executable, and for which machine: both as precisely as it changes what runs.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, Read as _};
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;
use std::sync::{Mutex, PoisonError};

use artifact_core::digest::{Digest, Domain, Hasher};
use artifact_engine::{Component, EngineError, ErrorKind, Target, Toolchain};

use crate::client::Client;
use crate::plugin::Plugin;

/// The version of what a payload holds.
const PAYLOAD_VERSION: &str = "1";

const MACHINE: Domain = Domain::new("artifact pjrt machine v1");

/// The toolchain of a client: the plugin's content, the versions that it says, and the interface.
pub(crate) fn toolchain(plugin: &Plugin, client: &Client) -> Result<Toolchain, EngineError> {
    let version = |text: String| Component::Version(text);
    let (major, minor) = plugin.api_version();
    let digest = digest_of(plugin.path()).map_err(|error| {
        let what = format!("cannot read {}", plugin.path().display());
        EngineError::new(ErrorKind::Unavailable, what).because(error)
    })?;
    Ok(Toolchain::default()
        .with("payload", version(PAYLOAD_VERSION.to_owned()))
        .with("pjrt-api", version(format!("{major}.{minor}")))
        .with("platform", version(client.platform().to_owned()))
        .with("platform-version", version(client.platform_version().to_owned()))
        .with("plugin", Component::Digest(digest)))
}

/// What tells a file from what it was before, without reading it: device, inode, size, time of its last change.
type Stamp = (u64, u64, u64, i64, i64);

/// The digest of a plugin, which is read once in a process unless it changes.
fn digest_of(path: &Path) -> io::Result<Digest> {
    static KNOWN: Mutex<BTreeMap<Stamp, Digest>> = Mutex::new(BTreeMap::new());
    let mut file = File::open(path)?;
    let found = file.metadata()?;
    let stamp = (
        found.dev(),
        found.ino(),
        found.size(),
        found.mtime(),
        found.mtime_nsec(),
    );
    let mut known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(digest) = known.get(&stamp) {
        return Ok(*digest);
    }
    let mut hasher = Hasher::content();
    let mut piece = vec![0; 1 << 20];
    loop {
        match file.read(&mut piece)? {
            0 => break,
            count => hasher.update(&piece[..count]),
        }
    }
    let digest = hasher.finish();
    known.insert(stamp, digest);
    Ok(digest)
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
    let kind: String = kind.chars().take(40).map(usable).collect();
    Target::new(&format!("{}-{kind}", client.platform().to_ascii_lowercase()))
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
