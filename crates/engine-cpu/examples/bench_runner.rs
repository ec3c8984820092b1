//! One program in a process of its own, for `cargo xtask bench cpu`, which writes commands to it and reads what they took.
//!
//! `bench_runner PROGRAM THREADS` reads and compiles the text of a program, says `ok COMPILES`, and then answers each line of its
//! input, in order:
//!
//! | command | answer | what it does |
//! |---|---|---|
//! | `clear` | `ok` | forgets the inputs |
//! | `input SHAPE FILE` | `ok` | one more input: sizes as `4x5`, `-` for none, and a file of its elements |
//! | `run COUNT` | `ok NANOSECONDS` | calls the program so often, results in the memory of the last ones; the time of all |
//! | `save FOLDER` | `ok COUNT` | writes the elements of result `i` to the file `i` |
//! | `compile` | `ok NANOSECONDS` | compiles and loads in a fresh engine; the program is read already |
//! | `profile COUNT` | `ok LINES`, then so many lines `NANOSECONDS KIND NAME` | where the time of so many calls goes |
//!
//! The first failure ends it, with a message.

#![expect(
    clippy::print_stdout,
    clippy::disallowed_methods,
    reason = "it is told what to do and answers, and writes files that nobody else reads meanwhile"
)]

use std::error::Error;
use std::io::Write as _;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use artifact_engine::{
    Argument, Buffer, CompileOptions, Engine, Executable, ExecuteOptions, Profile, Program, Value,
};
use artifact_engine_cpu::{CpuEngine, Settings};
use artifact_ir::types::TensorType;
use artifact_ir::verify::verify;
use artifact_stablehlo::parse::parse_module;

type Outcome<T> = Result<T, Box<dyn Error>>;

fn main() -> Outcome<()> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let [path, threads] = words.as_slice() else {
        return Err("usage: bench_runner PROGRAM THREADS".into());
    };
    let mut runner = Runner::new(Path::new(path), threads.parse()?)?;
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

/// A loaded program, its inputs, and the results of the last call.
struct Runner {
    settings: Settings,
    program: Program,
    executable: Arc<dyn Executable>,
    inputs: Vec<Value>,
    results: Vec<Value>,
}

impl Runner {
    fn new(path: &Path, threads: usize) -> Outcome<Self> {
        let settings = Settings {
            threads: Some(threads),
            ..Settings::default()
        };
        let program = read(path)?;
        let engine = CpuEngine::new(&settings)?;
        let options = CompileOptions::for_engine(&engine);
        if !engine.plan(&program, &options)?.is_complete() {
            return Err("one compile does not serve every call of the program".into());
        }
        Ok(Self {
            executable: engine.load(&engine.compile(&program, &options)?)?,
            settings,
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
                self.add_input(shape, Path::new(file))?;
                Ok("ok".to_owned())
            }
            ["run", count] => Ok(format!("ok {}", self.run(count.parse()?)?.as_nanos())),
            ["save", folder] => {
                self.save(Path::new(folder))?;
                Ok(format!("ok {}", self.results.len()))
            }
            ["compile"] => Ok(format!("ok {}", self.compile()?.as_nanos())),
            ["profile", count] => self.profile(count.parse()?),
            _ => Err(format!("there is no command `{line}`").into()),
        }
    }

    fn add_input(&mut self, shape: &str, file: &Path) -> Outcome<()> {
        let position = self.inputs.len();
        let declared = self.executable.signature().arguments.get(position);
        let declared = declared.and_then(|ty| ty.as_tensor());
        let declared = declared.ok_or_else(|| format!("there is no array argument {position}"))?;
        let sizes = shape.split('x').filter(|size| *size != "-");
        let dims = sizes.map(str::parse::<u64>).collect::<Result<Vec<_>, _>>()?;
        let ty = TensorType::of_static(&dims, declared.element.clone());
        let buffer = Buffer::copy_of(Arc::new(ty), &std::fs::read(file)?)?;
        self.inputs.push(buffer.into());
        Ok(())
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
        let engine = CpuEngine::new(&self.settings)?;
        let start = Instant::now();
        let options = CompileOptions::for_engine(&engine);
        let loaded = engine.load(&engine.compile(&self.program, &options)?)?;
        let time = start.elapsed();
        drop(loaded);
        Ok(time)
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
