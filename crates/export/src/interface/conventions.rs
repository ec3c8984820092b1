//! What the attributes of a program's entry say of how it is called.

use artifact_ir::module::{Function, Parameter};

/// The attribute of arguments that are no data, and its value for the position of the platform.
const GLOBAL_CONSTANT: &str = "jax.global_constant";

/// What JAX calls the argument that is the position of the platform.
const PLATFORM_INDEX: &str = "_platform_index";

/// What the attributes of an entry say.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Conventions {
    /// Whether the first argument is the position, among the platforms, of the one that the program runs on.
    pub platform_index: bool,
    /// Arguments whose buffers the program may reuse, ascending.
    pub donations: Vec<Donation>,
    /// Layouts that are asked for, those of arguments first, ascending.
    pub layouts: Vec<Layout>,
}

/// An argument whose buffer the program may reuse.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Donation {
    /// Its position.
    pub input: u32,
    /// The result that takes the buffer, where the exporter chose it (`tf.aliasing_output`) and did not leave that to the
    /// compiler (`jax.buffer_donor`).
    pub output: Option<u32>,
}

/// A layout that an argument or a result asks for (`mhlo.layout_mode`).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Layout {
    /// Which of the two.
    pub side: Side,
    /// Its position.
    pub position: u32,
    /// `default`, `auto`, or the order of the dimensions.
    pub mode: String,
}

/// Arguments or results.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// Arguments.
    Input,
    /// Results.
    Output,
}

impl Conventions {
    /// What the attributes of a function say.
    #[must_use]
    pub fn of(function: &Function) -> Self {
        let arguments = || (0..).zip(&function.arguments);
        let inputs = arguments().filter_map(|(position, one)| layout(Side::Input, position, one));
        let results = (0..).zip(&function.results);
        let outputs = results.filter_map(|(position, one)| layout(Side::Output, position, one));
        let text = |name: &str, parameter: &Parameter| {
            let attribute = parameter.attributes.get(name)?;
            attribute.as_str().map(str::to_owned)
        };
        Self {
            platform_index: function
                .arguments
                .first()
                .and_then(|first| text(GLOBAL_CONSTANT, first))
                .is_some_and(|name| name == PLATFORM_INDEX),
            donations: arguments()
                .filter_map(|(input, one)| donation(input, one))
                .collect(),
            layouts: inputs.chain(outputs).collect(),
        }
    }
}

fn donation(input: u32, parameter: &Parameter) -> Option<Donation> {
    let alias = parameter.attributes.get("tf.aliasing_output");
    let output = alias
        .and_then(|output| output.as_i64())
        .and_then(|output| u32::try_from(output).ok());
    let donor = parameter.attributes.get("jax.buffer_donor").is_some();
    (donor || output.is_some()).then_some(Donation { input, output })
}

fn layout(side: Side, position: u32, parameter: &Parameter) -> Option<Layout> {
    let mode = parameter.attributes.get("mhlo.layout_mode")?.as_str()?.to_owned();
    Some(Layout { side, position, mode })
}
