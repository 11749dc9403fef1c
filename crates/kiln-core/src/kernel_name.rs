//! Names of kernels that ran, as the CUDA driver reports them. In: such names. Out: whether one is what a kernel file asks
//! for, and short lists for people. A C++ name is read as far as its namespaces and its own name go; template arguments are
//! left out, so that two instances of one template read the same. A name of any other form stays as it is.
//!
//! Copies and fills that the driver makes by itself are listed as `[memcpy]` and `[memset]`. They are no kernels.

/// Characters of one name in a list.
const LONGEST: usize = 48;
/// Names in a list.
const LISTED: usize = 4;

/// Whether it is a kernel, and not a copy or a fill.
pub fn is_kernel(name: &str) -> bool {
    !name.starts_with('[')
}

/// Whether a kernel has this text in its name, mangled or demangled.
pub fn kernel_matches(name: &str, text: &str) -> bool {
    is_kernel(name) && (name.contains(text) || readable_kernel(name).contains(text))
}

/// A name without C++ mangling and template arguments: `at::native::reduce_kernel`.
pub fn readable_kernel(name: &str) -> String {
    demangled(name).unwrap_or_else(|| name.into())
}

/// Names for one line: without namespaces, each once with the number of its instances, the first few of them.
pub fn kernel_list<S: AsRef<str>>(names: &[S]) -> String {
    let mut counted: Vec<(String, usize)> = Vec::new();
    for name in names {
        let short = short(name.as_ref());
        match counted.iter_mut().find(|(known, _)| *known == short) {
            Some((_, count)) => *count += 1,
            None => counted.push((short, 1)),
        }
    }
    let word = |(name, count): &(String, usize)| match count {
        1 => name.clone(),
        _ => format!("{name} ({count} instances)"),
    };
    let mut words: Vec<String> = counted.iter().take(LISTED).map(word).collect();
    if counted.len() > LISTED {
        words.push(format!("{} more", counted.len() - LISTED));
    }
    words.join(", ")
}

fn short(name: &str) -> String {
    let readable = readable_kernel(name);
    let last = readable.rsplit("::").next().unwrap_or(&readable);
    match last.char_indices().nth(LONGEST) {
        Some((at, _)) => format!("{}...", &last[..at]),
        None => last.into(),
    }
}

/// The parts of a name in the form of the Itanium ABI, up to its template arguments; none for any other form.
fn demangled(name: &str) -> Option<String> {
    let mut rest = name.strip_prefix("_Z")?;
    let nested = rest.strip_prefix('N');
    rest = nested.unwrap_or(rest);
    let mut parts: Vec<&str> = Vec::new();
    loop {
        // Internal linkage.
        rest = rest.strip_prefix('L').unwrap_or(rest);
        if let Some(after) = rest.strip_prefix("St") {
            parts.push("std");
            rest = after;
            continue;
        }
        let digits = rest.len() - rest.trim_start_matches(|c: char| c.is_ascii_digit()).len();
        if digits == 0 {
            break;
        }
        let length: usize = rest[..digits].parse().ok()?;
        let part = rest.get(digits..digits.checked_add(length)?)?;
        rest = &rest[digits + length..];
        // Namespaces without a name have one that only the compiler knows.
        if !part.starts_with("_GLOBAL__N_") {
            parts.push(part);
        }
        if nested.is_none() {
            break;
        }
    }
    (!parts.is_empty()).then(|| parts.join("::"))
}

#[cfg(test)]
mod tests {
    use super::*;

    const ELEMENTWISE: &str = "_ZN2at6native29vectorized_elementwise_kernelILi4ENS0_15exp_kernel_cudaEEEviT0_T1_";
    const OTHER: &str = "_ZN2at6native29vectorized_elementwise_kernelILi4ENS0_15div_kernel_cudaEEEviT0_T1_";

    #[test]
    fn names_are_read_without_mangling() {
        for (name, readable) in [
            (ELEMENTWISE, "at::native::vectorized_elementwise_kernel"),
            ("_Z4axpyPKfPfi", "axpy"),
            ("_ZL4axpyPKfPfi", "axpy"),
            ("_Z6matmulIfLi64EEvPKT_S2_PS0_", "matmul"),
            ("_ZN7cutlass13device_kernelIN5flash3FwdEEEvNT_6ParamsE", "cutlass::device_kernel"),
            ("_ZN57_GLOBAL__N__1f0e5d2c_9_layer_cu_4d4a1b4c_1234_layernorm_a7softmaxEPf", "softmax"),
            ("nvjet_sm90_tst_128x64_64x8_1x2_h_bz_NNT", "nvjet_sm90_tst_128x64_64x8_1x2_h_bz_NNT"),
            ("triton_poi_fused_add_0", "triton_poi_fused_add_0"),
            // Not of this form after all, or cut.
            ("_Z", "_Z"),
            ("_Z99short", "_Z99short"),
            ("_Z18446744073709551615x", "_Z18446744073709551615x"),
            ("_Z3é", "_Z3é"),
            ("", ""),
        ] {
            assert_eq!(readable_kernel(name), readable);
        }
    }

    #[test]
    fn a_kernel_is_asked_for_by_any_part_of_its_name() {
        assert!(kernel_matches(ELEMENTWISE, "vectorized_elementwise"));
        assert!(kernel_matches(ELEMENTWISE, "at::native::"));
        assert!(kernel_matches(ELEMENTWISE, "exp_kernel_cuda"));
        assert!(kernel_matches(ELEMENTWISE, "_ZN2at"));
        assert!(!kernel_matches(ELEMENTWISE, "my_softmax"));
        assert!(kernel_matches("my_softmax_0d1d", "my_softmax"));
        assert!(!kernel_matches("[memcpy]", "mem"));
    }

    #[test]
    fn lists_are_short() {
        assert_eq!(kernel_list(&[ELEMENTWISE, "reduce", OTHER]), "vectorized_elementwise_kernel (2 instances), reduce");
        assert_eq!(kernel_list(&["a", "b", "c", "d", "e", "f", "[memset]"]), "a, b, c, d, 3 more");
        let long = "x".repeat(60);
        assert_eq!(kernel_list(&[long]), format!("{}...", "x".repeat(48)));
        assert_eq!(kernel_list::<&str>(&[]), "");
    }
}
