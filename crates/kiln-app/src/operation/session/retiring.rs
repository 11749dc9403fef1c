//! Kernels that are no longer worked on: their baseline is used. In: a kernel and why. Out: the decision, recorded; and whether a kernel
//! is retired. Refuses a kernel that nobody knows, and to restore one that is not retired.

use camino::{Utf8Path, Utf8PathBuf};
use kiln_core::{Report, nearest};
use kiln_session::{Decision, DecisionKind};
use kiln_store::{AttemptsOf, Filter, Store, Study};

use super::{current, now, one_line};
use crate::attempt::{About, user};
use crate::failure::Failure;
use crate::kernel::KernelFile;
use crate::project::Project;

/// What is to be retired.
#[derive(Debug, Clone, Default)]
pub struct RetireRequest {
    /// The kernel: its folder, its kernel.toml or its name.
    pub kernel: Utf8PathBuf,
    /// Why; none to work on it again.
    pub because: Option<String>,
}

/// Retires a kernel, or works on it again.
pub fn retire(project: &Project, request: &RetireRequest) -> Result<Decision, Failure> {
    let reason = request.because.as_deref().map(str::trim);
    if reason == Some("") {
        return Err(Report::error("--because is empty").label("expected the reason").into());
    }
    let about = about(project, &request.kernel)?;
    let session = current(project)?;
    let store = project.store()?;
    let known = retired(&store, &about.kernel, &about.path)?;
    let (kind, choice) = match (reason, known) {
        (Some(_), _) => (DecisionKind::Retired, "use the baseline"),
        (None, Some(_)) => (DecisionKind::Restored, "work on it again"),
        (None, None) => return Err(Report::error(format!("{} is not retired", about.kernel)).into()),
    };
    let made = Decision {
        id: Study::new_id(),
        at_ms: now(),
        session: session.map(|session| session.id),
        kernel: about.kernel,
        path: about.path,
        kind,
        options: Vec::new(),
        choice: choice.into(),
        because: one_line(reason.unwrap_or_default()),
        user: user(),
    };
    store.record_decision(&made)?;
    Ok(made)
}

/// The kernel that is meant: a file, else a name that records have.
fn about(project: &Project, words: &Utf8Path) -> Result<About, Failure> {
    let is_path = words.as_str().contains('/') || words.is_file() || words.join("kernel.toml").is_file();
    if is_path {
        let about = About::of(&KernelFile::read(words)?, words);
        return Ok(About { path: place(project, words), ..about });
    }
    let unknown = |near: Option<&str>| {
        let report = Report::error(format!("there is no kernel `{words}` here"));
        let hint = near.map_or("give its folder, or a name that `kiln history` shows".into(), |near| {
            format!("did you mean {near}?")
        });
        Failure::from(report.hint(hint))
    };
    let Some(store) = project.recorded()? else { return Err(unknown(None)) };
    let attempted = store.attempts(AttemptsOf::Kernel(words.as_str(), 1))?.pop();
    let studied = store.studies(&Filter { kernel: Some(words.to_string()), limit: Some(1) })?;
    match (attempted, studied.is_empty()) {
        (Some(one), _) => Ok(About { kernel: one.kernel, path: one.path, ..About::default() }),
        (None, false) => Ok(About { kernel: words.to_string(), ..About::default() }),
        (None, true) => {
            let names: Vec<String> = store.studies(&Filter::default())?.into_iter().map(|study| study.kernel).collect();
            Err(unknown(nearest(words.as_str(), names.iter().map(String::as_str))))
        }
    }
}

/// The kernel's folder as the project sees it, whatever folder kiln runs in: from the folder that holds the project's store, else from
/// the top of the kernel's repository.
fn place(project: &Project, path: &Utf8Path) -> String {
    let typed = crate::attempt::inside(path);
    let folder = crate::kernel::folder(path);
    let Ok(whole) = folder.canonicalize_utf8() else { return typed };
    let top = || whole.ancestors().find(|folder| folder.join(".git").exists()).map(Utf8Path::to_owned);
    let Some(root) = project.root().or_else(top) else { return typed };
    match whole.strip_prefix(&root) {
        Ok(inside) if inside.as_str().is_empty() => ".".into(),
        Ok(inside) => inside.to_string(),
        Err(_) => whole.to_string(),
    }
}

/// Why a kernel is retired, if it is: by its name, and by its folder where both are known.
pub(crate) fn retired(store: &Store, kernel: &str, path: &str) -> Result<Option<Decision>, Failure> {
    let own = |made: &Decision| made.path.is_empty() || path.is_empty() || made.path == path;
    let last = store.decisions(Some(kernel))?.into_iter().rfind(|made| made.kind != DecisionKind::Chosen && own(made));
    Ok(last.filter(|made| made.kind == DecisionKind::Retired))
}

/// Why the kernel at a path is retired, if it is. Looking makes no store.
pub fn retired_kernel(project: &Project, kernel: &str, path: Option<&Utf8Path>) -> Result<Option<Decision>, Failure> {
    let path = path.map(|path| place(project, path)).unwrap_or_default();
    match project.recorded()? {
        Some(store) => retired(&store, kernel, &path),
        None => Ok(None),
    }
}

#[cfg(test)]
mod tests {
    use super::place as place_of;
    use super::*;
    use crate::project::Stop;

    #[test]
    fn a_kernel_is_retired_until_it_is_restored_and_another_of_its_name_is_not() {
        let place = tempfile::tempdir().unwrap();
        let folder = Utf8Path::from_path(place.path()).unwrap();
        let project = Project::here(Some(folder.join("kiln.db").into_string()), Stop::never());
        let kernel = folder.join("k");
        std::fs::create_dir(&kernel).unwrap();
        std::fs::write(
            kernel.join("kernel.toml"),
            "[kernel]\nname = \"k\"\nentry = \"k\"\n[tunables]\nX = [1]\n[target.cpu]\nsource = \"k.c\"\n",
        )
        .unwrap();
        let ask = |because: Option<&str>| {
            retire(&project, &RetireRequest { kernel: kernel.clone(), because: because.map(String::from) })
        };
        assert!(ask(None).unwrap_err().to_string().contains("k is not retired"));
        ask(Some("the baseline is faster")).unwrap();
        let now = |path: &Utf8Path| retired_kernel(&project, "k", Some(path)).unwrap().map(|made| made.because);
        assert_eq!(now(&kernel).as_deref(), Some("the baseline is faster"));
        assert_eq!(now(folder), None);
        ask(None).unwrap();
        assert_eq!(now(&kernel), None);
        // A project's own store lies in it, wherever kiln is run.
        let own = Project::here(Some(folder.join(".kiln/kiln.db").into_string()), Stop::never());
        own.store().unwrap();
        assert_eq!((place_of(&own, &kernel).as_str(), place_of(&own, folder).as_str()), ("k", "."));
        // A store that is shared holds kernels of repositories.
        std::fs::create_dir(folder.join(".git")).unwrap();
        assert_eq!(place_of(&project, &kernel), "k");
        let unknown = retire(&project, &RetireRequest { kernel: "zebra".into(), because: Some("x".into()) });
        assert!(unknown.unwrap_err().to_string().contains("there is no kernel `zebra` here"));
    }
}
