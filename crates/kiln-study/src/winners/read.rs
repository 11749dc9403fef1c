//! What `best.toml` says to use. In: a folder, and a target, a variant and workloads. Out: the winner of each workload as it would be
//! typed. Refuses a file that is no TOML.

use camino::Utf8Path;
use kiln_core::Fault;
use toml_edit::{Item, TableLike, Value};

use crate::winners::best::read;

/// The winners in a folder, one for each workload; none where it has none for some of them.
pub fn best_config(
    folder: &Utf8Path,
    target: &str,
    variant: &str,
    workloads: &[&str],
) -> Result<Option<Vec<String>>, Fault> {
    let document = read(folder)?;
    let found = || {
        let table = document.get(target)?;
        let table = if variant.is_empty() { table } else { table.get(variant)? };
        let config = table.get("config")?.as_table_like()?;
        workloads.iter().map(|workload| typed(config, workload)).collect()
    };
    Ok(found())
}

/// The configuration of a workload: its own table, or the one of all.
fn typed(config: &dyn TableLike, workload: &str) -> Option<String> {
    let own = config.get(workload).and_then(Item::as_table_like);
    let pair = |(name, item): (&str, &Item)| Some(format!("{name}={}", word(item.as_value()?)?));
    let pairs = own.unwrap_or(config).iter().map(pair).collect::<Option<Vec<String>>>()?;
    (!pairs.is_empty()).then(|| pairs.join(","))
}

fn word(value: &Value) -> Option<String> {
    Some(match value {
        Value::Integer(number) => number.value().to_string(),
        Value::Float(number) => number.value().to_string(),
        Value::Boolean(flag) => flag.value().to_string(),
        // Quoted, a text stays one, whatever it says.
        Value::String(text) => format!("\"{}\"", text.value()),
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_winner_serves_all_workloads_or_each_has_its_own() {
        let folder = tempfile::tempdir().unwrap();
        let path = Utf8Path::from_path(folder.path()).unwrap();
        let best = |workloads: &[&str]| best_config(path, "cpu", "T=f32", workloads).unwrap();
        assert_eq!(best(&["a"]), None);
        let text = "[cpu.\"T=f32\"]\nkernel = \"k\"\n[cpu.\"T=f32\".config]\nX = 4\nWAY = \"fast\"\n";
        std::fs::write(path.join("best.toml"), text).unwrap();
        assert_eq!(best(&["a", "b"]).unwrap(), ["X=4,WAY=\"fast\"", "X=4,WAY=\"fast\""]);
        assert_eq!(best_config(path, "cuda", "T=f32", &["a"]).unwrap(), None);
        let text = "[cpu.\"T=f32\".config.a]\nX = 1\n[cpu.\"T=f32\".config.b]\nX = 2\n";
        std::fs::write(path.join("best.toml"), text).unwrap();
        assert_eq!(best(&["b", "a"]).unwrap(), ["X=2", "X=1"]);
        assert_eq!(best(&["a", "c"]), None);
        std::fs::write(path.join("best.toml"), "[cpu").unwrap();
        assert!(best_config(path, "cpu", "", &["a"]).is_err());
    }
}
