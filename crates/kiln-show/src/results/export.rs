//! A package that was written: where, how its function is called, what was compiled, what to do next.

use std::fmt;

use kiln_app::{Exported, ExportedBinary};
use serde_json::{Map, Value, json};

use crate::words::command::quoted;
use crate::words::visible::visible;

/// Everything `kiln export` says.
pub struct ExportView<'a> {
    /// What was written.
    pub exported: &'a Exported,
}

impl ExportView<'_> {
    /// One object.
    pub fn json(&self) -> Value {
        let exported = self.exported;
        let binaries = exported.binaries.iter().map(|binary| {
            let config: Map<String, Value> = binary
                .config
                .iter()
                .map(|(name, value)| (name.clone(), serde_json::to_value(value).unwrap_or_default()))
                .collect();
            json!({
                "file": binary.file,
                "arch": binary.arch,
                "variant": binary.variant,
                "config": config,
                "instances": binary.instances,
                "workloads": binary.workloads,
            })
        });
        let files = exported.files.iter().map(|(path, bytes)| json!({ "path": path.as_str(), "bytes": bytes }));
        json!({
            "kernel": exported.kernel,
            "target": exported.target,
            "folder": exported.folder.as_str(),
            "module": exported.module,
            "signature": exported.signature,
            "binaries": binaries.collect::<Vec<_>>(),
            "files": files.collect::<Vec<_>>(),
            "notes": exported.notes,
        })
    }
}

impl fmt::Display for ExportView<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let exported = self.exported;
        let bytes: u64 = exported.files.iter().map(|(_, bytes)| bytes).sum();
        let (files, size) = (exported.files.len(), (bytes as f64 / 1024.0).ceil());
        writeln!(f, "wrote {}: {files} files, {size:.0} KiB", visible(exported.folder.as_str()))?;
        writeln!(f, "  {} (target {})", visible(&exported.signature), exported.target)?;
        for binary in &exported.binaries {
            let about = [binary.arch.as_deref().unwrap_or_default(), &binary.variant];
            let about: Vec<&str> = about.into_iter().filter(|word| !word.is_empty()).collect();
            let config: Vec<String> = binary.config.iter().map(|(name, value)| format!("{name}={value}")).collect();
            let place = if about.is_empty() { String::new() } else { format!("{}  ", about.join(" ")) };
            // One configuration may be compiled in parts.
            let same = |other: &&ExportedBinary| {
                (&other.arch, &other.variant, &other.config) == (&binary.arch, &binary.variant, &binary.config)
            };
            let parts = match exported.binaries.iter().filter(same).count() {
                1 => String::new(),
                _ => format!("  ({})", binary.instances.join(", ")),
            };
            let workloads = match binary.workloads.as_slice() {
                [] => String::new(),
                names => format!("  (tuned for {})", names.join(", ")),
            };
            writeln!(f, "  {}", visible(&format!("{place}{}{parts}{workloads}", config.join(","))))?;
        }
        exported.notes.iter().try_for_each(|note| writeln!(f, "note: {}", visible(note)))?;
        let folder = quoted(exported.folder.as_str());
        writeln!(f, "next\n  python -m unittest discover {folder}/tests\n  pip install {folder}")
    }
}
