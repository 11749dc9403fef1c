//! The hash of a product's machine code. In: a shared library or a cubin. Out: a hash of what is loaded (instructions, constants,
//! initial data), without what only debuggers and build tools read. Two products with one hash run alike. None for what is no
//! ELF file.

use camino::Utf8Path;
use object::read::elf::{ElfFile64, FileHeader, SectionHeader};
use object::{Endianness, Object, ObjectSection, elf};

/// The hash of the code in a file; none where it cannot be read.
pub fn code_hash(path: &Utf8Path) -> Option<String> {
    hash(&fs_err::read(path).ok()?)
}

fn hash(bytes: &[u8]) -> Option<String> {
    let file = ElfFile64::<Endianness>::parse(bytes).ok()?;
    let endian = file.elf_header().endian().ok()?;
    let mut hasher = blake3::Hasher::new();
    let mut sections = 0;
    for section in file.sections() {
        let header = section.elf_section_header();
        let loaded = header.sh_flags(endian) & u64::from(elf::SHF_ALLOC) != 0;
        // Notes hold the build's own id.
        if !loaded || header.sh_type(endian) == elf::SHT_NOTE {
            continue;
        }
        let (name, data) = (section.name().ok()?, section.data().ok()?);
        for part in [name.as_bytes(), data] {
            hasher.update(&(part.len() as u64).to_le_bytes());
            hasher.update(part);
        }
        sections += 1;
    }
    (sections > 0).then(|| hasher.finalize().to_hex().to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn built(source: &str, flags: &[&str]) -> Vec<u8> {
        let folder = tempfile::tempdir().unwrap();
        let (from, to) = (folder.path().join("a.c"), folder.path().join("a.so"));
        std::fs::write(&from, source).unwrap();
        let mut cc = std::process::Command::new("cc");
        cc.args(["-shared", "-fPIC", "-O1"]).args(flags).arg("-o").arg(&to).arg(&from);
        assert!(cc.status().unwrap().success());
        std::fs::read(to).unwrap()
    }

    #[test]
    fn comments_names_and_debug_information_do_not_count_and_instructions_do() {
        let plain = hash(&built("int f(int a) { return a + 1; }", &[])).unwrap();
        assert_eq!(hash(&built("/* words */\n\nint f(int value) { return 1 + value; }", &["-g"])).unwrap(), plain);
        assert_ne!(hash(&built("int f(int a) { return a + 2; }", &[])).unwrap(), plain);
        assert_ne!(hash(&built("int f(int a) { return a + 1; } int table[2] = {1, 2};", &[])).unwrap(), plain);
    }

    #[test]
    fn what_is_no_product_has_no_hash() {
        assert_eq!((hash(b""), hash(b"#!/bin/sh\n"), hash(&[0x7f, b'E', b'L', b'F'])), (None, None, None));
    }
}
