//! Which records of a history count. In: what was typed: a workload, a target, a device, a moment. Out: the records that are meant; and where none
//! is left, which part left none. Refuses a moment and a configuration that cannot be read.

use kiln_core::{Config, Report, counted};
use kiln_store::{Environment, Kept, Run, RunPoint, Study, Validation};

use crate::failure::Failure;

/// Values that are named where another was asked for.
const SHOWN: usize = 5;

/// Which records count; everything that is none lets all pass.
#[derive(Debug, Clone, Default)]
pub struct HistoryFilter {
    /// Only this workload.
    pub workload: Option<String>,
    /// Only this target.
    pub target: Option<String>,
    /// Only this variant.
    pub variant: Option<String>,
    /// Only devices and hosts whose name holds this.
    pub device: Option<String>,
    /// Only this configuration, in any order.
    pub config: Option<String>,
    /// Only since this moment: a date, or `30d` for that many days.
    pub since: Option<String>,
}

/// What a filter looks at of a record.
pub(super) struct Record {
    workloads: Vec<String>,
    target: String,
    variant: String,
    /// The device and its host.
    device: String,
    config: Option<String>,
    started_ms: i64,
}

enum Part {
    Workload(String),
    Target(String),
    Variant(String),
    Device(String),
    Config(Vec<String>),
    Since(i64),
}

/// A filter that is understood: each part with the flag it was typed as.
pub(super) struct Only(Vec<(String, Part)>);

impl Only {
    pub(super) fn read(filter: &HistoryFilter) -> Result<Only, Failure> {
        let HistoryFilter { workload, target, variant, device, config, since } = filter;
        let since = since.as_deref().map(moment).transpose()?;
        let config = config.as_deref().map(typed_config).transpose()?;
        let parts = [
            ("--workload", &filter.workload, workload.clone().map(Part::Workload)),
            ("--target", &filter.target, target.clone().map(Part::Target)),
            ("--variant", &filter.variant, variant.clone().map(Part::Variant)),
            ("--device", &filter.device, device.as_ref().map(|name| Part::Device(name.to_lowercase()))),
            ("--config", &filter.config, config.map(Part::Config)),
            ("--since", &filter.since, since.map(Part::Since)),
        ];
        let flag = |(flag, typed, part): (&str, &Option<String>, Option<Part>)| {
            Some((format!("{flag} {}", typed.as_deref()?), part?))
        };
        Ok(Only(parts.into_iter().filter_map(flag).collect()))
    }

    /// Whether everything passes.
    pub(super) fn is_all(&self) -> bool {
        self.0.is_empty()
    }

    pub(super) fn keeps(&self, record: &Record) -> bool {
        self.0.iter().all(|(_, part)| part.holds(record))
    }

    /// Why nothing is left of records, in words; none where something is left, and where nothing was there.
    pub(super) fn emptied(&self, records: &[Record]) -> Option<String> {
        if records.is_empty() || records.iter().any(|record| self.keeps(record)) {
            return None;
        }
        let all = counted(records.len() as u128, "record");
        let without = |left_out: &str| {
            let others = |record: &&Record| self.0.iter().all(|(flag, part)| flag == left_out || part.holds(record));
            records.iter().filter(others).count()
        };
        let alone = self.0.iter().map(|(flag, part)| (flag, part, without(flag))).find(|(_, _, count)| *count > 0);
        Some(match alone {
            Some((flag, part, count)) => {
                let there = part.others(records);
                format!("{flag} leaves none of {all}: without it {count} would be left{there}")
            }
            None => {
                let flags: Vec<&str> = self.0.iter().map(|(flag, _)| flag.as_str()).collect();
                format!("{} leave none of {all}", flags.join(" and "))
            }
        })
    }
}

impl Part {
    fn holds(&self, record: &Record) -> bool {
        match self {
            Part::Workload(name) => record.workloads.contains(name),
            Part::Target(name) => record.target == *name,
            Part::Variant(name) => record.variant == *name,
            Part::Device(name) => record.device.to_lowercase().contains(name),
            Part::Config(wanted) => {
                record.config.as_deref().and_then(|own| in_order(own).ok()).as_ref() == Some(wanted)
            }
            Part::Since(moment) => record.started_ms >= *moment,
        }
    }

    /// The values that records have, where they are few enough to choose from.
    fn others(&self, records: &[Record]) -> String {
        let of = |record: &Record| match self {
            Part::Workload(_) => record.workloads.clone(),
            Part::Target(_) => vec![record.target.clone()],
            Part::Variant(_) => vec![record.variant.clone()],
            Part::Device(_) => vec![record.device.trim().to_string()],
            Part::Config(_) | Part::Since(_) => Vec::new(),
        };
        let mut values: Vec<String> = records.iter().flat_map(of).filter(|value| !value.is_empty()).collect();
        values.sort();
        values.dedup();
        let more = if values.len() > SHOWN { ", ..." } else { "" };
        values.truncate(SHOWN);
        if values.is_empty() { String::new() } else { format!(" (there is {}{more})", values.join(", ")) }
    }
}

fn with_host(device: &str, environment: &Kept<Environment>) -> String {
    let host = environment.read().ok().and_then(|environment| environment.host.clone());
    format!("{device} {}", host.unwrap_or_default())
}

impl From<&RunPoint> for Record {
    fn from(run: &RunPoint) -> Record {
        Record {
            workloads: vec![run.workload.clone()],
            target: run.target.clone(),
            variant: run.variant.clone(),
            device: with_host(&run.device, &run.environment),
            config: Some(run.config.clone()),
            started_ms: run.started_ms,
        }
    }
}

