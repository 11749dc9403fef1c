//! Where a store lies. In: a path or a URL as the user gave it. Out: the URL the driver takes, with the folders made.
//! Refuses PostgreSQL, which this build does not have, and URLs of anything else.

use std::fmt::Write;
use std::io;

use camino::{Utf8Path, Utf8PathBuf};
use kiln_core::Fault;

/// The driver's URL for `place`.
pub(crate) fn url(place: &str) -> Result<String, Fault> {
    let what = || format!("opening the store {place}");
    let path = match place.split_once(':') {
        Some(("sqlite", rest)) => rest.strip_prefix("//").unwrap_or(rest),
        Some(("postgres" | "postgresql", _)) => {
            return Err(Fault::new(shown(place), "this build of kiln has no PostgreSQL yet")
                .hint("give the path of a file; kiln keeps its record in SQLite"));
        }
        Some((scheme, rest)) if rest.starts_with("//") => {
            return Err(Fault::new(shown(place), format!("kiln knows no store of kind `{scheme}`"))
                .hint("give the path of a file"));
        }
        _ => place,
    };
    if path.is_empty() || path.ends_with('/') {
        return Err(Fault::new(what(), "this names no file").hint("give the path of a file, e.g. .kiln/kiln.db"));
    }
    let file = whole(Utf8Path::new(path)).map_err(|e| {
        Fault::new(what(), e).hint("the store is a file in a folder that can be written; choose another place")
    })?;
    if file.is_dir() {
        return Err(Fault::new(what(), "this is a folder").hint("give the path of a file in it, e.g. kiln.db"));
    }
    Ok(format!("sqlite://{}?mode=rwc", escaped(file.as_str())))
}

/// Whether there is a store to open. Where only opening it can tell, opening it is to say so.
pub fn exists(place: &str) -> bool {
    match place.split_once(':') {
        Some(("sqlite", rest)) => Utf8Path::new(rest.strip_prefix("//").unwrap_or(rest)).exists(),
        Some((_, rest)) if rest.starts_with("//") => true,
        _ => Utf8Path::new(place).exists(),
    }
}

/// The path from the root without `..`, which a URL would resolve without asking about links; the folders are made.
fn whole(path: &Utf8Path) -> io::Result<Utf8PathBuf> {
    let folder = match path.parent() {
        Some(parent) if !parent.as_str().is_empty() => parent,
        _ => Utf8Path::new("."),
    };
    fs_err::create_dir_all(folder)?;
    let name = path.file_name().ok_or_else(|| io::Error::other("this names no file"))?;
    Ok(folder.canonicalize_utf8()?.join(name))
}

/// Every byte a URL could read as something else, as `%XX`.
fn escaped(path: &str) -> String {
    let mut text = String::with_capacity(path.len());
    for byte in path.bytes() {
        if byte.is_ascii_alphanumeric() || b"/._-".contains(&byte) {
            text.push(char::from(byte));
        } else {
            // Writing to a string does not fail.
            let _ = write!(text, "%{byte:02X}");
        }
    }
    text
}

/// A URL without the password it may hold.
fn shown(url: &str) -> String {
    let plain = match (url.split_once("://"), url.rsplit_once('@')) {
        (Some((scheme, _)), Some((_, host))) => format!("{scheme}://...@{host}"),
        _ => url.to_string(),
    };
    format!("opening the store {plain}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn other_engines_are_refused_without_showing_passwords() {
        let fault = url("postgres://me:secret@host/db").unwrap_err();
        assert!(fault.why.contains("no PostgreSQL yet"), "{fault}");
        assert!(!fault.to_string().contains("secret") && fault.what.contains("host/db"), "{fault}");
        assert!(url("mysql://host/db").unwrap_err().why.contains("`mysql`"));
    }

    #[test]
    fn odd_names_are_escaped_and_folders_made() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a b/c?d#e%41/x.db");
        let url = url(path.to_str().unwrap()).unwrap();
        assert!(url.ends_with("/a%20b/c%3Fd%23e%2541/x.db?mode=rwc"), "{url}");
        assert!(path.parent().unwrap().is_dir());
    }

    #[test]
    fn a_store_is_there_when_its_file_is_and_urls_are_for_opening_to_judge() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x.db");
        let place = path.to_str().unwrap();
        assert!(!exists(place) && !exists(&format!("sqlite://{place}")));
        std::fs::write(&path, "").unwrap();
        assert!(exists(place) && exists(&format!("sqlite:{place}")) && exists("postgres://host/db"));
    }

    #[test]
    fn folders_are_no_stores() {
        let folder = tempfile::tempdir().unwrap();
        let place = folder.path().to_str().unwrap();
        assert_eq!(url(place).unwrap_err().why, "this is a folder");
        assert_eq!(url(&format!("{place}/")).unwrap_err().why, "this names no file");
        assert_eq!(url("").unwrap_err().why, "this names no file");
    }
}
