//! One program in a process of its own, for `cargo xtask bench`, which writes commands to it and reads what they took.
//!
//! `bench_runner ENGINE PROGRAM THREADS`, of the engine `cpu` or `pjrt:PATH`, reads and compiles the text of a program, says
//! `ok COMPILES`, and then answers each line of its input, in order:
//!
//! | command | answer | what it does |
//! |---|---|---|
//! | `clear` | `ok` | forgets the inputs |
//! | `input SHAPE FILE` | `ok` | one more input: sizes as `4x5`, `-` for none, and a file of its elements |
//! | `run COUNT` | `ok NANOSECONDS` | calls the program so often, results in the memory of the last ones; the time of all |
//! | `save FOLDER` | `ok COUNT` | writes the elements of result `i` to the file `i` |
//! | `compile` | `ok NANOSECONDS` | compiles and loads in a fresh engine; the program is read already |
//! | `profile COUNT` | `ok LINES`, then so many lines `NANOSECONDS KIND NAME` | where the time of so many calls goes |
//! | `module FILE` | `ok` | writes the compiled module |
//! | `executable FILE` | `ok` | writes what the plugin serializes of the program |
//!
//! `bench_runner first ENGINE MODULE DIGESTS [SHAPE FILE]...` loads a compiled module, calls it once with these inputs and says `ok`:
//! what a process does that finds it in a cache. Digests of plugins are remembered in the folder.
//!
//! The first failure ends it, with a message.

#![expect(
    clippy::print_stdout,
    clippy::disallowed_methods,
    reason = "it is told what to do and answers, and writes files that nobody else reads meanwhile"
)]

use std::error::Error;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use artifact_core::blob::Blob;
use artifact_engine::{
    Argument, Buffer, CompileOptions, CompiledModule, Engine, Executable, ExecuteOptions, Profile, Program,
    Value,
};
use artifact_engine_cpu::{CpuEngine, Settings};
use artifact_engine_pjrt::{
    self as pjrt, Client, ClientSettings, DigestFolder, FileDigests, PjrtEngine, Plugin,
};
use artifact_ir::types::TensorType;
use artifact_ir::verify::verify;
use artifact_stablehlo::parse::parse_module;

type Outcome<T> = Result<T, Box<dyn Error>>;

fn main() -> Outcome<()> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    if let ["first", engine, module, digests, inputs @ ..] = words.as_slice() {
        first(engine, Path::new(module), Path::new(digests), inputs)?;
        return answer("ok");
    }
    let [engine, path, threads] = words.as_slice() else {
        return Err("usage: bench_runner ENGINE PROGRAM THREADS".into());
    };
    let mut runner = Runner::new(engine, Path::new(path), threads.parse()?)?;
    answer("ok 1")?;
    for line in std::io::stdin().lines() {
        answer(&runner.obey(&line?)?)?;
    }
    Ok(())
}

fn answer(text: &str) -> Outcome<()> {
    println!("{text}");
    Ok(std::io::stdout().flush()?)
}

/// One call of what was compiled before.
fn first(engine: &str, module: &Path, digests: &Path, inputs: &[&str]) -> Outcome<()> {
    let engine = make(engine, 1, Some(digests))?;
    let module = CompiledModule::decode(&Blob::new(std::fs::read(module)?))?;
    let executable = engine.load(&module)?;
    let mut values = Vec::new();
    for pair in inputs.chunks_exact(2) {
        values.push(input(&*executable, values.len(), pair[0], Path::new(pair[1]))?);
    }
    let mut arguments: Vec<Argument<'_>> = values.iter().map(Argument::from).collect();
    executable.call(&mut arguments, &ExecuteOptions::default())?;
    Ok(())
}

/// An engine by its name.
fn make(name: &str, threads: usize, digests: Option<&Path>) -> Outcome<Arc<dyn Engine>> {
    if let Some(path) = name.strip_prefix("pjrt:") {
        let digests = digests.map(|folder| {
            let folder = DigestFolder::new(folder.to_owned());
            Arc::new(folder) as Arc<dyn FileDigests>
        });
        let settings = pjrt::Settings {
            digests,
            ..pjrt::Settings::default()
        };
        let plugin = Plugin::open(Path::new(path))?;
        return Ok(Arc::new(PjrtEngine::new(&plugin, &settings)?));
    }
    let settings = Settings {
        threads: Some(threads),
        ..Settings::default()
    };
    Ok(Arc::new(CpuEngine::new(&settings)?))
}

/// An input of an executable, of which the elements are in a file.
fn input(executable: &dyn Executable, position: usize, shape: &str, file: &Path) -> Outcome<Value> {
    let declared = executable.signature().arguments.get(position);
    let declared = declared.and_then(|ty| ty.as_tensor());
    let declared = declared.ok_or_else(|| format!("there is no array argument {position}"))?;
    let sizes = shape.split('x').filter(|size| *size != "-");
    let dims = sizes.map(str::parse::<u64>).collect::<Result<Vec<_>, _>>()?;
    let ty = TensorType::of_static(&dims, declared.element.clone());
    Ok(Buffer::copy_of(Arc::new(ty), &std::fs::read(file)?)?.into())
}

