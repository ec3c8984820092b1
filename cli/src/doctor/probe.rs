//! PJRT plugins, each looked at in a process of its own: one that is broken may end it, or never answer.

use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use artifact_engine_pjrt::{Client, ClientSettings, Plugin as Loaded};
use serde_json::{Value, json};

use crate::failure::{Exit, Outcome};
use crate::output;

/// How long a plugin may take to say what it has.
const PATIENCE: Duration = Duration::from_secs(60);
/// The most that is read of what it says.
const ANSWER_BYTES: u64 = 1 << 20;

/// A plugin.
pub(super) struct Plugin {
    /// The name that a package gives it.
    pub(super) name: Option<&'static str>,
    pub(super) path: PathBuf,
    /// What it says of itself, or why it cannot be used.
    pub(super) found: Result<Value, String>,
}

impl Plugin {
    pub(super) fn probed(name: Option<&'static str>, path: PathBuf) -> Self {
        let found = probe(&path);
        Self { name, path, found }
    }

    pub(super) fn json(&self) -> Value {
        let mut described = match &self.found {
            Ok(found) => found.clone(),
            Err(reason) => json!({"unusable": reason}),
        };
        described["name"] = self.name.into();
        described["path"] = self.path.display().to_string().into();
        described
    }
}

/// Asks a process of its own.
fn probe(path: &Path) -> Result<Value, String> {
    let program = std::env::current_exe().map_err(|error| error.to_string())?;
    let mut command = Command::new(program);
    command.args(["doctor", "--probe"]).arg(path);
    command
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null());
    let mut child = command.spawn().map_err(|error| error.to_string())?;
    let status = match ended(&mut child) {
        Some(status) => status,
        None => {
            // It may have ended just now.
            let _ = child.kill();
            let _ = child.wait();
            return Err(format!("it said nothing within {} seconds", PATIENCE.as_secs()));
        }
    };
    let mut answer = String::new();
    if let Some(output) = child.stdout.take() {
        // What is no answer is none, however it ends.
        let _ = output.take(ANSWER_BYTES).read_to_string(&mut answer);
    }
    // A plugin may print before.
    let last = answer.lines().next_back().unwrap_or_default();
    let answer: Option<Value> = serde_json::from_str(last).ok();
    match answer {
        Some(answer) => match answer["unusable"].as_str() {
            Some(reason) => Err(reason.to_owned()),
            None => Ok(answer),
        },
        None => Err(format!("it ended the process that looked at it: {status}")),
    }
}

fn ended(child: &mut Child) -> Option<std::process::ExitStatus> {
    let start = Instant::now();
    while start.elapsed() < PATIENCE {
        match child.try_wait() {
            Ok(Some(status)) => return Some(status),
            Ok(None) => std::thread::sleep(Duration::from_millis(5)),
            Err(_) => return None,
        }
    }
    None
}

/// What that process does: loads a plugin, and says in a line of JSON what it has.
pub(super) fn answer(path: &Path) -> Outcome<Exit> {
    let described = described(path).unwrap_or_else(|reason| json!({"unusable": reason}));
    output::json(&format!("{described}\n"))?;
    Ok(Exit::Ok)
}

fn described(path: &Path) -> Result<Value, String> {
    let plugin = Loaded::open(path).map_err(|error| error.reason)?;
    let (major, minor) = plugin.api_version();
    let client = Client::new(&plugin, &ClientSettings::default()).map_err(|error| {
        format!(
            "PJRT C API {major}.{minor}, and it makes no client: {}",
            error.message.trim_end()
        )
    })?;
    let reads = plugin.attributes().get("stablehlo_current_version");
    let reads = reads.map(ToString::to_string);
    let devices = client.devices().iter();
    let devices: Vec<Value> = devices
        .map(|device| json!({"id": device.id, "kind": device.kind}))
        .collect();
    Ok(json!({
        "api": format!("{major}.{minor}"),
        "platform": client.platform(),
        "platform_version": client.platform_version(),
        "stablehlo": reads,
        "devices": devices,
    }))
}
