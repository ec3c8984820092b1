//! Which work there is and in which order: nodes joined into kernels, and everything else.

use std::collections::{BTreeSet, HashMap, HashSet};

use artifact_ir::diagnostic::SourceOffset;
use artifact_ir::module::FunctionId;

use crate::build::{Builder, Node};
use crate::error::LowerError;
use crate::fuse::Cluster;
use crate::graph::{Carried, Definition, Dimensions, Item, ItemKind, Sequence, TensorId, Value};
use crate::index::Index;

/// Work of one sequence, in order.
#[derive(Clone, Debug, Default)]
pub(crate) struct Works {
    pub(crate) works: Vec<Work>,
    /// What the sequence leaves.
    pub(crate) results: Vec<TensorId>,
}

/// A piece of work.
#[derive(Clone, Debug)]
pub(crate) struct Work {
    pub(crate) kind: WorkKind,
    pub(crate) name: String,
    pub(crate) source: SourceOffset,
    reads: BTreeSet<TensorId>,
    writes: BTreeSet<TensorId>,
}

/// What a piece of work is.
#[derive(Clone, Debug)]
pub(crate) enum WorkKind {
    Kernel(Cluster),
    /// The first value of a tensor that is then written to in part: another tensor's, which need not be copied where nothing
    /// else needs it.
    Copy {
        from: TensorId,
        to: TensorId,
    },
    Product {
        left: TensorId,
        right: TensorId,
        dimensions: Dimensions,
        result: TensorId,
    },
    Operation {
        function: FunctionId,
        is_pure: bool,
        operands: Vec<Value>,
        results: Vec<Value>,
    },
    While {
        carried: Vec<Carried>,
        condition: Works,
        predicate: TensorId,
        body: Works,
    },
    Case {
        index: TensorId,
        branches: Vec<Works>,
        results: Vec<TensorId>,
    },
}

impl Work {
    /// Tensors with buffers that it reads, and does not make.
    pub(crate) const fn reads(&self) -> &BTreeSet<TensorId> {
        &self.reads
    }

    /// Tensors that it makes, or parts of them.
    pub(crate) const fn writes(&self) -> &BTreeSet<TensorId> {
        &self.writes
    }
}

/// Kernels that a node is tried to be made a part of, at most: what reads a thousand arrays would be compared with as many.
const PARTNERS_MAX: usize = 32;

/// Puts a sequence in order.
pub(crate) fn schedule(builder: &mut Builder<'_>, sequence: &Sequence) -> Result<Works, LowerError> {
    let mut graph = Graph::default();
    for item in &sequence.items {
        graph.item(builder, item)?;
    }
    let results = sequence
        .results
        .iter()
        .map(|result| builder.dense_base(*result))
        .collect();
    Ok(Works {
        works: graph.ordered(),
        results,
    })
}

/// Work and what must come before it.
#[derive(Default)]
struct Graph {
    vertices: Vec<Vertex>,
    writers: HashMap<TensorId, Vec<usize>>,
    last_effect: Option<usize>,
}

struct Vertex {
    /// What it is; `None` once it has become a part of another one.
    work: Option<Work>,
    before: BTreeSet<usize>,
    /// The vertex that it has become a part of.
    joined: Option<usize>,
}

