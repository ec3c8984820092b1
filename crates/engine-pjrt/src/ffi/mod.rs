//! LAPACK for programs that a plugin runs on the CPU.
//!
//! JAX exports linear algebra as custom calls of the names `lapack_*_ffi`, for which its own library has handlers; a plugin has none.
//! The handlers here take those names and hand the matrices to the evaluator, which sees what LAPACK would: the bytes as they lie
//! in memory.
//!
//! Invariants: a handler does not unwind into the plugin, and writes results only as large as the program says.

mod frame;
mod sys;

use std::ffi::CString;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use artifact_eval::tensor::Tensor;
use artifact_eval::{Options, Value, evaluate};
use artifact_ir::attribute::{Attribute, ByteString, CustomCallApiVersion, NamedAttributes};
use artifact_ir::location::LocationId;
use artifact_ir::module::{Body, Function, FunctionId, Module, NewOperation, Parameter};
use artifact_ir::op::{Control, CustomCall};
use artifact_ir::types::{TensorType, Type};

use crate::api::Api;
use crate::error::{INTERNAL, INVALID_ARGUMENT};
use sys::{CallFrame, Error, Handler};

/// XLA's name for what runs on the CPU.
const PLATFORM: &str = "Host";

/// Targets and their handlers, of the routines of each precision.
macro_rules! handlers {
    ($($precision:literal: $($routine:literal)*;)*) => {
        [$($({
            const TARGET: &str = concat!("lapack_", $precision, $routine, "_ffi");
            /// # Safety
            /// The frame is that of a call which is under way.
            unsafe extern "C" fn handler(frame: *mut CallFrame) -> *mut Error {
                // SAFETY: the caller's promise.
                unsafe { handle(TARGET, frame) }
            }
            (TARGET, handler as Handler)
        }),*),*]
    };
}

const HANDLERS: [(&str, Handler); 48] = handlers! {
    "s": "geev" "gees" "gehrd" "geqrf" "gesdd" "getrf" "gtsv" "potrf" "trsm" "orgqr" "syevd" "sytrd";
    "d": "geev" "gees" "gehrd" "geqrf" "gesdd" "getrf" "gtsv" "potrf" "trsm" "orgqr" "syevd" "sytrd";
    "c": "geev" "gees" "gehrd" "geqrf" "gesdd" "getrf" "gtsv" "potrf" "trsm" "ungqr" "heevd" "hetrd";
    "z": "geev" "gees" "gehrd" "geqrf" "gesdd" "getrf" "gtsv" "potrf" "trsm" "ungqr" "heevd" "hetrd";
};

/// Registers the handlers with a plugin, where it lets handlers be registered. One that has its own keeps it.
pub(crate) fn register(api: Api) {
    let Some(register) = api.extension(sys::FFI).and_then(|extension| {
        // SAFETY: an extension of that number is this struct, and stays where it is.
        let extension = unsafe { extension.cast::<sys::PjrtExtension>().as_ref() }?;
        let whole = extension.struct_size >= size_of::<sys::PjrtExtension>();
        extension.register_handler.filter(|_| whole)
    }) else {
        return;
    };
    for (target, handler) in HANDLERS {
        let mut arguments = sys::RegisterHandler {
            struct_size: sys::REGISTER_HANDLER_SIZE,
            target: target.as_ptr().cast(),
            target_size: target.len(),
            handler,
            platform: PLATFORM.as_ptr().cast(),
            platform_size: PLATFORM.len(),
            traits: 0,
        };
        // SAFETY: names are copied, and handlers stay.
        let refusal = unsafe { register(&raw mut arguments) };
        // A program that needs the routine is told that there is no handler for it.
        let _ = api.told("PJRT_FFI_Register_Handler", refusal);
    }
}

/// Answers a call of a target.
///
/// # Safety
/// The frame is that of a call which is under way.
unsafe fn handle(target: &str, frame: *mut CallFrame) -> *mut Error {
    // SAFETY: the caller's promise.
    let answer = catch_unwind(AssertUnwindSafe(|| unsafe {
        match metadata(frame) {
            Some(metadata) => {
                (*metadata).version.major = 0;
                (*metadata).version.minor = FFI_MINOR;
                Ok(())
            }
            None => run(target, &*frame),
        }
    }));
    let (code, message) = match answer {
        Ok(Ok(())) => return std::ptr::null_mut(),
        // The program calls it with what it does not take.
        Ok(Err(message)) => (INVALID_ARGUMENT, message),
        Err(_) => (INTERNAL, "a defect of ours".to_owned()),
    };
    // SAFETY: the caller's promise.
    unsafe { error(&*frame, code, &format!("{target}: {message}")) }
}

/// The minor version of the interface for which the handlers are written.
const FFI_MINOR: i32 = 3;

