//! Which tensors share a buffer: what a loop carries with what its body leaves, and an update with what it updates.
//!
//! Sharing never changes what is computed: a tensor takes over the place of another one only where nothing reads the other one
//! any more. Everything else is copied.

use std::collections::{BTreeSet, HashMap, HashSet};

use crate::build::Term;
use crate::fuse::{Cluster, is_plain};
use crate::graph::{Carried, TensorId};
use crate::index::Index;
use crate::schedule::{Work, WorkKind, Works};

/// Which buffer each tensor has, by the tensor that stands for it.
#[derive(Debug, Default)]
pub(crate) struct Homes {
    parents: HashMap<TensorId, TensorId>,
}

impl Homes {
    /// The tensor that stands for the buffer of this one.
    pub(crate) fn home(&self, tensor: TensorId) -> TensorId {
        let mut tensor = tensor;
        while let Some(parent) = self.parents.get(&tensor) {
            tensor = *parent;
        }
        tensor
    }

    /// Gives `tensor` the buffer of `other`.
    fn share(&mut self, tensor: TensorId, other: TensorId) {
        let (tensor, other) = (self.home(tensor), self.home(other));
        if tensor != other {
            self.parents.insert(tensor, other);
        }
    }
}

/// Decides which tensors share a buffer. `fixed` are those whose buffers are somebody else's: arguments and constants.
pub(crate) fn homes(works: &Works, fixed: &dyn Fn(TensorId) -> bool) -> Homes {
    let mut lives = Lives::default();
    lives.sequence(works);
    let mut sharing = Sharing {
        lives: &lives,
        fixed,
        homes: Homes::default(),
    };
    sharing.sequence(works);
    sharing.homes
}

/// When tensors are made and read, by the numbers of a walk through all work.
#[derive(Debug, Default)]
struct Lives {
    count: u32,
    made: HashMap<TensorId, u32>,
    reads: HashMap<TensorId, Vec<u32>>,
    /// The first and the last number of each loop, by what it carries first.
    loops: Vec<(u32, u32)>,
    /// The numbers of each piece of work, in order of the walk.
    works: Vec<u32>,
}

impl Lives {
    fn sequence(&mut self, works: &Works) {
        for work in &works.works {
            self.work(work);
        }
        self.count += 1;
        for result in &works.results {
            self.reads.entry(*result).or_default().push(self.count);
        }
    }

    fn work(&mut self, work: &Work) {
        self.count += 1;
        let number = self.count;
        self.works.push(number);
        for tensor in work.reads() {
            self.reads.entry(*tensor).or_default().push(number);
        }
        for tensor in work.writes() {
            self.made.entry(*tensor).or_insert(number);
        }
        match &work.kind {
            WorkKind::While { condition, body, .. } => {
                self.sequence(condition);
                self.sequence(body);
                self.count += 1;
                self.loops.push((number, self.count));
            }
            WorkKind::Case { branches, .. } => {
                for branch in branches {
                    self.sequence(branch);
                }
                self.count += 1;
            }
            WorkKind::Kernel(_)
            | WorkKind::Copy { .. }
            | WorkKind::Product { .. }
            | WorkKind::Operation { .. } => {}
        }
    }

    /// The last read of a tensor. One that was made before a loop and is read in it is needed until the loop's end.
    fn last_read(&self, tensor: TensorId) -> u32 {
        let made = self.made.get(&tensor).copied().unwrap_or(0);
        let reads = self.reads.get(&tensor).into_iter().flatten().copied();
        let extended = |read: u32| {
            let around = self
                .loops
                .iter()
                .filter(|(first, last)| made < *first && *first < read && read <= *last);
            around.map(|(_, last)| *last).chain([read]).max().unwrap_or(read)
        };
        reads.map(extended).max().unwrap_or(made)
    }

    /// The last read of a tensor between two numbers.
    fn last_read_within(&self, tensor: TensorId, first: u32, last: u32) -> u32 {
        let reads = self.reads.get(&tensor).into_iter().flatten().copied();
        reads
            .filter(|read| (first..=last).contains(read))
            .max()
            .unwrap_or(0)
    }
}

struct Sharing<'a> {
    lives: &'a Lives,
    fixed: &'a dyn Fn(TensorId) -> bool,
    homes: Homes,
}

