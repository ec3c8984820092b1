//! XLA's CPU plugin: loaded, refused, asked to compile and to run.
//!
//! `ARTIFACT_PJRT_PLUGIN` names the plugin; `cargo xtask test` installs it and sets the variable.

#![expect(
    clippy::disallowed_methods,
    clippy::print_stderr,
    clippy::unwrap_used,
    reason = "tests read where the plugin is, say that they did nothing without one, and write files that nobody else reads"
)]

use std::fs;
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use artifact_engine_pjrt::key_value::InMemory;
use artifact_engine_pjrt::{
    Client, ClientSettings, CompileOptions, DeviceBuffer, LoadedExecutable, NamedValue, Plugin,
};
use artifact_ir::types::ElementType;

const VARIABLE: &str = "ARTIFACT_PJRT_PLUGIN";

/// The plugin; none, and a line that says so, where nobody named one.
fn plugin_path() -> Option<PathBuf> {
    let path = std::env::var_os(VARIABLE).filter(|value| !value.is_empty());
    if path.is_none() {
        eprintln!("SKIPPED: {VARIABLE} names no plugin; `cargo xtask test` installs one");
    }
    path.map(PathBuf::from)
}

fn client_of(path: &Path, devices: i64) -> Arc<Client> {
    let plugin = Plugin::open(path).unwrap();
    let mut settings = ClientSettings::default();
    settings
        .options
        .insert("cpu_device_count".to_owned(), NamedValue::Number(devices));
    Client::new(&plugin, &settings).unwrap()
}

fn buffer(client: &Arc<Client>, device: usize, numbers: &[f32]) -> DeviceBuffer {
    let bytes: Vec<u8> = numbers.iter().flat_map(|number| number.to_le_bytes()).collect();
    let (device, dims) = (&client.devices()[device], [numbers.len() as i64]);
    DeviceBuffer::of_host(client, device, ElementType::F32, &dims, Arc::new(bytes)).unwrap()
}

fn numbers(buffer: &DeviceBuffer) -> Vec<f32> {
    assert!(buffer.is_of(ElementType::F32).unwrap());
    let dims = buffer.dims().unwrap();
    let mut bytes = vec![0; 4 * dims.iter().product::<i64>() as usize];
    buffer.read(dims.len(), &mut bytes).unwrap();
    let number = |bytes: &[u8]| f32::from_le_bytes(bytes.try_into().unwrap());
    bytes.chunks_exact(4).map(number).collect()
}

const PROGRAM: &str = "
func.func @main(%x: tensor<3xf32>, %y: tensor<3xf32>) -> (tensor<3xf32>, tensor<3xf32>) {
  %0 = stablehlo.add %x, %y : tensor<3xf32>
  %1 = stablehlo.multiply %x, %y : tensor<3xf32>
  return %0, %1 : tensor<3xf32>, tensor<3xf32>
}";

fn check_runs(executable: &LoadedExecutable) {
    let client = executable.client();
    let (x, y) = (
        buffer(client, 0, &[1.0, 2.0, 3.0]),
        buffer(client, 0, &[4.0, 5.0, 6.0]),
    );
    let results = executable.execute(&[vec![&x, &y]], &[0, 1]).unwrap();
    let [results] = &results[..] else {
        panic!("{results:?}")
    };
    let results: Vec<Vec<f32>> = results.iter().map(numbers).collect();
    assert_eq!(results, [[5.0, 7.0, 9.0], [4.0, 10.0, 18.0]]);
    // Arguments stay as they are.
    assert_eq!(numbers(&x), [1.0, 2.0, 3.0]);
}

#[test]
fn programs_are_compiled_run_kept_and_loaded() {
    let Some(path) = plugin_path() else { return };
    let client = client_of(&path, 2);
    assert_eq!((client.platform(), client.devices().len()), ("cpu", 2));
    let executable = client
        .compile(PROGRAM.as_bytes(), &CompileOptions::default())
        .unwrap();
    assert_eq!(executable.outputs(), 2);
    check_runs(&executable);
    let bytes = executable.serialize().unwrap();
    // An executable keeps its client.
    drop(client);
    check_runs(&executable);
    drop(executable);
    let other = client_of(&path, 1);
    check_runs(&other.load(&bytes).unwrap());
}

#[test]
fn the_plugin_says_what_it_is() {
    let Some(path) = plugin_path() else { return };
    let plugin = Plugin::open(&path).unwrap();
    let (major, minor) = plugin.api_version();
    assert!(major == 0 && minor >= 61, "{major}.{minor}");
    let version = &plugin.attributes()["stablehlo_current_version"];
    assert!(
        matches!(version, NamedValue::Numbers(parts) if parts.len() == 3),
        "{version:?}"
    );
    // Opened twice it is the same.
    assert!(Arc::ptr_eq(&plugin, &Plugin::open(&path).unwrap()));
}

