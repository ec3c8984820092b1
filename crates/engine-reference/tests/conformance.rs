//! The suite of the port: that the engine passes it, and that it finds engines which keep less than they promise.

#![expect(clippy::unwrap_used, reason = "a test fails where its engine cannot be made")]

use std::sync::Arc;

use artifact_engine::completion::Completion;
use artifact_engine::{
    Argument, CompileOptions, CompiledModule, Device, Engine, EngineError, Executable, ExecuteOptions,
    Features, Plan, Program, Signature, Target, TargetSupport, Toolchain, Value, conformance,
};
use artifact_engine_reference::ReferenceEngine;
use artifact_ir::module::Module;
use artifact_ir::verify::verify;
use artifact_stablehlo::parse::parse_module;

fn read(text: &str) -> Result<Module, String> {
    let module = parse_module(text)
        .into_module()
        .map_err(|findings| format!("{findings:?}"))?;
    match verify(&module).into_iter().next() {
        None => Ok(module),
        Some(finding) => Err(finding.to_string()),
    }
}

#[test]
fn conforms() {
    let make = || Ok(Arc::new(ReferenceEngine::new()?) as Arc<dyn Engine>);
    let findings = conformance::run(&make, &read);
    let lines: Vec<String> = findings.iter().map(ToString::to_string).collect();
    assert!(lines.is_empty(), "{}", lines.join("\n"));
}

#[test]
fn faults_are_found() {
    let check = |fault: Fault, want: &[&str]| {
        let make = move || Ok(Arc::new(Faulty(ReferenceEngine::new()?, fault)) as Arc<dyn Engine>);
        let findings = conformance::run(&make, &read);
        let found: Vec<&str> = findings.iter().map(|finding| finding.check).collect();
        let all = want.iter().all(|want| found.contains(want));
        assert!(all, "{fault:?}: {findings:?}");
    };
    check(Fault::NewMemory, &["memory of earlier results is used again"]);
    check(
        Fault::NoReport,
        &[
            "expectations are reported",
            "a profile has times, and the operations where it can",
        ],
    );
    check(Fault::KeepsDonations, &["donated arguments are taken"]);
    check(Fault::AsksAgain, &["a program runs at every size"]);
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fault {
    /// Results lie in new memory each time.
    NewMemory,
    /// Nothing comes of a call but results.
    NoReport,
    /// Donated arguments are only borrowed.
    KeepsDonations,
    /// The plan asks for the first argument, known or not.
    AsksAgain,
}

#[derive(Debug)]
struct Faulty(ReferenceEngine, Fault);

impl Engine for Faulty {
    fn name(&self) -> &str {
        self.0.name()
    }

    fn platform(&self) -> &str {
        self.0.platform()
    }

    fn toolchain(&self) -> &Toolchain {
        self.0.toolchain()
    }

    fn targets(&self) -> Vec<TargetSupport> {
        self.0.targets()
    }

    fn target(&self) -> Target {
        self.0.target()
    }

    fn devices(&self) -> Vec<Device> {
        self.0.devices()
    }

    fn features(&self) -> Features {
        self.0.features()
    }

    fn plan(&self, program: &Program, options: &CompileOptions) -> Result<Plan, EngineError> {
        let mut plan = self.0.plan(program, options)?;
        if self.1 == Fault::AsksAgain {
            plan.values.push(artifact_engine::ResidualValue {
                argument: 0,
                reason: "it is never enough".to_owned(),
                source: artifact_ir::diagnostic::SourceOffset::NONE,
            });
        }
        Ok(plan)
    }

    fn compile(&self, program: &Program, options: &CompileOptions) -> Result<CompiledModule, EngineError> {
        self.0.compile(program, options)
    }

    fn load(&self, module: &CompiledModule) -> Result<Arc<dyn Executable>, EngineError> {
        Ok(Arc::new(FaultyExecutable(self.0.load(module)?, self.1)))
    }
}

#[derive(Debug)]
struct FaultyExecutable(Arc<dyn Executable>, Fault);

impl Executable for FaultyExecutable {
    fn signature(&self) -> &Signature {
        self.0.signature()
    }

    fn execute<'a, 'b: 'a>(
        &'a self,
        arguments: &'a mut [Argument<'b>],
        results: &'a mut Vec<Value>,
        options: &'a ExecuteOptions,
    ) -> Completion<'a> {
        Box::pin(async move {
            if self.1 == Fault::NewMemory {
                // What lies there stays in use, so that other memory has to be found.
                std::mem::forget(std::mem::take(results));
            }
            let mut report = match self.1 {
                Fault::KeepsDonations if arguments.iter().all(|argument| argument.value().is_some()) => {
                    let borrowed = arguments.iter().map(|argument| argument.value().unwrap());
                    let mut borrowed: Vec<Argument<'_>> = borrowed.map(Argument::from).collect();
                    self.0.execute(&mut borrowed, results, options).await?
                }
                _ => self.0.execute(arguments, results, options).await?,
            };
            if self.1 == Fault::NoReport {
                report = artifact_engine::Report::default();
            }
            Ok(report)
        })
    }
}
