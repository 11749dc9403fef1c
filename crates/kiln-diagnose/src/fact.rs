//! The facts of a finding: names and values in a fixed order, as JSON prints them. A number stays a number, so that a
//! program can use it; text is for people.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// Facts in the order in which they were found out.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Facts(Map<String, Value>);

impl Facts {
    /// Adds a fact, or replaces it in its place.
    pub fn set(&mut self, name: &str, value: impl Into<Value>) {
        self.0.insert(name.into(), value.into());
    }

    /// Adds a fact if there is one.
    pub fn set_some(&mut self, name: &str, value: Option<impl Into<Value>>) {
        if let Some(value) = value {
            self.set(name, value);
        }
    }

    /// One fact.
    pub fn get(&self, name: &str) -> Option<&Value> {
        self.0.get(name)
    }

    /// A fact that is a number.
    pub fn number(&self, name: &str) -> Option<u64> {
        self.get(name)?.as_u64()
    }

    /// A fact that is text.
    pub fn text(&self, name: &str) -> Option<&str> {
        self.get(name)?.as_str()
    }

    /// All of them, in order.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &Value)> {
        self.0.iter().map(|(name, value)| (name.as_str(), value))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn facts_keep_their_order() {
        let mut facts = Facts::default();
        facts.set("stride_bytes", 130);
        facts.set("access_bytes", 16);
        facts.set_some("lost", None::<u64>);
        facts.set("stride_bytes", 144);
        assert_eq!(serde_json::to_string(&facts).unwrap(), r#"{"stride_bytes":144,"access_bytes":16}"#);
    }
}
