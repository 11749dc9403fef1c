//! PyTorch and Triton, asked in a process of their own: importing them takes seconds, and may crash or hang. In: the
//! interpreter, and the GPUs. Out: a finding for each. Not having them is no fault; having them and not seeing the GPU is.

use std::process::Command;
use std::time::Duration;

use crate::doctor::Finding;
use kiln_run::{Card, Python};
use serde_json::Value;

use crate::doctor::program::ask;

const TORCH: &str = "torch";
const TORCH_WHY: &str = "baselines in PyTorch are timed against kernels on the same GPU";
const TRITON: &str = "triton";
const TRITON_WHY: &str = "kernels written in Triton need it; nothing else does";
const PATIENCE: Duration = Duration::from_secs(60);
/// A driver that is too old, a build for the processor and a GPU that is hidden all look alike from the outside; what
/// `init` complains of tells them apart.
const PROBE: &str = "
import sys
sys.path[:] = [p for p in sys.path if p]
import importlib.metadata, importlib.util, json, warnings
warnings.simplefilter('ignore')
import torch
available = torch.cuda.is_available()
why = None
if not available:
    try:
        torch.cuda.init()
    except Exception as error:
        lines = str(error).strip().splitlines()
        why = lines[0] if lines else type(error).__name__
try:
    torch.zeros(1).numpy()
    numpy = True
except Exception:
    numpy = False
print(json.dumps({
    'version': str(torch.__version__),
    'cuda': torch.version.cuda,
    'available': available,
    'why': why,
    'archs': torch.cuda.get_arch_list() if available else [],
    'cxx11': bool(torch.compiled_with_cxx11_abi()),
    'numpy': numpy,
}))
";
const TRITON_PROBE: &str = "
import sys
sys.path[:] = [p for p in sys.path if p]
import importlib.metadata, importlib.util
if importlib.util.find_spec('triton'):
    print(importlib.metadata.version('triton'))
";

/// Both, of an interpreter if there is one.
pub(crate) fn look(python: Option<&Python>, cards: &[Card]) -> [Finding; 2] {
    let run = |python: &Python, script: &str| {
        let mut command = Command::new(&python.interpreter);
        command.args(["-B", "-c", script]);
        ask(command, PATIENCE)
    };
    let torch = python.filter(|python| python.torch.is_some()).map(|python| run(python, PROBE));
    let triton = python.and_then(|python| run(python, TRITON_PROBE).ok());
    let triton = triton.map(|version| version.trim().to_string()).filter(|version| !version.is_empty());
    [judge(torch, cards), Finding::ok(TRITON, TRITON_WHY, triton.unwrap_or("not installed".into()))]
}

