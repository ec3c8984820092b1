//! PJRT plugins, each looked at in a process of its own: one that is broken may end it, or never answer.

use std::fs::File;
use std::io::{Read as _, Seek as _, SeekFrom};
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

/// Asks a process of its own. It writes to files: a pipe would fill up, and stay open in what it leaves behind.
fn probe(path: &Path) -> Result<Value, String> {
    let told = |error: std::io::Error| error.to_string();
    let program = std::env::current_exe().map_err(told)?;
    let (mut answer, mut log) = (
        tempfile::tempfile().map_err(told)?,
        tempfile::tempfile().map_err(told)?,
    );
    let mut command = Command::new(program);
    command.args(["doctor", "--probe"]).arg(path).stdin(Stdio::null());
    command.stdout(answer.try_clone().map_err(told)?);
    command.stderr(log.try_clone().map_err(told)?);
    let mut child = command.spawn().map_err(told)?;
    let Some(status) = ended(&mut child) else {
        // It may have ended just now.
        let _ = child.kill();
        let _ = child.wait();
        return Err(format!("it said nothing within {} seconds", PATIENCE.as_secs()));
    };
    // A plugin may print before.
    let answer: Option<Value> = serde_json::from_str(&last_line(&mut answer)).ok();
    match answer {
        Some(answer) => match answer["unusable"].as_str() {
            Some(reason) => Err(reason.to_owned()),
            None => Ok(answer),
        },
        None => {
            let said: String = last_line(&mut log).chars().take(LINE_CHARACTERS).collect();
            let said = match said.is_empty() {
                true => String::new(),
                false => format!(", and said: {said}"),
            };
            Err(format!("it ended the process that looked at it: {status}{said}"))
        }
    }
}

/// The most that is shown of what a plugin said last.
const LINE_CHARACTERS: usize = 300;

/// The last line of a file that is none of white space, of its last [`ANSWER_BYTES`].
fn last_line(file: &mut File) -> String {
    let length = file.seek(SeekFrom::End(0)).unwrap_or_default();
    let start = SeekFrom::Start(length.saturating_sub(ANSWER_BYTES));
    let mut bytes = Vec::new();
    // What cannot be read says nothing.
    let _ = file.seek(start).and_then(|_| file.read_to_end(&mut bytes));
    let text = String::from_utf8_lossy(&bytes);
    let mut lines = text.lines().rev().map(str::trim).filter(|line| !line.is_empty());
    lines.next().unwrap_or_default().to_owned()
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
    if client.devices().is_empty() {
        return Err(format!("PJRT C API {major}.{minor}, and it has no device"));
    }
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