/// A loaded program, its inputs, and the results of the last call.
struct Runner {
    engine: Arc<dyn Engine>,
    name: String,
    threads: usize,
    path: PathBuf,
    program: Program,
    executable: Arc<dyn Executable>,
    inputs: Vec<Value>,
    results: Vec<Value>,
}

impl Runner {
    fn new(name: &str, path: &Path, threads: usize) -> Outcome<Self> {
        let program = read(path)?;
        let engine = make(name, threads, None)?;
        let options = CompileOptions::for_engine(&*engine);
        if !engine.plan(&program, &options)?.is_complete() {
            return Err("one compile does not serve every call of the program".into());
        }
        Ok(Self {
            executable: engine.load(&engine.compile(&program, &options)?)?,
            engine,
            name: name.to_owned(),
            threads,
            path: path.to_owned(),
            program,
            inputs: Vec::new(),
            results: Vec::new(),
        })
    }

    fn obey(&mut self, line: &str) -> Outcome<String> {
        let words: Vec<&str> = line.split(' ').collect();
        match words.as_slice() {
            ["clear"] => {
                self.inputs.clear();
                Ok("ok".to_owned())
            }
            ["input", shape, file] => {
                let position = self.inputs.len();
                let value = input(&*self.executable, position, shape, Path::new(file))?;
                self.inputs.push(self.engine.to_device(value)?);
                Ok("ok".to_owned())
            }
            ["run", count] => Ok(format!("ok {}", self.run(count.parse()?)?.as_nanos())),
            ["save", folder] => {
                self.save(Path::new(folder))?;
                Ok(format!("ok {}", self.results.len()))
            }
            ["compile"] => Ok(format!("ok {}", self.compile()?.as_nanos())),
            ["profile", count] => self.profile(count.parse()?),
            ["module", file] => self.module(Path::new(file)),
            ["executable", file] => self.executable(Path::new(file)),
            _ => Err(format!("there is no command `{line}`").into()),
        }
    }

    fn run(&mut self, count: u32) -> Outcome<Duration> {
        let options = ExecuteOptions::default();
        let mut arguments: Vec<Argument<'_>> = self.inputs.iter().map(Argument::from).collect();
        let start = Instant::now();
        for _ in 0..count {
            self.executable.run(&mut arguments, &mut self.results, &options)?;
        }
        Ok(start.elapsed())
    }

    fn save(&self, folder: &Path) -> Outcome<()> {
        for (index, value) in self.results.iter().enumerate() {
            let array = value.as_array().ok_or("a result is no array")?;
            std::fs::write(folder.join(index.to_string()), array.bytes())?;
        }
        Ok(())
    }

    fn compile(&self) -> Outcome<Duration> {
        let engine = make(&self.name, self.threads, None)?;
        let start = Instant::now();
        let options = CompileOptions::for_engine(&*engine);
        let loaded = engine.load(&engine.compile(&self.program, &options)?)?;
        let time = start.elapsed();
        drop(loaded);
        Ok(time)
    }

    fn module(&self, file: &Path) -> Outcome<String> {
        let engine = make(&self.name, self.threads, None)?;
        let module = engine.compile(&self.program, &CompileOptions::for_engine(&*engine))?;
        std::fs::write(file, module.encode())?;
        Ok("ok".to_owned())
    }

    fn executable(&self, file: &Path) -> Outcome<String> {
        let path = self.name.strip_prefix("pjrt:");
        let plugin = Plugin::open(Path::new(path.ok_or("the engine is no plugin")?))?;
        let client = Client::new(&plugin, &ClientSettings::default())?;
        let loaded = client.compile(&std::fs::read(&self.path)?, &pjrt::CompileOptions::default())?;
        std::fs::write(file, loaded.serialize()?)?;
        Ok("ok".to_owned())
    }

    fn profile(&mut self, count: u32) -> Outcome<String> {
        let options = ExecuteOptions {
            profile: true,
            ..ExecuteOptions::default()
        };
        let mut arguments: Vec<Argument<'_>> = self.inputs.iter().map(Argument::from).collect();
        let mut lines = Vec::new();
        for _ in 0..count {
            let report = self.executable.run(&mut arguments, &mut self.results, &options)?;
            lines.extend(report.profile.iter().flat_map(profile_lines));
        }
        lines.insert(0, format!("ok {}", lines.len()));
        Ok(lines.join("\n"))
    }
}

/// A line for each step.
fn profile_lines(profile: &Profile) -> Vec<String> {
    let steps = profile.steps.iter();
    let line = |step: &artifact_engine::ProfileStep| {
        let name = step.name.replace(['\n', '\r'], " ");
        format!("{} {} {name}", step.time.as_nanos(), step.kind)
    };
    steps.map(line).collect()
}

fn read(path: &Path) -> Outcome<Program> {
    let text = std::fs::read_to_string(path)?;
    let module = parse_module(&text)
        .into_module()
        .map_err(|findings| format!("{}: {findings:?}", path.display()))?;
    match verify(&module).into_iter().next() {
        None => Ok(Program::of_module(Arc::new(module))?),
        Some(finding) => Err(finding.to_string().into()),
    }
}
