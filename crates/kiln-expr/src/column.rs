//! Evaluation of many rows at once: one pass over the nodes, each computing a whole column. In: input columns. Out: a
//! column and an error mask for every asked node. A row's failure marks that row only, and is forgotten where Python
//! would not have evaluated the failing side.

use kiln_core::Value;

use crate::arithmetic::function::Function;
use crate::arithmetic::ops::{self, Number};
use crate::error::EvalErrorKind as Fail;
use crate::graph::{Graph, NodeId, Op};
use crate::text::ast::{BinaryOp, CompareOp, UnaryOp};

/// The values of one node for all rows; `One` where all rows agree because nothing varies.
#[derive(Debug, Clone)]
pub enum Column {
    /// The same value in every row.
    One(Value),
    /// Integers.
    Int(Vec<i64>),
    /// Doubles.
    Float(Vec<f64>),
    /// Booleans.
    Bool(Vec<bool>),
    /// Strings, or kinds that differ from row to row.
    Any(Vec<Value>),
}

impl Column {
    /// The narrowest column for these values.
    pub fn from_values(values: &[Value]) -> Column {
        macro_rules! all {
            ($kind:ident, $variant:ident) => {
                if values.iter().all(|v| matches!(v, Value::$kind(_))) {
                    return Column::$variant(
                        values.iter().filter_map(|v| if let Value::$kind(x) = v { Some(*x) } else { None }).collect(),
                    );
                }
            };
        }
        all!(Int, Int);
        all!(Float, Float);
        all!(Bool, Bool);
        Column::Any(values.to_vec())
    }

    /// The value in one row.
    pub fn get(&self, row: usize) -> Value {
        match self {
            Column::One(v) => v.clone(),
            Column::Int(v) => Value::Int(v[row]),
            Column::Float(v) => Value::Float(v[row]),
            Column::Bool(v) => Value::Bool(v[row]),
            Column::Any(v) => v[row].clone(),
        }
    }

    /// Whether the value in one row counts as true.
    pub fn truth(&self, row: usize) -> bool {
        match self {
            Column::One(v) => ops::truth(v),
            Column::Int(v) => v[row] != 0,
            Column::Float(v) => v[row] != 0.0,
            Column::Bool(v) => v[row],
            Column::Any(v) => ops::truth(&v[row]),
        }
    }
}

/// A node's column with the rows that failed.
#[derive(Debug, Clone)]
struct Computed {
    column: Column,
    /// None when no row failed.
    failed: Option<Vec<bool>>,
}

/// Evaluates chosen nodes of a graph over columns.
#[derive(Debug)]
pub struct Evaluator {
    /// The nodes to compute, children first; inputs and given columns are not among them.
    order: Vec<NodeId>,
    /// Where each node's result is kept, by node number; most nodes of a large graph have none.
    slots: Vec<u32>,
    results: Vec<Option<Computed>>,
}

impl Evaluator {
    /// Plans the evaluation of `wanted`; nodes in `given` are supplied as columns and not looked into.
    pub fn new(graph: &Graph, wanted: &[NodeId], given: &[NodeId]) -> Evaluator {
        const NONE: u32 = u32::MAX;
        let mut slots = vec![NONE; graph.len()];
        let mut count = 0;
        let mut place = |slot: &mut u32| {
            let new = *slot == NONE;
            if new {
                *slot = count;
                count += 1;
            }
            new
        };
        given.iter().for_each(|id| {
            place(&mut slots[id.index()]);
        });
        let mut order = Vec::with_capacity(4 * wanted.len());
        let mut stack: Vec<NodeId> = Vec::with_capacity(4 * wanted.len());
        stack.extend_from_slice(wanted);
        while let Some(id) = stack.pop() {
            if place(&mut slots[id.index()]) {
                graph.op(id).each_child(|child| stack.push(child));
                if !matches!(graph.op(id), Op::Input(_)) {
                    order.push(id);
                }
            }
        }
        // Children have smaller numbers than what they are children of.
        order.sort_unstable();
        Evaluator { order, slots, results: vec![None; count as usize] }
    }

    fn result(&self, id: NodeId) -> Option<&Computed> {
        self.results.get(self.slots[id.index()] as usize)?.as_ref()
    }

    fn keep(&mut self, id: NodeId, result: Computed) {
        // A column nobody asked for has no place, and is not missed.
        if let Some(place) = self.results.get_mut(self.slots[id.index()] as usize) {
            *place = Some(result);
        }
    }

    /// Supplies the column of an input node or of a node given at planning.
    pub fn set(&mut self, id: NodeId, column: Column) {
        self.keep(id, Computed { column, failed: None });
    }