/// Where a handler says what it is, if that is asked.
///
/// # Safety
/// The frame is that of a call which is under way.
unsafe fn metadata(frame: *const CallFrame) -> Option<*mut sys::Metadata> {
    // SAFETY: the caller's promise; an extension of that number is this struct.
    unsafe {
        let mut extension = (*frame).extension;
        while !extension.is_null() {
            if (*extension).kind == sys::METADATA {
                return Some((*extension.cast::<sys::MetadataExtension>()).metadata);
            }
            extension = (*extension).next;
        }
    }
    None
}

/// # Safety
/// The frame is that of a call which is under way.
unsafe fn error(frame: &CallFrame, code: i32, message: &str) -> *mut Error {
    // A message ends with a zero byte, and so has none.
    let message = CString::new(message.replace('\0', " ")).unwrap_or_default();
    let mut create = sys::ErrorCreate {
        struct_size: size_of::<sys::ErrorCreate>(),
        extension_start: std::ptr::null_mut(),
        message: message.as_ptr(),
        code,
    };
    // SAFETY: the table is there for as long as the call, and the message is copied.
    unsafe {
        let create_error = frame.api.as_ref().and_then(|api| api.error_create);
        create_error.map_or(std::ptr::null_mut(), |function| function(&raw mut create))
    }
}

/// # Safety
/// The frame is that of a call which is under way.
unsafe fn run(target: &str, call: &CallFrame) -> Result<(), String> {
    // SAFETY: the caller's promise.
    let (arguments, results, options) = unsafe {
        (
            frame::arrays(&call.arguments)?,
            frame::arrays(&call.results)?,
            frame::options(&call.attributes)?,
        )
    };
    // SAFETY: these are the arguments.
    let operands = arguments.iter().map(|argument| unsafe { argument.read() });
    let operands = operands.collect::<Result<Vec<_>, _>>()?;
    let types: Vec<_> = results.iter().map(|result| Arc::clone(&result.ty)).collect();
    let computed = compute(target, operands, &types, options)?;
    for (result, tensor) in results.iter().zip(&computed) {
        // SAFETY: these are the results.
        unsafe { result.write(tensor.bytes()) }?;
    }
    Ok(())
}

/// Lets the evaluator do it.
fn compute(
    target: &str,
    operands: Vec<Tensor>,
    results: &[Arc<TensorType>],
    options: NamedAttributes,
) -> Result<Vec<Tensor>, String> {
    let types = operands.iter().map(|operand| Arc::clone(operand.ty()));
    let (module, entry) = program(target, types.map(Type::Tensor).collect(), results, options);
    let operands = operands.into_iter().map(Value::Tensor).collect();
    let outcome =
        evaluate(&module, entry, operands, &Options::default()).map_err(|error| error.to_string())?;
    let tensors = outcome.results.iter().map(|value| value.as_tensor().cloned());
    let tensors: Vec<Tensor> = tensors
        .collect::<Result<_, _>>()
        .map_err(|error| error.to_string())?;
    if tensors.len() != results.len() {
        let (got, want) = (tensors.len(), results.len());
        return Err(format!("{got} results, where the program has {want}"));
    }
    Ok(tensors)
}

/// The call as a program of its own. It names no layouts, so that the evaluator takes bytes as they lie.
fn program(
    target: &str,
    operands: Vec<Type>,
    results: &[Arc<TensorType>],
    options: NamedAttributes,
) -> (Module, FunctionId) {
    let results: Vec<Type> = results.iter().map(|ty| Type::Tensor(Arc::clone(ty))).collect();
    let mut body = Body::new();
    let block = body.add_block(body.root);
    let arguments: Vec<_> = operands
        .iter()
        .map(|ty| body.add_argument(block, ty.clone(), LocationId::UNKNOWN))
        .collect();
    let call = CustomCall {
        call_target_name: ByteString::from(target),
        has_side_effect: false,
        backend_config: Some(Attribute::Dictionary(options)),
        api_version: CustomCallApiVersion::TypedFfi,
        called_computations: Vec::new(),
        operand_layouts: None,
        result_layouts: None,
        output_operand_aliases: Vec::new(),
        result_tilings: None,
    };
    let call = NewOperation::new(Control::CustomCall(Box::new(call)), arguments);
    let call = body.add_op(block, call, results.clone());
    let values = body.ops[call].results.clone();
    body.add_op(block, NewOperation::new(Control::FuncReturn, values), Vec::new());
    let mut function = Function::new("main");
    function.arguments = operands.into_iter().map(Parameter::new).collect();
    function.results = results.into_iter().map(Parameter::new).collect();
    function.body = Some(body);
    let mut module = Module::new();
    let entry = module.add_function(function);
    (module, entry)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use artifact_ir::custom_call::TARGETS;

    use super::*;

    #[test]
    fn every_routine_that_is_evaluated() {
        let evaluated = TARGETS.iter().filter(|target| target.evaluated);
        let names = evaluated.flat_map(|target| target.names().collect::<Vec<_>>());
        let names: BTreeSet<String> = names.filter(|name| name.starts_with("lapack_")).collect();
        let handled: BTreeSet<String> = HANDLERS.iter().map(|(target, _)| (*target).to_owned()).collect();
        assert_eq!(handled, names);
    }
}
