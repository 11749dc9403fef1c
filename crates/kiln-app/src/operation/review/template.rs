//! The template for remarks beside those that somebody has filled in. In: a folder, the template's text. Out: where it goes, and the text
//! with a line by which kiln knows later that nobody has written in it.

use camino::{Utf8Path, Utf8PathBuf};

/// How the line begins and ends that holds the hash of the others.
const BEGINS: &str = "# As long as nobody writes in this file, the next export replaces it (";
const ENDS: &str = ").\n";

/// The text with the line.
pub(super) fn marked(text: &str) -> String {
    format!("{text}\n{BEGINS}{}{ENDS}", hash(text))
}

/// Whether a file is as kiln wrote it.
fn is_untouched(text: &str) -> bool {
    let parts = text.strip_suffix(ENDS).and_then(|text| text.rsplit_once(BEGINS));
    let own = parts.and_then(|(own, found)| Some((own.strip_suffix('\n')?, found)));
    own.is_some_and(|(own, found)| hash(own) == found)
}

fn hash(text: &str) -> String {
    blake3::hash(text.as_bytes()).to_hex()[..16].to_string()
}

/// The first name in a folder that is free or holds an untouched template, and the files before it, which somebody has
/// written in.
pub(super) fn place(folder: &Utf8Path, name: &str) -> (Utf8PathBuf, Vec<Utf8PathBuf>) {
    let (mut file, mut kept) = (folder.join(name), Vec::new());
    while file.exists() && !fs_err::read_to_string(&file).is_ok_and(|text| is_untouched(&text)) {
        kept.push(file);
        let (stem, ending) = name.rsplit_once('.').unwrap_or((name, "toml"));
        file = folder.join(format!("{stem}-{}.{ending}", kept.len() + 1));
    }
    (file, kept)
}
