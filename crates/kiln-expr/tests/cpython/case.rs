//! One case: an expression with rows of values, evaluated in every way kiln has, compared, and made smaller.

use kiln_core::Value;
use kiln_expr::{Column, EvalErrorKind, Evaluator, Expression, Graph, NodeId, Op, Range, Scope, Type, truth};
use serde_json::{Value as Json, json};

use crate::ASKED;
use crate::python::*;
use crate::trees::*;

/// An expression with the values of its names, a few rows of them.
#[derive(Clone)]
pub(crate) struct Case {
    pub(crate) tree: Tree,
    pub(crate) rows: Vec<Vec<(&'static str, Value)>>,
    /// Decides what is left open by the above: which names become constants, and where.
    pub(crate) choices: u64,
}

/// What kiln makes of a case: an outcome for every row.
pub(crate) struct Own {
    pub(crate) outcomes: Vec<Outcome>,
    pub(crate) known_range: bool,
}

#[derive(Clone, PartialEq)]
pub(crate) enum Outcome {
    Value(Value),
    Fail(EvalErrorKind),
    /// What only python3 says: a text it does not read, a fault in cpython.py.
    Other(String),
}

impl std::fmt::Debug for Outcome {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Outcome::Value(value) => write!(f, "{value:?}"),
            Outcome::Fail(kind) => write!(f, "failure {kind:?}"),
            Outcome::Other(what) => f.write_str(what),
        }
    }
}

/// One NaN is as good as another.
pub(crate) fn canonical(value: Value) -> Value {
    match value {
        Value::Float(v) if v.is_nan() => Value::Float(f64::NAN),
        other => other,
    }
}

impl Case {
    pub(crate) fn random(seed: u64, number: u64) -> Case {
        let mut random = Random(seed ^ number.wrapping_mul(0xd134_2543_de82_ef95));
        random.next();
        // Most cases are tame, as tunables are: otherwise most would end in an overflow.
        let nature = *random.pick(&[Nature::Tame, Nature::Small, Nature::Small, Nature::Wild, Nature::Wild]);
        let depth = 1 + random.below(4);
        let tree = Grow { random: &mut random, nature }.any(depth);
        let mixed = [Kind::Int, Kind::Float, Kind::Bool, Kind::Str];
        let rows = (0..1 + random.below(8))
            .map(|_| {
                NAMES
                    .iter()
                    .map(|(name, kind)| {
                        let kind = kind.unwrap_or_else(|| *random.pick(&mixed));
                        (*name, random_value(&mut random, kind, nature))
                    })
                    .collect()
            })
            .collect();
        Case { tree, rows, choices: random.next() }
    }

    /// The same with its text edited, if kiln still reads it and knows its names.
    pub(crate) fn damaged(self, seed: u64, number: u64) -> Option<Case> {
        let mut random = Random(!seed ^ number.wrapping_mul(0xd134_2543_de82_ef95));
        let mut text: Vec<char> = self.text().chars().collect();
        for _ in 0..1 + random.below(3) {
            let at = random.below(text.len() + 1);
            let end = (at + random.below(4)).min(text.len());
            // Single characters for literals, words for structure.
            let with = match random.below(3) {
                0 => String::new(),
                1 => random.pick(&DAMAGE.chars().collect::<Vec<char>>()).to_string(),
                _ => random.pick(&DAMAGE_WORDS.split(' ').collect::<Vec<&str>>()).replace('~', " "),
            };
            text.splice(at..end, with.chars());
        }
        let case = Case { tree: Tree::leaf(text.into_iter().collect::<String>()), ..self };
        case.reads().then_some(case)
    }

    /// Whether kiln reads the text and there is a value for every name in it.
    pub(crate) fn reads(&self) -> bool {
        let known = |name: &str| NAMES.iter().any(|(n, _)| *n == name);
        Expression::parse(&self.text()).is_ok_and(|e| e.names().iter().all(|(name, _)| known(name)))
    }

