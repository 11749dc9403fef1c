//! Which listed workloads a configuration is used on. In: a selection. Out: those on which it must keep every rule, and
//! whether the kernels built for it can run another one at all.

use kiln_core::{Use, Value, Workload};

use crate::model::{Implementation, Launch};
use crate::select::Selection;

impl<'a> Selection<'a> {
    /// The workloads on which a configuration must keep every rule, the selected ones first. Those for checking and the
    /// holdouts are among them, because a winner is checked and confirmed there. Where only some of the tuned workloads
    /// are selected, a configuration is for those alone: a rule that fails elsewhere says nothing against it.
    pub fn required(&self) -> Vec<&'a Workload> {
        let target = self.target.kind.name();
        let listed = || self.spec.workloads.iter().filter(|w| w.is_for(target));
        let mut required = self.workloads.clone();
        if listed().all(|w| w.use_for != Use::Tune || self.workloads.contains(&w)) {
            required.extend(listed().filter(|w| !self.workloads.contains(w) && self.answers(w)));
        }
        required
    }

    /// Whether what is built for the selected workloads can run this one: names such as `kernel<{D}>` are one kernel for
    /// each D. Of several implementations all must be able to.
    pub fn answers(&self, workload: &Workload) -> bool {
        let built = |one: &Implementation, launch: &Launch| {
            let shared = one.entry.as_ref().or(self.spec.entry.as_ref());
            let Some(entry) = launch.entry.as_ref().or(shared) else { return true };
            self.instances(entry).contains(&instance(entry, Some(workload)))
        };
        self.implementations.iter().all(|one| one.launches.iter().all(|launch| built(one, launch)))
    }

    /// An entry for each of the selected workloads.
    pub fn instances(&self, entry: &str) -> Vec<String> {
        match self.workloads.as_slice() {
            [] => vec![entry.to_string()],
            workloads => workloads.iter().map(|w| instance(entry, Some(w))).collect(),
        }
    }
}

/// An entry with the values of a workload's dimensions; names of tunables stay in their braces.
pub fn instance(entry: &str, workload: Option<&Workload>) -> String {
    let mut filled = entry.to_string();
    for (name, value) in workload.iter().flat_map(|w| &w.dims) {
        let value = match value {
            Value::Bool(v) => u8::from(*v).to_string(),
            other => other.to_string(),
        };
        filled = filled.replace(&format!("{{{name}}}"), &value);
    }
    filled
}

#[cfg(test)]
mod tests {
    use crate::Choice;

    const FILE: &str = "[kernel]\nname = \"k\"\n[tunables]\nBLOCK = [16, 32]\n[target.cuda]\nsource = \"k.cu\"\n\
        entry = \"k<{D}, {BLOCK}>\"\n[[target.cuda.launches]]\ngrid = \"S\"\nblock = \"BLOCK\"\n\
        [[workloads]]\nname = \"a\"\ndims = { S = 1, D = 64 }\n[[workloads]]\nname = \"b\"\ndims = { S = 2, D = 128 }\n\
        [[workloads]]\nname = \"c\"\nuse = \"check\"\ndims = { S = 3, D = 128 }\n\
        [[workloads]]\nname = \"d\"\nuse = \"holdout\"\ndims = { S = 5, D = 64 }\n\
        [[workloads]]\nname = \"e\"\nuse = \"holdout\"\ndims = { S = 5, D = 256 }\n\
        [[workloads]]\nname = \"f\"\nuse = \"check\"\ndims = { S = 7, D = 64 }\ntargets = [\"cpu\"]\n\
        [target.cpu]\nsource = \"k.c\"\n";

    #[test]
    fn checks_and_holdouts_are_required_where_every_tuned_workload_is_selected() {
        let (spec, _) = crate::parse("kernel.toml", FILE.as_bytes()).unwrap();
        let required = |target, workload| -> Vec<&str> {
            let choice = Choice { target: Some(target), workload, ..Choice::default() };
            spec.select(choice).unwrap().required().iter().map(|w| &*w.name).collect()
        };
        // Nothing is built for D = 256, and f is for another target.
        assert_eq!(required("cuda", None), ["a", "b", "c", "d"]);
        assert_eq!(required("cuda", Some("all")), ["a", "b", "c", "d"]);
        assert_eq!(required("cpu", None), ["a", "b", "c", "d", "e", "f"]);
        assert_eq!(required("cuda", Some("a")), ["a"]);
        assert_eq!(required("cuda", Some("d")), ["d"]);
    }
}
