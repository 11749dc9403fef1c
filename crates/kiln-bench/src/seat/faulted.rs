//! What went wrong on a device. In: a worker's complaint. Out: whether something that was running is to blame.

/// Whether a device's complaint is about something that was running, and not about its launch.
pub(super) fn faulted(why: &str) -> bool {
    const AT_LAUNCH: [&str; 5] = ["cuLaunch", "cuFunc", "cuModule", "cuTensorMap", "cuOccupancy"];
    let at_launch = AT_LAUNCH.iter().any(|call| why.starts_with(call));
    (why.starts_with("cu") && !at_launch) || why.contains("CUDA error") || why.contains("illegal memory access")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_ran_into_trouble_is_told_from_what_could_not_be_launched() {
        assert!(faulted("cuCtxSynchronize: CUDA_ERROR_ILLEGAL_ADDRESS"));
        assert!(faulted("k.py:3: RuntimeError: CUDA error: misaligned address"));
        assert!(!faulted("cuLaunchKernelEx: CUDA_ERROR_INVALID_VALUE"));
        assert!(!faulted("cuModuleLoadData: CUDA_ERROR_NO_BINARY_FOR_GPU"));
        assert!(!faulted("k.py:3: TypeError: softmax() got an unexpected keyword"));
    }
}
