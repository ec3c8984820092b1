//! From a verified program to an artifact file and back.
//!
//! [`Exported`] is a verified program with the signature that its users see; one of `jax.export` has an [`Interface`] too, and
//! the programs of its vector-Jacobian products. [`pack`] writes it: large constants leave the
//! program and become sections ([`hoist`]), the program becomes a section too, and the manifest says how to call it.
//! [`Loaded`] is what comes back: the program as it is stored, and its constants as views into the file. [`restore`] puts the
//! constants back where a program must stand alone. [`rewrite`] rewrites an artifact, of an older release
//! or for another reader. [`program_identity`] is one
//! digest for a program in any kind of file.
//!
//! Invariants:
//! * Nothing is packed that does not verify, and nothing is handed out that does not. What is packed is read before it is
//!   written, as a reader will: program, signature, interface and dimensions agree.
//! * The same program gives the same bytes: nothing of the machine, the time or the paths enters the file.
//! * A hoisted constant is an argument of the entry function after those that the user gives, in the order of the manifest.

mod callable;
mod custom_calls;
mod dimensions;
mod error;
mod exported;
pub mod hoist;
mod identity;
mod interface;
mod jax;
mod loaded;
mod pack;
mod platforms;
mod program;
pub mod restore;
mod rewrite;
mod shapes;
mod signature;
mod splice;

pub use custom_calls::{Waivers, custom_calls};
pub use dimensions::Shapes;
pub use error::{ExportError, ExportErrorKind};
pub use exported::{Exported, verified};
pub use identity::program_identity;
pub use interface::{Conventions, Donation, Interface, Layout, Origin, Side};
pub use jax::JAX_STABLEHLO;
pub use loaded::{Loaded, read_options, reader};
pub use pack::{CALLING_CONVENTION, PackOptions, UnknownReader, describe, pack, reader_release};
pub use program::{PROGRAM_FORMAT, StablehloVersion, StablehloVersionError, portable};
pub use rewrite::{Change, Rewritten, UPGRADED_FROM, is_current, rewrite};
pub use signature::{Argument, Signature};
