//! Kernels whose names hold values: `attention<{D}, {WARPS}>` is one kernel for each D among the workloads and each WARPS
//! of the configuration. In: a selection. Out: the kernels to build. Refuses a launch that names no kernel.

use kiln_core::{Config, Report};
use kiln_spec::{Implementation, Launch, Selection};

/// The kernels of all launches under a configuration, for every workload that was selected; each once.
pub fn entries(selection: &Selection<'_>, config: &Config) -> Result<Vec<String>, Report> {
    let mut entries = Vec::new();
    let implementation = selection.implementation(config);
    for (number, launch) in implementation.launches.iter().enumerate() {
        let entry = entry(selection, implementation, number, launch)?;
        for instance in selection.instances(entry) {
            let entry = config.fill(&instance);
            if !entries.contains(&entry) {
                entries.push(entry);
            }
        }
    }
    Ok(entries)
}

/// The kernel a launch names.
pub(crate) fn entry<'a>(
    selection: &Selection<'a>,
    implementation: &'a Implementation,
    number: usize,
    launch: &'a Launch,
) -> Result<&'a str, Report> {
    let shared = implementation.entry.as_ref().or(selection.spec.entry.as_ref());
    let entry = launch.entry.as_ref().or(shared);
    Ok(entry.ok_or_else(|| Report::error(format!("launch {} names no kernel", number + 1)))?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use kiln_spec::Choice;

    const FILE: &str = "[kernel]\nname = \"k\"\n[tunables]\nBLOCK = [16, 32]\n[target.cuda]\nsource = \"k.cu\"\n\
        entry = \"k<{D}, {BLOCK}>\"\n[[target.cuda.launches]]\ngrid = \"S\"\nblock = \"BLOCK\"\n\
        [[workloads]]\nname = \"a\"\ndims = { S = 1, D = 64 }\n[[workloads]]\nname = \"b\"\ndims = { S = 2, D = 64 }\n\
        [[workloads]]\nname = \"c\"\ndims = { S = 3, D = 128 }\n[[workloads]]\nname = \"d\"\nuse = \"check\"\n\
        dims = { S = 5, D = 128 }\n";

    #[test]
    fn one_kernel_for_each_value_that_was_selected() {
        let (spec, _) = kiln_spec::parse("kernel.toml", FILE.as_bytes()).unwrap();
        let config = Config::parse("BLOCK=32").unwrap();
        let all = spec.select(Choice::default()).unwrap();
        assert_eq!(entries(&all, &config).unwrap(), ["k<64, 32>", "k<128, 32>"]);
        assert!(spec.workloads.iter().all(|w| all.answers(w)));
        let one = spec.select(Choice { workload: Some("a"), ..Choice::default() }).unwrap();
        assert_eq!(entries(&one, &config).unwrap(), ["k<64, 32>"]);
        let answered: Vec<bool> = spec.workloads.iter().map(|w| one.answers(w)).collect();
        assert_eq!(answered, [true, true, false, false]);
        let launch = crate::geometry(&one, spec.workloads.last(), &config).unwrap();
        assert_eq!(launch[0].entry, "k<128, 32>");
    }
}
