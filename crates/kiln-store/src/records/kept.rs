//! A record that lies in its column as JSON. In: a record of this kiln's, or JSON that some kiln wrote. Out: the record, or
//! why this kiln does not understand it; and the same JSON again, to be printed with fields this kiln knows nothing of.

use serde::de::{DeserializeOwned, IgnoredAny};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::Value;

/// What this kiln reads in a record, beside the record as it was written. Two are equal when they were written alike.
#[derive(Debug, Clone)]
pub struct Kept<T> {
    /// Private: what is in it is read as a type, and not by key. None for what has no form in JSON.
    json: Option<Value>,
    read: Result<T, String>,
}

impl<T: Serialize> Kept<T> {
    /// A new record. One that has no form in JSON is refused when it is written.
    pub fn new(record: T) -> Kept<T> {
        match serde_json::to_value(&record) {
            Ok(json) => Kept { json: Some(json), read: Ok(record) },
            Err(e) => Kept { json: None, read: Err(e.to_string()) },
        }
    }
}

impl<T: DeserializeOwned> Kept<T> {
    /// A record that is there already, of whichever kiln.
    pub fn found(json: Value) -> Kept<T> {
        let read = T::deserialize(&json).map_err(|e| e.to_string());
        Kept { json: Some(json), read }
    }
}

impl<T> Kept<T> {
    /// The record, or why it cannot be understood.
    pub fn read(&self) -> Result<&T, &str> {
        self.read.as_ref().map_err(String::as_str)
    }

    /// A part of the record, which may be understood where the whole is not.
    pub(crate) fn part<P: DeserializeOwned>(&self) -> Option<P> {
        P::deserialize(self.json.as_ref()?).ok()
    }

    /// As it is written, or why it cannot be.
    pub(crate) fn json(&self) -> Result<&Value, &str> {
        self.json.as_ref().ok_or(self.read.as_ref().err().map_or("it has no form in JSON", String::as_str))
    }
}

impl<T> PartialEq for Kept<T> {
    fn eq(&self, other: &Kept<T>) -> bool {
        self.json == other.json
    }
}

impl<T> Serialize for Kept<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.json.serialize(serializer)
    }
}

impl<'de, T: DeserializeOwned> Deserialize<'de> for Kept<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Value::deserialize(deserializer).map(Kept::found)
    }
}

/// Figures that kiln prints for machines and does not read.
pub type Printed = Kept<IgnoredAny>;

/// A field that another kiln may have written in another form: that costs the field, and not the record.
pub(crate) fn if_understood<'de, D, T>(deserializer: D) -> Result<Option<T>, D::Error>
where
    D: Deserializer<'de>,
    T: DeserializeOwned,
{
    Ok(T::deserialize(Value::deserialize(deserializer)?).ok())
}
