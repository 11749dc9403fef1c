//! Integers whose answers fit. In: what is computed, and the types. Out: what each integer input of which the file says
//! nothing is drawn from: all of its type, or as many bits as keep the exact answer of a builtin operation inside the
//! output's type. What a kernel would do beyond that nobody has said.

use kiln_core::Value;
use kiln_expr::Expression;
use kiln_spec::{Init, Role};

use crate::described::rules::Rules;
use crate::described::signature::{Signature, Slot};
use crate::drawn::element::is_float;
use crate::drawn::interval::Interval;
use crate::drawn::whole::extremes;
use crate::right::reference::Builtin;

/// Combinations of inputs an expression is tried on.
const TRIES: usize = 4096;

/// What each slot is drawn from; none where its filling is not drawn or has fractions.
pub(crate) fn intervals(signature: &Signature, rules: &Rules) -> Vec<Option<Interval>> {
    let whole: Vec<Option<Interval>> = signature.slots.iter().map(Slot::drawn_from).collect();
    let outputs: Vec<(i128, i128)> = signature.outputs().filter_map(|(_, slot)| extremes(slot.dtype)).collect();
    match rules.builtin {
        _ if outputs.is_empty() => whole,
        Some(builtin) => of_builtin(builtin, signature, whole, outputs[0]),
        None if !rules.expressions.is_empty() => of_expressions(&rules.expressions, signature, whole),
        None => whole,
    }
}

fn bits(interval: &Interval) -> u32 {
    let (low, high) = interval.whole();
    128 - high.max(-1 - low).max(0).leading_zeros()
}

/// With at most so many bits, and not below zero where the answer may not be.
fn narrowed(interval: Interval, most: u32, unsigned: bool) -> Interval {
    let narrow = if bits(&interval) > most { interval.of_bits(most.max(1)) } else { interval };
    match narrow {
        Interval::Assumed(low, high) if unsigned => Interval::Assumed(low.max(0), high),
        other => other,
    }
}

fn of_builtin(
    builtin: Builtin,
    signature: &Signature,
    mut all: Vec<Option<Interval>>,
    (least, most): (i128, i128),
) -> Vec<Option<Interval>> {
    let inputs: Vec<usize> = (0..all.len()).filter(|i| signature.slots[*i].is_input()).collect();
    let terms = |slot: &Slot| slot.shape.last().copied().unwrap_or(1).max(1);
    let room = |terms: usize| (127 - (most + 1).leading_zeros()).saturating_sub(terms.next_power_of_two().ilog2());
    let unsigned = least == 0;
    match (builtin, inputs.as_slice()) {
        (Builtin::Reduction, [x]) => {
            let room = room(terms(&signature.slots[*x]));
            all[*x] = all[*x].map(|i| if i.stated() { i } else { narrowed(i, room, unsigned) });
        }
        (Builtin::Matmul, [a, b]) => {
            let (Some(of_a), Some(of_b)) = (all[*a], all[*b]) else { return all };
            let room = room(terms(&signature.slots[*a]));
            let share = |own: &Interval, other: &Interval| match other.stated() {
                true => room.saturating_sub(bits(other)),
                false => (room / 2).max(room.saturating_sub(bits(other))).min(bits(own)),
            };
            let (for_a, for_b) = (share(&of_a, &of_b), share(&of_b, &of_a));
            all[*a] = Some(if of_a.stated() { of_a } else { narrowed(of_a, for_a, unsigned) });
            all[*b] = Some(if of_b.stated() { of_b } else { narrowed(of_b, for_b, unsigned) });
        }
        _ => {}
    }
    all
}

fn of_expressions(
    expressions: &[(String, Expression)],
    signature: &Signature,
    whole: Vec<Option<Interval>>,
) -> Vec<Option<Interval>> {
    let most = whole.iter().flatten().filter(|i| !i.stated()).map(bits).max().unwrap_or(0);
    let at = |bits: u32, unsigned: bool| -> Vec<Option<Interval>> {
        let one = |i: &Option<Interval>| i.map(|i| if i.stated() { i } else { narrowed(i, bits, unsigned) });
        whole.iter().map(one).collect()
    };
    let fits = |intervals: &[Option<Interval>]| {
        expressions.iter().all(|(output, expression)| {
            let slot = signature.slots.iter().find(|s| s.name == *output);
            slot.is_none_or(|slot| fits(expression, slot, signature, intervals))
        })
    };
    let ways = (1..=most).rev().flat_map(|bits| [(bits, false), (bits, true)]);
    ways.map(|(bits, unsigned)| at(bits, unsigned)).find(|intervals| fits(intervals)).unwrap_or(whole)
}

