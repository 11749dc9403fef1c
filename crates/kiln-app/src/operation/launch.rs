//! A study in a process of its own, which goes on when whoever asked for it is gone. In: what to tune, and a file whose lock the
//! process is to keep. Out: the launch, by which its progress is found again, also by another process; and a way to stop a study as
//! Ctrl-C does. Refuses what `kiln tune` refuses, with its own words, where that is known in time.

mod now;
mod words;

use std::fs::File;
use std::os::unix::process::CommandExt;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use camino::Utf8PathBuf;
use kiln_core::{Fault, Report};
use kiln_study::write_whole;
use serde::{Deserialize, Serialize};

use crate::failure::Failure;
use crate::operation::tune::TuneRequest;
use crate::project::{Project, program};
use crate::record::resume;
pub use now::LaunchNow;

/// Where launches are kept, under the project's folder.
const FOLDER: &str = "launched";
/// Between one look and the next.
const PAUSE: Duration = Duration::from_millis(200);

/// A process that runs a study, or ran one.
#[derive(Debug, Clone)]
pub struct Launch {
    /// Its id; a study has one of its own once it is recorded.
    pub id: String,
    folder: Utf8PathBuf,
    about: About,
}

/// What a launch knows from its first moment.
#[derive(Debug, Clone, Serialize, Deserialize)]
struct About {
    process: u32,
    started_ms: i64,
    words: Vec<String>,
}

/// Runs a study in a process of its own. `held`: an open file; a lock on it lasts as long as the process.
pub fn launch_study(project: &Project, request: &TuneRequest, held: File) -> Result<Launch, Failure> {
    let id = kiln_store::Study::new_id();
    // Made before the process is, so that nothing is lost for want of a place to write to.
    drop(project.store()?);
    let folder = project.folder().join(FOLDER).join(&id);
    fs_err::create_dir_all(&folder)?;
    let file = |name: &str| fs_err::File::create(folder.join(name)).map(|file| Stdio::from(file.into_file()));
    let words = words::words(project, request, &folder.join(now::EVENTS));
    let program = program()?;
    // A group of its own: a signal to whoever asked does not reach it.
    let mut child = Command::new(&program)
        .args(&words)
        .stdin(Stdio::from(held))
        .stdout(file(now::RESULT)?)
        .stderr(file(now::LOG)?)
        .process_group(0)
        .spawn()
        .map_err(|e| Fault::new(format!("running {program}"), e))?;
    let about = About { process: child.id(), started_ms: jiff::Timestamp::now().as_millisecond(), words };
    // As long as this process lives, it is the one that is told of the end.
    std::thread::spawn(move || child.wait());
    let text = serde_json::to_string_pretty(&about).map_err(std::io::Error::other)?;
    write_whole(&folder.join(now::ABOUT), text.as_bytes())?;
    Ok(Launch { id, folder, about })
}

/// The launch of this id, or of a study with this id or a piece of its end; none where it was begun otherwise.
pub fn launched(project: &Project, name: &str) -> Option<Launch> {
    let all = project.folder().join(FOLDER);
    let mut ids: Vec<String> = all.read_dir_utf8().ok()?.flatten().map(|entry| entry.file_name().to_string()).collect();
    // Ids are in the order of time.
    ids.sort_unstable_by(|a, b| b.cmp(a));
    let read = |id: &String| {
        let folder = all.join(id);
        let about = serde_json::from_str(&std::fs::read_to_string(folder.join(now::ABOUT)).ok()?).ok()?;
        Some(Launch { id: id.clone(), folder, about })
    };
    let is_it = |launch: &Launch| {
        launch.id == name
            || launch.study().is_some_and(|study| study == name || (name.len() >= 8 && study.ends_with(name)))
    };
    ids.iter().filter_map(read).find(is_it)
}

impl Launch {
    /// The process that runs it.
    pub fn process(&self) -> u32 {
        self.about.process
    }

    /// Whether another process has gone on with its study: what this one says of it is old then.
    pub fn is_superseded(&self, project: &Project) -> bool {
        if self.is_running() {
            return false;
        }
        let store = || project.recorded().ok().flatten();
        let owner = self.study().and_then(|study| Some(store()?.find(&study).ok()?.owner));
        owner.is_some_and(|owner| is_anothers(&owner, self.about.process))
    }

    /// Waits until its study is recorded, or it ended without one, or the time is over.
    pub fn begun(&self, within: Duration, stopped: impl Fn() -> bool) -> LaunchNow {
        self.until(within, stopped, |now| now.study.is_some() || now.over)
    }

