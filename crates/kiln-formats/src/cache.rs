//! Kernel Tuner cache files: the parameters and how many configurations are recorded. The rules of the space are not in
//! such a file. A cache is appended to while tuning, so its end may be missing: what was read until then counts.

use kiln_core::{Report, Value};
use serde::de::{DeserializeSeed, IgnoredAny, MapAccess};

use crate::Imported;
use crate::build::Builder;
use crate::json;
use crate::object::{Object, Read};

#[derive(Default)]
struct Partial {
    kernel: Option<String>,
    device: Option<String>,
    keys: Vec<String>,
    parameters: Option<Vec<(String, Vec<serde_json::Value>)>>,
    recorded: u64,
}

pub(crate) fn read(name: &str, bytes: &[u8]) -> Result<Imported, Vec<Report>> {
    let mut builder = Builder::new(name, bytes)?;
    let mut partial = Partial::default();
    let mut reader = serde_json::Deserializer::from_slice(bytes);
    if let Err(error) = Read(Top(&mut partial)).deserialize(&mut reader) {
        if !(partial.parameters.is_some() && json::is_cut_off(bytes, &error)) {
            return Err(vec![json::report(name, bytes, &error)]);
        }
        builder.warnings.push(Report::warning(format!(
            "{name} ends in the middle of a record; the {} configurations before it are read",
            partial.recorded
        )));
    }
    let mut parameters = partial.parameters.unwrap_or_default();
    // The keys give the order in which the cache writes a configuration.
    let position = |n: &String| partial.keys.iter().position(|k| k == n).unwrap_or(usize::MAX);
    parameters.sort_by_key(|(n, _)| position(n));
    for (parameter, items) in parameters {
        let values: Option<Vec<Value>> = items.iter().map(json::scalar).collect();
        match values {
            Some(values) => builder.tunable(&parameter, values),
            None => {
                let message = format!("{parameter} has a value that is no number, boolean or string");
                builder.errors.push(builder.report(message, &parameter));
            }
        }
    }
    builder.target().entry = partial.kernel.clone();
    let title = match (partial.kernel, partial.device) {
        (Some(kernel), Some(device)) => format!("{kernel} on {device}"),
        (Some(kernel), None) => kernel,
        _ => name.into(),
    };
    let (spec, warnings) = builder.finish(title)?;
    Ok(Imported { spec, recorded: Some(partial.recorded), warnings })
}

/// The whole object, read into what is there already, so that an early end loses nothing.
struct Top<'a>(&'a mut Partial);

impl Object for Top<'_> {
    const EXPECTED: &'static str = "a Kernel Tuner cache";

    fn read<'de, A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        while let Some(key) = map.next_key::<String>()? {
            match key.as_str() {
                "kernel_name" => self.0.kernel = map.next_value()?,
                "device_name" => self.0.device = map.next_value()?,
                "tune_params_keys" => self.0.keys = map.next_value()?,
                "tune_params" => {
                    let mut parameters = Vec::new();
                    map.next_value_seed(Read(Pairs(&mut |name, values| parameters.push((name, values)))))?;
                    self.0.parameters = Some(parameters);
                }
                "cache" => map.next_value_seed(Read(Count(&mut self.0.recorded)))?,
                _ => {
                    map.next_value::<IgnoredAny>()?;
                }
            }
        }
        Ok(())
    }
}

/// An object's pairs, in file order.
pub(crate) struct Pairs<'a>(pub(crate) &'a mut dyn FnMut(String, Vec<serde_json::Value>));

impl Object for Pairs<'_> {
    const EXPECTED: &'static str = "parameters with lists of values";

    fn read<'de, A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        while let Some((name, values)) = map.next_entry()? {
            (self.0)(name, values);
        }
        Ok(())
    }
}

/// Counts an object's entries without keeping them.
struct Count<'a>(&'a mut u64);

impl Object for Count<'_> {
    const EXPECTED: &'static str = "recorded configurations";

    fn read<'de, A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        while map.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {
            *self.0 += 1;
        }
        Ok(())
    }
}
