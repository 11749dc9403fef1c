//! Warnings worth showing. In: a compiler's words of a build that worked. Out: a few lines, those that cost speed first.

use crate::words::usage::is_serialized;

/// More is not read.
const MOST: usize = 5;

pub(crate) fn warnings(log: &str) -> Vec<String> {
    let lines = || log.lines().map(str::trim);
    let warns = |line: &&str| {
        [": warning: ", ": warning #", "ptxas warning", "nvcc warning"].iter().any(|form| line.contains(form))
    };
    let mut shown: Vec<String> = Vec::new();
    for line in lines().filter(|line| is_serialized(line)).chain(lines().filter(warns)) {
        if shown.len() < MOST && !shown.iter().any(|other| other == line) {
            shown.push(line.to_string());
        }
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_costs_speed_comes_first_and_there_are_few() {
        let mut log = String::new();
        for line in 0..9 {
            log.push_str(&format!(
                "k.cu({line}): warning #177-D: variable \"a\" was declared but never referenced\n  a;\n"
            ));
        }
        log.push_str("k.cu(1): warning #177-D: variable \"a\" was declared but never referenced\n");
        log.push_str("ptxas info    : (C7511) Potential Performance Loss: wgmma.mma_async instructions are serialized due to insufficient register resources for the wgmma pipeline in the function 'f'\n");
        let shown = warnings(&log);
        assert_eq!(shown.len(), MOST);
        assert!(shown[0].contains("serialized") && shown[1].starts_with("k.cu(0): warning"));
        assert!(warnings("ptxas info    : 0 bytes gmem\n").is_empty());
    }
}
