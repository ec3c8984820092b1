//! Plugins by name, where Python packages install them.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// What a package installs below a folder of packages: the name of the plugin, and its file. Of several with one name the first is
/// preferred.
const PLACES: [(&str, &str); 6] = [
    ("cpu", "fastatomstruct_xla_cpu/libpjrt_cpu.so"),
    ("cuda", "jax_plugins/xla_cuda13/xla_cuda_plugin.so"),
    ("cuda", "jax_plugins/xla_cuda12/xla_cuda_plugin.so"),
    ("rocm", "jax_plugins/xla_rocm7/xla_rocm_plugin.so"),
    ("rocm", "jax_plugins/xla_rocm60/xla_rocm_plugin.so"),
    ("tpu", "libtpu/libtpu.so"),
];

/// The names of plugins that are looked for.
pub const PLUGIN_NAMES: [&str; 4] = ["cpu", "cuda", "rocm", "tpu"];

/// A plugin that a package has installed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InstalledPlugin {
    /// One of [`PLUGIN_NAMES`].
    pub name: &'static str,
    /// Its file.
    pub path: PathBuf,
}

/// The plugins below folders of Python packages (`site-packages`), folder by folder. They are found and not loaded.
#[must_use]
pub fn installed_plugins(folders: &[PathBuf]) -> Vec<InstalledPlugin> {
    let mut found: Vec<InstalledPlugin> = Vec::new();
    for folder in folders {
        for (name, file) in PLACES {
            let path: PathBuf = folder.join(Path::new(file));
            // Two folders may be one, and files links to one file.
            let is_new = |path: &Path| {
                let own = path.canonicalize().ok();
                own.is_some() && found.iter().all(|known| known.path.canonicalize().ok() != own)
            };
            if path.is_file() && is_new(&path) {
                found.push(InstalledPlugin { name, path });
            }
        }
    }
    found
}

/// The files that XLA's CUDA plugin compiles with, by name: an assembler, a linker, and a library of functions. It looks for them in
/// the folders of `PATH`, where CUDA is installed for a system, and where packages beside the plugin have them.
#[must_use]
pub fn cuda_tools(plugin: &Path, path: &[PathBuf]) -> BTreeMap<String, PathBuf> {
    const TOOLS: [(&str, &str); 3] = [
        ("ptxas", "bin/ptxas"),
        ("nvlink", "bin/nvlink"),
        ("libdevice", "nvvm/libdevice/libdevice.10.bc"),
    ];
    let beside = plugin.parent().map(Path::to_owned).unwrap_or_default();
    let roots = ["/usr/local/cuda", "/opt/cuda"].map(PathBuf::from).into_iter();
    let packages = [
        "../nvidia/cu13",
        "../../nvidia/cu13",
        "../../nvidia/cuda_nvcc",
        "cuda",
    ];
    let roots: Vec<PathBuf> = roots.chain(packages.map(|folder| beside.join(folder))).collect();
    let find = |(name, file): (&str, &str)| {
        let in_path = path.iter().map(|folder| folder.join(name));
        let in_roots = roots.iter().map(|root| root.join(file));
        let found = in_path.chain(in_roots).find(|path| path.is_file())?;
        Some((name.to_owned(), found))
    };
    TOOLS.into_iter().filter_map(find).collect()
}

#[cfg(test)]
#[expect(
    clippy::disallowed_methods,
    reason = "nobody else reads these files meanwhile"
)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn places() {
        let home = tempfile::tempdir().unwrap();
        let folders: Vec<PathBuf> = ["a", "b", "none"]
            .iter()
            .map(|name| home.path().join(name))
            .collect();
        let put = |folder: usize, file: &str| {
            let path = folders[folder].join(file);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, b"").unwrap();
        };
        put(0, "jax_plugins/xla_cuda12/xla_cuda_plugin.so");
        put(1, "jax_plugins/xla_cuda13/xla_cuda_plugin.so");
        put(1, "fastatomstruct_xla_cpu/libpjrt_cpu.so");
        fs::create_dir_all(folders[1].join("libtpu/libtpu.so")).unwrap();
        let found = installed_plugins(&folders);
        let names: Vec<&str> = found.iter().map(|plugin| plugin.name).collect();
        // In the order of folders; a folder is no plugin.
        assert_eq!(names, ["cuda", "cpu", "cuda"]);
        assert!(found[0].path.starts_with(&folders[0]));
        let twice = [folders[1].clone(), folders[1].join("../b")];
        assert_eq!(installed_plugins(&twice).len(), 2);
        assert!(PLACES.iter().all(|(name, _)| PLUGIN_NAMES.contains(name)));
    }
}
