//! Joins nodes into kernels.
//!
//! Two nodes may share a kernel when they run over the same rows and columns and nothing between them needs to happen in
//! between. A value of a node that another node of the kernel reads at its own position is passed on; it is stored only where
//! something else reads it too.

use std::collections::{BTreeSet, HashMap, HashSet};

use crate::build::{Node, Store, Term};
use crate::graph::TensorId;
use crate::index::Index;
use crate::kernel::Level;
use crate::sizes::SizeId;

/// Values of a kernel at most: registers, scratch memory and compile time all grow with them.
const VALUES_MAX: usize = 256;
/// Arrays that a kernel reads and writes at most.
const ARRAYS_MAX: usize = 32;

/// A kernel in the making.
#[derive(Clone, Debug)]
pub(crate) struct Cluster {
    pub(crate) rows: Vec<SizeId>,
    pub(crate) columns: Vec<SizeId>,
    pub(crate) is_trailing: bool,
    pub(crate) members: Vec<(Node, Level)>,
}

/// How two iteration spaces are one.
struct Joined {
    rows: Vec<SizeId>,
    columns: Vec<SizeId>,
    is_trailing: bool,
    levels: [Shift; 2],
}

/// What becomes of the levels of one side.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Shift {
    /// They stay.
    Same,
    /// What ran over rows alone runs over rows and columns: its axes are those of both.
    Elements,
}

impl Cluster {
    pub(crate) fn of(node: Node) -> Self {
        Self {
            rows: node.axes[..node.parallel].to_vec(),
            columns: node.axes[node.parallel..].to_vec(),
            is_trailing: node.is_trailing,
            members: vec![(node, Level::Row)],
        }
    }

    pub(crate) fn reads(&self) -> BTreeSet<TensorId> {
        let own: HashSet<TensorId> = self.full_stores().collect();
        let loads = self.members.iter().flat_map(|(node, _)| reads(node));
        loads.filter(|tensor| !own.contains(tensor)).collect()
    }

    pub(crate) fn writes(&self) -> BTreeSet<TensorId> {
        self.members
            .iter()
            .flat_map(|(node, _)| &node.stores)
            .map(|store| store.tensor)
            .collect()
    }

    /// Tensors of which every element is computed here.
    fn full_stores(&self) -> impl Iterator<Item = TensorId> {
        self.members.iter().flat_map(move |(node, level)| {
            let whole = move |store: &&Store| is_identity(store, node, *level, self);
            node.stores.iter().filter(whole).map(|store| store.tensor)
        })
    }

    /// This and another cluster that runs after it or at the same time as one, if they may be.
    pub(crate) fn join(&self, other: &Self) -> Option<Self> {
        // Most that do not fit are found without a copy of either.
        (self.value_count() + other.value_count() <= VALUES_MAX).then_some(())?;
        let joined = self.space_with(other)?;
        let shifted = |cluster: &Self, shift: Shift| {
            let level = |level: Level| {
                if shift == Shift::Elements {
                    Level::Element
                } else {
                    level
                }
            };
            cluster
                .members
                .iter()
                .map(move |(node, own)| (node.clone(), level(*own)))
                .collect::<Vec<_>>()
        };
        let mut members = shifted(self, joined.levels[0]);
        members.extend(shifted(other, joined.levels[1]));
        members.sort_by_key(|(node, _)| node.position);
        let cluster = Self {
            rows: joined.rows,
            columns: joined.columns,
            is_trailing: joined.is_trailing,
            members,
        };
        (cluster.is_small() && cluster.passes_on()).then_some(cluster)
    }

    fn value_count(&self) -> usize {
        self.members.iter().map(|(node, _)| node.values.len()).sum()
    }

    fn is_small(&self) -> bool {
        let values = self.value_count();
        let arrays = self.reads().len() + self.writes().len();
        values <= VALUES_MAX && arrays <= ARRAYS_MAX
    }

    fn is_map(&self) -> bool {
        self.columns.is_empty()
    }

    /// The space that both run over.
    fn space_with(&self, other: &Self) -> Option<Joined> {
        let same = |rows: &[SizeId], columns: &[SizeId], is_trailing, levels| {
            Some(Joined {
                rows: rows.to_vec(),
                columns: columns.to_vec(),
                is_trailing,
                levels,
            })
        };
        let stay = [Shift::Same, Shift::Same];
        if self.rows == other.rows && (self.columns == other.columns || other.is_map() || self.is_map()) {
            let columns = if self.is_map() {
                &other.columns
            } else {
                &self.columns
            };
            let is_trailing = match (self.is_map(), other.is_map()) {
                (true, false) => other.is_trailing,
                (false, true) => self.is_trailing,
                _ => self.is_trailing && other.is_trailing,
            };
            if self.is_trailing != other.is_trailing && !self.is_map() && !other.is_map() {
                return None;
            }
            return same(&self.rows, columns, is_trailing, stay);
        }
        // One side runs over rows and columns alike, the other reduces along the columns.
        if self.is_map() && !other.is_map() && other.is_trailing && covers(&self.rows, other) {
            return same(&other.rows, &other.columns, true, [Shift::Elements, Shift::Same]);
        }
        if other.is_map() && !self.is_map() && self.is_trailing && covers(&other.rows, self) {
            return same(&self.rows, &self.columns, true, [Shift::Same, Shift::Elements]);
        }
        None
    }

