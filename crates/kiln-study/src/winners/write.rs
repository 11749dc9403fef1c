//! A file that is either whole or as it was: winners, tables, exports and figures are written so. In: a path and bytes.
//! Refuses, as a fault, a folder that cannot be written; nothing is left beside the file.

use std::io::Write;

use camino::Utf8Path;
use kiln_core::Fault;

/// Writes a file: a reader sees the old one or the new one, never half of one. Two writers do not mix.
pub fn write_whole(file: &Utf8Path, bytes: &[u8]) -> Result<(), Fault> {
    // A link stays one, and what is no file (a device, a pipe) is written to, not replaced.
    let linked = file.is_symlink().then(|| file.canonicalize_utf8().ok()).flatten();
    let file = linked.as_deref().unwrap_or(file);
    if fs_err::metadata(file).is_ok_and(|found| !found.is_file() && !found.is_dir()) {
        let mut opened = fs_err::OpenOptions::new().write(true).open(file);
        let written =
            opened.as_mut().map_err(|e| e.to_string()).and_then(|to| to.write_all(bytes).map_err(|e| e.to_string()));
        return written.map_err(|e| Fault::new(format!("writing {file}"), e));
    }
    let folder = file.parent().filter(|folder| !folder.as_str().is_empty()).unwrap_or(Utf8Path::new("."));
    let fault = |e: &dyn std::fmt::Display| Fault::new(format!("writing {file}"), e);
    let mut form = tempfile::Builder::new();
    // A file stays as readable as it is; what it is to hold may be for nobody else. A new one is like any other new file.
    #[cfg(unix)]
    let mode = fs_err::metadata(file).ok().map(|found| found.permissions());
    #[cfg(unix)]
    if mode.is_none() {
        use std::os::unix::fs::PermissionsExt;
        form.permissions(std::fs::Permissions::from_mode(0o666));
    }
    // The draft's name would only puzzle who reads the message.
    let mut draft = form.prefix(".kiln-").tempfile_in(folder).map_err(|e| fault(&e.kind()))?;
    draft.write_all(bytes).map_err(|e| fault(&e))?;
    #[cfg(unix)]
    if let Some(mode) = mode {
        draft.as_file().set_permissions(mode).map_err(|e| fault(&e))?;
    }
    draft.persist(file).map_err(|e| fault(&e.error))?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_replaced_whole_and_nothing_is_left_beside_it() {
        let folder = tempfile::tempdir().unwrap();
        let folder = Utf8Path::from_path(folder.path()).unwrap();
        let file = folder.join("best.toml");
        for text in ["first, and long", "second"] {
            write_whole(&file, text.as_bytes()).unwrap();
            assert_eq!(fs_err::read_to_string(&file).unwrap(), text);
        }
        assert_eq!(folder.read_dir_utf8().unwrap().count(), 1);
        let fault = write_whole(&folder.join("none/x"), b"").unwrap_err();
        assert!(fault.what.starts_with("writing ") && fault.what.ends_with("none/x"), "{fault}");
    }

    #[cfg(unix)]
    #[test]
    fn a_file_stays_as_readable_as_it_was() {
        use std::os::unix::fs::PermissionsExt;
        let folder = tempfile::tempdir().unwrap();
        let folder = Utf8Path::from_path(folder.path()).unwrap();
        let mode = |file: &Utf8Path| fs_err::metadata(file).unwrap().permissions().mode() & 0o7777;
        for own in [0o600, 0o640, 0o444] {
            let file = folder.join(format!("{own:o}"));
            fs_err::write(&file, "old").unwrap();
            fs_err::set_permissions(&file, std::fs::Permissions::from_mode(own)).unwrap();
            write_whole(&file, b"new").unwrap();
            assert_eq!((mode(&file), fs_err::read_to_string(&file).unwrap().as_str()), (own, "new"));
        }
        let (plain, whole) = (folder.join("plain"), folder.join("whole"));
        fs_err::write(&plain, "").unwrap();
        write_whole(&whole, b"").unwrap();
        assert_eq!(mode(&whole), mode(&plain));
    }

    #[cfg(unix)]
    #[test]
    fn what_is_no_file_is_written_to() {
        let folder = tempfile::tempdir().unwrap();
        let folder = Utf8Path::from_path(folder.path()).unwrap();
        let (target, link) = (folder.join("target"), folder.join("link"));
        fs_err::write(&target, "old").unwrap();
        std::os::unix::fs::symlink(&target, &link).unwrap();
        write_whole(&link, b"new").unwrap();
        assert!(link.is_symlink() && fs_err::read_to_string(&target).unwrap() == "new");
        let pipe = folder.join("pipe");
        assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
        std::thread::scope(|scope| {
            let read = scope.spawn(|| fs_err::read_to_string(&pipe).unwrap());
            write_whole(&pipe, b"through").unwrap();
            assert_eq!(read.join().unwrap(), "through");
        });
        assert!(write_whole(Utf8Path::new("/dev/full"), b"x").is_err());
        assert!(!fs_err::metadata("/dev/full").unwrap().is_file());
    }

    #[test]
    fn writers_at_the_same_time_do_not_mix() {
        let folder = tempfile::tempdir().unwrap();
        let file = Utf8Path::from_path(folder.path()).unwrap().join("best.toml");
        std::thread::scope(|scope| {
            for letter in ["a", "b", "c", "d"] {
                let file = &file;
                scope.spawn(move || (0..50).for_each(|_| write_whole(file, letter.repeat(9999).as_bytes()).unwrap()));
            }
        });
        let text = fs_err::read_to_string(&file).unwrap();
        assert!(text.len() == 9999 && text.chars().all(|c| text.starts_with(c)));
    }
}
