//! Building one group. In: its clauses and an order of its tunables. Out: the layered graph of its valid assignments.
//! A whole layer's candidates (state x value) are evaluated as columns, in chunks that stay in cache; equal outcomes
//! become one state. Refuses groups with more states than fit in memory, and rules that fail on a configuration nothing
//! else refuses.

use rustc_hash::FxHashMap;

use hashbrown::HashTable;
use kiln_core::Value;
use kiln_expr::{Column, Range};

use crate::building::bounds::Outlook;
use crate::building::diagram::{Diagram, Edge, Level};
use crate::building::state::{Carried, FAILED_BIT, Layer, Packing};
use crate::problem::Problem;
use crate::rules::clause::Clauses;

/// Candidates evaluated at a time: columns of this many 8-byte values fit in the first-level cache.
const CHUNK: usize = 1024;
/// Candidates a group may take before it is refused: a few seconds' work.
const MOST_CANDIDATES: usize = 50_000_000;
/// Values that the states of one level may carry together (8 bytes each, twice while building).
const MOST_CARRIED: usize = 16_000_000;

/// Why a group was not built.
pub(crate) enum Unbuilt {
    TooEntangled,
    TooMany,
    /// Some clause failed under this assignment (tunable, value index), and no other refused it.
    Failing(Vec<(usize, u32)>),
}

pub(crate) fn bind(problem: &Problem, all: &Clauses, mut layers: Vec<Layer>) -> Result<Diagram, Unbuilt> {
    let mut interner = Interner::default();
    let mut states = States::root();
    let mut levels: Vec<Level> = Vec::with_capacity(layers.len());
    let mut budget = MOST_CANDIDATES;
    for layer in &mut layers {
        let (level, next) = expand(problem, all, layer, &states, &mut interner, &mut budget)?;
        levels.push(level);
        states = next;
    }
    if let Some(failing) = (0..states.len()).find(|s| states.settled(*s) & FAILED_BIT != 0) {
        return Err(Unbuilt::Failing(trace(&levels, failing as u32)));
    }
    Diagram::finish(levels).ok_or(Unbuilt::TooMany)
}

/// The states before a binding: for each, its packed carried values and, last, its settled-bits.
struct States {
    stride: usize,
    data: Vec<u64>,
}

impl States {
    /// The one state in which nothing is bound.
    fn root() -> States {
        States { stride: 1, data: vec![0] }
    }

    fn len(&self) -> usize {
        self.data.len() / self.stride
    }

    fn settled(&self, state: usize) -> u64 {
        self.data[state * self.stride + self.stride - 1]
    }
}

/// A candidate: a state, and the position of a value in the domain of the tunable to be bound.
type Row = (u32, u32);

/// Binds one tunable in every state: the edges to the next states, and those states.
fn expand(
    problem: &Problem,
    all: &Clauses,
    layer: &mut Layer,
    states: &States,
    interner: &mut Interner,
    budget: &mut usize,
) -> Result<(Level, States), Unbuilt> {
    let domain = &all.domains[layer.tunable];
    let values: Vec<Value> =
        domain.iter().map(|v| problem.dimensions[layer.tunable].values[*v as usize].clone()).collect();
    let values = Column::from_values(&values);
    let mut merger = Merger::new(layer.carried_out.len() + 1);
    let mut level = Level::new(layer.tunable);
    let mut rows: Vec<Row> = Vec::with_capacity(CHUNK + domain.len());
    for state in 0..states.len() {
        match &mut layer.sieve {
            Some(sieve) => {
                let carried = layer.carried_in.iter().zip(&states.data[state * states.stride..]);
                let carried = carried.map(|(slot, packed)| range(slot, *packed, interner));
                let candidates = sieve.candidates(carried, states.settled(state));
                rows.extend(candidates.into_iter().map(|position| (state as u32, position)));
            }
            None => rows.extend((0..domain.len() as u32).map(|position| (state as u32, position))),
        }
        // Looking at a state costs something even when no candidate is left of it.
        *budget = budget.checked_sub(1).ok_or(Unbuilt::TooEntangled)?;
        if rows.len() < CHUNK && state + 1 < states.len() {
            continue;
        }
        *budget = budget.checked_sub(rows.len()).ok_or(Unbuilt::TooEntangled)?;
        for chunk in rows.chunks(4 * CHUNK) {
            try_rows(all, layer, states, chunk, &values, &mut merger, &mut level, interner);
        }
        rows.clear();
        if merger.carried() > MOST_CARRIED {
            return Err(Unbuilt::TooEntangled);
        }
    }
    while level.begun() < states.len() {
        level.open();
    }
    level.close();
    Ok((level, States { stride: layer.carried_out.len() + 1, data: merger.merged.keys }))
}

