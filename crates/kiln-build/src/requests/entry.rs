//! Entries of a CUDA source and their symbols in a cubin. In: names as a kernel file has them, `softmax`, `gemm::tile` or
//! `matmul<float, 4>`. Out: generated lines that make nvcc emit and name them, and the symbols found again.

use camino::Utf8Path;
use kiln_core::Fault;

use crate::artifact::Symbols;

/// The generated variable of each entry.
const VARIABLE: &str = "kiln_entry_";

pub(crate) fn is_template(entry: &str) -> bool {
    entry.contains('<')
}

/// The source with lines that take each template's address on the host, which has it emitted for the device.
pub(crate) fn addressed(source: &Utf8Path, entries: &[&String]) -> Result<String, Fault> {
    let mut text = include(source)?;
    for (number, entry) in entries.iter().enumerate() {
        text += &format!("__attribute__((used)) static const auto {VARIABLE}{number} = &{entry};\n");
    }
    Ok(text)
}

/// The source with a variable on the device for each entry, whose initial value is the entry's symbol.
pub(crate) fn named(source: &Utf8Path, entries: &[String]) -> Result<String, Fault> {
    let mut text = include(source)?;
    for (number, entry) in entries.iter().enumerate() {
        text += &format!("extern \"C\" {{ __device__ auto {VARIABLE}{number} = &{entry}; }}\n");
    }
    Ok(text)
}

fn include(source: &Utf8Path) -> Result<String, Fault> {
    let path = source.canonicalize_utf8().map_err(|e| Fault::new(format!("reading {source}"), e))?;
    Ok(format!("#include \"{path}\"\n"))
}

/// The initial values in the assembly of [`named`]: `.global .align 8 .u64 kiln_entry_0 = _Z6matmulIfLi4EEvPT_;`.
pub(crate) fn resolved(entries: &[String], assembly: &str) -> Option<Symbols> {
    let symbol = |number: usize| {
        let mark = format!(" {VARIABLE}{number} = ");
        let value = assembly.lines().find_map(|line| line.split_once(&mark))?.1;
        Some(value.trim_end().trim_end_matches(';').to_string())
    };
    entries.iter().enumerate().map(|(number, entry)| Some((entry.clone(), symbol(number)?))).collect()
}

/// The symbols of the entries by name alone; none when one of them could be several, or none.
pub(crate) fn matched(entries: &[String], kernels: &[String]) -> Option<Symbols> {
    let symbol = |entry: &str| {
        if let Some(plain) = kernels.iter().find(|kernel| *kernel == entry) {
            return Some(plain.clone());
        }
        let start = mangled(entry)?;
        let mut fitting = kernels.iter().filter(|kernel| kernel.starts_with(&start));
        let found = fitting.next()?;
        fitting.next().is_none().then(|| found.clone())
    };
    entries.iter().map(|entry| Some((entry.clone(), symbol(entry)?))).collect()
}

/// How the symbol of a C++ function of this name starts: `_ZN4gemm4tileI` for `gemm::tile<float>`.
fn mangled(entry: &str) -> Option<String> {
    let (name, arguments) = entry.split_once('<').map_or((entry, ""), |(name, _)| (name, "I"));
    let parts: Vec<&str> = name.trim().trim_start_matches("::").split("::").map(str::trim).collect();
    let sound = |part: &str| !part.is_empty() && part.chars().all(|c| c == '_' || c.is_ascii_alphanumeric());
    let joined: String = parts.iter().map(|part| format!("{}{part}", part.len())).collect();
    let nested = if parts.len() > 1 { "N" } else { "" };
    parts.iter().all(|part| sound(part)).then(|| format!("_Z{nested}{joined}{arguments}"))
}

/// The symbol of a variable: its own name, or `_ZN6filter7weightsE` for `filter::weights`.
pub(crate) fn mangled_variable(name: &str) -> String {
    let parts: Vec<&str> = name.trim_start_matches("::").split("::").collect();
    match parts.as_slice() {
        [plain] => plain.to_string(),
        parts => format!("_ZN{}E", parts.iter().map(|part| format!("{}{part}", part.len())).collect::<String>()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn strings(words: &[&str]) -> Vec<String> {
        words.iter().map(|word| word.to_string()).collect()
    }

    #[test]
    fn symbols_are_matched_only_where_there_is_no_doubt() {
        let kernels = strings(&["plain", "_Z3cppPfi", "_ZN5inner6matmulIfLi4EEEvPKT_PS1_", "_Z1fIfEvv", "_Z1fIdEvv"]);
        let symbol = |entry: &str| matched(&strings(&[entry]), &kernels).map(|mut found| found.remove(0).1);
        assert_eq!(symbol("plain").as_deref(), Some("plain"));
        assert_eq!(symbol("cpp").as_deref(), Some("_Z3cppPfi"));
        assert_eq!(symbol("inner::matmul<float, 4>").as_deref(), Some("_ZN5inner6matmulIfLi4EEEvPKT_PS1_"));
        assert_eq!(symbol("f<float>"), None, "there are two");
        assert_eq!(symbol("cp"), None);
        assert_eq!(symbol("matmul<float, 4>"), None, "it is in a namespace");
    }

    #[test]
    fn variables_have_symbols_of_their_own() {
        assert_eq!(mangled_variable("d_filter"), "d_filter");
        assert_eq!(mangled_variable("filter::weights"), "_ZN6filter7weightsE");
    }

    #[test]
    fn the_assembly_names_every_entry_or_none_is_believed() {
        let assembly =
            ".visible .global .align 8 .u64 kiln_entry_0 = _Z1fIfEvv;\n.global .align 8 .u64 kiln_entry_1 = g;\n";
        let found = resolved(&strings(&["f<float>", "g"]), assembly).expect("both");
        assert_eq!(found, [("f<float>".into(), "_Z1fIfEvv".into()), ("g".into(), "g".into())]);
        assert_eq!(resolved(&strings(&["a", "b", "c"]), assembly), None);
    }
}