impl Graph {
    fn item(&mut self, builder: &mut Builder<'_>, item: &Item) -> Result<(), LowerError> {
        match &item.kind {
            ItemKind::Tensor(tensor) => {
                let definition = &builder.traced.tensors[*tensor].definition;
                if builder.demand.is_used(*tensor) && builder.demand.is_kept(*tensor, definition) {
                    let node = builder.tensor(*tensor, &item.name)?;
                    self.node(node);
                }
            }
            ItemKind::Reduce {
                operand,
                init,
                dimensions,
                combine,
                result,
            } => {
                if builder.demand.is_used(*result) {
                    let tensors = [*operand, *init, *result];
                    let node = builder.reduce(tensors, dimensions, *combine, &item.name)?;
                    self.node(node);
                }
            }
            ItemKind::Write { base, parts, result } => {
                if builder.demand.is_used(*result) {
                    if let Some(base) = base {
                        self.base(builder, *base, *result, item)?;
                    }
                    for part in parts {
                        let node = builder.part(part, *result, &item.name)?;
                        self.node(node);
                    }
                }
            }
            ItemKind::Product {
                left,
                right,
                dimensions,
                result,
            } => {
                if builder.demand.is_used(*result) {
                    self.product(builder, [*left, *right, *result], dimensions, item)?;
                }
            }
            ItemKind::Operation { .. } => self.operation(builder, item),
            ItemKind::While {
                carried,
                condition,
                predicate,
                body,
            } => self.while_loop(builder, item, carried, condition, *predicate, body)?,
            ItemKind::Case {
                index,
                branches,
                results,
            } => self.case(builder, item, *index, branches, results)?,
        }
        Ok(())
    }

    fn product(
        &mut self,
        builder: &mut Builder<'_>,
        [left, right, result]: [TensorId; 3],
        dimensions: &Dimensions,
        item: &Item,
    ) -> Result<(), LowerError> {
        let mut reads = Vec::new();
        for side in [left, right] {
            let rank = builder.traced.tensors[side].dims.len();
            let at: Vec<Index> = (0..rank).map(Index::axis).collect();
            let (tensor, _, at) = builder.reach(side, &at)?;
            reads.push(tensor);
            let starts = at.iter().flat_map(|index| &index.starts);
            reads.extend(starts.map(|start| start.0));
        }
        let kind = WorkKind::Product {
            left,
            right,
            dimensions: dimensions.clone(),
            result,
        };
        self.other(builder, kind, item, reads, vec![result], false);
        Ok(())
    }

    fn operation(&mut self, builder: &Builder<'_>, item: &Item) {
        let ItemKind::Operation {
            function,
            is_pure,
            operands,
            results,
        } = &item.kind
        else {
            return;
        };
        let tensors = |values: &[Value]| values.iter().flat_map(Value::tensors).collect::<Vec<_>>();
        let writes = tensors(results);
        let is_used = writes.iter().any(|result| builder.demand.is_used(*result));
        if is_used || !is_pure || writes.is_empty() {
            let kind = WorkKind::Operation {
                function: *function,
                is_pure: *is_pure,
                operands: operands.clone(),
                results: results.clone(),
            };
            self.other(builder, kind, item, tensors(operands), writes, !is_pure);
        }
    }

    fn case(
        &mut self,
        builder: &mut Builder<'_>,
        item: &Item,
        index: TensorId,
        branches: &[Sequence],
        results: &[TensorId],
    ) -> Result<(), LowerError> {
        let branches = branches.iter().map(|branch| schedule(builder, branch));
        let branches = branches.collect::<Result<Vec<_>, _>>()?;
        let mut reads: Vec<TensorId> = branches.iter().flat_map(outside).collect();
        reads.push(index);
        let effect = branches.iter().any(has_effect);
        let kind = WorkKind::Case {
            index,
            branches,
            results: results.to_vec(),
        };
        self.other(builder, kind, item, reads, results.to_vec(), effect);
        Ok(())
    }

    fn base(
        &mut self,
        builder: &mut Builder<'_>,
        base: TensorId,
        result: TensorId,
        item: &Item,
    ) -> Result<(), LowerError> {
        let root = builder.dense_base(base);
        let definition = &builder.traced.tensors[root].definition;
        let is_stored = matches!(definition, Definition::Given | Definition::Literal(_))
            || builder.demand.is_kept(root, definition);
        let same_dims = builder.traced.tensors[root].dims == builder.traced.tensors[result].dims;
        if is_stored && same_dims {
            let kind = WorkKind::Copy {
                from: root,
                to: result,
            };
            self.other(builder, kind, item, vec![root], vec![result], false);
        } else {
            let node = builder.fill(base, result, &item.name)?;
            self.node(node);
        }
        Ok(())
    }

