//! `[export]`: how the function is called that `kiln export` makes of the kernel. In: the table, the arguments and the dimensions
//! of the workloads. Out: an [`Export`]. Refuses names that are no parameter or no output, and a name that Python cannot have.

use std::sync::Arc;

use kiln_core::{Report, Value};
use toml::de::DeValue;

use crate::model::{Formula, Role};
use crate::reading::item::Item;
use crate::reading::log::expected_one_of;
use crate::reading::section::Section;
use crate::tables::argument::ArgumentDraft;

/// What the table may hold.
pub(crate) const KEYS: [&str; 7] = ["name", "parameters", "returns", "nullable", "defaults", "valid", "empty"];

/// The exported function, as far as the file says.
#[derive(Debug, Clone, Default)]
pub struct Export {
    /// What it and its package are called; the kernel's name when none.
    pub name: Option<String>,
    /// Its parameters in order: inputs, scalars, dimensions; empty for the usual ones.
    pub parameters: Vec<String>,
    /// The outputs it returns; empty for all.
    pub returns: Vec<String>,
    /// Outputs that the kernel takes as a null pointer: where they are not returned, they are not made.
    pub nullable: Vec<String>,
    /// Values of parameters that a caller may omit.
    pub defaults: Vec<(Arc<str>, Value)>,
    /// What must be true of every call, beside `[fuzz] valid`.
    pub valid: Option<Formula>,
    /// What outputs hold where an input has no elements.
    pub empty: Vec<(String, f64)>,
}

pub(crate) fn read_export(item: &Item, arguments: &[ArgumentDraft], dims: &[&str]) -> Export {
    let Some(section) = Section::open(item, &KEYS) else { return Export::default() };
    let of = |roles: &[Role]| -> Vec<&str> {
        let named = arguments.iter().filter_map(|draft| draft.body.as_ref());
        named.filter(|argument| roles.contains(&argument.role)).map(|argument| &*argument.name).collect()
    };
    let mut given = of(&[Role::In, Role::Inout, Role::Scalar]);
    given.extend(dims);
    let outputs = of(&[Role::Out]);
    let defaults = section.get("defaults").and_then(Section::free);
    let defaults = defaults.iter().flat_map(|section| &section.entries);
    let empty = section.get("empty").and_then(Section::free);
    let empty = empty.iter().flat_map(|section| &section.entries);
    Export {
        name: section.get("name").and_then(identifier),
        parameters: names(section.get("parameters"), &given, "parameter"),
        returns: names(section.get("returns"), &outputs, "output"),
        nullable: names(section.get("nullable"), &outputs, "output"),
        defaults: defaults
            .filter(|entry| known(&entry.item, entry.key, &given, "parameter"))
            .filter_map(|entry| Some((entry.key.into(), entry.item.scalar()?)))
            .collect(),
        valid: section.get("valid").and_then(Item::formula),
        empty: empty
            .filter(|entry| known(&entry.item, entry.key, &outputs, "output"))
            .filter_map(|entry| Some((entry.key.to_owned(), number(&entry.item)?)))
            .collect(),
    }
}

/// Any number, infinities as well.
fn number(item: &Item) -> Option<f64> {
    match item.raw() {
        DeValue::Float(digits) => digits.as_str().parse().ok(),
        DeValue::Integer(_) => item.integer().map(|whole| whole as f64),
        _ => {
            item.wrong("a number, such as 0 or -inf");
            None
        }
    }
}

/// A name that Python can have.
fn identifier(item: &Item) -> Option<String> {
    let name = item.string()?;
    let sound = name.starts_with(|c: char| c == '_' || c.is_ascii_alphabetic())
        && name.chars().all(|c| c == '_' || c.is_ascii_alphanumeric());
    if !sound {
        let report = Report::error(format!("`{name}` cannot name a function"));
        item.error(report.label("expected letters, digits and _, not beginning with a digit"));
    }
    sound.then(|| name.to_owned())
}

