//! The rows of a Kernel Tuner cache. Times are in milliseconds; a configuration that failed has words in place of its
//! time, or an `__error__`. A cache is appended to while tuning, so its end may be missing: what was read until then counts,
//! and a record cut in two does not.

use std::fmt;
use std::sync::Arc;

use kiln_core::{Report, Value};
use serde::de::{DeserializeSeed, Deserializer, IgnoredAny, MapAccess, Visitor};

use super::collect::Collection;
use super::time::Time;
use super::{Invalidity, Recorded, Recording};
use crate::cache::Pairs;
use crate::json;
use crate::object::{Object, Read};

#[derive(Default)]
struct Partial {
    kernel: Option<String>,
    device: Option<String>,
    keys: Vec<String>,
    rows: Collection,
    /// The lists of values are there: rows can be read.
    is_known: bool,
    /// Rows came before the lists, as in a file whose keys were sorted.
    came_early: bool,
    broken: Option<Report>,
}

pub(super) fn read(name: &str, bytes: &[u8]) -> Result<Recording, Vec<Report>> {
    let mut partial = Partial::default();
    let mut warnings = Vec::new();
    let mut pass = |partial: &mut Partial| match Read(Top(partial))
        .deserialize(&mut serde_json::Deserializer::from_slice(bytes))
    {
        Err(error) if !(partial.is_known && json::is_cut_off(bytes, &error)) => {
            Err(vec![json::report(name, bytes, &error)])
        }
        Err(_) => {
            let words = format!(
                "{name} ends in the middle of a record; the {} configurations before it are read",
                partial.rows.len()
            );
            warnings.push(Report::warning(words));
            Ok(())
        }
        Ok(()) => Ok(()),
    };
    pass(&mut partial)?;
    if std::mem::take(&mut partial.came_early) && partial.is_known {
        pass(&mut partial)?;
    }
    match partial.broken {
        Some(broken) => Err(vec![broken]),
        None => partial.rows.finish(name, partial.kernel, partial.device, warnings),
    }
}

/// The whole object, read into what is there already, so that an early end loses nothing.
struct Top<'a>(&'a mut Partial);

impl Object for Top<'_> {
    const EXPECTED: &'static str = "a Kernel Tuner cache";

    fn read<'de, A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        let partial = self.0;
        while let Some(key) = map.next_key::<String>()? {
            match key.as_str() {
                "kernel_name" => partial.kernel = map.next_value()?,
                "device_name" => partial.device = map.next_value()?,
                "tune_params_keys" => partial.keys = map.next_value()?,
                "tune_params" if !partial.is_known => {
                    let mut lists = Vec::new();
                    map.next_value_seed(Read(Pairs(&mut |name, values| lists.push((name, values)))))?;
                    partial.learn(lists);
                }
                "cache" if partial.is_known => map.next_value_seed(Read(Rows(&mut partial.rows)))?,
                _ => {
                    partial.came_early |= key == "cache";
                    map.next_value::<IgnoredAny>()?;
                }
            }
        }
        Ok(())
    }
}

impl Partial {
    /// Takes the tunables in, in the order in which the cache writes a configuration where that is told.
    fn learn(&mut self, mut lists: Vec<(String, Vec<serde_json::Value>)>) {
        let position = |name: &String| self.keys.iter().position(|key| key == name).unwrap_or(usize::MAX);
        lists.sort_by_key(|(name, _)| position(name));
        for (name, list) in lists {
            let values: Option<Vec<Value>> = list.iter().map(json::scalar).collect();
            if values.is_none() && self.broken.is_none() {
                let words = format!("{name} has a value that is no number, boolean or string");
                self.broken = Some(Report::error(words));
            }
            self.rows.tunable(name.into(), values.unwrap_or_default());
        }
        self.is_known = true;
    }
}

/// The recorded configurations.
struct Rows<'a>(&'a mut Collection);

impl Object for Rows<'_> {
    const EXPECTED: &'static str = "recorded configurations";

    fn read<'de, A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        while map.next_key::<IgnoredAny>()?.is_some() {
            map.next_value_seed(Read(Record(self.0)))?;
        }
        Ok(())
    }
}

/// One recorded configuration.
struct Record<'a>(&'a mut Collection);

impl Object for Record<'_> {
    const EXPECTED: &'static str = "a recorded configuration";

    fn read<'de, A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        let rows = self.0;
        let mut values: Vec<Option<Value>> = vec![None; rows.names().len()];
        let (mut time, mut error, mut samples) = (Time::None, Time::None, Vec::new());
        while let Some(field) = map.next_key_seed(Name(rows.names()))? {
            match field {
                Field::Tunable(tunable) => values[tunable] = Some(map.next_value()?),
                Field::Time => time = map.next_value()?,
                Field::Error => error = map.next_value()?,
                Field::Times => samples = map.next_value::<Vec<Time>>()?,
                Field::Other => {
                    map.next_value::<IgnoredAny>()?;
                }
            }
        }
        let outcome = match (error, time) {
            (Time::Words(words), _) | (_, Time::Words(words)) => failure(&words),
            (_, Time::Number(milliseconds)) => Recorded::time(milliseconds * 1e-3, numbers(&samples)),
            _ => Recorded::failed(Invalidity::Runtime, "no time"),
        };
        rows.add(values, outcome);
        Ok(())
    }
}

/// The samples, if all of them are numbers.
fn numbers(samples: &[Time]) -> Vec<f64> {
    let number = |sample: &Time| match sample {
        Time::Number(milliseconds) => Some(milliseconds * 1e-3),
        _ => None,
    };
    samples.iter().map(number).collect::<Option<_>>().unwrap_or_default()
}

/// A failure by Kernel Tuner's name of it.
fn failure(words: &str) -> Recorded {
    let kind = match words {
        "CompilationFailedConfig" => Invalidity::Compile,
        "InvalidConfig" => Invalidity::Constraints,
        _ => Invalidity::Runtime,
    };
    Recorded::failed(kind, words)
}

enum Field {
    Tunable(usize),
    Time,
    Times,
    Error,
    Other,
}

/// A key of a record, without copying it.
struct Name<'a>(&'a [Arc<str>]);

impl<'de> DeserializeSeed<'de> for Name<'_> {
    type Value = Field;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Field, D::Error> {
        deserializer.deserialize_str(self)
    }
}

impl Visitor<'_> for Name<'_> {
    type Value = Field;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a key")
    }

    fn visit_str<E>(self, key: &str) -> Result<Field, E> {
        // A tunable may be called anything, also `time`.
        Ok(match self.0.iter().position(|name| &**name == key) {
            Some(tunable) => Field::Tunable(tunable),
            None => match key {
                "time" => Field::Time,
                "times" => Field::Times,
                "__error__" => Field::Error,
                _ => Field::Other,
            },
        })
    }
}
