//! The command line.

use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;
use std::sync::LazyLock;
use std::time::Duration;

use artifact_container::READABLE;
use artifact_container::release::RELEASED;
use artifact_engine_pjrt::PLUGIN_NAMES;
use clap::{Args, Parser, Subcommand, ValueEnum};
use clap_complete::Shell;

impl Command {
    /// Whether standard output is for programs, a failure included.
    pub(crate) const fn is_json(&self) -> bool {
        match self {
            Self::Inspect(options) => options.json,
            Self::Check(options) => options.json,
            Self::Verify(options) => options.json,
            Self::Run(options) => options.json,
            Self::Doctor(options) => options.json,
            Self::Export(_)
            | Self::Keygen(_)
            | Self::Sign(_)
            | Self::Compile(_)
            | Self::Specialize(_)
            | Self::Upgrade(_)
            | Self::Convert(_)
            | Self::Completions { .. } => false,
        }
    }
}

const EXIT_CODES: &str = "Exit codes: 0 ok; 1 a comparison or check failed; 2 usage; 3 bad input; 4 incompatible version; \
5 not allowed; 6 engine unavailable or operation not supported; 70 internal error.";

/// The version of the product with the day of the release, since previews had the same version, and with what it reads.
static VERSION: LazyLock<String> = LazyLock::new(|| {
    let version = env!("CARGO_PKG_VERSION");
    format!("{version}, released {RELEASED}; reads containers {READABLE}")
});

/// Packs StableHLO programs into artifacts, looks into them, runs and checks them.
#[derive(Debug, Parser)]
#[command(name = "artifact", version = VERSION.as_str(), after_help = EXIT_CODES, arg_required_else_help = true)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Check a program and pack it into an artifact
    Export(ExportArguments),
    /// Show what an artifact or a program is
    Inspect(InspectArguments),
    /// Make a key pair for seals
    Keygen(KeygenArguments),
    /// Seal an artifact with a key
    Sign(SignArguments),
    /// Check every byte of an artifact, and who has sealed it
    Verify(VerifyArguments),
    /// Run an artifact or a program, and compare its results
    Run(RunArguments),
    /// Show what a program becomes on its way to machine code
    Compile(CompileArguments),
    /// Make the static program of some sizes
    Specialize(SpecializeArguments),
    /// Rewrite an artifact of an older container version as this release writes it
    Upgrade(UpgradeArguments),
    /// Run every program found that comes with its results, and count
    Check(CheckArguments),
    /// Print programs in canonical form, constants included
    Convert(ConvertArguments),
    /// Say what there is to run programs with, and what the environment says
    Doctor(DoctorArguments),
    /// Print a completion script for a shell, as for `source <(artifact completions bash)`
    Completions {
        /// The shell
        shell: Shell,
    },
}

#[derive(Debug, Args)]
#[command(after_help = "Examples:
  artifact export model.mlir -o model.artifact
  artifact export model.mlir --shapes 'x: (b, 128); y: (b,)' --constraint 'b <= 64' -o model.artifact
  artifact export model.mlir --for-reader 1.0 -o model.artifact
  artifact export model.bin -o model.artifact
  artifact export model.artifact --stablehlo 1.13.0 -o for_others.artifact

An artifact is written anew for the reader that is asked for: all that it says of its program stays, but for seals, which do not hold
for another file.