/// Evaluates candidates and adds the edges of those that keep the clauses finished here.
#[allow(clippy::too_many_arguments)] // One step of `expand`, apart only to be readable.
fn try_rows(
    all: &Clauses,
    layer: &mut Layer,
    states: &States,
    rows: &[Row],
    values: &Column,
    merger: &mut Merger,
    level: &mut Level,
    interner: &mut Interner,
) {
    for (i, slot) in layer.carried_in.iter().enumerate() {
        let packed = rows.iter().map(|(state, _)| states.data[*state as usize * states.stride + i]);
        match unpack(slot, packed, interner) {
            (column, None) => layer.evaluator.set(slot.node, column),
            (column, Some(failed)) => layer.evaluator.set_failing(slot.node, column, failed),
        }
    }
    if let Some(input) = layer.input {
        layer.evaluator.set(input, gather(values, rows));
    }
    layer.evaluator.run(&all.graph, rows.len());
    let mut settled: Vec<u64> = rows.iter().map(|(state, _)| states.settled(*state as usize)).collect();
    let alive = judge(layer, &mut settled);
    let packed: Vec<Vec<u64>> = layer.carried_out.iter().map(|slot| pack(layer, slot, rows.len(), interner)).collect();
    let mut key = vec![0u64; packed.len() + 1];
    for (row, (state, position)) in rows.iter().enumerate() {
        // States before this one that had no candidates have no edges.
        while level.begun() <= *state as usize {
            level.open();
        }
        if alive[row] {
            key.iter_mut().zip(&packed).for_each(|(k, column)| *k = column[row]);
            key[packed.len()] = settled[row];
            if let Some(child) = merger.state(&key, layer, interner) {
                level.edges.push(Edge { value: all.domains[layer.tunable][*position as usize], child });
            }
        }
    }
}

/// Which rows keep the clauses finished here. A settled clause is not asked again; one that fails leaves its row alive,
/// marked, since another clause may yet refuse it.
fn judge(layer: &Layer, settled: &mut [u64]) -> Vec<bool> {
    let mut alive = vec![true; settled.len()];
    for (node, bit) in &layer.finished {
        let column = layer.evaluator.column(*node);
        let failures = layer.evaluator.failures(*node);
        for (row, (alive, settled)) in alive.iter_mut().zip(settled.iter_mut()).enumerate() {
            if *settled & bit != 0 {
                *settled &= !bit;
            } else if failures.is_some_and(|f| f[row]) {
                *settled |= FAILED_BIT;
            } else {
                *alive &= column.truth(row);
            }
        }
    }
    alive
}

/// Merges equal outcomes into states.
struct Merger {
    /// Outcomes as they came, each with its state, so that bounds are computed once for each.
    seen: Table,
    state_of: Vec<u32>,
    /// States, with what no longer matters blanked out.
    merged: Table,
}

/// The state number of an outcome that has no future.
const HOPELESS: u32 = u32::MAX;

impl Merger {
    fn new(stride: usize) -> Merger {
        Merger { seen: Table::new(stride), state_of: Vec::new(), merged: Table::new(stride) }
    }

    /// How many values are kept for outcomes and states.
    fn carried(&self) -> usize {
        self.seen.keys.len() + self.merged.keys.len()
    }

    /// The state of an outcome, or none when it has no future.
    fn state(&mut self, key: &[u64], layer: &mut Layer, interner: &Interner) -> Option<u32> {
        let Some(bounds) = &mut layer.bounds else {
            return Some(self.merged.insert(key));
        };
        let seen = self.seen.insert(key) as usize;
        if seen == self.state_of.len() {
            let last = key.len() - 1;
            bounds.carry(layer.carried_out.iter().zip(key).map(|(slot, packed)| range(slot, *packed, interner)));
            let state = match bounds.outlook(key[last]) {
                Outlook::Hopeless => HOPELESS,
                Outlook::Settled(0) => self.merged.insert(key),
                Outlook::Settled(settled) => {
                    let mut blanked = key.to_vec();
                    blanked[last] = settled;
                    for (slot, packed) in layer.carried_out.iter().zip(&mut blanked) {
                        if slot.users != 0 && slot.users & !settled == 0 {
                            *packed = 0;
                        }
                    }
                    self.merged.insert(&blanked)
                }
            };
            self.state_of.push(state);
        }
        Some(self.state_of[seen]).filter(|s| *s != HOPELESS)
    }
}

/// Distinct keys of a fixed length, numbered as they come.
struct Table {
    stride: usize,
    keys: Vec<u64>,
    table: HashTable<u32>,
}

impl Table {
    fn new(stride: usize) -> Table {
        Table { stride, keys: Vec::new(), table: HashTable::new() }
    }