    fn while_loop(
        &mut self,
        builder: &mut Builder<'_>,
        item: &Item,
        carried: &[Carried],
        condition: &Sequence,
        predicate: TensorId,
        body: &Sequence,
    ) -> Result<(), LowerError> {
        let condition = schedule(builder, condition)?;
        let body = schedule(builder, body)?;
        let own: Vec<TensorId> = carried.iter().map(|one| one.tensor).collect();
        let inner = outside(&condition).into_iter().chain(outside(&body));
        let mut reads: Vec<TensorId> = inner.filter(|tensor| !own.contains(tensor)).collect();
        reads.extend(carried.iter().map(|one| one.init));
        let effect = has_effect(&condition) || has_effect(&body);
        let base = |tensor: TensorId| builder.dense_base(tensor);
        let carried = carried
            .iter()
            .map(|one| Carried {
                init: base(one.init),
                next: base(one.next),
                ..*one
            })
            .collect();
        let predicate = base(predicate);
        let kind = WorkKind::While {
            carried,
            condition,
            predicate,
            body,
        };
        self.other(builder, kind, item, reads, own, effect);
        Ok(())
    }

    /// Adds a node, as a part of a kernel that is there where that is possible.
    fn node(&mut self, node: Node) {
        let (name, source) = (node.name.clone(), node.source);
        let cluster = Cluster::of(node);
        let (reads, writes) = (cluster.reads(), cluster.writes());
        let work = Work {
            kind: WorkKind::Kernel(cluster),
            name,
            source,
            reads,
            writes,
        };
        let mut own = self.add(work, false);
        loop {
            let Some((target, cluster)) = self.partner(own) else {
                return;
            };
            self.merge(target, own, cluster);
            own = target;
        }
    }

    fn other(
        &mut self,
        builder: &Builder<'_>,
        kind: WorkKind,
        item: &Item,
        reads: Vec<TensorId>,
        writes: Vec<TensorId>,
        effect: bool,
    ) {
        let reads = reads
            .into_iter()
            .map(|tensor| builder.dense_base(tensor))
            .collect();
        let work = Work {
            kind,
            name: item.name.clone(),
            source: item.source,
            reads,
            writes: writes.into_iter().collect(),
        };
        self.add(work, effect);
    }

    fn add(&mut self, work: Work, effect: bool) -> usize {
        let id = self.vertices.len();
        let mut before = BTreeSet::new();
        for tensor in work.reads.iter().chain(&work.writes) {
            before.extend(
                self.writers
                    .get(tensor)
                    .into_iter()
                    .flatten()
                    .map(|writer| self.root(*writer)),
            );
        }
        if effect {
            before.extend(self.last_effect.map(|last| self.root(last)));
            self.last_effect = Some(id);
        }
        for tensor in &work.writes {
            self.writers.entry(*tensor).or_default().push(id);
        }
        self.vertices.push(Vertex {
            work: Some(work),
            before,
            joined: None,
        });
        id
    }

    fn root(&self, mut id: usize) -> usize {
        while let Some(next) = self.vertices[id].joined {
            id = next;
        }
        id
    }

    /// A kernel that this one may become a part of: the latest of those that it reads from.
    fn partner(&self, own: usize) -> Option<(usize, Cluster)> {
        let cluster = self.cluster(own)?;
        let candidates: Vec<usize> = self.vertices[own]
            .before
            .iter()
            .map(|id| self.root(*id))
            .filter(|id| *id != own)
            .collect();
        let mut tried = HashSet::new();
        for id in candidates.into_iter().rev() {
            if !tried.insert(id) {
                continue;
            }
            if tried.len() > PARTNERS_MAX {
                break;
            }
            let joined = self.cluster(id).and_then(|other| other.join(cluster));
            if let Some(joined) = joined
                && !self.has_detour(id, own)
            {
                return Some((id, joined));
            }
        }
        None
    }