    /// Supplies a column some of whose rows have already failed.
    pub fn set_failing(&mut self, id: NodeId, column: Column, failed: Vec<bool>) {
        self.keep(id, Computed { column, failed: Some(failed) });
    }

    /// Computes everything for `rows` rows.
    pub fn run(&mut self, graph: &Graph, rows: usize) {
        for i in 0..self.order.len() {
            let id = self.order[i];
            let result = self.compute(graph.op(id), rows);
            self.keep(id, result);
        }
    }

    /// The column of a computed node. A node that was neither computed nor set is false everywhere.
    pub fn column(&self, id: NodeId) -> &Column {
        const NOTHING: &Column = &Column::One(Value::Bool(false));
        self.result(id).map_or(NOTHING, |r| &r.column)
    }

    /// Whether a computed node failed in a row.
    pub fn failed(&self, id: NodeId, row: usize) -> bool {
        self.failures(id).is_some_and(|f| f[row])
    }

    /// The failed rows of a computed node, if any failed.
    pub fn failures(&self, id: NodeId) -> Option<&[bool]> {
        self.result(id).and_then(|r| r.failed.as_deref())
    }

    fn compute(&self, op: &Op, rows: usize) -> Computed {
        match op {
            Op::Const(value) => Computed { column: Column::One(value.clone()), failed: None },
            // Inputs are supplied, never computed.
            Op::Input(_) => Computed { column: Column::One(Value::Bool(false)), failed: None },
            Op::Unary(op, a) => self.unary(*op, *a, rows),
            Op::Binary(op, a, b) => self.arithmetic(*op, *a, *b, rows),
            Op::Compare(op, a, b) => self.compare(*op, *a, *b, rows),
            Op::In(item, list) => self.member(*item, list, rows),
            Op::And(a, b) => self.choose(*a, *b, *a, rows),
            Op::Or(a, b) => self.choose(*a, *a, *b, rows),
            Op::If(c, a, b) => self.choose(*c, *a, *b, rows),
            Op::Call(function, arguments) => self.call(*function, arguments, rows),
        }
    }

    fn merged_failures(&self, nodes: &[NodeId], rows: usize) -> Option<Vec<bool>> {
        let mut merged: Option<Vec<bool>> = None;
        for node in nodes {
            if let Some(failed) = self.failures(*node) {
                let into = merged.get_or_insert_with(|| vec![false; rows]);
                into.iter_mut().zip(failed).for_each(|(m, f)| *m |= *f);
            }
        }
        merged
    }

    /// The general form: one value at a time.
    fn rowwise(&self, nodes: &[NodeId], rows: usize, f: impl Fn(&[Value]) -> Result<Value, Fail>) -> Computed {
        let mut failed = self.merged_failures(nodes, rows);
        let columns: Vec<&Column> = nodes.iter().map(|n| self.column(*n)).collect();
        let mut arguments: Vec<Value> = Vec::with_capacity(nodes.len());
        let mut values = Vec::with_capacity(rows);
        for row in 0..rows {
            arguments.clear();
            arguments.extend(columns.iter().map(|c| c.get(row)));
            match f(&arguments) {
                Ok(value) => values.push(value),
                Err(_) => {
                    failed.get_or_insert_with(|| vec![false; rows])[row] = true;
                    values.push(Value::Bool(false));
                }
            }
        }
        // A failed row holds a filler, which must not widen the column's kind.
        if let (Some(failed), Some(sample)) = (&failed, values.iter().zip(failed.iter().flatten()).find(|(_, f)| !**f))
        {
            let sample = sample.0.clone();
            values.iter_mut().zip(failed).filter(|(_, f)| **f).for_each(|(v, _)| *v = sample.clone());
        }
        Computed { column: Column::from_values(&values), failed }
    }

    fn unary(&self, op: UnaryOp, a: NodeId, rows: usize) -> Computed {
        let failed = self.merged_failures(&[a], rows);
        let column = match (op, self.column(a)) {
            (UnaryOp::Not, column) => Column::Bool((0..rows).map(|row| !column.truth(row)).collect()),
            (UnaryOp::Pos, Column::Int(v)) => Column::Int(v.clone()),
            (UnaryOp::Neg, Column::Int(v)) if !v.contains(&i64::MIN) => Column::Int(v.iter().map(|v| -v).collect()),
            (UnaryOp::Neg, Column::Float(v)) => Column::Float(v.iter().map(|v| -v).collect()),
            (UnaryOp::Neg, _) => return self.rowwise(&[a], rows, |v| ops::negate(&v[0])),
            (UnaryOp::Pos, _) => return self.rowwise(&[a], rows, |v| ops::positive(&v[0])),
        };
        Computed { column, failed }
    }