    /// Whether every value of one member that another reads is read at its own position, so that it need not be in memory.
    fn passes_on(&self) -> bool {
        let mut made: HashMap<TensorId, Level> = HashMap::new();
        let written = self.writes();
        let mut stored = HashSet::new();
        for (node, level) in &self.members {
            for term in &node.values {
                if starts_of(term).any(|start| written.contains(&start)) {
                    return false;
                }
                let Term::Load { tensor, at, .. } = term else {
                    continue;
                };
                match made.get(tensor) {
                    // Rows that are not consecutive are gone through once.
                    Some(_) if !self.is_trailing && node.parallel < node.axes.len() => return false,
                    Some(made) => {
                        let count = match made {
                            Level::Row => self.rows.len(),
                            Level::Element => self.rows.len() + self.columns.len(),
                        };
                        let plain = is_plain(at, count);
                        let reachable = *made == Level::Row
                            || *level == Level::Element
                            || node.parallel < node.axes.len();
                        if !plain || !reachable {
                            return false;
                        }
                    }
                    // It is written later, or in part.
                    None if written.contains(tensor) => return false,
                    None => {}
                }
            }
            for store in &node.stores {
                if starts_from(store).any(|start| made.contains_key(&start)) {
                    return false;
                }
                // What is written twice is written in order.
                if !stored.insert(store.tensor) {
                    return false;
                }
                if is_identity(store, node, *level, self) {
                    let level = if node.parallel < node.axes.len() {
                        Level::Row
                    } else {
                        *level
                    };
                    made.insert(store.tensor, level);
                }
            }
        }
        // After a reduction over everything there are no rows left to share the work by.
        !(self.rows.is_empty() && self.returns_to_columns())
    }

    /// Whether a value of a row is used at its columns again.
    fn returns_to_columns(&self) -> bool {
        let reduces = |node: &Node| node.parallel < node.axes.len();
        let first = self.members.iter().position(|(node, _)| reduces(node));
        let Some(first) = first else {
            return !self.columns.is_empty();
        };
        self.members[first + 1..]
            .iter()
            .any(|(node, level)| *level == Level::Element || reduces(node))
    }
}

/// Whether a map's rows are the rows and columns of a reduction.
fn covers(rows: &[SizeId], reduction: &Cluster) -> bool {
    rows.len() == reduction.rows.len() + reduction.columns.len()
        && rows.starts_with(&reduction.rows)
        && rows.ends_with(&reduction.columns)
}

/// Tensors that a node reads, offsets of other accesses included.
pub(crate) fn reads(node: &Node) -> impl Iterator<Item = TensorId> {
    let loads = node.values.iter().flat_map(|term| match term {
        Term::Load { tensor, at, .. } => {
            let starts = at
                .iter()
                .flat_map(|index| index.starts.iter().map(|start| start.0));
            std::iter::once(*tensor).chain(starts).collect::<Vec<_>>()
        }
        Term::Position { at, .. } => at.starts.iter().map(|start| start.0).collect(),
        _ => Vec::new(),
    });
    loads.chain(
        node.stores
            .iter()
            .flat_map(|store| starts_from(store).collect::<Vec<_>>()),
    )
}

/// Tensors that a value's position is read from.
fn starts_of(term: &Term) -> impl Iterator<Item = TensorId> {
    let at = match term {
        Term::Load { at, .. } => at.as_slice(),
        Term::Position { at, .. } => std::slice::from_ref(at),
        _ => &[],
    };
    at.iter()
        .flat_map(|index| index.starts.iter().map(|start| start.0))
}

fn starts_from(store: &Store) -> impl Iterator<Item = TensorId> {
    store
        .at
        .iter()
        .flat_map(|index| index.starts.iter().map(|start| start.0))
}

/// Whether a store writes every element of its tensor, each at its own position.
fn is_identity(store: &Store, node: &Node, level: Level, cluster: &Cluster) -> bool {
    let reduces = node.parallel < node.axes.len();
    let count = match level {
        _ if reduces => cluster.rows.len(),
        Level::Row => cluster.rows.len(),
        Level::Element => cluster.rows.len() + cluster.columns.len(),
    };
    is_plain(&store.at, count)
}

/// Whether positions are those of so many axes in order. Dimensions of one position have none.
pub(crate) fn is_plain(at: &[Index], count: usize) -> bool {
    let open = || at.iter().filter(|index| **index != Index::default());
    open().count() == count && open().enumerate().all(|(axis, index)| index.is_axis(axis))
}