A shape has a number or an expression for each dimension: b, 2*b + 1, floordiv(b, 2), max(a, b), mod(b, 4). `_` keeps one
dimension as the program has it, `...` all that follow. A name stands for one size everywhere, and a number makes the program
static there. A variable is at least 1 unless a constraint says less and the program allows it. Constraints compare
expressions: `a >= 2*b`, `0 <= b < 64`, `mod(b, 8) == 0`.")]
pub(crate) struct ExportArguments {
    /// StableHLO as text or portable bytecode, what `jax.export` serialized, or an artifact; what the file holds counts, not its
    /// name
    #[arg(value_name = "PROGRAM")]
    pub(crate) program: PathBuf,
    /// The artifact to write; an existing one is replaced at once or not at all
    #[arg(short, long, value_name = "F.artifact")]
    pub(crate) output: PathBuf,
    /// Shapes of arguments whose sizes the program leaves open: NAME: (DIM, ...), several apart by `;`; a name that has `;`
    /// stands in double quotes, and `arg0`, `arg1` and so on always work. Without this option sizes have the names that the
    /// program gives them, else d0, d1, ...
    #[arg(long, value_name = "SHAPES")]
    pub(crate) shapes: Vec<String>,
    /// A constraint on the named sizes; may be repeated
    #[arg(long, allow_hyphen_values = true, value_name = "CONSTRAINT")]
    pub(crate) constraint: Vec<String>,
    /// A platform that the program is for, such as cpu or cuda; may be repeated. A JAX export says so itself
    #[arg(long, value_name = "PLATFORM")]
    pub(crate) platform: Vec<String>,
    /// Record the time, given after `=`: seconds since 1970-01-01 UTC, or the value of SOURCE_DATE_EPOCH when none is given. Without this
    /// option equal programs give equal files
    #[arg(long, value_name = "SECONDS", num_args = 0..=1, require_equals = true, default_missing_value = "env")]
    pub(crate) created: Option<String>,
    /// Add a text to the manifest; may be repeated
    #[arg(long, value_name = "KEY=VALUE")]
    pub(crate) metadata: Vec<String>,
    /// Write for readers of this container version, such as 1.0, and newer; refused when they cannot read what the program
    /// needs
    #[arg(long, value_name = "VERSION")]
    pub(crate) for_reader: Option<String>,
    /// Write the program as this version of StableHLO, such as 1.13.0; without this option the newest, and of an artifact the one
    /// that it has
    #[arg(long, value_name = "VERSION")]
    pub(crate) stablehlo: Option<String>,
    /// Accept a custom call that has no guarantee to stay what it is, and record that; may be repeated
    #[arg(long, value_name = "TARGET")]
    pub(crate) allow_custom_call: Vec<String>,
}

#[derive(Debug, Args)]
#[command(
    after_help = "Of an artifact, header, table and manifest are shown, and neither its program nor its constants are read. Of any other
kind, and with --program, the whole program is read and verified. Programs that mean the same have one program digest, whatever kind of
file they are in.

Examples:
  artifact inspect model.artifact
  artifact inspect model.artifact --json
  artifact inspect model.artifact --program
  artifact inspect model.mlirbc
  artifact inspect model.bin"
)]
pub(crate) struct InspectArguments {
    /// An artifact, StableHLO as text or portable bytecode, or a JAX export
    #[arg(value_name = "F|PROGRAM")]
    pub(crate) program: PathBuf,
    /// Machine-readable output
    #[arg(long, conflicts_with = "dims")]
    pub(crate) json: bool,
    /// Show the program instead: its digest, functions, signature and custom calls
    #[arg(long = "program", conflicts_with = "dims")]
    pub(crate) program_only: bool,
    /// Show the dimensions instead: variables, constraints, what the program needs of them, and sizes that stay unknown
    #[arg(long)]
    pub(crate) dims: bool,
}

#[derive(Debug, Args)]
#[command(after_help = "Example:
  artifact keygen -o release.key --comment 'release machine'

The secret key goes to KEY, for its owner alone and not encrypted; the public key goes to KEY.pub and to standard output.
Neither file is overwritten.")]
pub(crate) struct KeygenArguments {
    /// The file of the secret key; it must not exist
    #[arg(short, long, value_name = "KEY")]
    pub(crate) output: PathBuf,
    /// A remark of one line, kept in both files
    #[arg(long, value_name = "TEXT", default_value = "")]
    pub(crate) comment: String,
}

#[derive(Debug, Args)]
#[command(after_help = "Examples:
  artifact sign model.artifact --key release.key
  artifact sign model.artifact --key release.key --scope production/vision --comment 'ticket 4711'

Every byte of the file is checked first. Sealing does not change the file digest; other seals stay. The file is replaced at
once or not at all.")]
pub(crate) struct SignArguments {
    /// The artifact
    #[arg(value_name = "F")]
    pub(crate) artifact: PathBuf,
    /// The file of the secret key, as `artifact keygen` makes it
    #[arg(long, value_name = "KEY")]
    pub(crate) key: PathBuf,
    /// What the file is for, which a trust file may ask for: ASCII letters, digits and `._/-`
    #[arg(long, value_name = "SCOPE", default_value = "")]
    pub(crate) scope: String,
    /// A remark of one line; it is signed too
    #[arg(long, value_name = "TEXT", default_value = "")]
    pub(crate) comment: String,
    /// Replace the seal that this key has on the file already
    #[arg(long)]
    pub(crate) replace: bool,
}

