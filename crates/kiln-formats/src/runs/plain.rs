//! A plain list of times: one on each line with its unit or in seconds, `#` before comments; or a JSON list of seconds. Refuses
//! lines that are no time, and two units in one list: one of them would be a mistake.

use kiln_core::{MeasuredSide, Place, Report};

use super::run_file::RunFile;
use super::unit;

pub(super) fn read(name: &str, bytes: &[u8]) -> Result<RunFile, Report> {
    let text = std::str::from_utf8(bytes).map_err(|_| super::unknown(name))?;
    let samples = match text.trim_start().starts_with('[') {
        true => serde_json::from_str::<Vec<f64>>(text).map_err(|e| crate::json::report(name, bytes, &e))?,
        false => lines(name, text)?,
    };
    let mut run = RunFile::by("a list of times");
    run.workload("times").sides.push(MeasuredSide::candidate(samples));
    Ok(run)
}

/// Characters shown of what is not a time.
const SHOWN: usize = 60;

fn lines(name: &str, text: &str) -> Result<Vec<f64>, Report> {
    let (mut samples, mut units, mut at) = (Vec::new(), None, 0);
    for line in text.split_inclusive('\n') {
        let start = at + line.len() - line.trim_start().len();
        at += line.len();
        let words = line.split('#').next().unwrap_or_default().trim();
        if words.is_empty() {
            continue;
        }
        let here = |message: String| Report::error(message).at(Place::of(name, text, start..start + words.len()));
        let split = words.find(|c: char| c.is_alphabetic() && !matches!(c, 'e' | 'E') || c == 'µ');
        let (figure, own) = words.split_at(split.unwrap_or(words.len()));
        let own = Some(own).filter(|own| !own.is_empty());
        let (Ok(figure), Some(scale)) = (figure.trim().parse::<f64>(), own.map_or(Some(1.0), unit)) else {
            return Err(match words.parse::<f64>() {
                Ok(odd) => here(format!("{odd} is not a time")).label("expected a positive number"),
                Err(_) => here(format!("`{}` is not a time", words.chars().take(SHOWN).collect::<String>()))
                    .label("expected a number, with s, ms, us or ns or in seconds"),
            });
        };
        if *units.get_or_insert(own) != own {
            let word = |unit: Option<&str>| unit.map_or("seconds".to_string(), |unit| format!("`{unit}`"));
            let first = word(units.flatten());
            return Err(here(format!("times in {first} and in {} are mixed", word(own)))
                .label("another unit than above")
                .hint("give all times one unit"));
        }
        samples.push(figure * scale);
    }
    Ok(samples)
}