fn judge(probed: Option<Result<String, String>>, cards: &[Card]) -> Finding {
    let words = match probed {
        None => return Finding::ok(TORCH, TORCH_WHY, "not installed: baselines in PyTorch are skipped"),
        Some(Err(why)) => {
            let fix = "reinstall it; `python3 -c 'import torch'` shows more";
            return Finding::warn(TORCH, TORCH_WHY, format!("it cannot be imported: {why}"), fix);
        }
        Some(Ok(words)) => words,
    };
    // Packages may print at import.
    let Some(found) = words.lines().last().and_then(|line| serde_json::from_str::<Value>(line).ok()) else {
        return Finding::warn(TORCH, TORCH_WHY, "it does not say what it is", "reinstall it");
    };
    let text = |key: &str| found[key].as_str();
    let cuda = text("cuda").map_or("for the processor only".into(), |cuda| format!("for CUDA {cuda}"));
    let abi = if found["cxx11"] == true { "C++11 ABI" } else { "ABI from before C++11" };
    let what = format!("{} {cuda}, {abi}", text("version").unwrap_or("of unknown version"));
    let warn = |words: String, fix: String| Finding::warn(TORCH, TORCH_WHY, format!("{what}, {words}"), fix);
    if found["numpy"] == false {
        return warn(
            "and it cannot hand arrays to NumPy".into(),
            "install a NumPy that this PyTorch was built for: pip install -U numpy torch".into(),
        );
    }
    let Some(card) = cards.first() else { return Finding::ok(TORCH, TORCH_WHY, what) };
    let (major, minor) = card.cuda;
    let install = format!("install a build for CUDA {major}.{minor} or earlier: see pytorch.org/get-started");
    if found["available"] != true {
        let why = text("why").unwrap_or("it does not say why");
        return warn(format!("does not see the GPU: {why}"), install);
    }
    let archs: Vec<&str> = found["archs"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
    if !archs.is_empty() && !runs_on(&archs, card.capability) {
        let (major, minor) = card.capability;
        return warn(format!("has no code for compute capability {major}.{minor}"), install);
    }
    Finding::ok(TORCH, TORCH_WHY, format!("{what}, sees the GPU"))
}

/// Whether code for one of these runs there: of the same major version and no newer, or assembled by the driver.
fn runs_on(archs: &[&str], (major, minor): (u32, u32)) -> bool {
    archs.iter().any(|arch| {
        let (kind, digits) = arch.split_once('_').unwrap_or_default();
        let digits = digits.trim_end_matches(|c: char| c.is_ascii_alphabetic());
        let Some((of_major, of_minor)) = digits.parse::<u32>().ok().map(|n| (n / 10, n % 10)) else { return false };
        match kind {
            "sm" => of_major == major && of_minor <= minor,
            _ => (of_major, of_minor) <= (major, minor),
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::doctor::Health;
    use crate::doctor::gpu::h200;

    fn probed(json: &str, cards: &[Card]) -> Finding {
        judge(Some(Ok(format!("a greeting\n{json}\n"))), cards)
    }

    #[test]
    fn a_torch_that_sees_the_gpu_is_well() {
        let json = r#"{"version":"2.11.0+cu130","cuda":"13.0","available":true,"why":null,"archs":["sm_80","sm_90"],"cxx11":true,"numpy":true}"#;
        let found = probed(json, &[h200(0, "GPU-1")]);
        assert_eq!(found.what, "2.11.0+cu130 for CUDA 13.0, C++11 ABI, sees the GPU");
        assert_eq!((found.state, found.fix), (Health::Ok, None));
        let other = probed(json, &[Card { capability: (10, 0), ..h200(0, "GPU-1") }]);
        assert!(other.what.ends_with("has no code for compute capability 10.0"), "{}", other.what);
    }

    #[test]
    fn a_torch_that_does_not_see_the_gpu_says_why() {
        let json = r#"{"version":"2.11.0","cuda":null,"available":false,"why":"Torch not compiled with CUDA enabled","archs":[],"cxx11":true,"numpy":true}"#;
        let found = probed(json, &[h200(0, "GPU-1")]);
        assert!(found.state == Health::Warn && found.what.contains("does not see the GPU: Torch not compiled"));
        assert!(found.fix.unwrap().contains("CUDA 13.0 or earlier"));
        // Without a GPU there is nothing to see.
        assert_eq!(probed(json, &[]).what, "2.11.0 for the processor only, C++11 ABI");
        let numpy = probed(&json.replace(r#""numpy":true"#, r#""numpy":false"#), &[]);
        assert!(numpy.state == Health::Warn && numpy.what.contains("NumPy"));
    }

    #[test]
    fn what_is_missing_or_broken_is_told_apart() {
        assert_eq!(judge(None, &[h200(0, "GPU-1")]).state, Health::Ok);
        let broken = judge(Some(Err("ImportError: libcudart.so.13".into())), &[]);
        assert!(broken.state == Health::Warn && broken.what.contains("libcudart.so.13"));
        assert_eq!(judge(Some(Ok("hello".into())), &[]).state, Health::Warn);
    }

    #[test]
    fn code_runs_on_its_own_major_version() {
        assert!(runs_on(&["sm_80"], (8, 9)) && runs_on(&["sm_90a"], (9, 0)) && runs_on(&["sm_120"], (12, 0)));
        assert!(!runs_on(&["sm_89"], (8, 6)) && !runs_on(&["sm_80"], (9, 0)) && !runs_on(&["odd"], (9, 0)));
        assert!(runs_on(&["compute_80"], (9, 0)) && !runs_on(&["compute_90"], (8, 0)));
    }
}
