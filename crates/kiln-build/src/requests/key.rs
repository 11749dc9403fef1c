//! The name of a build: a hash of everything that decides its result. Two requests with the same key give the same
//! library, whoever builds it and wherever the sources lie.

use blake3::Hasher;
use camino::Utf8PathBuf;
use kiln_core::Fault;

use crate::requests::include::included;
use crate::requests::request::Request;
use crate::toolchains::toolchain::Toolchain;

/// Changed when what is hashed changes, so that old entries are not taken for new ones.
const FORMAT: &[u8] = b"kiln-build 3";

/// What compilers read of their surroundings, and may find other files or take other flags by.
const ENVIRONMENT: [&str; 14] = [
    "CPATH",
    "C_INCLUDE_PATH",
    "CPLUS_INCLUDE_PATH",
    "LIBRARY_PATH",
    "COMPILER_PATH",
    "GCC_EXEC_PREFIX",
    "CCC_OVERRIDE_OPTIONS",
    "CLANG_CONFIG_FILE_SYSTEM_DIR",
    "CLANG_CONFIG_FILE_USER_DIR",
    "SOURCE_DATE_EPOCH",
    "NVCC_PREPEND_FLAGS",
    "NVCC_APPEND_FLAGS",
    "NVCC_CCBIN",
    "SDKROOT",
];

pub(crate) fn key(toolchain: &Toolchain, request: &Request) -> Result<String, Fault> {
    let mut hasher = Hasher::new();
    let mut part = |bytes: &[u8]| {
        // Lengths first: `ab` + `c` must not read like `a` + `bc`.
        hasher.update(&(bytes.len() as u64).to_le_bytes());
        hasher.update(bytes);
    };
    part(FORMAT);
    let mut list = |words: &[String]| {
        part(&(words.len() as u64).to_le_bytes());
        words.iter().for_each(|word| part(word.as_bytes()));
    };
    list(&toolchain.identity());
    let set = |name: &&str| Some(format!("{name}={}", std::env::var(name).ok()?));
    list(&ENVIRONMENT.iter().filter_map(set).collect::<Vec<String>>());
    list(&request.entries);
    // Of most kernels none, whose builds stay known.
    if !request.variables.is_empty() {
        list(&request.variables);
    }
    if !request.order.is_empty() {
        list(std::slice::from_ref(&request.order));
    }
    part(request.arch.as_deref().unwrap_or_default().as_bytes());
    part(&[u8::from(request.host)]);
    part(request.shim.as_bytes());
    // Folders name places, not contents: what is found in them is hashed below.
    request.arguments().iter().filter(|a| !a.starts_with("-I")).for_each(|argument| part(argument.as_bytes()));
    for source in &request.sources {
        let bytes = fs_err::read(source).map_err(|e| Fault::new(format!("reading {source}"), e))?;
        part(source.file_name().unwrap_or_default().as_bytes());
        part(&bytes);
        for file in included(source, &request.includes) {
            let bytes = fs_err::read(&file).map_err(|e| Fault::new(format!("reading {file}"), e))?;
            part(file.file_name().unwrap_or_default().as_bytes());
            part(&bytes);
        }
    }
    Ok(hasher.finalize().to_hex()[..40].to_string())
}

/// A hash of files and of what they include, whatever is made of them.
pub fn fingerprint(files: &[Utf8PathBuf], includes: &[Utf8PathBuf]) -> Result<String, Fault> {
    let mut hasher = Hasher::new();
    let all = files.iter().flat_map(|file| std::iter::once(file.clone()).chain(included(file, includes)));
    for file in all {
        let bytes = fs_err::read(&file).map_err(|e| Fault::new(format!("reading {file}"), e))?;
        hasher.update(&(bytes.len() as u64).to_le_bytes());
        hasher.update(&bytes);
    }
    Ok(hasher.finalize().to_hex()[..40].to_string())
}
