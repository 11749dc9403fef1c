//! What is shown of a compiler's message: all of it, the command with `-v`, and no progress with `-q`.

use std::path::Path;

use crate::history::{tiny, tune};
use crate::planted::toolkit;
use crate::run::{empty_folder, kiln_in};

/// A kernel whose C has two mistakes, one of them in a header.
fn wrong_twice(name: &str) -> std::path::PathBuf {
    let folder = empty_folder(name);
    assert_eq!(kiln_in(&folder, &["init", "twice"]).code, 0);
    let source = folder.join("twice/twice.c");
    let text = std::fs::read_to_string(&source).unwrap();
    std::fs::write(&source, format!("#include \"more.h\"\nint first = missing_first;\n{text}")).unwrap();
    std::fs::write(folder.join("twice/more.h"), "int second = missing_second;\n").unwrap();
    folder
}

#[test]
fn every_error_of_a_c_compiler_is_shown_and_its_command_on_request() {
    let folder = wrong_twice("compiler_message");
    for line in [vec!["gate", "twice", "--target", "cpu"], vec!["check", "twice", "--target", "cpu"]] {
        let ran = kiln_in(&folder, &line);
        assert_eq!(ran.code, 3, "{}{}", ran.out, ran.err);
        assert!(ran.out.contains("missing_first") && ran.out.contains("missing_second"), "{}", ran.out);
        assert!(ran.out.contains("twice.c:1"), "where it is included from: {}", ran.out);
        assert!(!ran.out.contains("-march=native"), "{}", ran.out);
        let loud = kiln_in(&folder, &[&line[..], &["-v"]].concat());
        assert!(loud.out.contains("command   ") && loud.out.contains(" -O3 -march=native "), "{}", loud.out);
        assert!(loud.out.contains("-DLANES=4") && loud.out.contains(" -o library.so "), "{}", loud.out);
    }
    assert_eq!(kiln_in(&folder, &["-v", "-q", "gate", "twice"]).code, 2);
}

#[test]
fn quiet_leaves_warnings_and_results() {
    let folder = tiny("quiet");
    let ran = tune(&folder, &["--seed", "3"]);
    assert!(ran.err.contains("default    1/1"), "there is no progress to leave out: {}", ran.err);
    let calm = tune(&folder, &["--seed", "3", "-q"]);
    assert!(matches!(calm.code, 0 | 4), "{}", calm.err);
    assert!(calm.err.lines().all(|line| !line.starts_with("note:") && !line.contains("1/1")), "{}", calm.err);
    assert!(calm.out.contains("configurations tried"), "{}", calm.out);
}

/// 240 kB of static shared memory: NVRTC writes the assembler's error behind a zero byte.
const BIG: &str = r#"
extern "C" __global__ void big(const float *x, float *y) {
    __shared__ float tile[61440];
    tile[threadIdx.x] = x[threadIdx.x];
    __syncthreads();
    y[threadIdx.x] = tile[31 - threadIdx.x];
}
"#;

fn big(folder: &Path, compiler: &str) {
    let file = format!(
        "[kernel]\nname = \"big\"\nentry = \"big\"\n[tunables]\nA = [1]\n[default]\nA = 1\n[target.cuda]\nsource = \"big.cu\"\n\
         compile.compiler = \"{compiler}\"\n[[target.cuda.launches]]\ngrid = [\"1\"]\nblock = [\"32\"]\n[[arguments]]\n\
         name = \"x\"\ntype = \"f32[N]\"\nrole = \"in\"\n[[arguments]]\nname = \"y\"\ntype = \"f32[N]\"\nrole = \"out\"\n\
         [[workloads]]\nname = \"w\"\ndims = {{ N = 1024 }}\n"
    );
    std::fs::write(folder.join("kernel.toml"), file).unwrap();
    std::fs::write(folder.join("big.cu"), BIG).unwrap();
}

#[test]
fn the_assemblers_own_error_is_shown_of_both_cuda_compilers() {
    if !toolkit() {
        return;
    }
    let folder = empty_folder("shared_data");
    for compiler in ["nvrtc", "nvcc"] {
        big(&folder, compiler);
        let ran = kiln_in(&folder, &["gate", ".", "--target", "cuda", "--arch", "sm_90a", "--until", "build", "-v"]);
        assert_eq!(ran.code, 3, "{}{}", ran.out, ran.err);
        let measured = ran.out.lines().find(|line| line.contains("measured")).unwrap();
        assert!(measured.contains("uses too much shared data (0x3c000 bytes"), "{compiler}: {}", ran.out);
        assert!(!ran.out.contains("Compile time"), "{compiler}: {}", ran.out);
        let command = ran.out.lines().find(|line| line.contains("command")).unwrap();
        assert!(command.contains(compiler) && command.contains("sm_90a") && command.contains("big.cu"), "{command}");
    }
}