    pub(crate) fn text(&self) -> String {
        self.tree.text()
    }

    /// The names that the expression uses, as kiln finds them.
    pub(crate) fn names(expression: &Expression) -> Vec<String> {
        expression.names().into_iter().map(|(name, _)| name.to_string()).collect()
    }

    pub(crate) fn to_json(&self) -> String {
        let text = self.text();
        let names = Expression::parse(&text).map_or(vec![], |e| Case::names(&e));
        let row = |row: &Vec<(&str, Value)>| -> Json {
            let used = row.iter().filter(|(name, _)| names.iter().any(|n| n == name));
            Json::Object(used.map(|(name, value)| (name.to_string(), to_json(value))).collect())
        };
        json!({ "text": text, "rows": self.rows.iter().take(ASKED).map(row).collect::<Vec<_>>() }).to_string()
    }

    /// Scalar results, held against everything in this crate that must agree with them.
    pub(crate) fn evaluate(&self) -> Result<Own, String> {
        let text = self.text();
        let expression = Expression::parse(&text).map_err(|e| format!("kiln does not parse it: {e}"))?;
        let outcomes: Vec<Outcome> = self.rows.iter().map(|row| scalar(&expression, row)).collect();
        self.hold_check(&expression, &outcomes)?;
        let known_range = self.hold_columns(&expression, &outcomes)?;
        self.hold_constants(&expression, &outcomes)?;
        Ok(Own { outcomes, known_range })
    }

    /// [`Expression::check`] knows the names' kinds, and must be right about the result's.
    pub(crate) fn hold_check(&self, expression: &Expression, outcomes: &[Outcome]) -> Result<(), String> {
        let Ok(expected) = expression.check(&Kinds(&self.rows)) else { return Ok(()) };
        for outcome in outcomes {
            match outcome {
                Outcome::Value(value) if expected != Type::Any && expected != Type::of(value) => {
                    return Err(format!("check says {expected}, the value is {value:?}"));
                }
                _ => {}
            }
        }
        Ok(())
    }

    /// All rows at once, every name an input; true when the range of the result is known.
    pub(crate) fn hold_columns(&self, expression: &Expression, outcomes: &[Outcome]) -> Result<bool, String> {
        let names = Case::names(expression);
        let mut graph = Graph::default();
        let root = graph.expression(expression.root(), &mut |graph, name| {
            names.iter().position(|n| n == name).map(|i| graph.add(Op::Input(i as u32)))
        })?;
        let nodes: Vec<NodeId> = (0..graph.len() as u32).map(NodeId).collect();
        let inputs: Vec<Vec<Value>> =
            names.iter().map(|name| self.rows.iter().map(|r| value(r, name)).collect()).collect();
        let mut evaluator = Evaluator::new(&graph, &nodes, &[]);
        for (i, values) in inputs.iter().enumerate() {
            let same = values.iter().all(|v| *v == values[0]);
            let column = match &values[0] {
                first if same && self.choices >> i & 1 == 0 => Column::One(first.clone()),
                _ => Column::from_values(values),
            };
            evaluator.set(graph.add(Op::Input(i as u32)), column);
        }
        evaluator.run(&graph, self.rows.len());
        for (row, outcome) in outcomes.iter().enumerate() {
            let column = row_outcome(&evaluator, root, row);
            match (outcome, &column) {
                (Outcome::Fail(_), None) => {}
                (Outcome::Value(value), Some(column)) if value == column => {}
                _ => {
                    return Err(format!(
                        "row {row} alone gives {outcome:?}, in a column {column:?} (None is a failure)"
                    ));
                }
            }
        }
        self.hold_given(&graph, root, &evaluator)?;

        // Every node is held, not only the root: ranges of parts are what pruning goes by.
        let mut ranges: Vec<Range> = Vec::with_capacity(nodes.len());
        for id in nodes {
            let range = match graph.op(id) {
                Op::Input(i) => Range::of_all(&inputs[*i as usize]),
                op => Range::of_op(op, &|id| ranges[id.index()]),
            };
            ranges.push(range);
            for row in 0..self.rows.len() {
                let value = row_outcome(&evaluator, id, row);
                let holds = match (&value, range) {
                    (_, Range::Unknown) => true,
                    (Some(Value::Int(v)), Range::Int(a, b)) => (a..=b).contains(v),
                    (Some(Value::Float(v)), Range::Float(a, b)) => (a..=b).contains(v),
                    (Some(Value::Bool(v)), Range::Bool(can_false, can_true)) => {
                        if *v {
                            can_true
                        } else {
                            can_false
                        }
                    }
                    _ => false,
                };
                let sure = match (&value, range.truth()) {
                    (Some(value), Some(sure)) => truth(value) == sure,
                    _ => true,
                };
                if !holds || !sure {
                    let op = graph.op(id);
                    let operands: Vec<Range> = op.children().iter().map(|c| ranges[c.index()]).collect();
                    return Err(format!("{op:?} of {operands:?} has range {range:?}, and row {row} gives {value:?}"));
                }
            }
        }
        Ok(ranges[root.index()].is_known())
    }

