//! A study's trials for a spreadsheet: one row each, one column for each tunable. Fields with commas, quotes or line breaks
//! are quoted as RFC 4180 has it.

use kiln_core::Config;
use kiln_store::Trial;

use crate::words::time::stamp;

/// What stands before the tunables, and after them.
const BEFORE: [&str; 5] = ["phase", "number", "state", "gate", "cost_ms"];
const AFTER: [&str; 8] = ["workload", "build_s", "check_s", "measure_s", "wall_s", "started", "reason", "config"];

/// Every trial, in the order recorded, after a row of titles.
pub(crate) fn table(trials: &[Trial]) -> String {
    // A configuration that cannot be read any more leaves its tunables empty: the last column has it as it is.
    let configs: Vec<Config> = trials.iter().map(|t| Config::parse(&t.config).unwrap_or_default()).collect();
    let mut tunables: Vec<&str> = Vec::new();
    for (name, _) in configs.iter().flat_map(Config::iter) {
        if !tunables.contains(&&**name) {
            tunables.push(name);
        }
    }
    let titles = BEFORE.iter().chain(&tunables).chain(&AFTER).map(ToString::to_string).collect();
    let rows = trials.iter().zip(&configs).map(|(trial, config)| row(trial, config, &tunables));
    std::iter::once(titles).chain(rows).map(|cells: Vec<String>| line(&cells)).collect()
}

fn row(trial: &Trial, config: &Config, tunables: &[&str]) -> Vec<String> {
    let gate = trial.refusal.as_ref().map_or(String::new(), |refusal| refusal.gate.name().into());
    let reason = trial.refusal.as_ref().map_or(String::new(), |refusal| refusal.measured.clone());
    let cost = trial.cost.map_or(String::new(), |seconds| (1e3 * seconds).to_string());
    let value = |name: &&str| config.get(name).map_or(String::new(), |value| unquoted(&value.to_string()));
    let mut cells = vec![trial.phase.clone(), trial.number.to_string(), trial.state.name().into(), gate, cost];
    cells.extend(tunables.iter().map(value));
    cells.push(trial.workload.clone().unwrap_or_default());
    cells.extend([trial.build_s, trial.check_s, trial.measure_s, trial.wall_s].map(|seconds| seconds.to_string()));
    cells.extend([stamp(trial.started_ms).unwrap_or_default(), reason, trial.config.clone()]);
    cells
}

/// A text as it was meant: quotes around it belong to the way configurations are typed.
fn unquoted(text: &str) -> String {
    let inner = text.strip_prefix('"').and_then(|rest| rest.strip_suffix('"'));
    inner.unwrap_or(text).into()
}

/// A row.
pub(crate) fn line(cells: &[String]) -> String {
    let fields: Vec<String> = cells.iter().map(|cell| field(cell)).collect();
    format!("{}\n", fields.join(","))
}

fn field(cell: &str) -> String {
    if cell.contains([',', '"', '\n', '\r']) || cell.trim() != cell {
        return format!("\"{}\"", cell.replace('"', "\"\""));
    }
    cell.into()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample::trials;

    #[test]
    fn every_trial_is_a_row_and_every_tunable_a_column() {
        let mut trials = trials();
        trials[0].config = "VEC=8,MODE=\"a, b\"".into();
        let text = table(&trials);
        let rows: Vec<&str> = text.lines().collect();
        assert_eq!(rows.len(), 1 + trials.len());
        assert!(rows[0].starts_with("phase,number,state,gate,cost_ms,VEC,MODE,"), "{}", rows[0]);
        assert!(rows[0].ends_with(",workload,build_s,check_s,measure_s,wall_s,started,reason,config"), "{}", rows[0]);
        assert!(rows[1].contains(",8,\"a, b\","), "{}", rows[1]);
        assert!(rows[1].ends_with(",\"VEC=8,MODE=\"\"a, b\"\"\""), "{}", rows[1]);
    }

    #[test]
    fn what_would_break_a_row_is_quoted() {
        assert_eq!(line(&["a".into(), "b,c".into(), "d\"e".into(), "f\ng".into()]), "a,\"b,c\",\"d\"\"e\",\"f\ng\"\n");
        assert_eq!((field(" x"), field("")), ("\" x\"".into(), String::new()));
        assert_eq!(table(&[]).lines().count(), 1);
    }
}