/// Whether an expression stays inside its output's type on the ends of its inputs, in every combination there is time for.
fn fits(expression: &Expression, output: &Slot, signature: &Signature, intervals: &[Option<Interval>]) -> bool {
    let Some((least, most)) = extremes(output.dtype) else { return true };
    let used = |slot: &Slot| expression.names().iter().any(|(name, _)| **name == *slot.name);
    let values = |(slot, interval): (&Slot, &Option<Interval>)| -> Vec<Value> {
        let whole = |v: i128| i64::try_from(v).map_or(Value::Float(v as f64), Value::Int);
        match (interval, slot.scalar) {
            (Some(Interval::Real(low, high)), _) => vec![Value::Float(*low), Value::Float(*high)],
            (Some(interval), _) => {
                let (low, high) = interval.whole();
                [low, high, 0, 1].map(|v| whole(v.clamp(low, high))).to_vec()
            }
            (None, Some(value)) if is_float(slot.dtype) => vec![Value::Float(value)],
            (None, Some(value)) => vec![Value::Int(value as i64)],
            (None, None) if is_float(slot.dtype) => [-4.0, 4.0, 0.5].map(Value::Float).to_vec(),
            (None, None) => vec![Value::Int(0), Value::Int(1), Value::Int(slot.elements() as i64)],
        }
    };
    let slots = signature.slots.iter().zip(intervals).filter(|(s, _)| used(s) && s.role != Role::Scratch);
    // Expressions know integers of 64 bits with a sign.
    if slots.clone().any(|(_, interval)| interval.is_some_and(|i| i.whole().1 > i64::MAX.into())) {
        return false;
    }
    let names: Vec<(&str, Vec<Value>)> = slots.map(|pair| (pair.0.name.as_str(), values(pair))).collect();
    let all = names.iter().map(|(_, values)| values.len()).product::<usize>().min(TRIES);
    (0..all).all(|mut number| {
        let mut chosen = Vec::with_capacity(names.len());
        for (name, values) in &names {
            chosen.push((*name, &values[number % values.len()]));
            number /= values.len();
        }
        let env = |name: &str| chosen.iter().find(|(n, _)| *n == name).map(|(_, value)| (*value).clone());
        match expression.eval(&env) {
            Ok(Value::Int(v)) => (least..=most).contains(&i128::from(v)),
            Ok(Value::Float(v)) => v >= least as f64 && v <= most as f64,
            Ok(_) => true,
            Err(_) => false,
        }
    })
}

impl Slot {
    /// What its numbers are drawn from: what the file states, or for integers all of the type; none where they are not
    /// drawn, or are floats of which nothing is stated.
    pub(crate) fn drawn_from(&self) -> Option<Interval> {
        let drawn = self.is_input() && self.function.is_none() && matches!(self.init, Init::Normal | Init::Uniform);
        self.range.or_else(|| if drawn { Interval::of_type(self.dtype) } else { None })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use kiln_spec::Choice;

    fn drawn(arguments: &[(&str, &str, &str)], reference: &str) -> Vec<Option<Interval>> {
        let mut text = String::from("[kernel]\nname = \"k\"\n[tunables]\nB = [1]\n[target.cpu]\nsource = \"k.c\"\n");
        for (name, kind, role) in arguments {
            text += &format!("[[arguments]]\nname = \"{name}\"\ntype = \"{kind}\"\nrole = \"{role}\"\n");
        }
        text += &format!("[reference]\n{reference}\n");
        let (spec, _) = kiln_spec::parse("k", text.as_bytes()).unwrap();
        let selection = spec.select(Choice::default()).unwrap();
        intervals(&Signature::of(&selection, None).unwrap(), &Rules::of(&selection).unwrap())
    }

    #[test]
    fn answers_fit_and_what_fits_is_not_narrowed() {
        let sum = |x: &str, y: &str| drawn(&[("x", x, "in"), ("y", y, "out")], "builtin = \"reduction\"")[0];
        assert_eq!(sum("i8[4, 1000]", "i32[4]"), Some(Interval::Assumed(-128, 127)));
        assert_eq!(sum("i32[4, 1000]", "i32[4]"), Some(Interval::Assumed(-(1 << 21) + 1, (1 << 21) - 1)));
        assert_eq!(sum("i32[4, 1000]", "u32[4]"), Some(Interval::Assumed(0, (1 << 22) - 1)));
        assert_eq!(sum("i32[4, 1000]", "f32[4]"), Some(Interval::Assumed(i32::MIN.into(), i32::MAX.into())));
        let product = |t: &str, out: &str| {
            let [a, b] = [format!("{t}[8, 1024]"), format!("{t}[1024, 8]")];
            let all = drawn(&[("a", &a, "in"), ("b", &b, "in"), ("c", out, "out")], "builtin = \"matmul\"");
            all[0].unwrap().whole().1
        };
        assert_eq!(product("i8", "i32[8, 8]"), 127);
        assert_eq!(product("i32", "i32[8, 8]"), (1 << 10) - 1);
        assert_eq!(product("i32", "i64[8, 8]"), (1 << 26) - 1);
    }

    #[test]
    fn expressions_are_tried() {
        let of = |kind: &str, expression: &str| {
            let reference = format!("builtin = \"elementwise\"\nexpressions = {{ y = \"{expression}\" }}");
            drawn(&[("a", kind, "in"), ("b", kind, "in"), ("y", kind, "out")], &reference)[0].unwrap().whole()
        };
        assert_eq!(of("i32[9]", "max(a, b)"), (i32::MIN.into(), i32::MAX.into()));
        assert_eq!(of("i32[9]", "a + b"), (-(1 << 30) + 1, (1 << 30) - 1));
        assert_eq!(of("i64[9]", "a * b"), (-(1 << 31) + 1, (1 << 31) - 1));
        assert_eq!(of("u8[9]", "a + b"), (0, 127));
        assert_eq!(of("u64[9]", "a"), (0, i64::MAX.into()));
    }
}
