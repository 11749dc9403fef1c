//! GPUs: this kiln has no backend for them yet, and says so plainly.

use kiln_show::Finding;

const ID: &str = "gpu";
const WHY: &str = "kernels of the cuda target need one, and a kiln that can run them";

/// Looks for a device or its tools; asks no driver.
pub(crate) fn look() -> Finding {
    let device = std::path::Path::new("/dev/nvidia0").exists();
    let path = std::env::var_os("PATH").unwrap_or_default();
    let tool = std::env::split_paths(&path).any(|folder| folder.join("nvidia-smi").is_file());
    let seen = match (device, tool) {
        (true, _) => "an NVIDIA GPU was seen",
        (false, true) => "nvidia-smi is installed, but no NVIDIA GPU was seen",
        (false, false) => "no NVIDIA GPU was seen",
    };
    Finding::ok(ID, WHY, format!("{seen}; this version of kiln runs the cpu target only"))
}
