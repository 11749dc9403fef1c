//! A time as other tuners write it: a number, or words in place of one. In: any JSON value. Out: one of three.

use std::fmt;

use serde::de::{Deserialize, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};

/// A number, words, or neither.
#[derive(Debug, Clone, PartialEq, Default)]
pub(super) enum Time {
    Number(f64),
    Words(String),
    #[default]
    None,
}

impl<'de> Deserialize<'de> for Time {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Time, D::Error> {
        deserializer.deserialize_any(Any)
    }
}

struct Any;

impl<'de> Visitor<'de> for Any {
    type Value = Time;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a time")
    }

    fn visit_f64<E>(self, v: f64) -> Result<Time, E> {
        Ok(Time::Number(v))
    }

    fn visit_i64<E>(self, v: i64) -> Result<Time, E> {
        Ok(Time::Number(v as f64))
    }

    fn visit_u64<E>(self, v: u64) -> Result<Time, E> {
        Ok(Time::Number(v as f64))
    }

    fn visit_str<E>(self, v: &str) -> Result<Time, E> {
        Ok(Time::Words(v.into()))
    }

    fn visit_bool<E>(self, _: bool) -> Result<Time, E> {
        Ok(Time::None)
    }

    fn visit_unit<E>(self) -> Result<Time, E> {
        Ok(Time::None)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Time, A::Error> {
        while items.next_element::<IgnoredAny>()?.is_some() {}
        Ok(Time::None)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut items: A) -> Result<Time, A::Error> {
        while items.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
        Ok(Time::None)
    }
}
