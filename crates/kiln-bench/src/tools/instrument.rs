//! Builds for tools. In: a configuration and what the build is for. Out: something to call with line information, or the
//! compiler's refusal. It has nothing in common with what is timed but the source and the configuration.

use std::time::Duration;

use kiln_build::{Sanitizers, Toolchain};
use kiln_core::{Config, Fault, Outcome};
use kiln_spec::TargetKind;

use crate::bench::Bench;
use crate::building::builder::{python_subject, subject_of};
use crate::building::compile::request;
use crate::event::Event;
use crate::workers::subject::Subject;

/// What a build is for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Instrument {
    /// A tool that needs to know lines.
    Lines,
    /// The compiler's own sanitizers.
    Sanitizers(Sanitizers),
    /// A look at what a kernel prints and asserts: `KILN_DEBUG` is defined, `NDEBUG` is not.
    Debug,
}

impl Instrument {
    /// What the compiler is told last.
    fn flags(&self, toolchain: &Toolchain) -> Vec<String> {
        let words: &[&str] = match (self, toolchain) {
            (Instrument::Sanitizers(sanitizers), _) => return sanitizers.flags.clone(),
            (Instrument::Lines, Toolchain::C(_)) => &["-g"],
            (Instrument::Lines, _) => &["-lineinfo"],
            (Instrument::Debug, Toolchain::C(_)) => &["-O1", "-g", "-UNDEBUG", "-DKILN_DEBUG"],
            (Instrument::Debug, _) => &["-lineinfo", "-DKILN_DEBUG"],
        };
        words.iter().map(|word| word.to_string()).collect()
    }

    /// Whether a flag of the author's stays.
    fn keeps(&self, flag: &str) -> bool {
        *self != Instrument::Debug || !(flag == "-DNDEBUG" || flag.starts_with("-DNDEBUG="))
    }
}

impl Bench<'_> {
    /// Builds a configuration for a tool, at once. A kernel in Python is what it is.
    pub fn instrumented(&self, config: &Config, instrument: &Instrument) -> Result<Outcome<Subject>, Fault> {
        if self.kernel.selection.target.kind == TargetKind::Python {
            return Ok(Outcome::Passed(python_subject(self, self.kernel, config)?));
        }
        let toolchain = self.toolchain()?;
        let mut request = request(self.kernel, config)?;
        request.flags.retain(|flag| instrument.keeps(flag));
        request.flags.extend(instrument.flags(&toolchain));
        let doing = &format!("compiling {config}");
        let silent = |time: Duration| (self.listener)(&Event::Silence { doing, seconds: time.as_secs_f64() });
        let built = self.cache.build_until(toolchain, &request, self.build_limits(), &silent, self.stopped)?;
        let host = self.kernel.host(config);
        Ok(built.map(|artifact| subject_of(self.kernel, host, artifact, config.clone())))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn assertions_are_compiled_where_they_are_looked_for() {
        for flag in ["-DNDEBUG", "-DNDEBUG=1"] {
            assert!(!Instrument::Debug.keeps(flag) && Instrument::Lines.keeps(flag), "{flag}");
        }
        assert!(Instrument::Debug.keeps("-DNDEBUGGER") && Instrument::Debug.keeps("-O3"));
        let Ok(compiler) = kiln_build::Compiler::find() else { return };
        let flags = Instrument::Debug.flags(&Toolchain::C(compiler));
        assert!(flags.contains(&"-DKILN_DEBUG".to_string()) && flags.contains(&"-g".to_string()));
    }
}
