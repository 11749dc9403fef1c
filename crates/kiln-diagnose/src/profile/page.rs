//! ncu's CSV pages to launches. In: a stream with a raw or a details page, alone or between other output. Out: [`Pages`]: for each
//! kernel how often it was launched, how long that took in all, and its longest launch with every metric in base units; and
//! the rules that ncu itself applied. Reads a launch at a time and keeps one per kernel, so that memory does not grow
//! with the file. Refuses nothing; what could not be read is in [`Pages::trouble`].

mod details;

use std::collections::HashMap;
use std::io::{self, BufRead};
use std::sync::Arc;

use super::csv::{Record, Records};
use super::number::{number, scale};

pub use details::NcuRule;

/// More kernels than this are counted together with the last.
const MOST_KERNELS: usize = 512;

/// A metric whose value is used to compare launches.
const DURATION: &str = "gpu__time_duration.sum";

/// What the pages hold.
#[derive(Debug, Default)]
pub struct Pages {
    /// A kernel each, in the order of their first launch.
    pub kernels: Vec<Kernel>,
    /// Rules of ncu that had something to say.
    pub rules: Vec<NcuRule>,
    /// Lines of ncu itself.
    pub said: Vec<String>,
}

/// The launches of one kernel.
#[derive(Debug, Clone)]
pub struct Kernel {
    /// Its name with parameters, as ncu has it.
    pub name: String,
    /// How many launches the page has.
    pub launches: u64,
    /// The sum of their times, in nanoseconds.
    pub total_ns: f64,
    /// The longest launch.
    pub longest: Launch,
}

/// One launch.
#[derive(Debug, Clone, Default)]
pub struct Launch {
    names: Arc<HashMap<String, usize>>,
    values: Vec<f64>,
    /// Values that came from elsewhere: the details page.
    more: HashMap<String, f64>,
}

impl Launch {
    /// A metric's value; none if it was not collected.
    pub fn get(&self, metric: &str) -> Option<f64> {
        let own = self.names.get(metric).and_then(|index| self.values.get(*index)).copied();
        let there = |value: &f64| !value.is_nan();
        own.filter(there).or_else(|| self.more.get(metric).copied().filter(there))
    }

    /// Sets a metric.
    pub fn set(&mut self, metric: &str, value: f64) {
        match self.names.get(metric).and_then(|index| self.values.get_mut(*index)) {
            Some(place) => *place = value,
            None => drop(self.more.insert(metric.into(), value)),
        }
    }

    /// Sets a metric that has no value yet.
    fn fill(&mut self, metric: &str, value: f64) {
        if self.get(metric).is_none() {
            self.set(metric, value);
        }
    }

    fn duration(&self) -> f64 {
        self.get(DURATION).unwrap_or(0.0)
    }
}

/// Why there is nothing to diagnose.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Trouble {
    /// ncu ran, and no kernel had the name that was asked for.
    NoKernel {
        /// Those that there were.
        available: Vec<String>,
    },
    /// The profiled program failed.
    ProgramFailed(String),
    /// Reading counters is forbidden on that machine.
    Permission,
    /// ncu reported another error.
    Ncu(String),
    /// There is no page of ncu in the file.
    NoPage,
}

impl Pages {
    /// Reads a page.
    pub fn read(input: impl BufRead) -> io::Result<Pages> {
        let mut records = Records::new(input);
        let mut reader = Reader::default();
        while let Some(record) = records.next()? {
            reader.take(record);
        }
        let mut pages = reader.pages;
        pages.said = records.said;
        Ok(pages)
    }

    /// Adds what another page of the same report has: values that are missing here, and ncu's rules.
    pub fn join(&mut self, other: Pages) {
        for kernel in other.kernels {
            match self.kernels.iter_mut().find(|own| own.name == kernel.name) {
                Some(own) => kernel.longest.more.iter().for_each(|(name, value)| own.longest.fill(name, *value)),
                None => self.kernels.push(kernel),
            }
        }
        self.rules.extend(other.rules);
        self.said.extend(other.said);
    }

    /// The kernel that took the most time.
    pub fn dominant(&self) -> Option<&Kernel> {
        self.kernels.iter().reduce(|most, next| if next.total_ns > most.total_ns { next } else { most })
    }

