//! Every text of the corpus is read.
//!
//! The corpus is at `ARTIFACT_CORPUS_DIR`.

#[cfg(test)]
mod tests {
    use std::path::{Path, PathBuf};

    use artifact_stablehlo::parse::parse_module;
    use artifact_stablehlo::source::SourceText;

    #[expect(
        clippy::disallowed_methods,
        reason = "tests find the corpus through the environment"
    )]
    fn corpus() -> Option<PathBuf> {
        let directory = std::env::var_os("ARTIFACT_CORPUS_DIR").map(PathBuf::from);
        if directory.is_none() {
            eprintln!("SKIPPED: ARTIFACT_CORPUS_DIR is not set, so no text of the corpus was read");
        }
        directory
    }

    fn texts(directory: &Path) -> Vec<PathBuf> {
        let entries =
            std::fs::read_dir(directory).unwrap_or_else(|error| panic!("{}: {error}", directory.display()));
        let paths = entries.map(|entry| entry.unwrap().path());
        let mut texts: Vec<PathBuf> = paths
            .filter(|path| path.extension().is_some_and(|extension| extension == "mlir"))
            .collect();
        texts.sort();
        texts
    }

    /// Reads every text of a folder and demands that all but `refused` are understood.
    fn check(folder: &str, refused: &[&str]) {
        let Some(corpus) = corpus() else { return };
        let mut failures = Vec::new();
        let paths = texts(&corpus.join(folder));
        assert!(!paths.is_empty(), "no text in {folder}");
        for path in &paths {
            let name = path.file_name().unwrap().to_string_lossy().into_owned();
            let text = std::fs::read_to_string(path).unwrap();
            let parsed = parse_module(&text);
            let fine = parsed.diagnostics.is_empty() && !parsed.modules.is_empty();
            if fine == refused.contains(&name.as_str()) {
                failures.push(SourceText::new(name, &text).render_all(&parsed.diagnostics));
            }
        }
        let count = failures.len();
        assert!(
            failures.is_empty(),
            "{count} of {} in {folder}:\n{}",
            paths.len(),
            failures.join("\n")
        );
    }

    #[test]
    fn jax() {
        check("jax", &[]);
    }

    #[test]
    fn jax_sharded() {
        check("jax_sharded", &[]);
    }

    #[test]
    fn stablehlo_static() {
        check("stablehlo/static", &[]);
    }

    #[test]
    fn stablehlo_dynamic() {
        check("stablehlo/dynamic", &[]);
    }

    #[test]
    fn stablehlo_interpret() {
        check("stablehlo/interpret", &[]);
    }

    #[test]
    fn stablehlo_math() {
        check("stablehlo/math", &[]);
    }

    #[test]
    fn stablehlo_quantized() {
        check("stablehlo/quantized", &[]);
    }

    #[test]
    fn stablehlo_refine() {
        check("stablehlo/refine", &[]);
    }

    #[test]
    fn stablehlo_vhlo() {
        // Written in the versioned dialect of a future that there is not.
        check("stablehlo/vhlo", &["invalid_vhlo_future.mlir"]);
    }

    /// Programs that are wrong are read without a panic; most of them are refused by the verifier only.
    #[test]
    fn stablehlo_reject() {
        let Some(corpus) = corpus() else { return };
        for path in texts(&corpus.join("stablehlo/reject")) {
            let text = std::fs::read_to_string(path).unwrap();
            let parsed = parse_module(&text);
            assert!(!parsed.diagnostics.is_empty() || !parsed.modules.is_empty());
        }
    }
}