#[test]
fn a_client_of_several_processes_takes_a_store() {
    let Some(path) = plugin_path() else { return };
    let settings = ClientSettings {
        key_values: Some(Arc::new(InMemory::default())),
        ..ClientSettings::default()
    };
    let client = Client::new(&Plugin::open(&path).unwrap(), &settings).unwrap();
    let executable = client
        .compile(PROGRAM.as_bytes(), &CompileOptions::default())
        .unwrap();
    check_runs(&executable);
}

#[test]
fn errors_carry_the_words_of_the_plugin() {
    let Some(path) = plugin_path() else { return };
    let client = client_of(&path, 1);
    let options = CompileOptions::default();
    let error = client
        .compile(b"func.func @main() { nonsense }", &options)
        .unwrap_err();
    assert!(error.message.contains("nonsense"), "{error}");
    let executable = client.compile(PROGRAM.as_bytes(), &options).unwrap();
    let (x, short) = (buffer(&client, 0, &[1.0, 2.0, 3.0]), buffer(&client, 0, &[1.0]));
    let error = executable.execute(&[vec![&x, &short]], &[]).unwrap_err();
    assert!(
        error
            .to_string()
            .starts_with("PJRT_LoadedExecutable_Execute failed"),
        "{error}"
    );
    let error = executable.execute(&[vec![&x]], &[]).unwrap_err();
    assert!(
        error
            .to_string()
            .starts_with("PJRT_LoadedExecutable_Execute failed"),
        "{error}"
    );
    assert!(executable.execute(&[], &[]).is_err());
    assert!(client.load(b"no executable").is_err());
    let many = CompileOptions {
        replicas: 9,
        ..options
    };
    assert!(client.compile(PROGRAM.as_bytes(), &many).is_err());
    check_runs(&executable);
}

#[test]
fn replicas_run_on_devices_of_their_own() {
    let Some(path) = plugin_path() else { return };
    let client = client_of(&path, 4);
    let options = CompileOptions {
        replicas: 4,
        ..CompileOptions::default()
    };
    let program = "
    func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> {
      %0 = \"stablehlo.all_reduce\"(%x) ({
      ^bb0(%a: tensor<f32>, %b: tensor<f32>):
        %1 = stablehlo.add %a, %b : tensor<f32>
        stablehlo.return %1 : tensor<f32>
      }) {replica_groups = dense<[[0, 1, 2, 3]]> : tensor<1x4xi64>} : (tensor<2xf32>) -> tensor<2xf32>
      return %0 : tensor<2xf32>
    }";
    let executable = client.compile(program.as_bytes(), &options).unwrap();
    let parts: Vec<DeviceBuffer> = (0..4)
        .map(|device| buffer(&client, device, &[device as f32, 1.0]))
        .collect();
    let arguments: Vec<Vec<&DeviceBuffer>> = parts.iter().map(|part| vec![part]).collect();
    let results = executable.execute(&arguments, &[]).unwrap();
    assert_eq!(results.len(), 4);
    for result in &results {
        assert_eq!(numbers(&result[0]), [6.0, 4.0]);
    }
}

#[test]
fn files_that_are_no_plugin() {
    let folder = tempfile::tempdir().unwrap();
    let refused = |path: &Path, why: &str| {
        let refusal = Plugin::open(path).unwrap_err().to_string();
        assert!(refusal.contains(why), "{}: {refusal}", path.display());
    };
    let written = |name: &str, bytes: &[u8]| {
        let path = folder.path().join(name);
        fs::write(&path, bytes).unwrap();
        path
    };
    refused(&folder.path().join("absent.so"), "No such file");
    refused(folder.path(), "it is no file");
    refused(&written("empty.so", b""), "it has 0 bytes");
    refused(
        &written("text.so", &b"no plugin at all\n".repeat(9)),
        "no shared object",
    );
    refused(
        &std::env::current_exe().unwrap(),
        "cannot be used as a PJRT plugin",
    );
    let Some(path) = plugin_path() else { return };
    let mut start = Vec::new();
    fs::File::open(path)
        .unwrap()
        .take(1 << 20)
        .read_to_end(&mut start)
        .unwrap();
    for length in [64, 100, 4096, start.len()] {
        refused(
            &written("cut.so", &start[..length]),
            if length < 500 { "damaged" } else { "cut off" },
        );
    }
    let changed = |at: usize, value: u8| {
        let mut changed = start.clone();
        changed[at] = value;
        changed
    };
    refused(&written("arch.so", &changed(18, 183)), "for another architecture");
    refused(&written("words.so", &changed(4, 1)), "other words");
    refused(&written("kind.so", &changed(16, 2)), "no shared object");
    refused(&written("headers.so", &changed(54, 1)), "damaged");
    refused(&written("far.so", &changed(39, 0xff)), "damaged");
}
