//! Configurations of a selection: the one to begin with, and one that was typed or recorded. In: the file's `[default]`, its
//! table of tuned configurations, text. Out: values as the file lists them. There is one meaning of 'default', here.

use kiln_core::{Config, IMPLEMENTATION, Value, Workload};

use crate::{Implementation, Selection, Tunable, Tuned};

impl Tunable {
    /// The listed value a typed one means: `2` means `2.0`, `1` means `true` and `64` means `"64"` where that is listed.
    pub fn listed(&self, typed: &Value) -> Option<&Value> {
        let exact = self.values.iter().find(|v| *v == typed);
        let alike = || self.values.iter().find(|v| kiln_expr::equal(v, typed));
        // A list of strings may hold "64", which is typed like a number.
        let spelt = || self.values.iter().find(|v| v.to_string() == typed.to_string());
        exact.or_else(alike).or_else(spelt)
    }
}

impl Implementation {
    /// A configuration with these values; none when a tunable has none.
    pub fn configured(&self, value: impl Fn(&Tunable) -> Option<Value>) -> Option<Config> {
        let own = self.name.iter().map(|name| Some((IMPLEMENTATION.into(), Value::Str(name.clone()))));
        let values = self.tunables.iter().map(|t| Some((t.name.clone(), value(t)?)));
        Some(Config::new(own.chain(values).collect::<Option<Vec<_>>>()?))
    }

    /// The file's default configuration, whether or not the rules allow it; none when it leaves a tunable open.
    pub fn stated_default(&self) -> Option<Config> {
        self.configured(|t| self.default_value(&t.name).cloned())
    }
}

impl<'a> Selection<'a> {
    /// The value a tunable has by default in the implementation of a configuration: the file's, or the only one there is.
    pub fn default_value(&self, config: &Config, name: &str) -> Option<&'a Value> {
        self.implementation(config).default_value(name)
    }

    /// The file's default configuration of the first implementation that has one, whether or not the rules allow it; none
    /// when all leave a tunable open.
    pub fn stated_default(&self) -> Option<Config> {
        self.stated_defaults().into_iter().next()
    }

    /// The file's default configuration of each implementation that has one, in file order.
    pub fn stated_defaults(&self) -> Vec<Config> {
        self.implementations.iter().filter_map(|one| one.stated_default()).collect()
    }

    /// The configuration to begin with on all the selected workloads.
    pub fn default_config(&self, allows: &dyn Fn(&Config) -> bool) -> Option<Config> {
        self.default_for(&self.all(), allows)
    }

    /// The configuration to begin with on these workloads: the tuned one that serves them all, else the file's default; none
    /// when the file leaves a tunable open, or a rule refuses it.
    pub fn default_for(&self, workloads: &[Option<&Workload>], allows: &dyn Fn(&Config) -> bool) -> Option<Config> {
        let tuned = self.tuned_among(workloads, allows).map(|entry| Config::new(entry.config.clone()));
        tuned.or_else(|| self.stated_defaults().into_iter().find(|config| allows(config)))
    }

    /// The entry of the table whose configuration serves all the selected workloads, where there is one.
    pub fn tuned(&self, allows: &dyn Fn(&Config) -> bool) -> Option<&'a Tuned> {
        self.tuned_among(&self.all(), allows)
    }

    fn tuned_among(&self, workloads: &[Option<&Workload>], allows: &dyn Fn(&Config) -> bool) -> Option<&'a Tuned> {
        let nearest = |workload: &Option<&Workload>| {
            self.tuned_for(*workload).into_iter().find(|entry| allows(&Config::new(entry.config.clone())))
        };
        let [first, rest @ ..] = workloads else { return None };
        let found = nearest(first)?;
        rest.iter().all(|w| nearest(w).is_some_and(|other| other.config == found.config)).then_some(found)
    }

    /// The selected workloads; a kernel without any has one without a name.
    fn all(&self) -> Vec<Option<&'a Workload>> {
        let workloads: Vec<_> = self.workloads.iter().map(|w| Some(*w)).collect();
        if workloads.is_empty() { vec![None] } else { workloads }
    }

    /// A configuration as it was recorded; none when it is not one of this selection's.
    pub fn recorded_config(&self, text: &str) -> Option<Config> {
        let written = Config::parse(text).ok()?;
        let config = self.implementation(&written).configured(|t| t.listed(written.get(&t.name)?).cloned())?;
        (config.to_string() == text).then_some(config)
    }
}

#[cfg(test)]
mod tests {
    use crate::{Choice, parse, read_tuned};

    const KERNEL: &str = r#"
[kernel]
name = "k"
[target.cpu]
source = "k.c"
tuned = "tuned.toml"
[tunables]
A = [1, 2, 4]
WIDTH = ["64", "128"]
ONLY = [true]
[default]
A = 1
WIDTH = "64"
[[workloads]]
name = "small"
dims = { N = 8 }
[[workloads]]
name = "large"
dims = { N = 4096 }
"#;

    fn tuned(workload: &str, n: u32, a: u32) -> String {
        let config = format!("{{ A = {a}, WIDTH = \"128\", ONLY = true }}");
        format!("[[tuned]]\nworkload = \"{workload}\"\ndims = {{ N = {n} }}\nconfig = {config}\n")
    }

    /// What a study begins with, given a table and the values of A that the rules allow.
    fn begins(table: &str, allowed: &[&str]) -> Option<String> {
        let (mut spec, _) = parse("k.toml", KERNEL.as_bytes()).unwrap();
        spec.targets[0].tuned.entries = read_tuned("t", table.as_bytes(), &spec.targets[0]).unwrap().0;
        let selection = spec.select(Choice::default()).unwrap();
        let allows = |config: &kiln_core::Config| allowed.contains(&&*config.get("A").unwrap().to_string());
        selection.default_config(&allows).map(|config| config.to_string())
    }

    #[test]
    fn what_was_tuned_for_all_workloads_goes_before_the_files_default() {
        let all = ["1", "2", "4"];
        assert_eq!(begins("", &all).unwrap(), "A=1,WIDTH=64,ONLY=true");
        assert_eq!(begins(&tuned("small", 8, 4), &all).unwrap(), "A=4,WIDTH=128,ONLY=true");
        let apart = tuned("small", 8, 4) + &tuned("large", 4096, 2);
        assert_eq!(begins(&apart, &all).unwrap(), "A=1,WIDTH=64,ONLY=true");
        // What a rule refuses is passed over, and the next in line serves both.
        assert_eq!(begins(&apart, &["1", "2"]).unwrap(), "A=2,WIDTH=128,ONLY=true");
        assert_eq!(begins(&apart, &[]), None);
    }

    #[test]
    fn recorded_values_are_those_of_the_list() {
        let (spec, _) = parse("k.toml", KERNEL.as_bytes()).unwrap();
        let selection = spec.select(Choice::default()).unwrap();
        let config = selection.recorded_config("A=2,WIDTH=64,ONLY=true").unwrap();
        assert_eq!(config.get("WIDTH"), Some(&kiln_core::Value::Str("64".into())));
        for other in ["A=2,WIDTH=64", "A=3,WIDTH=64,ONLY=true", "WIDTH=64,A=2,ONLY=true", "A=2,WIDTH=64,ONLY=true,B=1"]
        {
            assert!(selection.recorded_config(other).is_none(), "{other}");
        }
    }
}