    fn insert(&mut self, key: &[u64]) -> u32 {
        let Table { stride, keys, table } = self;
        let stride = *stride;
        let at = |keys: &[u64], i: u32| hash(&keys[i as usize * stride..][..stride]);
        let entry = table.entry(hash(key), |i| &keys[*i as usize * stride..][..stride] == key, |i| at(keys, *i));
        match entry {
            hashbrown::hash_table::Entry::Occupied(found) => *found.get(),
            hashbrown::hash_table::Entry::Vacant(free) => {
                let number = (keys.len() / stride) as u32;
                free.insert(number);
                keys.extend_from_slice(key);
                number
            }
        }
    }
}

/// A multiply-and-fold hash: keys are short, trusted and already distinct in their low bits.
fn hash(key: &[u64]) -> u64 {
    key.iter().fold(0x9E37_79B9_7F4A_7C15, |h: u64, k| {
        let product = u128::from(h ^ k) * 0xD6E8_FEB8_6659_FD93;
        (product >> 64) as u64 ^ product as u64
    })
}

/// Values that do not fit in 64 bits, by number. 0 stands for a failure.
#[derive(Default)]
struct Interner {
    values: Vec<Value>,
    numbers: FxHashMap<Value, u64>,
}

impl Interner {
    fn number(&mut self, value: Value) -> u64 {
        *self.numbers.entry(value).or_insert_with_key(|value| {
            self.values.push(value.clone());
            self.values.len() as u64
        })
    }

    fn value(&self, number: u64) -> Option<&Value> {
        self.values.get((number as usize).wrapping_sub(1))
    }
}

/// A computed column as 64-bit keys.
fn pack(layer: &Layer, slot: &Carried, rows: usize, interner: &mut Interner) -> Vec<u64> {
    let column = layer.evaluator.column(slot.node);
    let failures = layer.evaluator.failures(slot.node);
    match (slot.packing, column) {
        (Packing::Int, Column::Int(v)) => v.iter().map(|v| *v as u64).collect(),
        (Packing::Float, Column::Float(v)) => v.iter().map(|v| v.to_bits()).collect(),
        (Packing::Bool, Column::Bool(v)) => v.iter().map(|v| u64::from(*v)).collect(),
        (packing, column) => (0..rows)
            .map(|row| match (packing, column.get(row)) {
                _ if failures.is_some_and(|f| f[row]) => 0,
                (Packing::Int, Value::Int(v)) => v as u64,
                (Packing::Float, Value::Float(v)) => v.to_bits(),
                (Packing::Bool, Value::Bool(v)) => u64::from(v),
                (_, value) => interner.number(value),
            })
            .collect(),
    }
}

/// The column of a carried value, and the rows that had failed.
fn unpack(slot: &Carried, packed: impl Iterator<Item = u64>, interner: &Interner) -> (Column, Option<Vec<bool>>) {
    match slot.packing {
        Packing::Int => (Column::Int(packed.map(|p| p as i64).collect()), None),
        Packing::Float => (Column::Float(packed.map(f64::from_bits).collect()), None),
        Packing::Bool => (Column::Bool(packed.map(|p| p != 0).collect()), None),
        Packing::Interned => {
            let packed: Vec<u64> = packed.collect();
            let failed: Vec<bool> = packed.iter().map(|p| *p == 0).collect();
            let filler = Value::Bool(false);
            let values: Vec<Value> = packed.iter().map(|p| interner.value(*p).unwrap_or(&filler).clone()).collect();
            let any_failed = failed.contains(&true);
            (Column::from_values(&values), any_failed.then_some(failed))
        }
    }
}

fn range(slot: &Carried, packed: u64, interner: &Interner) -> Range {
    match slot.packing {
        Packing::Int => Range::Int(packed as i64, packed as i64),
        Packing::Float => Range::point(&Value::Float(f64::from_bits(packed))),
        Packing::Bool => Range::Bool(packed == 0, packed != 0),
        Packing::Interned => interner.value(packed).map_or(Range::Unknown, Range::point),
    }
}

/// The candidates' values of the tunable to be bound.
fn gather(values: &Column, rows: &[Row]) -> Column {
    let positions = rows.iter().map(|(_, position)| *position as usize);
    match values {
        Column::One(v) => Column::One(v.clone()),
        Column::Int(v) => Column::Int(positions.map(|p| v[p]).collect()),
        Column::Float(v) => Column::Float(positions.map(|p| v[p]).collect()),
        Column::Bool(v) => Column::Bool(positions.map(|p| v[p]).collect()),
        Column::Any(v) => Column::Any(positions.map(|p| v[p].clone()).collect()),
    }
}

/// Some assignment that leads to a state behind the last level.
fn trace(levels: &[Level], mut state: u32) -> Vec<(usize, u32)> {
    let mut assignment = Vec::with_capacity(levels.len());
    for level in levels.iter().rev() {
        let Some(position) = level.edges.iter().position(|e| e.child == state) else { break };
        assignment.push((level.tunable, level.edges[position].value));
        state = level.starts.partition_point(|s| *s as usize <= position) as u32 - 1;
    }
    assignment
}