#[derive(Debug, Args)]
#[command(after_help = "Examples:
  artifact verify model.artifact
  artifact verify model.artifact --trust trust.toml --json

With --trust the exit code is 0 only if the policy of the trust file is met now, and 5 if it is not. Without, nobody is
trusted, and it is 0 if the file is whole and no seal is invalid, and 1 if one is. A file that is damaged gives 3.
docs/signing.md in the repository describes trust files.")]
pub(crate) struct VerifyArguments {
    /// The artifact
    #[arg(value_name = "F")]
    pub(crate) artifact: PathBuf,
    /// Whose seals count, and how many are needed
    #[arg(long, value_name = "TRUST.toml")]
    pub(crate) trust: Option<PathBuf>,
    /// Machine-readable output
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
#[command(after_help = "Example:
  artifact specialize model.artifact --dim b=32 -o model_b32.artifact")]
pub(crate) struct SpecializeArguments {
    /// A program with sizes that are open: an artifact, a JAX export, bytecode or text
    #[arg(value_name = "F")]
    pub(crate) artifact: PathBuf,
    /// The value of a dimension variable; each must have one
    #[arg(long, value_name = "NAME=N", required = true)]
    pub(crate) dim: Vec<String>,
    /// The artifact to write; an existing one is replaced at once or not at all
    #[arg(short, long, value_name = "G")]
    pub(crate) output: PathBuf,
}

#[derive(Debug, Args)]
#[command(
    after_help = "The program keeps its meaning, by its program digest, and constants keep their bytes; a program that a preview
stored as text becomes bytecode. The digest of the old file is recorded in the metadata. A file of a newer container version is
refused: this release would lose what it does not know. Signatures of the old file do not hold for the new one.
`artifact export` writes one for an older reader.

Examples:
  artifact upgrade model.artifact
  artifact upgrade models/*.artifact
  artifact upgrade model.artifact -o upgraded.artifact"
)]
pub(crate) struct UpgradeArguments {
    /// The artifacts; each is replaced, at once or not at all, unless an output is given
    #[arg(value_name = "F", required = true)]
    pub(crate) artifacts: Vec<PathBuf>,
    /// Write here instead, where there is one
    #[arg(short, long, value_name = "OUT")]
    pub(crate) output: Option<PathBuf>,
}

/// Most devices of a run: those of a large node, many times over.
const DEVICES_MAX: i64 = 1 << 10;

/// Bytes of values that a program may hold unless told otherwise.
const VALUE_BYTES_MAX: u64 = 8 << 30;

/// Tolerances of a comparison where nobody says others.
pub(crate) const RTOL: f64 = 1e-5;
pub(crate) const ATOL: f64 = 1e-6;

/// A tolerance: finite, and not negative.
fn tolerance(text: &str) -> Result<f64, String> {
    let tolerance: f64 = text.parse().map_err(|error| format!("{error}"))?;
    if tolerance.is_finite() && tolerance >= 0.0 {
        Ok(tolerance)
    } else {
        Err("a tolerance is a finite number that is not negative".to_owned())
    }
}

/// Jobs that one check may run side by side.
fn jobs(text: &str) -> Result<usize, String> {
    const JOBS_MAX: usize = 1024;
    match text.parse() {
        Ok(jobs @ 1..=JOBS_MAX) => Ok(jobs),
        _ => Err(format!("give a number from 1 to {JOBS_MAX}")),
    }
}

/// A limit of time: seconds, above 0.
fn seconds(text: &str) -> Result<Duration, String> {
    let seconds: f64 = text.parse().map_err(|error| format!("{error}"))?;
    match Duration::try_from_secs_f64(seconds) {
        Ok(limit) if !limit.is_zero() => Ok(limit),
        _ => Err("give a number of seconds above 0".to_owned()),
    }
}

/// A stage of compilation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum EmitStage {
    /// The program with all that follows from its arguments
    Refined,
    /// The structured kernels that operations are joined to
    Fused,
    /// Buffers and steps, with sizes as expressions
    Plan,
    /// How each kernel is cut into phases, compiled loops and calls of tile routines
    Kernels,
    /// Machine code
    Asm,
}

#[derive(Debug, Args)]
#[command(after_help = "Examples:
  artifact compile model.artifact
  artifact compile model.mlir --emit plan
  artifact compile model.artifact --emit asm --target x86-64-v3
  artifact compile model.artifact --engine pjrt:cuda --target h100

Without --emit, the time and the size of what came of it are said. For `cpu`, sizes that have no numbers stay open: what is compiled
serves all of them. A plugin compiles static programs, and one for CUDA also for GPUs that are not there: h100 and a100.")]
pub(crate) struct CompileArguments {
    /// The artifact or program
    pub(crate) program: PathBuf,
    /// Print a stage of compilation
    #[arg(long, value_enum)]
    pub(crate) emit: Option<EmitStage>,
    /// What compiles, as for `artifact run`
    #[arg(long, value_name = "ENGINE")]
    pub(crate) engine: Option<EngineName>,
    /// The machine that code is for: of `cpu` the level of processors, x86-64-v3 or x86-64-v4; of `pjrt:cuda` h100 or a100; by default
    /// this machine
    #[arg(long, value_name = "TARGET")]
    pub(crate) target: Option<String>,
    /// Compile for so many devices that run the program together
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=DEVICES_MAX), default_value_t = 1)]
    pub(crate) devices: u32,
}

/// What runs a program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum EngineName {
    /// Machine code for this machine, made by Cranelift.
    Cpu,
    /// The reference evaluator: clear, right and slow.
    Reference,
    /// A PJRT plugin: that one, or what the environment says.
    Pjrt(Option<PluginName>),
}

/// A PJRT plugin.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum PluginName {
    /// What a Python package has installed under this name.
    Installed(&'static str),
    /// A file.
    At(PathBuf),
}

impl From<PathBuf> for PluginName {
    fn from(text: PathBuf) -> Self {
        let installed = PLUGIN_NAMES.into_iter().find(|name| text.as_os_str() == *name);
        installed.map_or(Self::At(text), Self::Installed)
    }
}

impl fmt::Display for PluginName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Installed(name) => f.write_str(name),
            Self::At(path) => path.display().fmt(f),
        }
    }
}

impl EngineName {
    /// What names an engine.
    pub(crate) const KNOWN: &str = "`cpu`, `reference`, `pjrt`, `pjrt:NAME`, `pjrt:PATH`";
}

impl FromStr for EngineName {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match (text, text.strip_prefix("pjrt:")) {
            ("cpu", _) => Ok(Self::Cpu),
            ("reference", _) => Ok(Self::Reference),
            ("pjrt", _) => Ok(Self::Pjrt(None)),
            (_, Some(plugin)) if !plugin.is_empty() => Ok(Self::Pjrt(Some(PathBuf::from(plugin).into()))),
            _ => Err(format!("the engines are {}", Self::KNOWN)),
        }
    }
}

impl fmt::Display for EngineName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Cpu => f.write_str("cpu"),
            Self::Reference => f.write_str("reference"),
            Self::Pjrt(None) => f.write_str("pjrt"),
            Self::Pjrt(Some(plugin)) => write!(f, "pjrt:{plugin}"),
        }
    }
}

/// What runs programs, and how far it may go.
#[derive(Debug, Args)]
pub(crate) struct EngineArguments {
    /// What runs programs: `cpu`, machine code for this machine, made by Cranelift; `reference`, the evaluator, clear, right and
    /// slow; `pjrt:PATH`, XLA through the PJRT plugin at PATH; `pjrt:NAME`, through the one that a Python package has installed for
    /// cpu, cuda, rocm or tpu; `pjrt`, through what ARTIFACT_PJRT_PLUGIN says. By default what ARTIFACT_ENGINE says, else `cpu`
    #[arg(long, value_name = "ENGINE")]
    pub(crate) engine: Option<EngineName>,
    /// Run a program on so many devices together, each on its part of the arrays, as the shardings of the program say
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=DEVICES_MAX), default_value_t = 1)]
    pub(crate) devices: u32,
    /// Let the values of a program take at most so many bytes (by default 8 GiB)
    #[arg(long, visible_alias = "max-bytes", value_name = "BYTES", default_value_t = VALUE_BYTES_MAX, allow_negative_numbers = true)]
    pub(crate) memory_limit: u64,
    /// Let a call of a program take at most so long; without it, any time
    #[arg(long, value_name = "SECONDS", value_parser = seconds, allow_negative_numbers = true)]
    pub(crate) time_limit: Option<Duration>,
    /// Take at most so many steps for a program, which `reference` counts: an operation is a step, one on large arrays several. By
    /// default any number, and 200000000 for `check`
    #[arg(long, value_name = "N")]
    pub(crate) max_steps: Option<u64>,
    /// Write the names of compiled kernels to /tmp/perf-PID.map, where the profiler `perf` looks for them
    #[arg(long)]
    pub(crate) perf_map: bool,
}

#[derive(Debug, Args)]
#[command(after_help = "Examples:
  artifact run model.artifact --inputs inputs.npz --expect results.npz --rtol 1e-5 --atol 1e-5
  artifact run model.artifact --input x=x.npy --output results.npz
  artifact run program.mlir --random 7 --output results.npz
  artifact run program.mlir --random 7 --repeat 20 --profile

Arguments have the names that `artifact inspect` shows: those that the exporter recorded (JAX does with
`jax.export`), else argN. An array is matched by that name, else by position as argN or arr_N. Results likewise:
by name, else by position as resultN or arr_N. What --input gives counts before --inputs, and both before --random.
The position of the platform, which a program for several takes first, is nobody's array: arr_0 is the one after it.

Types that NumPy lacks: bf16 as uint16 and narrower floats as uint8, by bit pattern; 2- and 4-bit integers as int8
or uint8; or all of them as the package ml_dtypes saves them.

--random draws floats uniformly from [-1, 1), integers from 0 to 7, and booleans: the same for the same seed.

A program with dimensions that are not static is made static for the sizes of the given arrays first.")]
pub(crate) struct RunArguments {
    /// An artifact, StableHLO as text or portable bytecode, or a JAX export
    #[arg(value_name = "F|PROGRAM")]
    pub(crate) program: PathBuf,
    /// Run only an artifact that is sealed as this trust file asks
    #[arg(long, value_name = "TRUST.toml")]
    pub(crate) trust: Option<PathBuf>,
    /// Arguments, as a NumPy archive
    #[arg(long, value_name = "X.npz")]
    pub(crate) inputs: Option<PathBuf>,
    /// One argument, as a NumPy array; may be repeated
    #[arg(long = "input", value_name = "NAME=X.npy")]
    pub(crate) input: Vec<String>,
    /// Random values for the arguments that are not given
    #[arg(long, value_name = "SEED", allow_negative_numbers = true)]
    pub(crate) random: Option<u64>,
    /// The value of a dimension variable, which arrays may also tell; may be repeated
    #[arg(long, value_name = "NAME=N")]
    pub(crate) dim: Vec<String>,
    /// Write the results as a NumPy archive, which holds arrays of up to 64 dimensions
    #[arg(long, value_name = "OUT.npz")]
    pub(crate) output: Option<PathBuf>,
    /// Compare the results with a NumPy archive
    #[arg(long, value_name = "WANT.npz")]
    pub(crate) expect: Option<PathBuf>,
    /// Relative tolerance of the comparison: |got - want| <= atol + rtol * |want|
    #[arg(long, default_value_t = RTOL, value_parser = tolerance, requires = "expect", allow_negative_numbers = true)]
    pub(crate) rtol: f64,
    /// Absolute tolerance of the comparison
    #[arg(long, default_value_t = ATOL, value_parser = tolerance, requires = "expect", allow_negative_numbers = true)]
    pub(crate) atol: f64,
    /// The platform whose part of a program for several platforms is run; the engine's own by default
    #[arg(long, value_name = "PLATFORM")]
    pub(crate) platform: Option<String>,
    #[command(flatten)]
    pub(crate) engine: EngineArguments,
    /// Call the program so often, with the same arguments, and print how long its compile and the calls took
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..), default_value_t = 1)]
    pub(crate) repeat: u32,
    /// Print how long each step of the last call took, in the order of the program, with the bytes that it moved and the operations
    /// on elements (FLOPs) that it did
    #[arg(long)]
    pub(crate) profile: bool,
    /// Machine-readable output: one object, without the elements of results
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
#[command(
    after_help = "Finds, in files and folders (recursively), programs of every kind: artifacts, StableHLO as text or portable bytecode, JAX exports.
What a file holds counts, not its name. They are judged by
  check.* expectations inside;
  the archives X.inputs.npz and X.expected.npz beside X.artifact, X.mlir or what else X is;
  a cases.json or manifest.json beside them, with inputs and results in .npz;
  an index.json, where they must be refused or must equal another file.
Where a folder has such a list, only what it names is checked. docs/checking.md in the repository describes the lists. A program that cannot be judged here, such as one that needs
inputs that nothing gives, counts as unsupported. Only failed ones make the exit code 1.

With --json, each line of standard output is an object of `program`, `verdict` and `reason`, and the count goes to standard error.

Example:
  artifact check programs/ -j 2"
)]
pub(crate) struct CheckArguments {
    /// Files and folders
    #[arg(value_name = "PATH", required = true)]
    pub(crate) paths: Vec<PathBuf>,
    #[command(flatten)]
    pub(crate) engine: EngineArguments,
    /// Machine-readable output: one object a program
    #[arg(long)]
    pub(crate) json: bool,
    /// Number of programs that run side by side; by default one a processor
    #[arg(short, long, value_name = "N", value_parser = jobs)]
    pub(crate) jobs: Option<usize>,
    /// Also pack each program, open the artifact again and run that
    #[arg(long)]
    pub(crate) through_artifact: bool,
}

#[derive(Debug, Args)]
#[command(
    after_help = "Engines, PJRT plugins and why one cannot be used, where Python packages are looked for, and every
variable of the environment that counts. Each plugin is loaded in a process of its own. The exit code is 6 where the
engine that a run would take, without --engine, cannot be used.

Example:
  artifact doctor --json"
)]
pub(crate) struct DoctorArguments {
    /// Machine-readable output
    #[arg(long)]
    pub(crate) json: bool,
    /// Load a plugin and say what it has, as a line of JSON
    #[arg(long, value_name = "PATH", hide = true)]
    pub(crate) probe: Option<PathBuf>,
}

/// What a program is written as.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    /// StableHLO text
    Mlir,
    /// StableHLO's portable bytecode
    Mlirbc,
    /// A file that `jax.export.deserialize` reads
    Jax,
}

impl Format {
    /// How names of files in it end.
    pub(crate) const fn extension(self) -> &'static str {
        match self {
            Self::Mlir => "mlir",
            Self::Mlirbc => "mlirbc",
            Self::Jax => "bin",
        }
    }
}

#[derive(Debug, Args)]
#[command(after_help = "Examples:
  artifact convert model.artifact --to mlir -o model.mlir
  artifact convert model.mlir --to mlirbc --stablehlo 1.13.0 -o model.mlirbc
  artifact convert model.artifact --to jax -o model.bin
  artifact convert programs/ --to mlir --output-dir printed/")]
pub(crate) struct ConvertArguments {
    /// Artifacts, StableHLO as text or portable bytecode, JAX exports, or folders of them
    #[arg(value_name = "F", required = true)]
    pub(crate) inputs: Vec<PathBuf>,
    /// What to write
    #[arg(long, value_enum, default_value = "mlir")]
    pub(crate) to: Format,
    /// Output file, for one input; without it and --output-dir: standard output
    #[arg(short, long, conflicts_with = "output_dir")]
    pub(crate) output: Option<PathBuf>,
    /// Output folder: one file for each input, under its name
    #[arg(long)]
    pub(crate) output_dir: Option<PathBuf>,
    /// The version of StableHLO that bytecode is written as, 0.9.0 to 1.20.0; the newest by default, and for JAX one that
    /// JAX 0.10 and later read
    #[arg(long, value_name = "VERSION")]
    pub(crate) stablehlo: Option<String>,
    /// Accept a custom call that has no guarantee to stay what it is, and record that in a JAX export; may be repeated
    #[arg(long, value_name = "TARGET")]
    pub(crate) allow_custom_call: Vec<String>,
    /// Keep the locations that the exporter recorded; names of arguments are among them
    #[arg(long)]
    pub(crate) locations: bool,
    /// Print every operation in the generic form
    #[arg(long)]
    pub(crate) generic: bool,
}