    fn cluster(&self, id: usize) -> Option<&Cluster> {
        match &self.vertices[id].work.as_ref()?.kind {
            WorkKind::Kernel(cluster) => Some(cluster),
            _ => None,
        }
    }

    /// Whether something else must happen after `early` and before `late`.
    fn has_detour(&self, early: usize, late: usize) -> bool {
        let mut open: Vec<usize> = self.vertices[late]
            .before
            .iter()
            .map(|id| self.root(*id))
            .filter(|id| *id != early && *id != late)
            .collect();
        let mut seen: HashSet<usize> = open.iter().copied().collect();
        while let Some(id) = open.pop() {
            for before in self.vertices[id].before.iter().map(|id| self.root(*id)) {
                if before == early {
                    return true;
                }
                if before != id && before != late && seen.insert(before) {
                    open.push(before);
                }
            }
        }
        false
    }

    /// Makes `from` a part of `into`.
    fn merge(&mut self, into: usize, from: usize, cluster: Cluster) {
        let Some(gone) = self.vertices[from].work.take() else {
            return;
        };
        self.vertices[from].joined = Some(into);
        let before = std::mem::take(&mut self.vertices[from].before);
        let roots: BTreeSet<usize> = before
            .into_iter()
            .chain(self.vertices[into].before.iter().copied())
            .map(|id| self.root(id))
            .filter(|id| *id != into)
            .collect();
        self.vertices[into].before = roots;
        if let Some(work) = &mut self.vertices[into].work {
            work.reads = cluster.reads();
            work.writes = cluster.writes();
            if !work.name.split('+').any(|name| name == gone.name) {
                work.name = format!("{}+{}", work.name, gone.name);
            }
            work.kind = WorkKind::Kernel(cluster);
        }
    }

    /// The work in an order that keeps what comes before what: that of the program as far as possible.
    fn ordered(mut self) -> Vec<Work> {
        let count = self.vertices.len();
        let alive: Vec<usize> = (0..count)
            .filter(|id| self.vertices[*id].work.is_some())
            .collect();
        let mut waiting = vec![0_usize; count];
        let mut after: Vec<Vec<usize>> = vec![Vec::new(); count];
        for id in &alive {
            let before: BTreeSet<usize> = self.vertices[*id]
                .before
                .iter()
                .map(|id| self.root(*id))
                .filter(|other| other != id)
                .collect();
            waiting[*id] = before.len();
            for other in before {
                after[other].push(*id);
            }
        }
        let mut ready: BTreeSet<usize> = alive.iter().copied().filter(|id| waiting[*id] == 0).collect();
        let mut works = Vec::with_capacity(alive.len());
        while let Some(id) = ready.pop_first() {
            works.extend(self.vertices[id].work.take());
            for next in std::mem::take(&mut after[id]) {
                waiting[next] -= 1;
                if waiting[next] == 0 {
                    ready.insert(next);
                }
            }
        }
        works
    }
}

/// Tensors that a sequence reads and does not make.
fn outside(works: &Works) -> Vec<TensorId> {
    let made: HashSet<TensorId> = works
        .works
        .iter()
        .flat_map(|work| work.writes.iter().copied())
        .collect();
    let read = works.works.iter().flat_map(|work| work.reads.iter().copied());
    let read: BTreeSet<TensorId> = read.chain(works.results.iter().copied()).collect();
    read.into_iter().filter(|tensor| !made.contains(tensor)).collect()
}

fn has_effect(works: &Works) -> bool {
    works.works.iter().any(|work| match &work.kind {
        WorkKind::Operation { is_pure, .. } => !is_pure,
        WorkKind::While { condition, body, .. } => has_effect(condition) || has_effect(body),
        WorkKind::Case { branches, .. } => branches.iter().any(has_effect),
        WorkKind::Kernel(_) | WorkKind::Copy { .. } | WorkKind::Product { .. } => false,
    })
}
