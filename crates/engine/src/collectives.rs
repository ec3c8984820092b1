//! What processes that run a program together do with each other (spec, "Collective ops").
//!
//! The port has the transfers that every collective operation comes down to, on bytes; what is computed on the way is named, so that
//! a library such as NCCL can do both at once. [`SingleProcess`] is the group of one.

use std::future::Future;
use std::pin::Pin;

use artifact_ir::types::ElementType;

use crate::error::EngineError;

/// A process by its number in the run, from 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Rank(pub u32);

/// The processes of one collective operation, and what tells it from others that are under way.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Group {
    /// The processes, in the order in which their parts lie in a result.
    pub members: Vec<Rank>,
    /// The channel of the operation; operations of one group and channel follow each other in the same order on each process.
    pub channel: i64,
}

/// What is computed of the values of all processes, element by element, in the order of the members.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Combine {
    /// The sum.
    Add,
    /// The product.
    Multiply,
    /// The smallest; NaN wins.
    Minimum,
    /// The largest; NaN wins.
    Maximum,
    /// Bitwise and logical conjunction.
    And,
    /// Bitwise and logical disjunction.
    Or,
}

/// A transfer that is under way.
pub type Transfer<'a> = Pin<Box<dyn Future<Output = Result<Vec<u8>, EngineError>> + Send + 'a>>;

/// The connection of a process to those that run a program with it.
///
/// Every method is called on each member of the group, with as many bytes; the results are as for the operation of the same name.
/// A member that fails or is lost makes the transfer an error on all others, within a time that the implementation bounds.
pub trait Collectives: std::fmt::Debug + Send + Sync {
    /// This process.
    fn rank(&self) -> Rank;

    /// Number of processes.
    fn size(&self) -> u32;

    /// The parts of all members, behind one another.
    fn all_gather<'a>(&'a self, group: &'a Group, part: &'a [u8]) -> Transfer<'a>;

    /// The combination of the values of all members.
    fn all_reduce<'a>(
        &'a self,
        group: &'a Group,
        value: &'a [u8],
        element: ElementType,
        combine: Combine,
    ) -> Transfer<'a>;

    /// One part of each member, behind one another: that at this process's position.
    fn all_to_all<'a>(&'a self, group: &'a Group, parts: &'a [u8]) -> Transfer<'a>;

    /// The value of the member that sends to this one by `pairs` of source and target; zeros where none does.
    fn permute<'a>(&'a self, group: &'a Group, value: &'a [u8], pairs: &'a [(Rank, Rank)]) -> Transfer<'a>;
}

/// A run of one process: whatever is exchanged comes back.
#[derive(Clone, Copy, Debug, Default)]
pub struct SingleProcess;

impl SingleProcess {
    fn only(group: &Group, value: &[u8]) -> Result<Vec<u8>, EngineError> {
        match group.members[..] {
            [Rank(0)] => Ok(value.to_vec()),
            _ => {
                let count = group.members.len();
                let what = format!("a group of {count} processes other than this one, in a run of one");
                Err(EngineError::invalid_input(what))
            }
        }
    }
}

impl Collectives for SingleProcess {
    fn rank(&self) -> Rank {
        Rank(0)
    }

    fn size(&self) -> u32 {
        1
    }

    fn all_gather<'a>(&'a self, group: &'a Group, part: &'a [u8]) -> Transfer<'a> {
        Box::pin(std::future::ready(Self::only(group, part)))
    }

    fn all_reduce<'a>(
        &'a self,
        group: &'a Group,
        value: &'a [u8],
        _element: ElementType,
        _combine: Combine,
    ) -> Transfer<'a> {
        Box::pin(std::future::ready(Self::only(group, value)))
    }

    fn all_to_all<'a>(&'a self, group: &'a Group, parts: &'a [u8]) -> Transfer<'a> {
        Box::pin(std::future::ready(Self::only(group, parts)))
    }

    fn permute<'a>(&'a self, group: &'a Group, value: &'a [u8], pairs: &'a [(Rank, Rank)]) -> Transfer<'a> {
        let sends = pairs.contains(&(Rank(0), Rank(0)));
        let received = Self::only(group, value).map(|value| match sends {
            true => value,
            false => vec![0; value.len()],
        });
        Box::pin(std::future::ready(received))
    }
}
