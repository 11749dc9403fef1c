//! What the compiler said about a kernel. In: a log of `-Xptxas -v`, alone or within other output. Out: registers, spills and shared
//! memory of each kernel, found by the name that ncu uses. Refuses nothing.

use super::name;

/// What a kernel needs, as ptxas has it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Resources {
    /// The mangled name.
    pub symbol: String,
    /// Registers per thread.
    pub registers: u64,
    /// Bytes of local memory per thread: arrays and spilled registers.
    pub stack_bytes: u64,
    /// Bytes that are written when registers are spilled.
    pub spill_stores: u64,
    /// Bytes that are read back.
    pub spill_loads: u64,
    /// Static shared memory per block.
    pub shared_bytes: u64,
}

/// Every kernel of a log.
pub fn resources(log: &str) -> Vec<Resources> {
    let mut found: Vec<Resources> = Vec::new();
    for line in log.lines() {
        if let Some(rest) = line.split("Compiling entry function '").nth(1) {
            let symbol = rest.split('\'').next().unwrap_or_default().to_owned();
            found.push(Resources { symbol, ..Resources::default() });
            continue;
        }
        let Some(last) = found.last_mut() else { continue };
        // Functions that are not inlined have properties of their own.
        if line.contains("Function properties for ") && !line.contains(&last.symbol) {
            found.push(Resources::default());
            continue;
        }
        let before = |words: &str| {
            let text = &line[..line.find(words)?];
            text.trim_end().rsplit(|c: char| !c.is_ascii_digit()).next()?.parse().ok()
        };
        let mut set = |place: fn(&mut Resources) -> &mut u64, words: &str| {
            if let Some(value) = before(words) {
                *place(last) = value;
            }
        };
        set(|own| &mut own.registers, " registers");
        set(|own| &mut own.stack_bytes, " bytes stack frame");
        set(|own| &mut own.spill_stores, " bytes spill stores");
        set(|own| &mut own.spill_loads, " bytes spill loads");
        set(|own| &mut own.shared_bytes, " bytes smem");
    }
    found.retain(|own| !own.symbol.is_empty());
    found
}

/// The entry of a kernel that ncu names `space::name<int>(float *)`.
pub fn of_kernel<'a>(all: &'a [Resources], kernel: &str) -> Option<&'a Resources> {
    let base = base_name(kernel);
    let mangled = format!("{}{base}", base.len());
    let by = |same: &dyn Fn(&str) -> bool| all.iter().find(|own| same(&own.symbol));
    by(&|symbol| symbol == base).or_else(|| by(&|symbol| symbol.contains(&mangled)))
}

/// A kernel's name without return type, namespaces, template arguments and parameters.
pub fn base_name(kernel: &str) -> &str {
    name::base(kernel)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const LOG: &str = "ptxas info    : 0 bytes gmem\n\
        ptxas info    : Compiling entry function '_Z7recur32PKfPf' for 'sm_90'\n\
        ptxas info    : Function properties for _Z7recur32PKfPf\n    \
        24 bytes stack frame, 16 bytes spill stores, 20 bytes spill loads\n\
        ptxas info    : Used 32 registers, used 1 barriers, 16896 bytes smem\n\
        ptxas info    : Compiling entry function '_Z8init_f32Pfmj' for 'sm_90'\n\
        ptxas info    : Function properties for _Z8init_f32Pfmj\n    \
        0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads\n\
        ptxas info    : Used 14 registers, used 0 barriers\n";

    #[test]
    fn a_kernels_resources_are_found_by_ncus_name() {
        let all = resources(LOG);
        let own = of_kernel(&all, "void deep::recur32<float>(const float *, float *)").unwrap();
        assert_eq!((own.registers, own.stack_bytes, own.spill_stores, own.spill_loads), (32, 24, 16, 20));
        assert_eq!(own.shared_bytes, 16896);
        assert_eq!(of_kernel(&all, "init_f32(float *, unsigned long, unsigned int)").unwrap().registers, 14);
        assert_eq!(of_kernel(&all, "other()"), None);
    }

    proptest! {
        #[test]
        fn nothing_panics(log in "(ptxas info : |Compiling entry function '|Function properties for |[0-9]{0,30}| registers| bytes smem|\\n|'|é){0,40}", kernel in ".{0,20}") {
            let _ = of_kernel(&resources(&log), &kernel);
        }
    }
}
