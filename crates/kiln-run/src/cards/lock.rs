//! One kiln on a GPU at a time: beside another, neither would measure what it thinks it does. In: a GPU's UUID. Out: a lock
//! that lasts until it is dropped or its process is gone, however that ends. Refuses when the folder for temporary files
//! cannot be used, and when the user no longer wants to wait.

use std::fs::{File, OpenOptions, Permissions, TryLockError};
use std::io;
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::sleep;
use std::time::Duration;

/// Between one try and the next.
const PAUSE: Duration = Duration::from_millis(100);
/// Tries to open a file that another process is just making.
const TRIES: u32 = 20;
/// Every user of the machine may take the lock.
const SHARED: u32 = 0o666;

/// A GPU that no other kiln measures on.
#[derive(Debug)]
pub struct DeviceLock {
    _file: File,
}

impl DeviceLock {
    /// Takes the lock of a GPU. `waiting` is called once when somebody else has it; waiting ends with
    /// [`io::ErrorKind::Interrupted`] when `stopped` is set.
    pub fn take(uuid: &str, stopped: &AtomicBool, waiting: impl FnMut()) -> io::Result<DeviceLock> {
        DeviceLock::take_in(&folder(), uuid, stopped, waiting)
    }

    fn take_in(folder: &Path, uuid: &str, stopped: &AtomicBool, mut waiting: impl FnMut()) -> io::Result<DeviceLock> {
        // Older names of slices have slashes.
        let name: String = uuid.chars().map(|c| if c.is_ascii_alphanumeric() || c == '-' { c } else { '_' }).collect();
        let path = folder.join(format!("kiln-{name}.lock"));
        let file = open(&path).map_err(|e| io::Error::new(e.kind(), format!("{}: {e}", path.display())))?;
        let mut told = false;
        loop {
            match file.try_lock() {
                Ok(()) => return Ok(DeviceLock { _file: file }),
                Err(TryLockError::WouldBlock) => {}
                Err(TryLockError::Error(e)) => return Err(e),
            }
            if !std::mem::replace(&mut told, true) {
                waiting();
            }
            if stopped.load(Ordering::Relaxed) {
                return Err(io::Error::new(io::ErrorKind::Interrupted, "stopped while waiting for the GPU"));
            }
            sleep(PAUSE);
        }
    }
}

/// The same for all users, whatever their own folders for temporary files are.
fn folder() -> PathBuf {
    let shared = PathBuf::from("/tmp");
    if shared.is_dir() { shared } else { std::env::temp_dir() }
}

/// Opens the file, or makes it for everybody. It is never removed: a lock on a file that is gone keeps nobody out.
fn open(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    // Anybody can write to the folder: a link there might lead anywhere.
    options.read(true).write(true).custom_flags(libc::O_NOFOLLOW);
    let mut tries = 0;
    loop {
        // Asking to make a file that another user has made is refused in a shared folder; so it is opened first.
        let error = match options.open(path) {
            Ok(file) => return Ok(file),
            Err(e) if e.kind() == io::ErrorKind::NotFound => match options.clone().create_new(true).open(path) {
                Ok(file) => {
                    // The mask of this process would keep others out.
                    file.set_permissions(Permissions::from_mode(SHARED))?;
                    return Ok(file);
                }
                Err(e) => e,
            },
            Err(e) => e,
        };
        // It appeared in between, or is not open to all yet.
        let passing = matches!(error.kind(), io::ErrorKind::AlreadyExists | io::ErrorKind::PermissionDenied);
        tries += 1;
        if !passing || tries == TRIES {
            return Err(error);
        }
        sleep(Duration::from_millis(5));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::Command;
    use std::sync::mpsc::channel;
    use std::thread;

    static NEVER: AtomicBool = AtomicBool::new(false);

    #[test]
    fn the_second_waits_until_the_first_is_gone() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().to_path_buf();
        let first = DeviceLock::take_in(&path, "GPU-1", &NEVER, || panic!("nobody else has it")).unwrap();
        // Another GPU is another lock.
        DeviceLock::take_in(&path, "GPU-2", &NEVER, || panic!("nobody else has it")).unwrap();
        let (told, waits) = channel();
        let second = thread::spawn(move || {
            let mut times = 0;
            let lock = DeviceLock::take_in(&path, "GPU-1", &NEVER, || {
                times += 1;
                told.send(()).unwrap();
            });
            (lock.map(|_| ()), times)
        });
        waits.recv().unwrap();
        thread::sleep(3 * PAUSE);
        assert!(!second.is_finished());
        drop(first);
        let (taken, times) = second.join().unwrap();
        taken.unwrap();
        assert_eq!(times, 1);
    }

    #[test]
    fn whoever_is_stopped_waits_no_longer() {
        let folder = tempfile::tempdir().unwrap();
        let _held = DeviceLock::take_in(folder.path(), "GPU-1", &NEVER, || {}).unwrap();
        let stopped = AtomicBool::new(false);
        let gave_up = DeviceLock::take_in(folder.path(), "GPU-1", &stopped, || stopped.store(true, Ordering::Relaxed));
        assert_eq!(gave_up.unwrap_err().kind(), io::ErrorKind::Interrupted);
    }

    #[test]
    fn a_process_that_is_killed_lets_go() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("kiln-GPU-1.lock");
        open(&path).unwrap();
        // The shell holds the lock itself, and says so.
        let script = "exec 9<>\"$0\"; flock 9 || exit 1; echo held; exec sleep 60";
        let mut command = Command::new("sh");
        command.args(["-c", script]).arg(&path).stdout(std::process::Stdio::piped());
        let mut other = command.spawn().unwrap();
        let mut said = String::new();
        std::io::BufRead::read_line(&mut io::BufReader::new(other.stdout.take().unwrap()), &mut said).unwrap();
        assert_eq!(said, "held\n");
        let mut waited = false;
        DeviceLock::take_in(folder.path(), "GPU-1", &NEVER, || {
            waited = true;
            other.kill().unwrap();
            other.wait().unwrap();
        })
        .unwrap();
        assert!(waited);
    }

    #[test]
    fn the_file_is_everybodys_and_no_link_is_followed() {
        let folder = tempfile::tempdir().unwrap();
        let _lock = DeviceLock::take_in(folder.path(), "MIG-GPU-1/0/0", &NEVER, || {}).unwrap();
        let made = folder.path().join("kiln-MIG-GPU-1_0_0.lock");
        assert_eq!(made.metadata().unwrap().permissions().mode() & 0o777, SHARED);
        std::os::unix::fs::symlink(&made, folder.path().join("kiln-GPU-9.lock")).unwrap();
        assert!(DeviceLock::take_in(folder.path(), "GPU-9", &NEVER, || {}).is_err());
        assert!(DeviceLock::take_in(Path::new("/nowhere"), "GPU-1", &NEVER, || {}).is_err());
    }
}
