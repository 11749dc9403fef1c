//! Every file of the package, in memory. In: a plan. Out: paths below the folder with their contents.

use camino::Utf8PathBuf;
use kiln_spec::TargetKind;

use crate::failure::Failure;
use crate::operation::export::sources::{Sources, fixed, sources};
use crate::operation::export::{Plan, header, launcher, python, recipe, table, trial};

type Files = Vec<(Utf8PathBuf, Vec<u8>)>;

/// All files.
pub(super) fn package(plan: &Plan<'_>) -> Result<Files, Failure> {
    let name = &plan.interface.name;
    let mut files: Files = vec![
        text("README.md", recipe::readme(plan)),
        text("pyproject.toml", recipe::pyproject(plan)),
        text("kiln_wheel.py", recipe::backend(plan)),
        text(&format!("{name}/__init__.py"), python::module(plan)),
        text(&format!("{name}/table.json"), format!("{:#}\n", table::table(plan)?)),
    ];
    files.extend(
        python::runtime(plan.target.kind).into_iter().map(|(file, own)| text(&format!("{name}/{file}"), own.into())),
    );
    files.extend(trial::trial(plan)?);
    match plan.target.kind {
        TargetKind::Python => files.extend(python_sources(plan)?),
        kind => files.extend(native(plan, kind)?),
    }
    Ok(files)
}

fn text(path: &str, content: String) -> (Utf8PathBuf, Vec<u8>) {
    (path.into(), content.into_bytes())
}

/// Sources, binaries, the header and the recipe of what is compiled.
fn native(plan: &Plan<'_>, kind: TargetKind) -> Result<Files, Failure> {
    let (name, sources) = (&plan.interface.name, sources(plan)?);
    let mut files = vec![
        text(&format!("include/{name}.h"), header::header(plan)),
        text("Makefile", recipe::makefile(plan, &sources)),
    ];
    if kind == TargetKind::Cuda {
        files.push(text(&format!("src/{name}.cpp"), launcher::launcher(plan)?));
        files.push(text(&format!("src/{name}_cubins.S"), launcher::cubins(plan)));
        files.push(text("src/kiln_launch.hpp", include_str!("native/kiln_launch.hpp").into()));
    }
    files.extend(compiled(plan, &sources)?);
    files.extend(sources.files.into_iter().map(|(path, bytes)| (Utf8PathBuf::from("src").join(path), bytes)));
    Ok(files)
}

/// Each binary with the source it is made from.
fn compiled(plan: &Plan<'_>, sources: &Sources) -> Result<Files, Failure> {
    let (name, mut files) = (&plan.interface.name, Vec::new());
    for (number, binary) in plan.binaries.iter().enumerate() {
        let (Some(request), Some(product), Some(file)) = (&binary.request, &binary.product, plan.product_name(number))
        else {
            continue;
        };
        let own = format!("src/{}", recipe::source_name(plan, number, sources));
        files.push(text(&own, fixed(plan, binary, request, sources)));
        if !request.shim.is_empty() {
            files.push(text(&format!("src/{name}_{number}_call.c"), request.shim.clone()));
        }
        files.push((format!("{name}/{file}").into(), fs_err::read(product)?));
    }
    Ok(files)
}

/// The Python files of the kernel: the one it is called in, and those the file names as sources.
fn python_sources(plan: &Plan<'_>) -> Result<Files, Failure> {
    let mut names: Vec<String> = Vec::new();
    for part in plan.parts() {
        let (file, _) = plan.python_entry(part)?;
        for name in std::iter::once(&file).chain(&part.sources) {
            if !names.contains(name) {
                names.push(name.clone());
            }
        }
    }
    let copy = |name: &String| -> Result<(Utf8PathBuf, Vec<u8>), Failure> {
        let to = Utf8PathBuf::from(format!("{}/source", plan.interface.name)).join(name);
        Ok((to, fs_err::read(plan.sources.join(name))?))
    };
    names.iter().map(copy).collect()
}
