//! nvcc's flags for NVRTC. In: flags as a kernel's file gives them. Out: those that NVRTC takes, in its form.

/// Flags of nvcc as NVRTC knows them. It optimises always, has no host compiler, and takes a value only behind `=`.
pub(super) fn translated(flags: &[String]) -> Vec<String> {
    const VALUED: [(&str, &str); 5] = [
        ("-Xptxas", "--ptxas-options"),
        ("--ptxas-options", "--ptxas-options"),
        ("-maxrregcount", "--maxrregcount"),
        ("--maxrregcount", "--maxrregcount"),
        ("-diag-suppress", "--diag-suppress"),
    ];
    const HOST: [&str; 4] = ["-Xcompiler", "--compiler-options", "-ccbin", "--compiler-bindir"];
    const UNKNOWN: [&str; 6] = [
        "--expt-relaxed-constexpr",
        "-expt-relaxed-constexpr",
        "--expt-extended-lambda",
        "-expt-extended-lambda",
        "--extended-lambda",
        "-extended-lambda",
    ];
    let mut translated = Vec::new();
    let mut rest = flags.iter();
    while let Some(flag) = rest.next() {
        let (name, value) = flag.split_once('=').map_or((flag.as_str(), None), |(name, value)| (name, Some(value)));
        if let Some((_, known)) = VALUED.iter().find(|(nvcc, _)| *nvcc == name) {
            let value = value.or_else(|| rest.next().map(String::as_str)).unwrap_or_default();
            translated.push(format!("{known}={value}"));
        } else if HOST.contains(&name) {
            if value.is_none() {
                rest.next();
            }
        } else if !UNKNOWN.contains(&name) && !is_level(name) {
            translated.push(flag.clone());
        }
    }
    translated
}

/// `-O3` and its like.
fn is_level(flag: &str) -> bool {
    flag.strip_prefix("-O").is_some_and(|level| level.len() <= 1 && level.chars().all(|c| c.is_ascii_digit()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flags_of_nvcc_are_translated() {
        let flags = "-O3 --use_fast_math -maxrregcount=64 -Xptxas -O1 -maxrregcount 32 -lineinfo -Xcompiler -Wall \
                     -Xcompiler=-g --expt-relaxed-constexpr -DOTHER=1 -O";
        let flags: Vec<String> = flags.split_whitespace().map(String::from).collect();
        assert_eq!(
            translated(&flags),
            [
                "--use_fast_math",
                "--maxrregcount=64",
                "--ptxas-options=-O1",
                "--maxrregcount=32",
                "-lineinfo",
                "-DOTHER=1"
            ]
        );
        assert_eq!(translated(&["-Xptxas".to_string()]), ["--ptxas-options="]);
    }
}