    /// A node whose column is handed in must do as well as one that is computed.
    pub(crate) fn hold_given(&self, graph: &Graph, root: NodeId, all: &Evaluator) -> Result<(), String> {
        let whole: Vec<NodeId> = (0..=root.0)
            .map(NodeId)
            .filter(|id| !matches!(graph.op(*id), Op::Const(_)) && all.failures(*id).is_none())
            .collect();
        if whole.is_empty() {
            return Ok(());
        }
        let given = whole[(self.choices >> 20) as usize % whole.len()];
        let mut evaluator = Evaluator::new(graph, &[root], &[given]);
        for id in (0..=root.0).map(NodeId).filter(|id| *id == given || matches!(graph.op(*id), Op::Input(_))) {
            evaluator.set(id, all.column(id).clone());
        }
        evaluator.run(graph, self.rows.len());
        for row in 0..self.rows.len() {
            let (with, without) = (row_outcome(&evaluator, root, row), row_outcome(all, root, row));
            if with != without {
                return Err(format!("row {row} gives {without:?}, but with {given:?} given {with:?}"));
            }
        }
        Ok(())
    }

    /// Each row with all its names as constants must fold to its value, and with some of them as constants give it.
    pub(crate) fn hold_constants(&self, expression: &Expression, outcomes: &[Outcome]) -> Result<(), String> {
        let names = Case::names(expression);
        for (row, outcome) in outcomes.iter().enumerate() {
            for chosen in [u64::MAX, self.choices >> 32 | 1 << row] {
                let is_constant = |i: usize| chosen >> i & 1 == 1;
                let values: Vec<Value> = names.iter().map(|n| value(&self.rows[row], n)).collect();
                let mut graph = Graph::default();
                let root = graph.expression(expression.root(), &mut |graph, name| {
                    let i = names.iter().position(|n| n == name)?;
                    Some(if is_constant(i) {
                        graph.constant(values[i].clone())
                    } else {
                        graph.add(Op::Input(i as u32))
                    })
                })?;
                let mut evaluator = Evaluator::new(&graph, &[root], &[]);
                let mut ranges: Vec<Range> = Vec::with_capacity(graph.len());
                for id in (0..graph.len() as u32).map(NodeId) {
                    if let Op::Input(i) = graph.op(id) {
                        evaluator.set(id, Column::from_values(&values[*i as usize..=*i as usize]));
                        ranges.push(Range::point(&values[*i as usize]));
                    } else {
                        ranges.push(Range::of_op(graph.op(id), &|id| ranges[id.index()]));
                    }
                }
                evaluator.run(&graph, 1);
                let folded = row_outcome(&evaluator, root, 0);
                let same = match (outcome, &folded) {
                    (Outcome::Fail(_), None) => !ranges[root.index()].is_known(),
                    (Outcome::Value(value), Some(folded)) => value == folded,
                    _ => false,
                };
                let whole =
                    chosen != u64::MAX || graph.as_constant(root).is_some() == matches!(outcome, Outcome::Value(_));
                if !same || !whole {
                    let op = graph.op(root);
                    return Err(format!(
                        "row {row} gives {outcome:?}; with names {chosen:x} folded, {folded:?} from {op:?}"
                    ));
                }
            }
        }
        Ok(())
    }

