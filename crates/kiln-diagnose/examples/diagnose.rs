//! dev
#![allow(missing_docs, clippy::unwrap_used)]
use kiln_diagnose::{Sources, sanitizer};
fn main() {
    let mut sources = Sources::none();
    let mut logs = Vec::new();
    let brief = std::env::args().any(|a| a == "-b");
    for arg in std::env::args().skip(1).filter(|a| a != "-b") {
        let text = String::from_utf8_lossy(&std::fs::read(&arg).unwrap()).into_owned();
        if arg.ends_with(".cu") {
            sources = sources.with(arg, text);
        } else {
            logs.push((arg, text));
        }
    }
    for (name, text) in logs {
        let d = sanitizer::diagnose(&sanitizer::read(&text), &sources);
        let name = name.rsplit('/').next().unwrap();
        if brief {
            let f: Vec<String> = d
                .findings
                .iter()
                .map(|f| {
                    format!(
                        "{}({} {}:{} x{})",
                        f.cause,
                        f.tool.name(),
                        f.kernel.as_deref().unwrap_or("-"),
                        f.line.unwrap_or(0),
                        f.count
                    )
                })
                .collect();
            println!(
                "{name}: {} {} {}",
                serde_json::to_string(&d.verdict).unwrap(),
                f.join(" "),
                if d.notes.is_empty() { String::new() } else { format!("NOTES {:?}", d.notes) }
            );
        } else {
            println!("{name}: {}", serde_json::to_string_pretty(&d).unwrap());
        }
    }
}
