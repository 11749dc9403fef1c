//! The gates a candidate climbs, cheapest first: one closed list whose names users may rely on.

use std::fmt;

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

macro_rules! gates {
    ($($variant:ident $name:literal $meaning:literal,)*) => {
        /// One rung of the ladder. The order of the variants is the order of the ladder.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum Gate { $(#[doc = $meaning] $variant,)* }

        impl Gate {
            /// Every gate, cheapest first.
            pub const ALL: &'static [Gate] = &[$(Gate::$variant,)*];

            /// The stable identifier shown to users and stored in records.
            pub fn name(self) -> &'static str {
                match self { $(Gate::$variant => $name,)* }
            }

            /// What it means to be refused here, in one line.
            pub fn meaning(self) -> &'static str {
                match self { $(Gate::$variant => $meaning,)* }
            }
        }
    };
}

gates! {
    Constraint "constraint" "a rule named by the kernel file refuses the configuration",
    SmemOverflow "smem_overflow" "more shared memory per block than the device gives",
    LaunchLimits "launch_limits" "grid, block or cluster outside what the device can launch",
    OomRisk "oom_risk" "the buffers would not fit in device memory",
    BuildFailed "build_failed" "the compiler refused the source",
    BuildTimeout "build_timeout" "the compiler did not finish in time",
    Spills "spills" "registers spilled to local memory",
    Occupancy "occupancy" "fewer resident warps than asked for",
    LaunchFailed "launch_failed" "it could not be started, or it failed with an error",
    RuntimeFailed "runtime_failed" "the kernel crashed while running",
    Timeout "timeout" "the kernel did not finish in time",
    HostOom "host_oom" "the candidate took too much host memory",
    WorkerProtocol "worker_protocol" "an answer or its times cannot be trusted",
    UnwrittenOutput "unwritten_output" "part of an output was never written",
    OutOfBounds "out_of_bounds" "a write landed outside its buffer",
    InputModified "input_modified" "an input was changed",
    Nonfinite "nonfinite" "an output holds NaN or infinity where the reference does not",
    Numerics "numerics" "an output differs from the reference by more than the tolerance",
    Nondeterministic "nondeterministic" "two runs on the same input differ",
    BelowRoofline "below_roofline" "faster than the hardware allows, so not believed",
    ForbiddenCall "forbidden_call" "the kernel made a system call that candidates may not make",
    WrongKernel "wrong_kernel" "other kernels ran than the file names",
}

impl Gate {
    /// Whether it refuses before anything runs.
    pub fn is_of_the_build(self) -> bool {
        let place = |gate: Gate| Gate::ALL.iter().position(|one| *one == gate);
        place(self) < place(Gate::LaunchFailed)
    }
}

impl fmt::Display for Gate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl Serialize for Gate {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.name())
    }
}

/// By name; a name that is not in the list, such as one from a newer kiln, is an error.
impl<'de> Deserialize<'de> for Gate {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct ByName;
        impl de::Visitor<'_> for ByName {
            type Value = Gate;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("the name of a gate")
            }
            fn visit_str<E: de::Error>(self, name: &str) -> Result<Gate, E> {
                let gate = Gate::ALL.iter().find(|g| g.name() == name);
                gate.copied().ok_or_else(|| E::custom(format_args!("there is no gate `{name}`")))
            }
        }
        deserializer.deserialize_str(ByName)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_closed_list_is_in_ladder_order_and_without_doubles() {
        assert!(Gate::ALL.windows(2).all(|w| w[0] < w[1]));
        let mut names: Vec<_> = Gate::ALL.iter().map(|g| g.name()).collect();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), Gate::ALL.len());
    }

    #[test]
    fn every_gate_reads_back_by_its_name() {
        use serde::de::value::{Error, StrDeserializer};
        let read = |name| Gate::deserialize(StrDeserializer::<Error>::new(name));
        for gate in Gate::ALL {
            assert_eq!(read(gate.name()), Ok(*gate));
        }
        assert_eq!(read("Numerics").unwrap_err().to_string(), "there is no gate `Numerics`");
    }
}
