//! The rows of a T4 file, in both spellings: the schema's and that of the files in circulation, which add a `timeunit` to
//! their metadata. T4 has no lists of values, so a tunable's are those that occur. A file that was cut off is read up to its
//! last whole result.

use std::fmt;

use kiln_core::{Config, Report};
use serde::Deserialize;
use serde::de::{DeserializeSeed, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};

use super::collect::Collection;
use super::time::Time;
use super::{Invalidity, Recorded, Recording};
use crate::json;
use crate::object::{Object, Read};

/// Whether it looks like T4: its word for a configuration stands near the start.
pub(crate) fn is_t4(bytes: &[u8]) -> bool {
    const WORD: &[u8] = b"\"configuration\"";
    bytes.windows(WORD.len()).take(1 << 20).any(|window| window == WORD)
}

#[derive(Debug, Deserialize)]
struct Entry {
    configuration: Config,
    #[serde(default)]
    times: Times,
    invalidity: Option<String>,
    #[serde(default)]
    measurements: Vec<Measurement>,
    #[serde(default)]
    objectives: Vec<serde_json::Value>,
}

#[derive(Debug, Default, Deserialize)]
struct Times {
    #[serde(default)]
    runtimes: Vec<f64>,
}

#[derive(Debug, Deserialize)]
struct Measurement {
    name: String,
    #[serde(default)]
    value: Time,
    #[serde(default)]
    unit: String,
}

#[derive(Debug, Default, Deserialize)]
struct Metadata {
    timeunit: Option<String>,
    kernel_name: Option<String>,
    device_name: Option<String>,
}

#[derive(Default)]
struct Partial {
    metadata: Metadata,
    entries: Vec<Entry>,
}

pub(super) fn read(name: &str, bytes: &[u8]) -> Result<Recording, Vec<Report>> {
    let mut partial = Partial::default();
    let mut warnings = Vec::new();
    if let Err(error) = Read(Top(&mut partial)).deserialize(&mut serde_json::Deserializer::from_slice(bytes)) {
        if partial.entries.is_empty() || !json::is_cut_off(bytes, &error) {
            return Err(vec![json::report(name, bytes, &error)]);
        }
        let words = format!("{name} ends in the middle of a result; the {} before it are read", partial.entries.len());
        warnings.push(Report::warning(words));
    }
    let mut rows = Collection::default();
    if let Some(first) = partial.entries.first() {
        rows.set_names(first.configuration.iter().map(|(name, _)| name.clone()).collect());
    }
    let unit = match partial.metadata.timeunit.as_deref().map(|text| (text, seconds(text))) {
        Some((_, Some(unit))) => unit,
        Some((text, None)) => {
            warnings.push(Report::warning(format!("{name} gives times in `{text}`; they are taken as milliseconds")));
            MILLISECOND
        }
        None => MILLISECOND,
    };
    for entry in &partial.entries {
        let values = rows.names().iter().map(|name| entry.configuration.get(name).cloned()).collect();
        rows.add(values, entry.outcome(unit));
    }
    rows.sort_values();
    rows.finish(name, partial.metadata.kernel_name, partial.metadata.device_name, warnings)
}

const MILLISECOND: f64 = 1e-3;

/// A unit of time in seconds.
fn seconds(unit: &str) -> Option<f64> {
    match unit.to_ascii_lowercase().as_str() {
        "s" | "second" | "seconds" => Some(1.0),
        // The second spelling is that of most files.
        "ms" | "miliseconds" | "milliseconds" => Some(MILLISECOND),
        "us" | "microseconds" => Some(1e-6),
        "ns" | "nanoseconds" => Some(1e-9),
        _ => None,
    }
}

impl Entry {
    fn outcome(&self, unit: f64) -> Recorded {
        let invalidity = self.invalidity.as_deref().unwrap_or("correct");
        let measured = self.measured();
        if invalidity != "correct" {
            let kind = Invalidity::ALL.into_iter().find(|kind| kind.name() == invalidity);
            let words = match measured.map(|m| &m.value) {
                Some(Time::Words(words)) => words,
                _ => invalidity,
            };
            return Recorded::failed(kind.unwrap_or(Invalidity::Runtime), words);
        }
        let samples: Vec<f64> = self.times.runtimes.iter().map(|sample| sample * unit).collect();
        let time = match measured.map(|m| (&m.value, seconds(&m.unit).unwrap_or(unit))) {
            Some((Time::Number(number), unit)) => number * unit,
            Some((Time::Words(words), _)) => return Recorded::failed(Invalidity::Runtime, words.as_str()),
            _ => samples.iter().sum::<f64>() / samples.len() as f64,
        };
        Recorded::time(time, samples)
    }

    /// What the result is ranked by: the objective, if it is a time.
    fn measured(&self) -> Option<&Measurement> {
        let objective = self.objectives.first().and_then(|name| name.as_str()).unwrap_or("time");
        let named = |name: &str| self.measurements.iter().find(|m| m.name == name);
        named(objective)
            .filter(|m| objective.starts_with("time") || seconds(&m.unit).is_some())
            .or_else(|| named("time"))
    }
}

/// The whole object, read into what is there already, so that an early end loses nothing.
struct Top<'a>(&'a mut Partial);

impl Object for Top<'_> {
    const EXPECTED: &'static str = "a T4 file";

    fn read<'de, A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        while let Some(key) = map.next_key::<String>()? {
            match key.as_str() {
                "metadata" => self.0.metadata = map.next_value()?,
                "results" => map.next_value_seed(Results(&mut self.0.entries))?,
                _ => {
                    map.next_value::<IgnoredAny>()?;
                }
            }
        }
        Ok(())
    }
}

struct Results<'a>(&'a mut Vec<Entry>);

impl<'de> DeserializeSeed<'de> for Results<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_seq(self)
    }
}

impl<'de> Visitor<'de> for Results<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list of results")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<(), A::Error> {
        while let Some(entry) = items.next_element()? {
            self.0.push(entry);
        }
        Ok(())
    }
}