/// The names in a list, each of which must be one of `all`.
fn names(item: Option<&Item>, all: &[&str], what: &str) -> Vec<String> {
    let items = item.and_then(Item::list).unwrap_or_default();
    let sound = |item: &Item| item.string().filter(|name| known(item, name, all, what)).map(str::to_owned);
    items.iter().filter_map(sound).collect()
}

fn known(item: &Item, name: &str, all: &[&str], what: &str) -> bool {
    if all.contains(&name) {
        return true;
    }
    let mut listed = all.to_vec();
    listed.sort_unstable();
    listed.dedup();
    let report = Report::error(format!("the kernel has no {what} {name}"));
    let report = match listed.is_empty() {
        true => report.label(format!("it has no {what} at all")),
        false => report.label(expected_one_of(listed.iter().copied())),
    };
    item.error(report.maybe_hint(item.log.did_you_mean(name, listed.iter().copied())));
    false
}

#[cfg(test)]
mod tests {
    const KERNEL: &str = "[kernel]\nname = \"k\"\n[target.cpu]\nsource = \"k.c\"\n[tunables]\nA = [1, 2]\n\
        [[arguments]]\nname = \"x\"\ntype = \"f32[N]\"\nrole = \"in\"\n[[arguments]]\nname = \"y\"\ntype = \"f32[N]\"\n\
        role = \"out\"\n[[arguments]]\nname = \"flip\"\ntype = \"i32\"\nrole = \"scalar\"\nvalue = \"FLIP\"\n\
        [[workloads]]\nname = \"w\"\ndims = { N = 8, FLIP = 0 }\n[export]\n";

    fn read(table: &str) -> Result<crate::Export, Vec<String>> {
        let parsed = crate::parse("k.toml", format!("{KERNEL}{table}").as_bytes());
        parsed.map(|(spec, _)| spec.export).map_err(|errors| errors.iter().map(|e| e.message.clone()).collect())
    }

    #[test]
    fn names_must_be_the_kernels() {
        let table = "name = \"turn\"\nparameters = [\"x\", \"flip\"]\nreturns = [\"y\"]\ndefaults = { flip = false }\n";
        let export = read(table).unwrap();
        assert_eq!((export.name.as_deref(), export.parameters.len(), export.returns.len()), (Some("turn"), 2, 1));
        assert_eq!(export.defaults[0].1, kiln_core::Value::Bool(false));
        assert_eq!(read("returns = [\"x\"]\n").unwrap_err(), ["the kernel has no output x"]);
        assert_eq!(read("nullable = [\"y\"]\n").unwrap().nullable, ["y"]);
        assert_eq!(read("nullable = [\"x\"]\n").unwrap_err(), ["the kernel has no output x"]);
        assert_eq!(read("parameters = [\"z\"]\n").unwrap_err(), ["the kernel has no parameter z"]);
        assert_eq!(read("name = \"a-b\"\n").unwrap_err(), ["`a-b` cannot name a function"]);
        assert_eq!(read("defaults = { flop = 1 }\n").unwrap_err(), ["the kernel has no parameter flop"]);
    }

    #[test]
    fn calls_have_a_rule_on_dimensions_and_scalars_and_outputs_a_value_without_inputs() {
        let export = read("valid = \"N >= 1 and flip >= 0\"\nempty = { y = -inf }\n").unwrap();
        assert_eq!(export.valid.unwrap().expression.text(), "N >= 1 and flip >= 0");
        assert_eq!(export.empty, [("y".to_owned(), f64::NEG_INFINITY)]);
        assert_eq!(read("valid = \"x > 0\"\n").unwrap_err(), ["x is not defined"]);
        assert_eq!(read("valid = \"A > 1\"\n").unwrap_err(), ["export.valid depends on A, a tunable"]);
        assert_eq!(read("empty = { x = 0 }\n").unwrap_err(), ["the kernel has no output x"]);
        assert_eq!(read("empty = { y = \"none\" }\n").unwrap_err().len(), 1);
    }
}
