//! Values in and out of columns of three types: text, bigint, double precision. Refuses what would not read back, and
//! names the column that holds something unreadable.

use kiln_core::Fault;
use serde_json::Value;
use sqlx::any::{Any, AnyRow};
use sqlx::{Decode, Row, Type};

use crate::Kept;

/// The parser gives up at 128 levels; a record that can be written must be readable.
const DEEPEST: usize = 100;

/// A count as a bigint.
pub(crate) fn count(what: &str, name: &str, value: u64) -> Result<i64, Fault> {
    i64::try_from(value).map_err(|_| Fault::new(what, format!("{name} is {value}, more than a store can hold")))
}

/// A number as a double: it must be one.
pub(crate) fn finite(what: &str, name: &str, value: f64) -> Result<f64, Fault> {
    if value.is_finite() { Ok(value) } else { Err(Fault::new(what, format!("{name} is {value}, which is no number"))) }
}

/// Samples as a JSON list. Shortest digits that read back to the same bits; JSON so that other tools read them too.
pub(crate) fn samples(what: &str, values: &[f64]) -> Result<String, Fault> {
    for (i, value) in values.iter().enumerate() {
        if !value.is_finite() {
            return Err(Fault::new(what, format!("sample {i} is {value}, which is no time")));
        }
    }
    serde_json::to_string(values).map_err(|e| Fault::new(what, e))
}

/// A record as JSON text. One of another kiln is copied as it is, understood or not.
pub(crate) fn json<T>(what: &str, name: &str, record: &Kept<T>) -> Result<String, Fault> {
    let value = record.json().map_err(|why| Fault::new(what, format!("{name} cannot be written: {why}")))?;
    if depth(value) > DEEPEST {
        return Err(Fault::new(what, format!("{name} is nested more than {DEEPEST} levels deep")));
    }
    Ok(value.to_string())
}

fn depth(value: &Value) -> usize {
    match value {
        Value::Array(items) => 1 + items.iter().map(depth).max().unwrap_or(0),
        Value::Object(items) => 1 + items.values().map(depth).max().unwrap_or(0),
        _ => 0,
    }
}

/// A row with what it is of, for faults.
pub(crate) struct Columns<'r> {
    pub(crate) row: &'r AnyRow,
    pub(crate) what: &'r str,
}

impl<'r> Columns<'r> {
    /// The column as text, i64 or f64, or an option of one.
    pub(crate) fn get<T: Decode<'r, Any> + Type<Any>>(&self, name: &str) -> Result<T, Fault> {
        self.row.try_get(name).map_err(|e| match e {
            sqlx::Error::ColumnDecode { source, .. } => self.unreadable(name, source),
            other => self.unreadable(name, other),
        })
    }

    /// A count that was stored as a bigint.
    pub(crate) fn count<T: TryFrom<i64>>(&self, name: &str) -> Result<T, Fault> {
        let value: i64 = self.get(name)?;
        T::try_from(value).map_err(|_| self.unreadable(name, value))
    }

    /// A count, where there is one.
    pub(crate) fn maybe_count<T: TryFrom<i64>>(&self, name: &str) -> Result<Option<T>, Fault> {
        let value: Option<i64> = self.get(name)?;
        value.map(|value| T::try_from(value).map_err(|_| self.unreadable(name, value))).transpose()
    }

    /// Text that some reader understands.
    pub(crate) fn read<T>(&self, name: &str, reader: impl FnOnce(&str) -> Option<T>) -> Result<T, Fault> {
        let text: &str = self.get(name)?;
        reader(text).ok_or_else(|| self.unreadable(name, text))
    }

    /// Text that some reader understands, or says why not.
    pub(crate) fn parse<T>(&self, name: &str, reader: impl FnOnce(&str) -> Result<T, String>) -> Result<T, Fault> {
        reader(self.get(name)?).map_err(|why| self.unreadable(name, why))
    }

    /// JSON text.
    pub(crate) fn json<T: serde::de::DeserializeOwned>(&self, name: &str) -> Result<T, Fault> {
        let text: &str = self.get(name)?;
        serde_json::from_str(text).map_err(|e| self.unreadable(name, e))
    }

    /// JSON text, where there is any.
    pub(crate) fn maybe_json<T: serde::de::DeserializeOwned>(&self, name: &str) -> Result<Option<T>, Fault> {
        let text: Option<String> = self.get(name)?;
        text.map(|t| serde_json::from_str(&t).map_err(|e| self.unreadable(name, e))).transpose()
    }

    fn unreadable(&self, name: &str, why: impl std::fmt::Display) -> Fault {
        Fault::new(self.what, format!("column {name} cannot be read: {why}"))
            .hint("the store may be damaged, or a newer kiln may have written this record")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_would_not_read_back_is_refused() {
        assert!(samples("x", &[1.0, f64::NAN]).unwrap_err().why.contains("sample 1 is NaN"));
        assert!(samples("x", &[f64::INFINITY]).is_err());
        assert!(finite("x", "cost", f64::NEG_INFINITY).unwrap_err().why.contains("cost is -inf"));
        assert!(count("x", "number", u64::MAX).is_err());
        let deep = (0..200).fold(Value::Null, |inner, _| Value::Array(vec![inner]));
        assert!(json("x", "details", &Kept::<crate::Details>::found(deep)).is_err());
    }

    #[test]
    fn samples_read_back_bit_for_bit() {
        let hard = [0.0, -0.0, 5e-324, f64::MIN_POSITIVE, f64::MIN_POSITIVE / 3.0, f64::MAX, f64::MIN, 0.1 + 0.2, 1e23];
        let back: Vec<f64> = serde_json::from_str(&samples("x", &hard).unwrap()).unwrap();
        assert_eq!(back.iter().map(|x| x.to_bits()).collect::<Vec<_>>(), hard.map(f64::to_bits));
    }
}