    /// Waits until it is over, or the time is.
    pub fn ended(&self, within: Duration, stopped: impl Fn() -> bool, mut each: impl FnMut(&LaunchNow)) -> LaunchNow {
        self.until(within, stopped, |now| {
            each(now);
            now.over
        })
    }

    fn until(
        &self,
        within: Duration,
        stopped: impl Fn() -> bool,
        mut done: impl FnMut(&LaunchNow) -> bool,
    ) -> LaunchNow {
        let began = Instant::now();
        let (mut now, mut read) = (LaunchNow::default(), 0);
        loop {
            self.catch_up(&mut now, &mut read);
            if done(&now) || stopped() || began.elapsed() >= within {
                return now;
            }
            std::thread::sleep(PAUSE);
        }
    }
}

/// A study that was asked to stop.
#[derive(Debug, Clone)]
pub struct StudyStop {
    /// Its id; none where it is not recorded yet.
    pub study: Option<String>,
    /// The process that was asked.
    pub process: u32,
}

/// Asks the process that runs a study to stop, as Ctrl-C does: what is done is saved. `name`: what `kiln show` takes, or a launch.
/// Refuses a study that nobody runs on this machine.
pub fn stop_study(project: &Project, name: &str) -> Result<StudyStop, Failure> {
    let launch = launched(project, name).map(|launch| (launch.now(), launch.process(), launch.is_superseded(project)));
    let (study, process) = match launch {
        Some((now, _, false)) if now.over => {
            return Err(Report::error(format!("study {name} is over")).hint(over(now.study.as_deref())).into());
        }
        Some((now, process, false)) => (now.study, process),
        // A launch has no name in the store; its study has.
        later => {
            let name = later.and_then(|(now, ..)| now.study).unwrap_or_else(|| name.into());
            let study = project.recorded_for(&name)?.find(&name)?;
            let process = resume::runner(&study).ok_or_else(|| {
                Report::error(format!("no process on this machine is running study {}", study.short_id()))
                    .hint(over(Some(&study.id)))
            })?;
            (Some(study.id), process)
        }
    };
    let asked = i32::try_from(process).ok().and_then(rustix::process::Pid::from_raw);
    let asked = asked.ok_or_else(|| Fault::new("stopping a study", format!("{process} is no process")))?;
    rustix::process::kill_process(asked, rustix::process::Signal::INT)
        .map_err(|e| Fault::new(format!("stopping process {process}"), e))?;
    Ok(StudyStop { study, process })
}

/// Whether a study's owner, `pid@host`, is another process than this one.
fn is_anothers(owner: &str, process: u32) -> bool {
    owner.split_once('@').is_some_and(|(own, _)| own != process.to_string())
}

fn over(study: Option<&str>) -> String {
    match study {
        Some(study) => format!("`kiln show {study}` shows how it stands"),
        None => "`kiln history` lists studies".into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::project::Stop;

    /// A study that was launched, stopped, and resumed elsewhere: its record names the process that runs it now.
    #[test]
    fn the_process_that_a_record_names_outranks_an_old_launch() {
        let place = tempfile::tempdir().unwrap();
        let folder = Utf8PathBuf::from_path_buf(place.path().join(".kiln")).unwrap();
        let project = Project::here(Some(folder.join("kiln.db").into_string()), Stop::never()).in_folder(&folder);
        let store = project.store().unwrap();
        let study = crate::operation::watch::tests::study("1@elsewhere".into());
        store.begin(&study).unwrap();
        let own = folder.join(FOLDER).join("0000");
        fs_err::create_dir_all(&own).unwrap();
        let about = About { process: u32::MAX, started_ms: 0, words: Vec::new() };
        fs_err::write(own.join(now::ABOUT), serde_json::to_string(&about).unwrap()).unwrap();
        let heard = serde_json::json!({ "event": "study", "study": study.id });
        fs_err::write(own.join(now::EVENTS), format!("{heard}\n")).unwrap();
        let launch = launched(&project, "0000").unwrap();
        assert!(launch.now().over && launch.now().study.as_ref() == Some(&study.id));
        store.reopen(&study.id, &format!("{}@here", u32::MAX)).unwrap();
        assert!(!launch.is_superseded(&project));
        store.reopen(&study.id, &format!("{}@here", std::process::id())).unwrap();
        assert!(launch.is_superseded(&project));
        let said = stop_study(&project, "0000").unwrap_err().to_string();
        assert!(said.contains("no process on this machine"), "{said}");
    }
}
