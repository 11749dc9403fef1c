//! What was asked, when, of which sources, on what machine.

use kiln_store::Environment;

use crate::studies::past::Past;
use crate::words::number::{grouped, stretch};
use crate::words::table::{Align, lines};
use crate::words::time::moment;

/// The one line that says which study this is.
pub(crate) fn line(past: &Past) -> String {
    let study = &past.study;
    let mut parts = vec![study.kernel.clone(), format!("target {}", study.target)];
    parts.extend(study.arch.clone());
    parts.extend(Some(study.variant.replace(',', ", ")).filter(|v| !v.is_empty()));
    format!("{}, study {}, {}\n", parts.join(", "), study.short_id(), past.state.name())
}

/// Where it came from and how to have it again.
pub(crate) fn facts(past: &Past, repeat: &str) -> String {
    let study = &past.study;
    let commit = study.git_commit.as_deref().map(|commit| match commit.strip_suffix('+') {
        Some(clean) => format!("{clean}, with changes"),
        None => commit.into(),
    });
    let mut rows = vec![
        ("when", format!("{}, for {}", moment(study.started_ms, &past.zone), stretch(past.seconds))),
        ("device", past.device().into()),
        ("id", study.id.clone()),
        ("seed", format!("{}, strategy {}", study.seed, study.strategy)),
        ("kernel", study.path.clone()),
        ("commit", commit.unwrap_or("not in a repository".into())),
        ("kiln", study.kiln_version.clone()),
        ("repeat", repeat.into()),
    ];
    if let Some((cost, price)) = past.spent() {
        rows.insert(1, ("cost", format!("{cost:.2} at {price}/h")));
    }
    // Where it has some, behind the id.
    let labels = &past.labels;
    let tags = (!labels.tags.is_empty()).then(|| ("tags", labels.tags.join(", ")));
    let behind = rows.iter().position(|(name, _)| *name == "id").map_or(0, |at| at + 1);
    rows.splice(behind..behind, labels.name.clone().map(|name| ("name", name)).into_iter().chain(tags));
    format!("\n{}", table(&rows))
}

/// What it ran on, as far as the record says.
pub(crate) fn environment(on: &Environment) -> String {
    let python = on.python.clone().unwrap_or_default();
    let mut packages: Vec<String> = python.version.into_iter().collect();
    packages.extend(python.numpy.map(|v| format!("NumPy {v}")));
    packages.extend(python.torch.map(|v| format!("PyTorch {v}")));
    let clock = on.megahertz.map(|mhz| match &on.governor {
        Some(governor) => format!("{mhz:.0} MHz, governor {governor}"),
        None => format!("{mhz:.0} MHz"),
    });
    let measuring: Vec<String> = on.measuring_on.iter().flatten().map(ToString::to_string).collect();
    let cpus = on.cpus.as_ref().map(Vec::len).map(|count| match measuring.is_empty() {
        true => format!("{count}, measured on any of them"),
        false => format!("{count}, measured on number {}", measuring.join(", ")),
    });
    let rows: Vec<(&str, String)> = [
        ("processors", cpus),
        ("clock", clock),
        ("load", on.load.map(|load| format!("{load:.2}"))),
        ("memory", on.memory_available.map(|bytes| format!("{} MiB free", grouped(u128::from(bytes >> 20))))),
        ("compiler", on.compiler.clone()),
        ("python", Some(packages.join(", ")).filter(|p| !p.is_empty())),
        ("system", on.system.clone()),
    ]
    .into_iter()
    .filter_map(|(name, value)| Some((name, value?)))
    .collect();
    if rows.is_empty() { String::new() } else { format!("\nenvironment\n{}", table(&rows)) }
}

fn table(rows: &[(&str, String)]) -> String {
    let rows: Vec<Vec<String>> = rows.iter().map(|(name, value)| vec![(*name).into(), value.clone()]).collect();
    lines(&rows, &[Align::Left, Align::Left])
}
