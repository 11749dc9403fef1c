//! A profile in words: what was profiled by what, the diagnosis, where the report is.

use std::fmt;

use kiln_app::{FoundLimit, Profiled};
use serde_json::{Value, json};

use super::calibration::fix_line;
use super::coarse::CoarseView;
use super::diagnosed_profile::DiagnosedProfileView;
use crate::words::number::{duration, json_count};
use crate::words::refusal::refusal;
use crate::words::remark::{remarks, remarks_json};

/// Everything `kiln profile` says.
pub struct ProfileView<'a> {
    /// The profile.
    pub profiled: &'a Profiled,
    /// Show the compiler's command, too.
    pub verbose: bool,
}

impl ProfileView<'_> {
    /// One object: the diagnosis' keys, whether it is coarse, and what was profiled.
    pub fn json(&self) -> Value {
        let own = self.profiled;
        let mut all = match &own.found {
            Some(FoundLimit::Counters(found)) => DiagnosedProfileView { profile: found, verbose: self.verbose }.json(),
            Some(FoundLimit::Coarse(found)) => json!(found),
            None => json!({}),
        };
        all["coarse"] = json!(!matches!(own.found, Some(FoundLimit::Counters(_))));
        all["profiled"] = json!({
            "kernel": own.kernel,
            "target": own.target,
            "baseline": own.baseline,
            "config": own.config,
            "workload": own.workload,
            "hardware": own.hardware,
            "level": own.level.name(),
            "tool": own.tool,
            "passes": own.passes,
            "report": own.report.as_ref().map(|path| path.as_str()),
            "page": own.page.as_ref().map(|path| path.as_str()),
            "seed": json_count(u128::from(own.seed)),
            "seconds": own.seconds,
        });
        let notes: Vec<Value> = all["notes"].as_array().cloned().unwrap_or_default();
        let notes: Vec<Value> = notes.into_iter().chain(own.notes.iter().map(|note| json!(note))).collect();
        if !notes.is_empty() {
            all["notes"] = json!(notes);
        }
        if let Some(fix) = &own.fix {
            all["fix"] = json!(fix);
        }
        if !own.remarks.is_empty() {
            all["remarks"] = remarks_json(&own.remarks);
        }
        if !own.promoted.is_empty() {
            all["promoted"] = json!(own.promoted);
        }
        if let Some(refusal) = &own.refusal {
            all["refusal"] = json!(refusal);
        }
        all
    }
}

impl fmt::Display for ProfileView<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let own = self.profiled;
        let what = own.baseline.as_ref().map_or(String::new(), |name| format!("baseline {name} of "));
        let mut head = vec![format!("{what}{} on {}", own.kernel, own.target)];
        head.extend([own.workload.clone(), own.hardware.clone()].into_iter().filter(|word| !word.is_empty()));
        match (&own.tool, &own.found) {
            (Some(tool), _) => {
                let passes = own.passes.map_or(String::new(), |passes| format!(", {passes} passes"));
                head.push(format!("{tool} ({}{passes})", own.level.name()));
            }
            (None, Some(_)) => head.push("coarse, without counters".into()),
            (None, None) => {}
        }
        writeln!(f, "{}, {}", head.join(", "), duration(own.seconds))?;
        if !own.config.is_empty() {
            writeln!(f, "  {}", own.config)?;
        }
        match &own.found {
            Some(FoundLimit::Counters(found)) => {
                write!(f, "\n{}", DiagnosedProfileView { profile: found, verbose: self.verbose })?
            }
            Some(FoundLimit::Coarse(found)) => write!(f, "\n{}", CoarseView { diagnosis: found })?,
            None => writeln!(f, "refused before it was profiled")?,
        }
        if let (None, Some(why)) = (&own.found, &own.refusal) {
            write!(f, "{}", refusal(why, self.verbose))?;
        }
        if let Some(fix) = &own.fix {
            writeln!(f, "since the last profile: {}", fix_line(fix))?;
        }
        write!(f, "{}", remarks(&own.remarks))?;
        own.promoted.iter().try_for_each(|one| {
            writeln!(
                f,
                "{}: {:.0} %, at the last profile {:.0} %: it works in another way now; --level full shows how",
                one.what, one.now, one.before
            )
        })?;
        own.notes.iter().try_for_each(|note| writeln!(f, "note: {note}"))?;
        match (&own.report, &own.page) {
            (Some(report), Some(page)) => writeln!(f, "report: {report}\nraw page: {page}"),
            _ => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use kiln_app::ProfileLevel;

    #[test]
    fn a_refused_candidate_says_why_and_has_no_diagnosis() {
        let refusal = serde_json::from_value(json!({
            "gate": "constraint", "rule": "rows", "measured": "3", "limit": "4", "evidence": "", "hint": null
        }));
        let profiled = Profiled {
            kernel: "softmax".into(),
            target: "cpu".into(),
            baseline: None,
            config: kiln_core::Config::parse("VEC=8").unwrap(),
            workload: "wide".into(),
            hardware: String::new(),
            level: ProfileLevel::Quick,
            tool: None,
            passes: None,
            report: None,
            page: None,
            seconds: 0.5,
            seed: 7,
            ran_on: Value::Null,
            found: None,
            refusal: Some(refusal.unwrap()),
            fix: None,
            promoted: Vec::new(),
            remarks: Vec::new(),
            notes: vec!["look".into()],
        };
        let view = ProfileView { profiled: &profiled, verbose: false };
        let told = view.to_string();
        assert!(
            told.starts_with("softmax on cpu, wide, ") && told.contains("refused before it was profiled"),
            "{told}"
        );
        assert!(told.contains("rows") && told.ends_with("note: look\n"), "{told}");
        let object = view.json();
        assert_eq!((&object["profiled"]["level"], &object["refusal"]["rule"]), (&json!("quick"), &json!("rows")));
        assert_eq!(object["profiled"]["seed"], 7);
        assert!(object.get("cause").is_none() && object["notes"] == json!(["look"]), "{object}");
    }
}
