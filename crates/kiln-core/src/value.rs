//! One scalar of a kernel description: the value of a tunable, a dimension or an expression.

use std::cmp::Ordering;
use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

/// An integer, a float, a boolean or a string. Equality is structural (`1` and `true` differ); Python's looser
/// equality lives with the expression language.
#[derive(Debug, Clone)]
pub enum Value {
    /// A 64-bit signed integer.
    Int(i64),
    /// An IEEE double.
    Float(f64),
    /// True or false.
    Bool(bool),
    /// Text; shared, because value lists are copied into many configurations.
    Str(Arc<str>),
}

impl Value {
    /// The kind of this value in words, for messages.
    pub fn kind(&self) -> &'static str {
        match self {
            Value::Int(_) => "integer",
            Value::Float(_) => "float",
            Value::Bool(_) => "boolean",
            Value::Str(_) => "string",
        }
    }

    /// Reads the text a user typed for one value: `64`, `0.5`, `true`, else a string (quotes optional).
    pub fn from_typed(text: &str) -> Value {
        let text = text.trim();
        if let Ok(int) = text.parse::<i64>() {
            return Value::Int(int);
        }
        match text {
            "true" | "True" => return Value::Bool(true),
            "false" | "False" => return Value::Bool(false),
            _ => {}
        }
        let numeric = text.bytes().any(|b| b.is_ascii_digit())
            && text.bytes().all(|b| b.is_ascii_digit() || b"+-.eE".contains(&b));
        if numeric && let Ok(float) = text.parse::<f64>() {
            return Value::Float(float);
        }
        let bare = text
            .strip_prefix('"')
            .and_then(|t| t.strip_suffix('"'))
            .or_else(|| text.strip_prefix('\'').and_then(|t| t.strip_suffix('\'')))
            .unwrap_or(text);
        Value::Str(bare.into())
    }

    fn rank(&self) -> u8 {
        match self {
            Value::Int(_) => 0,
            Value::Float(_) => 1,
            Value::Bool(_) => 2,
            Value::Str(_) => 3,
        }
    }
}

impl PartialEq for Value {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Value {}

impl PartialOrd for Value {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// A total order (kind first, then value; floats by IEEE total order), so that values can be keys.
impl Ord for Value {
    fn cmp(&self, other: &Self) -> Ordering {
        match (self, other) {
            (Value::Int(a), Value::Int(b)) => a.cmp(b),
            (Value::Float(a), Value::Float(b)) => a.total_cmp(b),
            (Value::Bool(a), Value::Bool(b)) => a.cmp(b),
            (Value::Str(a), Value::Str(b)) => a.cmp(b),
            _ => self.rank().cmp(&other.rank()),
        }
    }
}

impl std::hash::Hash for Value {
    fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
        self.rank().hash(state);
        match self {
            Value::Int(v) => v.hash(state),
            Value::Float(v) => v.to_bits().hash(state),
            Value::Bool(v) => v.hash(state),
            Value::Str(v) => v.hash(state),
        }
    }
}

/// As a user types it: `64`, `0.5`, `true`, `xor`.
impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Value::Int(v) => write!(f, "{v}"),
            // `{:?}` is Rust's shortest form that reads back, and keeps the `.0` that marks a float.
            Value::Float(v) => write!(f, "{v:?}"),
            Value::Bool(v) => write!(f, "{v}"),
            Value::Str(v) => f.write_str(v),
        }
    }
}

impl Serialize for Value {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Value::Int(v) => serializer.serialize_i64(*v),
            Value::Float(v) => serializer.serialize_f64(*v),
            Value::Bool(v) => serializer.serialize_bool(*v),
            Value::Str(v) => serializer.serialize_str(v),
        }
    }
}

/// As it was written: a whole number without a point is an integer.
impl<'de> Deserialize<'de> for Value {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Scalar;
        impl de::Visitor<'_> for Scalar {
            type Value = Value;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an integer, a float, a boolean or a string")
            }

            fn visit_bool<E: de::Error>(self, v: bool) -> Result<Value, E> {
                Ok(Value::Bool(v))
            }

            fn visit_i64<E: de::Error>(self, v: i64) -> Result<Value, E> {
                Ok(Value::Int(v))
            }

            fn visit_u64<E: de::Error>(self, v: u64) -> Result<Value, E> {
                i64::try_from(v).map(Value::Int).map_err(|_| E::custom(format_args!("{v} does not fit in 64 bits")))
            }

            fn visit_f64<E: de::Error>(self, v: f64) -> Result<Value, E> {
                Ok(Value::Float(v))
            }

            fn visit_str<E: de::Error>(self, v: &str) -> Result<Value, E> {
                Ok(Value::from(v))
            }
        }
        deserializer.deserialize_any(Scalar)
    }
}

impl From<i64> for Value {
    fn from(v: i64) -> Self {
        Value::Int(v)
    }
}

impl From<f64> for Value {
    fn from(v: f64) -> Self {
        Value::Float(v)
    }
}

impl From<bool> for Value {
    fn from(v: bool) -> Self {
        Value::Bool(v)
    }
}

impl From<&str> for Value {
    fn from(v: &str) -> Self {
        Value::Str(v.into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn typed_text_becomes_the_obvious_kind() {
        assert_eq!(Value::from_typed(" 64 "), Value::Int(64));
        assert_eq!(Value::from_typed("-3"), Value::Int(-3));
        assert_eq!(Value::from_typed("0.5"), Value::Float(0.5));
        assert_eq!(Value::from_typed("1e3"), Value::Float(1000.0));
        assert_eq!(Value::from_typed("true"), Value::Bool(true));
        assert_eq!(Value::from_typed("False"), Value::Bool(false));
        assert_eq!(Value::from_typed("xor"), Value::from("xor"));
        assert_eq!(Value::from_typed("\"64\""), Value::from("64"));
        assert_eq!(Value::from_typed("e"), Value::from("e"));
        assert_eq!(Value::from_typed("inf"), Value::from("inf"));
    }

    #[test]
    fn kinds_never_mix_in_structural_equality() {
        assert_ne!(Value::Int(1), Value::Bool(true));
        assert_ne!(Value::Int(1), Value::Float(1.0));
        assert_eq!(Value::Float(f64::NAN), Value::Float(f64::NAN));
    }

    #[test]
    fn floats_print_as_floats() {
        assert_eq!(Value::Float(2.0).to_string(), "2.0");
        assert_eq!(Value::Float(0.1).to_string(), "0.1");
    }
}
