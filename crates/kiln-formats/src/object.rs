//! Objects read piece by piece into what is there already, so that an early end loses nothing. In: whoever takes an
//! object's entries. Out: that as serde wants it.

use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, MapAccess, Visitor};

/// Takes an object's entries.
pub(crate) trait Object {
    /// What the object is, for messages.
    const EXPECTED: &'static str;

    fn read<'de, A: MapAccess<'de>>(self, map: A) -> Result<(), A::Error>;
}

/// Reads an object.
pub(crate) struct Read<T>(pub(crate) T);

impl<'de, T: Object> DeserializeSeed<'de> for Read<T> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_map(self)
    }
}

impl<'de, T: Object> Visitor<'de> for Read<T> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(T::EXPECTED)
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<(), A::Error> {
        self.0.read(map)
    }
}