    fn arithmetic(&self, op: BinaryOp, a: NodeId, b: NodeId, rows: usize) -> Computed {
        let (x, y) = (self.column(a), self.column(b));
        if let (Some(x), Some(y)) = (Ints::of(x), Ints::of(y))
            && op != BinaryOp::Div
            && let Some(column) = int_arithmetic(op, x, y, rows)
        {
            return Computed { column: Column::Int(column), failed: self.merged_failures(&[a, b], rows) };
        }
        if let (Some(x), Some(y)) = (Numbers::of(x), Numbers::of(y))
            && (op == BinaryOp::Div || x.is_float() || y.is_float())
            && let Some(column) = float_arithmetic(op, x, y, rows)
        {
            return Computed { column: Column::Float(column), failed: self.merged_failures(&[a, b], rows) };
        }
        self.rowwise(&[a, b], rows, |v| ops::binary(op, &v[0], &v[1]))
    }

    fn compare(&self, op: CompareOp, a: NodeId, b: NodeId, rows: usize) -> Computed {
        let (x, y) = (self.column(a), self.column(b));
        let failed = self.merged_failures(&[a, b], rows);
        if let (Some(x), Some(y)) = (Ints::of(x), Ints::of(y)) {
            let column = match op {
                CompareOp::Eq => Ints::zip(x, y, rows, |a, b| a == b),
                CompareOp::Ne => Ints::zip(x, y, rows, |a, b| a != b),
                CompareOp::Lt => Ints::zip(x, y, rows, |a, b| a < b),
                CompareOp::Le => Ints::zip(x, y, rows, |a, b| a <= b),
                CompareOp::Gt => Ints::zip(x, y, rows, |a, b| a > b),
                CompareOp::Ge => Ints::zip(x, y, rows, |a, b| a >= b),
            };
            return Computed { column: Column::Bool(column), failed };
        }
        if let (Some(x), Some(y)) = (Numbers::of(x), Numbers::of(y)) {
            let column = (0..rows).map(|row| ops::holds(op, ops::order(x.at(row), y.at(row)))).collect();
            return Computed { column: Column::Bool(column), failed };
        }
        self.rowwise(&[a, b], rows, |v| ops::compare(op, &v[0], &v[1]).map(Value::Bool))
    }

    fn member(&self, item: NodeId, list: &[NodeId], rows: usize) -> Computed {
        let constants: Option<Vec<i64>> = list
            .iter()
            .map(|node| if let Column::One(Value::Int(v)) = self.column(*node) { Some(*v) } else { None })
            .collect();
        if let (Column::Int(items), Some(constants)) = (self.column(item), constants) {
            let column = items.iter().map(|v| constants.contains(v)).collect();
            return Computed { column: Column::Bool(column), failed: self.merged_failures(&[item], rows) };
        }
        let mut nodes = vec![item];
        nodes.extend_from_slice(list);
        self.rowwise(&nodes, rows, |v| Ok(Value::Bool(v[1..].iter().any(|c| ops::equal(&v[0], c)))))
    }

    /// `then` where `condition` is true, else `otherwise`; only the chosen side's failures count.
    fn choose(&self, condition: NodeId, then: NodeId, otherwise: NodeId, rows: usize) -> Computed {
        let (c, x, y) = (self.column(condition), self.column(then), self.column(otherwise));
        let sides = [condition, then, otherwise].map(|n| self.failures(n));
        let failed = sides.iter().any(Option::is_some).then(|| {
            let at = |side: Option<&[bool]>, row: usize| side.is_some_and(|s| s[row]);
            (0..rows)
                .map(|row| at(sides[0], row) || at(if c.truth(row) { sides[1] } else { sides[2] }, row))
                .collect::<Vec<bool>>()
        });
        macro_rules! pick {
            ($variant:ident) => {
                if let (Column::$variant(x), Column::$variant(y)) = (x, y) {
                    let column = (0..rows).map(|row| if c.truth(row) { x[row] } else { y[row] }).collect();
                    return Computed { column: Column::$variant(column), failed };
                }
            };
        }
        pick!(Bool);
        pick!(Int);
        pick!(Float);
        let values: Vec<Value> = (0..rows).map(|row| if c.truth(row) { x.get(row) } else { y.get(row) }).collect();
        Computed { column: Column::from_values(&values), failed }
    }

    fn call(&self, function: Function, arguments: &[NodeId], rows: usize) -> Computed {
        if let ([a, b], Function::Min | Function::Max) = (arguments, function)
            && let (Some(x), Some(y)) = (Ints::of(self.column(*a)), Ints::of(self.column(*b)))
        {
            let column = match function {
                Function::Min => Ints::zip(x, y, rows, i64::min),
                _ => Ints::zip(x, y, rows, i64::max),
            };
            return Computed { column: Column::Int(column), failed: self.merged_failures(arguments, rows) };
        }
        self.rowwise(arguments, rows, |v| ops::call(function, v))
    }
}

