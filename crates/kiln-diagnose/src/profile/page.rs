//! ncu's CSV pages to launches. In: a stream with a raw or a details page, alone or between other output. Out: [`Pages`]: for each
//! kernel how often it was launched, how long that took in all, and its longest launch with every metric in base units; and
//! the rules that ncu itself applied. Reads a launch at a time and keeps one per kernel, so that memory does not grow
//! with the file. What could not be read, and numbers that cannot be, are in [`Pages::trouble`].

mod details;
mod kernels;

use std::collections::HashMap;
use std::io::{self, BufRead};
use std::sync::Arc;

use super::csv::{Record, Records};
use super::number::{foreign, number, scale, time_scale};
use super::odd::{LARGEST, Odd};

use kernels::Kernels;

pub use details::NcuRule;
pub use kernels::Beyond;

/// How many rules of ncu are kept.
const MOST_RULES: usize = 512;

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
    /// Launches of further kernels, where there are too many to tell apart.
    pub beyond: Beyond,
    /// Kernels that only the joined page has.
    pub strangers: Vec<String>,
    /// The first number that cannot be.
    odd: Option<Odd>,
    /// Whether there was a header.
    begun: bool,
    /// Whether a row has every column of it.
    whole: bool,
    /// Whether the page ends within a launch.
    cut: bool,
    /// Whether there was a raw page, and whether there was a details page.
    raw: bool,
    details: bool,
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
    /// The longest launch. Empty where there are very many kernels and this one took little time.
    pub longest: Launch,
    /// Whether only a details page spoke of it so far.
    described: bool,
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

    fn is_empty(&self) -> bool {
        self.values.is_empty() && self.more.is_empty()
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
    /// A number cannot be: the page is damaged, or of another locale.
    Odd(Odd),
    /// The page ends in its header, or before its first launch does.
    Cut,
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
        if let Some(lost) = &records.lost {
            reader.lose(lost);
        }
        let Kernels { all: kernels, beyond, .. } = reader.kernels;
        Ok(Pages { kernels, beyond, said: records.said, ..reader.pages })
    }

    /// Adds what another page of the same report has: values that are missing here, and ncu's rules. Kernels that are not here are
    /// of another report.
    pub fn join(&mut self, other: Pages) {
        let alone = self.kernels.is_empty();
        for kernel in other.kernels {
            match self.kernels.iter_mut().find(|own| own.name == kernel.name) {
                Some(own) => kernel.longest.more.iter().for_each(|(name, value)| own.longest.fill(name, *value)),
                None if alone => self.kernels.push(kernel),
                None => self.strangers.push(kernel.name),
            }
        }
        self.odd = self.odd.take().or(other.odd);
        self.begun |= other.begun;
        self.whole |= other.whole;
        self.cut |= other.cut;
        self.raw |= other.raw;
        self.details |= other.details;
        self.rules.extend(other.rules);
        self.said.extend(other.said);
    }

    /// Whether this is ncu's details page, which lacks most metrics.
    pub fn is_details(&self) -> bool {
        self.details && !self.raw
    }

    /// The kernel that took the most time.
    pub fn dominant(&self) -> Option<&Kernel> {
        self.kernels.iter().reduce(|most, next| if next.total_ns > most.total_ns { next } else { most })
    }

    /// What a reader of the diagnosis should know about the pages.
    pub fn notes(&self) -> Vec<String> {
        let mut notes = Vec::new();
        if self.is_details() {
            notes.push(
                "this is ncu's details page, which lacks most metrics; export the raw one: ncu --import rep.ncu-rep --csv --page raw --print-units base > raw.csv".into(),
            );
        }
        if self.cut {
            notes.push(
                "the page is cut: its last launch is left out, and what came after it may have taken more time; export it again".into(),
            );
        }
        match self.strangers.as_slice() {
            [] => {}
            [one] => notes.push(format!("the details page has another kernel, which is left out: {one}")),
            [first, others @ ..] => {
                notes.push(format!(
                    "the details page has other kernels, which are left out: {first} and {} more",
                    others.len()
                ));
            }
        }
        if self.beyond.launches > 0 {
            let (names, Beyond { launches, total_ns }) = (self.kernels.len(), self.beyond);
            let micros = total_ns / 1e3;
            notes.push(format!(
                "more than {names} kernels: {launches} launches of others ({micros:.0} us) are not told apart"
            ));
        }
        notes
    }

    /// Why there is nothing to diagnose.
    pub fn trouble(&self) -> Option<Trouble> {
        if let Some(odd) = &self.odd {
            return Some(Trouble::Odd(odd.clone()));
        }
        if !self.kernels.is_empty() {
            return (!self.whole).then_some(Trouble::Cut);
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
        } else if self.begun {
            Trouble::Cut
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
    kernels: Kernels,
    /// The headers of raw pages so far, so that pages with the same one share it.
    known: Vec<Titles>,
}

/// How many different headers are shared.
const MOST_HEADERS: usize = 8;

/// The titles of a raw page, and where each stands.
#[derive(Clone)]
struct Titles {
    all: Arc<[String]>,
    names: Arc<HashMap<String, usize>>,
}

impl Titles {
    fn is(&self, record: &Record) -> bool {
        self.all.len() == record.len()
            && self.all.iter().enumerate().all(|(index, title)| record.bytes(index) == Some(title.as_bytes()))
    }
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
    titles: Arc<[String]>,
    names: Arc<HashMap<String, usize>>,
    id: usize,
    kernel: usize,
    scales: Vec<f64>,
}

impl Reader {
    fn take(&mut self, record: &Record) {
        if is_header(record) {
            self.header = self.header(record);
            self.pages.begun = true;
            self.pages.raw |= matches!(self.header, Header::Raw(_));
            self.pages.details |= matches!(self.header, Header::Details(_));
            return;
        }
        if record.unfinished {
            // A header that ends before the kernel's name.
            self.pages.begun |= record.bytes(0) == Some(b"ID");
            if matches!(&self.header, Header::Raw(columns) if record.len() < columns.titles.len()) {
                self.pages.cut = true;
                return;
            }
        }
        let odd = match &mut self.header {
            Header::None => None,
            Header::Raw(columns) if record.bytes(columns.id) == Some(b"") => {
                columns.scales = (0..record.len()).map(|index| scale(&record.text(index))).collect();
                columns.names.get(DURATION).and_then(|index| odd_unit(&record.text(*index)))
            }
            Header::Raw(columns) => {
                self.pages.whole |= record.len() >= columns.titles.len();
                columns.launch(record, &mut self.kernels)
            }
            Header::Details(columns) => match columns.row(record) {
                Some(details::Row::Value { kernel, metric, value }) => {
                    self.pages.whole = true;
                    self.kernels.fill(&kernel, metric, value);
                    None
                }
                Some(details::Row::Rule(rule)) => {
                    if self.pages.rules.len() < MOST_RULES {
                        self.pages.rules.push(rule);
                    }
                    None
                }
                Some(details::Row::Odd(odd)) => Some(odd),
                None => None,
            },
        };
        if self.pages.odd.is_none() {
            self.pages.odd = odd;
        }
    }

    /// Notes a record that ends with the input, in a field.
    fn lose(&mut self, record: &[u8]) {
        match self.header {
            Header::None => self.pages.begun |= record.starts_with(b"\"ID\","),
            _ => self.pages.cut = true,
        }
    }

    fn header(&mut self, record: &Record) -> Header {
        let known = self.known.iter().find(|known| known.is(record)).cloned();
        let titles = known.unwrap_or_else(|| {
            let all = record.texts();
            let names = all.iter().enumerate().map(|(index, name)| (name.clone(), index)).collect();
            Titles { all: all.into(), names: Arc::new(names) }
        });
        let place = |name: &str| titles.names.get(name).copied();
        let (Some(id), Some(kernel)) = (place("ID"), place("Kernel Name")) else { return Header::None };
        if let Some(columns) = details::Columns::of(&titles.all) {
            return Header::Details(columns);
        }
        if self.known.len() < MOST_HEADERS && !self.known.iter().any(|known| known.is(record)) {
            self.known.push(titles.clone());
        }
        Header::Raw(Columns { titles: titles.all, names: titles.names, id, kernel, scales: Vec::new() })
    }
}

/// Whether a record names the columns of a page.
fn is_header(record: &Record) -> bool {
    let has = |name: &[u8]| (0..record.len()).any(|index| record.bytes(index) == Some(name));
    has(b"ID") && has(b"Kernel Name")
}

impl Columns {
    /// Counts the launch of a row; what in it cannot be, if anything.
    fn launch(&self, record: &Record, kernels: &mut Kernels) -> Option<Odd> {
        let value = |index: usize| {
            let times = self.scales.get(index).copied().unwrap_or(1.0);
            record.bytes(index).and_then(number).map_or(f64::NAN, |value| value * times)
        };
        let time = self.names.get(DURATION).copied();
        let duration = time.map_or(f64::NAN, value);
        let mut odd = time.and_then(|index| odd_time(&record.text(index), duration));
        let name = record.bytes(self.kernel).map(String::from_utf8_lossy)?;
        // Most launches of a long page are only counted.
        kernels.count(&name, if duration > 0.0 { duration } else { 0.0 }, || {
            odd = odd.take().or_else(|| self.foreign(record));
            Launch {
                names: Arc::clone(&self.names),
                values: (0..record.len()).map(value).collect(),
                more: HashMap::new(),
            }
        });
        odd
    }

    /// A metric whose number is not in ncu's form.
    fn foreign(&self, record: &Record) -> Option<Odd> {
        let counted = |title: &str| title.contains("__") && title.contains('.');
        let all = self.titles.iter().enumerate().filter(|(_, title)| counted(title));
        let mut odd = all.filter(|(index, _)| record.bytes(*index).is_some_and(foreign));
        odd.next().map(|(index, title)| odd_form(title, &record.text(index)))
    }
}

/// A number in a form that ncu does not write.
fn odd_form(metric: &str, value: &str) -> Odd {
    Odd::new(metric, value, "a number such as 1,234.5: set LC_ALL=C for ncu")
}

/// A unit that is none of a time.
fn odd_unit(unit: &str) -> Option<Odd> {
    time_scale(unit).is_none().then(|| Odd::new(DURATION, format!("in {unit}"), "ns, us, ms or s"))
}

/// A time that no launch takes. A field without a number is one that was not collected.
fn odd_time(text: &str, nanos: f64) -> Option<Odd> {
    if foreign(text.as_bytes()) {
        return Some(odd_form(DURATION, text));
    }
    (nanos <= 0.0 || nanos > LARGEST).then(|| Odd::new(DURATION, text, "a time above 0"))
}

#[cfg(test)]
mod tests;
