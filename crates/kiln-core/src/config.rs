//! A configuration: one value for every tunable, in the order the kernel file declares them.

use std::fmt;
use std::sync::Arc;

use serde::ser::SerializeMap;
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

use crate::Value;

/// The name under which a configuration says which of a target's implementations it is of. No tunable can have it.
pub const IMPLEMENTATION: &str = "implementation";

/// Names with their values, in declaration order.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Config {
    entries: Vec<(Arc<str>, Value)>,
}

impl Config {
    /// A configuration from pairs that are already in order.
    pub fn new(entries: Vec<(Arc<str>, Value)>) -> Self {
        Config { entries }
    }

    /// The value of `name`, if it is set.
    pub fn get(&self, name: &str) -> Option<&Value> {
        self.entries.iter().find(|(n, _)| &**n == name).map(|(_, v)| v)
    }

    /// The implementation it is of; none where the target has only one, without a name.
    pub fn implementation(&self) -> Option<&str> {
        match self.get(IMPLEMENTATION)? {
            Value::Str(name) => Some(name),
            _ => None,
        }
    }

    /// The values a kernel is built with: all but the implementation, which says what is built.
    pub fn tunables(&self) -> Config {
        let kept =
            self.entries.iter().filter(|(name, value)| !(&**name == IMPLEMENTATION && matches!(value, Value::Str(_))));
        Config { entries: kept.cloned().collect() }
    }

    /// All pairs, in order.
    pub fn iter(&self) -> impl Iterator<Item = (&Arc<str>, &Value)> {
        self.entries.iter().map(|(n, v)| (n, v))
    }

    /// How many values are set.
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// A text with the values of names in braces, `maxrregcount={REGISTERS}`; booleans are 1 and 0. Braces around
    /// anything else stay as they are.
    pub fn fill(&self, text: &str) -> String {
        let mut filled = text.to_string();
        for (name, value) in self.iter() {
            let value = match value {
                Value::Bool(v) => u8::from(*v).to_string(),
                other => other.to_string(),
            };
            filled = filled.replace(&format!("{{{name}}}"), &value);
        }
        filled
    }

    /// True when nothing is set.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// Reads `BLOCK_M=64,WARPS=4` (commas or blanks between pairs, blanks around `=`; a value with either in quotes). Refuses a part without
    /// `=`, an empty name or value, and a name given twice.
    pub fn parse(text: &str) -> Result<Self, ConfigError> {
        let mut config = Config::default();
        let mut quoted = false;
        let between = |c: char| {
            quoted ^= c == '"';
            !quoted && (c == ',' || c.is_whitespace())
        };
        for part in closed(text).split(between).filter(|p| !p.is_empty()) {
            let (name, value) = part.split_once('=').ok_or_else(|| ConfigError::NoEquals(part.into()))?;
            let (name, value) = (name.trim(), value.trim());
            if name.is_empty() || value.is_empty() {
                return Err(ConfigError::Empty(part.into()));
            }
            if config.get(name).is_some() {
                return Err(ConfigError::Twice(name.into()));
            }
            config.entries.push((name.into(), Value::from_typed(value)));
        }
        Ok(config)
    }
}

/// The text without blanks around `=`, outside quotes.
fn closed(text: &str) -> String {
    let (mut closed, mut quoted, mut after) = (String::with_capacity(text.len()), false, false);
    for c in text.chars() {
        if !quoted && c == '=' {
            closed.truncate(closed.trim_end().len());
        }
        if quoted || !after || !c.is_whitespace() {
            closed.push(c);
            (quoted, after) = (quoted ^ (c == '"'), !quoted && c == '=');
        }
    }
    closed
}

/// Prints what [`Config::parse`] reads.
impl fmt::Display for Config {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, (name, value)) in self.iter().enumerate() {
            let comma = if i == 0 { "" } else { "," };
            match value {
                Value::Str(text) if text.is_empty() || text.contains(|c: char| c == ',' || c.is_whitespace()) => {
                    write!(f, "{comma}{name}=\"{text}\"")?;
                }
                _ => write!(f, "{comma}{name}={value}")?,
            }
        }
        Ok(())
    }
}

impl Serialize for Config {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(self.entries.len()))?;
        for (name, value) in self.iter() {
            map.serialize_entry(&**name, value)?;
        }
        map.end()
    }
}

/// In the order of the record.
impl<'de> Deserialize<'de> for Config {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Pairs;
        impl<'de> de::Visitor<'de> for Pairs {
            type Value = Config;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object from names to values")
            }

            fn visit_map<A: de::MapAccess<'de>>(self, mut map: A) -> Result<Config, A::Error> {
                let mut config = Config::default();
                while let Some((name, value)) = map.next_entry::<String, Value>()? {
                    config.entries.push((name.into(), value));
                }
                Ok(config)
            }
        }
        deserializer.deserialize_map(Pairs)
    }
}

/// Why a typed configuration could not be read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ConfigError {
    /// A part has no `=`.
    NoEquals(String),
    /// A part lacks its name or its value.
    Empty(String),
    /// A name stands there twice.
    Twice(String),
}

impl fmt::Display for ConfigError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ConfigError::NoEquals(part) => write!(f, "`{part}` has no `=`; expected NAME=VALUE"),
            ConfigError::Empty(part) => write!(f, "`{part}` lacks a name or a value; expected NAME=VALUE"),
            ConfigError::Twice(name) => write!(f, "{name} is given twice"),
        }
    }
}

impl std::error::Error for ConfigError {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_printed_configuration_reads_back() {
        let config = Config::parse("BLOCK_M=64, SWIZZLE=xor FAST=true,X=0.5").unwrap();
        assert_eq!(config.to_string(), "BLOCK_M=64,SWIZZLE=xor,FAST=true,X=0.5");
        assert_eq!(Config::parse(&config.to_string()).unwrap(), config);
        assert_eq!(config.get("FAST"), Some(&Value::Bool(true)));
    }

    #[test]
    fn blanks_around_the_sign_are_no_part_of_a_name_or_value() {
        let config = Config::parse("A = 4, B= \"x = y\"  C =5").unwrap();
        assert_eq!(config.to_string(), "A=4,B=\"x = y\",C=5");
        assert_eq!(Config::parse(" A =, B=1"), Err(ConfigError::Empty("A=".into())));
    }

    #[test]
    fn values_with_blanks_and_commas_read_back() {
        let entries = [("A", "a, b"), ("B", ""), ("C", "x")].map(|(n, v)| (n.into(), Value::from(v)));
        let config = Config::new(entries.to_vec());
        assert_eq!(config.to_string(), "A=\"a, b\",B=\"\",C=x");
        assert_eq!(Config::parse(&config.to_string()).unwrap(), config);
    }

    #[test]
    fn a_recorded_configuration_reads_back_in_order() {
        use serde::de::value::{Error, MapDeserializer};
        let pairs = [("WARPS", 4), ("BLOCK", 64)];
        let config = Config::deserialize(MapDeserializer::<_, Error>::new(pairs.into_iter())).unwrap();
        assert_eq!(config.to_string(), "WARPS=4,BLOCK=64");
    }

    #[test]
    fn bad_parts_are_named() {
        assert_eq!(Config::parse("A"), Err(ConfigError::NoEquals("A".into())));
        assert_eq!(Config::parse("A=1,=2"), Err(ConfigError::Empty("=2".into())));
        assert_eq!(Config::parse("A=1,A=2"), Err(ConfigError::Twice("A".into())));
    }
}