impl Sharing<'_> {
    fn sequence(&mut self, works: &Works) {
        for work in &works.works {
            match &work.kind {
                WorkKind::While {
                    carried,
                    condition,
                    body,
                    ..
                } => {
                    self.carried(works, work, carried, body);
                    self.sequence(condition);
                    self.sequence(body);
                }
                WorkKind::Case {
                    branches, results, ..
                } => {
                    for branch in branches {
                        self.branch(branch, results);
                        self.sequence(branch);
                    }
                }
                WorkKind::Copy { from, to } => self.copy(works, *from, *to),
                WorkKind::Kernel(_) | WorkKind::Product { .. } | WorkKind::Operation { .. } => {}
            }
        }
    }

    /// An update takes over what it updates, when that was made here and nothing reads it later.
    fn copy(&mut self, works: &Works, from: TensorId, to: TensorId) {
        let Some(at) = self.lives.made.get(&to).copied() else {
            return;
        };
        if self.is_made_in(works, from) && self.lives.last_read(from) <= at {
            self.homes.share(to, from);
        }
    }

    fn is_made_in(&self, works: &Works, tensor: TensorId) -> bool {
        !(self.fixed)(tensor) && works.works.iter().any(|work| work.writes().contains(&tensor))
    }

    fn carried(&mut self, works: &Works, work: &Work, carried: &[Carried], body: &Works) {
        let Some(first) = carried
            .first()
            .and_then(|one| self.lives.made.get(&one.tensor))
            .copied()
        else {
            return;
        };
        let Some((_, last)) = self
            .lives
            .loops
            .iter()
            .find(|(start, _)| *start == first)
            .copied()
        else {
            return;
        };
        let mut taken = BTreeSet::new();
        let inits: Vec<TensorId> = carried.iter().map(|one| one.init).collect();
        for one in carried {
            let is_only = inits.iter().filter(|init| **init == one.init).count() == 1;
            let is_last = self.lives.last_read(one.init) <= first;
            if is_only && is_last && self.is_made_in(works, one.init) && work.reads().contains(&one.init) {
                self.homes.share(one.init, one.tensor);
            }
            if taken.insert(one.next) && self.may_replace(one, body, first, last) {
                self.homes.share(one.next, one.tensor);
            }
        }
    }

    /// Whether the next value may be made where the present one lies.
    fn may_replace(&self, one: &Carried, body: &Works, first: u32, last: u32) -> bool {
        let Some(at) = self.lives.made.get(&one.next).copied() else {
            return false;
        };
        if !self.is_made_in(body, one.next) {
            return false;
        }
        let read = self.lives.last_read_within(one.tensor, first + 1, last);
        if read != at {
            return read < at;
        }
        let writer = body.works.iter().find(|work| work.writes().contains(&one.next));
        writer.is_some_and(|work| match &work.kind {
            WorkKind::Copy { from, .. } => *from == one.tensor,
            WorkKind::Kernel(cluster) => reads_in_place(cluster, one.tensor, one.next),
            _ => false,
        })
    }

    fn branch(&mut self, branch: &Works, results: &[TensorId]) {
        let mut taken = HashSet::new();
        for (own, result) in branch.results.iter().zip(results) {
            if taken.insert(*own) && self.is_made_in(branch, *own) {
                self.homes.share(*own, *result);
            }
        }
    }
}

/// Whether a kernel reads a tensor only at the positions at which it writes another one, and has nothing to go through twice.
fn reads_in_place(cluster: &Cluster, read: TensorId, written: TensorId) -> bool {
    let rank = cluster.rows.len();
    let is_map = cluster.columns.is_empty();
    let terms = cluster.members.iter().flat_map(|(node, _)| &node.values);
    let plain = |at: &[Index]| is_plain(at, rank);
    let reads = terms.filter_map(|term| match term {
        Term::Load { tensor, at, .. } if *tensor == read => Some(at),
        _ => None,
    });
    let mut stores = cluster.members.iter().flat_map(|(node, _)| &node.stores);
    is_map
        && reads.into_iter().all(|at| plain(at))
        && stores.all(|store| store.tensor != written || plain(&store.at))
}
