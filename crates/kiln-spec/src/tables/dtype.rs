//! Dtypes by name. In: a name. Out: the dtype, or a report with the near one, under the names other languages have too.

use kiln_core::Report;

use crate::model::Dtype;
use crate::reading::item::Item;
use crate::reading::log::expected_one_of;

/// The dtype of this name.
pub(crate) fn dtype(name: &str) -> Option<Dtype> {
    Dtype::ALL.iter().copied().find(|d| d.name() == name)
}

/// What others call the dtypes.
const ALIASES: [(&str, &str); 18] = [
    ("double", "f64"),
    ("float64", "f64"),
    ("fp64", "f64"),
    ("float", "f32"),
    ("float32", "f32"),
    ("fp32", "f32"),
    ("half", "f16"),
    ("float16", "f16"),
    ("fp16", "f16"),
    ("bfloat16", "bf16"),
    ("int", "i32"),
    ("int8", "i8"),
    ("int16", "i16"),
    ("int32", "i32"),
    ("int64", "i64"),
    ("uint8", "u8"),
    ("uint32", "u32"),
    ("uint64", "u64"),
];

/// The report about a dtype nobody knows; `variables` may stand there too.
pub(crate) fn unknown_dtype(name: &str, item: &Item, variables: &[&str]) -> Report {
    let known: Vec<&str> = variables.iter().copied().chain(Dtype::ALL.iter().map(|d| d.name())).collect();
    let alias = ALIASES.iter().find(|(alias, _)| alias.eq_ignore_ascii_case(name));
    let hint = match alias {
        Some((_, name)) => Some(format!("did you mean {name}?")),
        None => item.log.did_you_mean(name, known.iter().copied()),
    };
    Report::error(format!("unknown dtype {name}")).label(expected_one_of(known)).maybe_hint(hint)
}
