//! Whether what was read is true: a copy of the kernel.toml in a folder of its own, whose source includes the user's and states the
//! signature once more, is built in the default configuration. In: what was found. Out: what the compiler said. Refuses a
//! signature that the compiler contradicts; other complaints become a question.

use camino::{Utf8Path, Utf8PathBuf};
use kiln_core::{Outcome, Report};
use kiln_formats::source::{Found, FoundTarget, kernel_toml};
use kiln_study::toolchain;

use crate::failure::Failure;
use crate::kernel::{KernelFile, Selecting};
use crate::operation::forge::{compiled, one};
use crate::project::{Project, program};

/// What a compiler says of the default configuration.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Compiled {
    /// It compiles; by whom.
    Yes(String),
    /// It does not; why.
    No(String),
    /// Nobody compiled it; why.
    Unknown(String),
}

/// What is needed to check a reading.
pub(crate) struct Stage {
    /// The user's source.
    pub(crate) source: Utf8PathBuf,
    /// Its text, where it stands in a script.
    pub(crate) text: Option<String>,
    /// The kernel in the default configuration, `matmul<float, 16>`.
    pub(crate) instance: String,
    /// The types of its parameters, where all are known.
    pub(crate) types: Option<String>,
    /// What it returns.
    pub(crate) returns: String,
}

/// What the compiler prints where it has another signature.
const WRONG: &str = "kiln read another signature";

/// Checks what was found. Gives it a default that keeps its constraints, the compiler that can compile it, and a question where
/// none can.
pub(crate) fn check(project: &Project, found: &mut Found, stage: Option<Stage>) -> Result<Compiled, Failure> {
    let first = attempt(project, found, stage.as_ref())?;
    // NVRTC compiles device code only; nvcc also what comes with headers for the host.
    if matches!(first, Compiled::No(_)) && found.target == FoundTarget::Cuda && !found.host {
        let mut other = Found { compiler: Some("nvcc"), ..found.clone() };
        if let Compiled::Yes(compiler) = attempt(project, &mut other, stage.as_ref())? {
            *found = other;
            return Ok(Compiled::Yes(compiler));
        }
    }
    if let Compiled::No(why) = &first {
        found.questions.insert(0, format!("It does not compile yet: {why}"));
    }
    Ok(first)
}

fn attempt(project: &Project, found: &mut Found, stage: Option<&Stage>) -> Result<Compiled, Failure> {
    let folder = tempfile::tempdir()?;
    let folder = Utf8Path::from_path(folder.path())
        .ok_or_else(|| Report::error("the folder for temporary files is not UTF-8"))?;
    let mut copy = found.clone();
    if let Some(stage) = stage {
        copy.sources = vec![staged(folder, stage, found.target)?];
    }
    let file = folder.join("kernel.toml");
    fs_err::write(&file, kernel_toml(&copy, "the source"))?;
    let read = KernelFile::read(&file).map_err(unwritable)?;
    let selecting = Selecting { path: folder.to_owned(), ..Selecting::default() };
    let kernel = compiled(&read, &selecting).map_err(unwritable)?;
    let default =
        kernel.default_config().or_else(|| kernel.space.iter().next().map(|point| kernel.space.config(&point)));
    let Some(config) = default else {
        return Ok(Compiled::Unknown("no configuration keeps every constraint".into()));
    };
    for (name, value) in config.iter() {
        found.tunables.iter_mut().filter(|t| t.name == **name).for_each(|t| t.default = value.clone());
    }
    let Some(stage) = stage else { return Ok(Compiled::Unknown("Python compiles it when it runs".into())) };
    let toolchain = match toolchain(&kernel, &program()?) {
        Ok(toolchain) => toolchain,
        Err(fault) => return Ok(Compiled::Unknown(fault.to_string())),
    };
    let title = toolchain.title();
    let Outcome::Refused(refusal) = one(project, &kernel, toolchain, &config)?.outcome else {
        return Ok(Compiled::Yes(title));
    };
    let said = format!("{}\n{}", refusal.measured, refusal.evidence);
    if said.contains(WRONG) || said.contains("conflicting types for") {
        let types = stage.types.as_deref().unwrap_or_default();
        return Err(Report::error(format!("the signature of {} was not read right", stage.instance))
            .label(format!("kiln read ({types}), and the compiler has another"))
            .hint("write the types out where the kernel is defined; nothing was written")
            .into());
    }
    Ok(Compiled::No(refusal.measured.replace(folder.as_str(), "").trim().to_owned()))
}

/// Not the user's mistake: what kiln wrote is not what kiln reads.
fn unwritable(failure: Failure) -> Failure {
    let reports = failure.reports();
    let first = reports.first().map(|r| r.message.clone()).unwrap_or_default();
    let hint = "choose another kernel with --entry, or write the kernel.toml by hand: docs/kernel-toml.md";
    Report::error(format!("no kernel.toml can be made from it: {first}")).hint(hint).into()
}

/// A source that includes the user's and states its signature.
fn staged(folder: &Utf8Path, stage: &Stage, target: FoundTarget) -> Result<String, Failure> {
    let source = match &stage.text {
        Some(text) => {
            let path = folder.join("source.cu");
            fs_err::write(&path, text)?;
            path
        }
        None => stage.source.clone(),
    };
    let name = if target == FoundTarget::Cuda {
        "check.cu"
    } else if source.extension() == Some("c") {
        "check.c"
    } else {
        "check.cpp"
    };
    let mut text = format!("#include \"{source}\"\n");
    if let Some(types) = &stage.types {
        let returns = &stage.returns;
        text += &match name {
            "check.c" => format!("{returns} {}({});\n", stage.instance, if types.is_empty() { "void" } else { types }),
            _ => format!(
                "template <class kiln_a, class kiln_b> struct kiln_same {{ static const bool kiln_is = false; }};\n\
                 template <class kiln_a> struct kiln_same<kiln_a, kiln_a> {{ static const bool kiln_is = true; }};\n\
                 static_assert(kiln_same<decltype(&{}), {returns} (*)({types})>::kiln_is, \"{WRONG}\");\n",
                stage.instance
            ),
        };
    }
    fs_err::write(folder.join(name), text)?;
    Ok(name.into())
}