/// An integer operand: a column or one value for all rows.
#[derive(Clone, Copy)]
enum Ints<'a> {
    One(i64),
    Many(&'a [i64]),
}

impl<'a> Ints<'a> {
    fn of(column: &'a Column) -> Option<Ints<'a>> {
        match column {
            Column::One(Value::Int(v)) => Some(Ints::One(*v)),
            Column::Int(v) => Some(Ints::Many(v)),
            _ => None,
        }
    }

    fn zip<T>(self, other: Ints<'_>, rows: usize, f: impl Fn(i64, i64) -> T) -> Vec<T> {
        match (self, other) {
            (Ints::Many(a), Ints::Many(b)) => a.iter().zip(b).map(|(a, b)| f(*a, *b)).collect(),
            (Ints::Many(a), Ints::One(b)) => a.iter().map(|a| f(*a, b)).collect(),
            (Ints::One(a), Ints::Many(b)) => b.iter().map(|b| f(a, *b)).collect(),
            (Ints::One(a), Ints::One(b)) => (0..rows).map(|_| f(a, b)).collect(),
        }
    }

    fn any(self, f: impl Fn(i64) -> bool) -> bool {
        match self {
            Ints::One(v) => f(v),
            Ints::Many(v) => v.iter().any(|v| f(*v)),
        }
    }
}

/// The column of an integer operation, or none when some row needs the general form (a failure, a negative power).
fn int_arithmetic(op: BinaryOp, x: Ints<'_>, y: Ints<'_>, rows: usize) -> Option<Vec<i64>> {
    // Overflow is gathered in one flag rather than tested row by row, so that the loops vectorise.
    let overflow = std::cell::Cell::new(false);
    let note = |(value, over): (i64, bool)| {
        overflow.set(overflow.get() | over);
        value
    };
    let column = match op {
        BinaryOp::Add => x.zip(y, rows, |a, b| note(a.overflowing_add(b))),
        BinaryOp::Sub => x.zip(y, rows, |a, b| note(a.overflowing_sub(b))),
        BinaryOp::Mul => x.zip(y, rows, |a, b| note(a.overflowing_mul(b))),
        BinaryOp::Mod if !y.any(|b| b == 0) => x.zip(y, rows, ops::floor_mod),
        // -1 is left to the general form for the one quotient that does not fit.
        BinaryOp::FloorDiv if !y.any(|b| b == 0 || b == -1) => {
            x.zip(y, rows, |a, b| ops::floor_div(a, b).unwrap_or_default())
        }
        BinaryOp::Pow if !y.any(|b| b < 0) => x.zip(y, rows, |a, b| match ops::int_binary(BinaryOp::Pow, a, b) {
            Ok(value) => value,
            Err(_) => note((0, true)),
        }),
        _ => return None,
    };
    (!overflow.get()).then_some(column)
}

/// A numeric operand.
#[derive(Clone, Copy)]
enum Numbers<'a> {
    One(Number),
    Int(&'a [i64]),
    Float(&'a [f64]),
    Bool(&'a [bool]),
}

impl<'a> Numbers<'a> {
    fn of(column: &'a Column) -> Option<Numbers<'a>> {
        match column {
            Column::One(value) => ops::number(value).map(Numbers::One),
            Column::Int(v) => Some(Numbers::Int(v)),
            Column::Float(v) => Some(Numbers::Float(v)),
            Column::Bool(v) => Some(Numbers::Bool(v)),
            Column::Any(_) => None,
        }
    }

    fn is_float(self) -> bool {
        matches!(self, Numbers::Float(_) | Numbers::One(Number::Float(_)))
    }

    fn at(self, row: usize) -> Number {
        match self {
            Numbers::One(v) => v,
            Numbers::Int(v) => Number::Int(v[row]),
            Numbers::Float(v) => Number::Float(v[row]),
            Numbers::Bool(v) => Number::Int(i64::from(v[row])),
        }
    }
}

/// An operation whose result is a double in every row, or none when some row fails.
fn float_arithmetic(op: BinaryOp, x: Numbers<'_>, y: Numbers<'_>, rows: usize) -> Option<Vec<f64>> {
    let mut column = Vec::with_capacity(rows);
    for row in 0..rows {
        column.push(match (x.at(row), y.at(row)) {
            // Only `/` comes here with two integers, and its quotient is rounded once.
            (Number::Int(a), Number::Int(b)) => ops::int_div(a, b).ok()?,
            (a, b) => ops::float_binary(op, a.float(), b.float()).ok()?,
        });
    }
    Some(column)
}