    pub(crate) fn difference(&self, python: &mut Python) -> Option<String> {
        python.send(&[self.to_json()]);
        let expected = python.receive(1).remove(0);
        self.evaluate().and_then(|own| compare(&own, &expected)).err()
    }

    /// The smallest case found that still differs.
    pub(crate) fn shrink(mut self, python: &mut Python) -> Case {
        let reads = self.reads();
        'smaller: loop {
            let single = (self.rows.len() > 1).then_some(0..self.rows.len()).into_iter().flatten().map(|drop| {
                let mut case = self.clone();
                case.rows.remove(drop);
                case
            });
            let trees = self.tree.smaller().into_iter().map(|tree| Case { tree, ..self.clone() });
            for case in single.chain(trees).collect::<Vec<_>>() {
                if case.reads() == reads && case.difference(python).is_some() {
                    self = case;
                    continue 'smaller;
                }
            }
            return self;
        }
    }

    pub(crate) fn describe(&self, python: &mut Python) -> String {
        let text = self.text();
        let names = Expression::parse(&text).map_or(vec![], |e| Case::names(&e));
        let mut rows = String::new();
        for row in &self.rows {
            let used = row.iter().filter(|(name, _)| names.iter().any(|n| n == name));
            rows += &format!("\n    {}", used.map(|(n, v)| format!("{n} = {v:?}")).collect::<Vec<_>>().join(", "));
        }
        format!("{text}\n  with:{rows}\n  {}", self.difference(python).unwrap_or_default())
    }
}

pub(crate) fn value(row: &[(&'static str, Value)], name: &str) -> Value {
    row.iter().find(|(n, _)| *n == name).map(|(_, v)| v.clone()).expect("a generated name")
}

pub(crate) fn scalar(expression: &Expression, row: &[(&'static str, Value)]) -> Outcome {
    let env = |name: &str| row.iter().find(|(n, _)| *n == name).map(|(_, v)| v.clone());
    match expression.eval(&env) {
        Ok(value) => Outcome::Value(canonical(value)),
        Err(error) => Outcome::Fail(error.kind),
    }
}

/// None where the row failed.
pub(crate) fn row_outcome(evaluator: &Evaluator, id: NodeId, row: usize) -> Option<Value> {
    (!evaluator.failed(id, row)).then(|| canonical(evaluator.column(id).get(row)))
}

pub(crate) fn compare(own: &Own, expected: &[Outcome]) -> Result<(), String> {
    match own.outcomes.iter().zip(expected).position(|(own, expected)| own != expected) {
        None => Ok(()),
        Some(row) => Err(format!("row {row}: kiln {:?}, CPython {:?}", own.outcomes[row], expected[row])),
    }
}

pub(crate) struct Kinds<'a>(pub(crate) &'a [Vec<(&'static str, Value)>]);

impl Scope for Kinds<'_> {
    fn type_of(&self, name: &str) -> Option<Type> {
        let values: Vec<Value> = self.0.iter().map(|row| value(row, name)).collect();
        Some(Type::of_all(&values))
    }

    fn names(&self) -> Vec<String> {
        NAMES.iter().map(|(name, _)| name.to_string()).collect()
    }
}