impl From<&Run> for Record {
    fn from(run: &Run) -> Record {
        Record {
            workloads: run.sides.iter().map(|side| side.workload.clone()).collect(),
            target: run.target.clone(),
            variant: run.variant.clone(),
            device: with_host(&run.device, &run.environment),
            config: run.config.clone(),
            started_ms: run.started_ms,
        }
    }
}

/// A study is of its winner's configuration.
impl From<&Study> for Record {
    fn from(study: &Study) -> Record {
        let summary = study.summary.as_ref().and_then(|summary| summary.read().ok());
        let workloads = summary.map(|own| own.workloads.iter().map(|workload| workload.name.clone()).collect());
        Record {
            workloads: workloads.unwrap_or_default(),
            target: study.target.clone(),
            variant: study.variant.clone(),
            device: with_host(study.device().unwrap_or_default(), &study.environment),
            config: summary.and_then(|own| own.config.as_ref()).map(ToString::to_string),
            started_ms: study.started_ms,
        }
    }
}

impl From<&Validation> for Record {
    fn from(made: &Validation) -> Record {
        Record {
            workloads: Vec::new(),
            target: made.target.clone(),
            variant: made.variant.clone(),
            device: made.device.clone(),
            config: Some(made.config.clone()),
            started_ms: made.at_ms,
        }
    }
}

/// A configuration's values, whatever order they were written in.
fn in_order(config: &str) -> Result<Vec<String>, String> {
    let config = Config::parse(config).map_err(|error| error.to_string())?;
    let mut values: Vec<String> = config.iter().map(|(name, value)| format!("{name}={value}")).collect();
    values.sort();
    Ok(values)
}

fn typed_config(words: &str) -> Result<Vec<String>, Failure> {
    let wrong = |why: String| Report::error(format!("--config {words}: {why}"));
    Ok(in_order(words).map_err(|why| wrong(why).label("expected NAME=VALUE,... as `kiln show RUN` prints it"))?)
}

/// A moment in milliseconds since 1970: a date, or so many days ago.
fn moment(words: &str) -> Result<i64, Failure> {
    let days = words.strip_suffix('d').and_then(|days| days.parse::<f64>().ok()).filter(|days| days.is_finite());
    if let Some(days) = days {
        return Ok(jiff::Timestamp::now().as_millisecond() - (days * 86_400e3) as i64);
    }
    let date =
        words.parse::<jiff::civil::Date>().ok().and_then(|date| date.to_zoned(jiff::tz::TimeZone::system()).ok());
    let moment = date.map(|date| date.timestamp()).or_else(|| words.parse::<jiff::Timestamp>().ok());
    moment.map(jiff::Timestamp::as_millisecond).ok_or_else(|| {
        let report = Report::error(format!("--since {words} is not understood"));
        report.label("expected a date such as 2026-03-01, or 30d for the last 30 days").into()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record(workload: &str, target: &str, config: &str, started_ms: i64) -> Record {
        Record {
            workloads: vec![workload.into()],
            target: target.into(),
            variant: String::new(),
            device: "A Processor host".into(),
            config: Some(config.into()),
            started_ms,
        }
    }

    fn only(filter: HistoryFilter) -> Only {
        Only::read(&filter).unwrap()
    }

    #[test]
    fn moments_are_dates_or_days_ago() {
        let now = jiff::Timestamp::now().as_millisecond();
        let ago = now - moment("2d").unwrap();
        assert!((ago - 2 * 86_400_000).abs() < 60_000, "{ago}");
        assert_eq!(moment("2026-03-01T00:00:00Z").unwrap(), 1_772_323_200_000);
        assert!((moment("2026-03-01").unwrap() - 1_772_323_200_000).abs() <= 14 * 3_600_000);
        for wrong in ["", "d", "yesterday", "2026-13-01", "nand"] {
            assert!(moment(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn the_order_of_a_configuration_does_not_matter() {
        let own = record("w", "cpu", "A=1,B=2", 0);
        let config = |words: &str| only(HistoryFilter { config: Some(words.into()), ..HistoryFilter::default() });
        assert!(config("B=2,A=1").keeps(&own) && config("A=1, B = 2").keeps(&own));
        assert!(!config("A=1").keeps(&own) && !config("A=2,B=1").keeps(&own));
        let wrong = HistoryFilter { config: Some("A".into()), ..HistoryFilter::default() };
        assert!(Only::read(&wrong).err().unwrap().to_string().contains("--config A: "));
    }

    #[test]
    fn an_empty_result_names_what_emptied_it() {
        let all = [record("w", "cpu", "A=1", 5), record("v", "cpu", "A=1", 6)];
        let filter = |workload: &str, target: &str| HistoryFilter {
            workload: Some(workload.into()),
            target: Some(target.into()),
            ..HistoryFilter::default()
        };
        assert_eq!(only(filter("w", "cpu")).emptied(&all), None);
        assert_eq!(
            only(filter("w", "cuda")).emptied(&all).unwrap(),
            "--target cuda leaves none of 2 records: without it 1 would be left (there is cpu)"
        );
        assert_eq!(
            only(filter("u", "cuda")).emptied(&all).unwrap(),
            "--workload u and --target cuda leave none of 2 records"
        );
        assert_eq!(only(filter("u", "cuda")).emptied(&[]), None);
    }
}