    /// Why there is no kernel.
    pub fn trouble(&self) -> Option<Trouble> {
        if !self.kernels.is_empty() {
            return None;
        }
        let find = |words: &str| self.said.iter().find(|line| line.contains(words));
        Some(if find("ERR_NVGPUCTRPERM").is_some() {
            Trouble::Permission
        } else if find("No kernels were profiled").is_some() {
            let entry = |line: &String| line.split_once(". ").map(|(_, name)| name.trim().to_owned());
            let of_list = |line: &&String| line.starts_with(|first: char| first.is_ascii_digit());
            Trouble::NoKernel { available: self.said.iter().filter(of_list).filter_map(entry).collect() }
        } else if let Some(line) = find("application returned an error").or_else(|| find("application terminated")) {
            Trouble::ProgramFailed(line.trim_matches(['=', ' ']).replacen("ERROR== ", "", 1))
        } else if let Some(line) = find("==ERROR==") {
            Trouble::Ncu(line.replacen("==ERROR== ", "", 1))
        } else {
            Trouble::NoPage
        })
    }
}

/// The state between two records.
#[derive(Default)]
struct Reader {
    pages: Pages,
    header: Header,
    by_name: HashMap<String, usize>,
}

/// What the last header said.
#[derive(Default)]
enum Header {
    #[default]
    None,
    Raw(Columns),
    Details(details::Columns),
}

/// Columns of a raw page.
struct Columns {
    names: Arc<HashMap<String, usize>>,
    kernel: usize,
    scales: Vec<f64>,
}

impl Reader {
    fn take(&mut self, record: &Record) {
        if record.bytes(0) == Some(b"ID") {
            self.header = header(record);
            return;
        }
        match &mut self.header {
            Header::None => {}
            Header::Raw(columns) if record.bytes(0) == Some(b"") => {
                columns.scales = (0..record.len()).map(|index| scale(&record.text(index))).collect();
            }
            Header::Raw(columns) => {
                let name = record.text(columns.kernel);
                let scales = &columns.scales;
                let value = |index: usize| {
                    let times = scales.get(index).copied().unwrap_or(1.0);
                    record.bytes(index).and_then(number).map_or(f64::NAN, |value| value * times)
                };
                // Most launches of a long page are only counted.
                let duration = columns.names.get(DURATION).map_or(0.0, |index| value(*index).max(0.0));
                let known = place(&self.pages.kernels, &self.by_name, &name);
                let known = known.and_then(|index| self.pages.kernels.get_mut(index));
                if let Some(kernel) = known.filter(|kernel| duration <= kernel.longest.duration()) {
                    kernel.launches += 1;
                    kernel.total_ns += duration;
                    return;
                }
                let values = (0..record.len()).map(value).collect();
                let launch = Launch { names: Arc::clone(&columns.names), values, more: HashMap::new() };
                add(&mut self.pages.kernels, &mut self.by_name, &name, launch);
            }
            Header::Details(columns) => match columns.row(record) {
                Some(details::Row::Value { kernel, metric, value }) => {
                    let known = self.pages.kernels.iter_mut().find(|known| known.name == kernel);
                    match known {
                        Some(known) => known.longest.fill(metric, value),
                        None => {
                            let mut launch = Launch::default();
                            launch.set(metric, value);
                            add(&mut self.pages.kernels, &mut self.by_name, &kernel, launch);
                        }
                    }
                }
                Some(details::Row::Rule(rule)) if self.pages.rules.len() < MOST_KERNELS => self.pages.rules.push(rule),
                _ => {}
            },
        }
    }
}

fn header(record: &Record) -> Header {
    let names = record.texts();
    let Some(kernel) = names.iter().position(|name| name == "Kernel Name") else { return Header::None };
    if let Some(columns) = details::Columns::of(&names) {
        return Header::Details(columns);
    }
    let names = names.into_iter().enumerate().map(|(index, name)| (name, index)).collect();
    Header::Raw(Columns { names: Arc::new(names), kernel, scales: Vec::new() })
}

/// Where a kernel stands; none if it is new. Beyond the most that are kept it is the last.
fn place(kernels: &[Kernel], by_name: &HashMap<String, usize>, name: &str) -> Option<usize> {
    by_name.get(name).copied().or_else(|| (kernels.len() >= MOST_KERNELS).then_some(MOST_KERNELS - 1))
}

/// Adds a launch to its kernel.
fn add(kernels: &mut Vec<Kernel>, by_name: &mut HashMap<String, usize>, name: &str, launch: Launch) {
    let duration = launch.duration().max(0.0);
    let index = place(kernels, by_name, name);
    match index.and_then(|index| kernels.get_mut(index)) {
        Some(kernel) => {
            kernel.launches += 1;
            kernel.total_ns += duration;
            if duration > kernel.longest.duration() {
                kernel.longest = launch;
            }
        }
        None => {
            by_name.insert(name.into(), kernels.len());
            kernels.push(Kernel { name: name.into(), launches: 1, total_ns: duration, longest: launch });
        }
    }
}

#[cfg(test)]
mod tests;
