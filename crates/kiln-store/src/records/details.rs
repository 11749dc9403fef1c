//! What a trial's record says beyond its times and samples. In: who was refused in a duel, what was checked, which kernels ran, on which device. Out: the
//! same. What is not there, or is not understood, is none: a record of before it was kept has none of it.

use std::fmt;
use std::marker::PhantomData;

use serde::de::{DeserializeOwned, MapAccess, Visitor};
use serde::ser::SerializeMap;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::Value;

use crate::records::kept::if_understood;

/// The details of a duel, and of a trial where there are several devices; else empty.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Details {
    /// The place of who was refused.
    #[serde(skip_serializing_if = "Option::is_none", deserialize_with = "if_understood")]
    pub subject: Option<usize>,
    /// What was checked of the first subject's calls, by workload.
    #[serde(skip_serializing_if = "Option::is_none", deserialize_with = "if_understood")]
    pub scrutiny: Option<ByWorkload<CallChecks>>,
    /// Names of the kernels that ran on a GPU, by workload and subject; workloads without are left out.
    #[serde(skip_serializing_if = "Option::is_none", deserialize_with = "if_understood")]
    pub kernels: Option<ByWorkload<Vec<Vec<String>>>>,
    /// Which of several devices it was tried on, from 0.
    #[serde(skip_serializing_if = "Option::is_none", deserialize_with = "if_understood")]
    pub station: Option<usize>,
}

/// What the times of one workload rest on.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct CallChecks {
    /// How much was checked.
    pub checked: CheckedCalls,
    /// What else to know about inputs and caches.
    pub notes: Vec<String>,
    /// The share of its times that the subject could hide from the system's accounts.
    #[serde(default)]
    pub hidden: f64,
}

/// How many timed calls were checked.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct CheckedCalls {
    /// All timed calls.
    pub timed: u64,
    /// Those whose answers were compared with another side's.
    pub compared: u64,
    /// Those that were held against the reference.
    pub reference: u64,
    /// The share of wrong calls that those find with 99.9 %; none when there are none.
    pub detects: Option<f64>,
}

/// Something of each workload, in the order of the study. An entry that is not understood is left out.
#[derive(Debug, Clone, PartialEq)]
pub struct ByWorkload<T>(Vec<(String, T)>);

impl<T> ByWorkload<T> {
    /// That of one workload.
    pub fn get(&self, workload: &str) -> Option<&T> {
        self.0.iter().find(|(name, _)| name == workload).map(|(_, found)| found)
    }

    /// True when there is nothing of any.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl<T> FromIterator<(String, T)> for ByWorkload<T> {
    fn from_iter<I: IntoIterator<Item = (String, T)>>(pairs: I) -> ByWorkload<T> {
        ByWorkload(pairs.into_iter().collect())
    }
}

impl<T: Serialize> Serialize for ByWorkload<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(self.0.len()))?;
        self.0.iter().try_for_each(|(name, found)| map.serialize_entry(name, found))?;
        map.end()
    }
}

impl<'de, T: DeserializeOwned> Deserialize<'de> for ByWorkload<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Entries<T>(PhantomData<T>);
        impl<'de, T: DeserializeOwned> Visitor<'de> for Entries<T> {
            type Value = ByWorkload<T>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object from workloads")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<ByWorkload<T>, A::Error> {
                let mut entries = Vec::new();
                while let Some((name, found)) = map.next_entry::<String, Value>()? {
                    entries.extend(T::deserialize(found).ok().map(|found| (name, found)));
                }
                Ok(ByWorkload(entries))
            }
        }
        deserializer.deserialize_map(Entries(PhantomData))
    }
}
