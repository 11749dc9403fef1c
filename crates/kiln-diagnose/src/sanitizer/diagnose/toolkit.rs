//! Code that comes with the toolkit: a finding points to the caller instead. Paths may be cut to the file's name, so that headers
//! are known by name too, and functions by their namespace.

use crate::sanitizer::Place;
use crate::source::last_part;

const FOLDERS: [&str; 10] = [
    "-linux/include/",
    "/cuda/include/",
    "/nvidia/cu",
    "/cooperative_groups/",
    "/cccl/",
    "/libcudacxx/",
    "/cuda/std/",
    "/cub/",
    "/thrust/",
    "NVIDIA GPU Computing Toolkit",
];
const HEADERS: [&str; 20] = [
    "cooperative_groups.h",
    "cuda_awbarrier",
    "cuda_bf16.h",
    "cuda_fp16.h",
    "cuda_fp4.h",
    "cuda_fp6.h",
    "cuda_fp8.h",
    "cuda_pipeline",
    "device_atomic_functions.h",
    "device_double_functions.h",
    "device_functions.h",
    "math_functions.h",
    "mma.h",
    "sm_20_",
    "sm_30_",
    "sm_32_",
    "sm_35_",
    "sm_60_",
    "sm_61_",
    "texture_fetch_functions.h",
];
const NAMESPACES: [&str; 5] = ["cooperative_groups::", "cuda::", "nvcuda::", "cub::", "thrust::"];

/// Whether a place is in the toolkit's own code. Names that begin with two underscores are reserved for it.
pub(super) fn has(place: &Place) -> bool {
    let file = place.file.as_deref().unwrap_or_default();
    let name = last_part(file);
    let function = place.function.as_str();
    FOLDERS.iter().any(|part| file.contains(part))
        || HEADERS.iter().any(|header| name.starts_with(header))
        || NAMESPACES.iter().any(|space| function.starts_with(space))
        || function.starts_with("__")
}
