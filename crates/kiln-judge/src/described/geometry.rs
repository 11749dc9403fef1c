//! A kernel's launches with everything evaluated. In: a selection, a workload and a configuration. Out: the kernel, blocks,
//! threads and bytes of shared memory of each launch, and the boxes of descriptors. Refuses, with the place in the kernel
//! file, expressions that fail and sizes a launch cannot have.

use kiln_core::{Config, Report, Workload};
use kiln_spec::{Formula, Launch, Selection, instance};

use crate::described::evaluate::Quantities;
use crate::described::instance::entry;

/// One launch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Geometry {
    /// The kernel, as the file writes it, with values for the names in braces.
    pub entry: String,
    /// Blocks along x, y, z.
    pub grid: [u32; 3],
    /// Threads along x, y, z.
    pub block: [u32; 3],
    /// Bytes of dynamic shared memory.
    pub shared: u32,
    /// Blocks of a cluster along x, y, z.
    pub cluster: Option<[u32; 3]>,
    /// Whether all blocks must run at once.
    pub cooperative: bool,
    /// Scratch that is zero before it.
    pub zero: Vec<String>,
}

impl Geometry {
    /// Threads of a block.
    pub fn threads(&self) -> u32 {
        self.block.iter().fold(1, |product: u32, size| product.saturating_mul(*size))
    }
}

/// The launches of one call, in order.
pub fn geometry(
    selection: &Selection<'_>,
    workload: Option<&Workload>,
    config: &Config,
) -> Result<Vec<Geometry>, Report> {
    let quantities = Quantities::new(selection, workload, Some(config));
    let implementation = selection.implementation(config);
    let launches = implementation.launches.iter().enumerate();
    launches
        .map(|(number, launch)| {
            let entry = entry(selection, implementation, number, launch)?;
            one(&quantities, launch, config.fill(&instance(entry, workload)))
        })
        .collect()
}

fn one(quantities: &Quantities<'_>, launch: &Launch, entry: String) -> Result<Geometry, Report> {
    let shared =
        launch.shared.as_ref().map(|formula| number(quantities, formula, "dynamic shared memory")).transpose()?;
    let cluster = (!launch.cluster.is_empty()).then(|| axes(quantities, &launch.cluster, "a side of the cluster"));
    Ok(Geometry {
        entry,
        grid: axes(quantities, &launch.grid, "a side of the grid")?,
        block: axes(quantities, &launch.block, "a side of the block")?,
        shared: shared.unwrap_or(0),
        cluster: cluster.transpose()?,
        cooperative: launch.cooperative,
        zero: launch.zero.clone(),
    })
}

/// Up to three sides; those left out are 1.
fn axes(quantities: &Quantities<'_>, formulas: &[Formula], what: &str) -> Result<[u32; 3], Report> {
    let mut axes = [1; 3];
    for (axis, formula) in axes.iter_mut().zip(formulas) {
        *axis = number(quantities, formula, what)?;
    }
    Ok(axes)
}

fn number(quantities: &Quantities<'_>, formula: &Formula, what: &str) -> Result<u32, Report> {
    let size = quantities.sizes(std::slice::from_ref(formula), what)?.first().copied().unwrap_or(0);
    u32::try_from(size).map_err(|_| {
        let report = Report::error(format!("{what} is {size}"));
        quantities.at_first(report, std::slice::from_ref(formula)).label("expected a number of 32 bits")
    })
}

/// The occupancy that the file asks for, as a share of the warps there can be; none when any will do.
pub fn least_occupancy(
    selection: &Selection<'_>,
    workload: Option<&Workload>,
    config: &Config,
) -> Result<Option<f64>, Report> {
    let Some(asked) = &selection.spec.gates.occupancy else { return Ok(None) };
    Quantities::new(selection, workload, Some(config)).share(&asked.least, "the least occupancy").map(Some)
}

/// The boxes of the descriptors that a configuration's kernels take: each argument's name and the box copied at a time, outermost first; no side at all
/// where `when` says that this shape has no descriptor.
pub fn boxes(
    selection: &Selection<'_>,
    workload: Option<&Workload>,
    config: &Config,
) -> Result<Vec<(String, Vec<u32>)>, Report> {
    let quantities = Quantities::new(selection, workload, Some(config));
    let taken = selection.spec.arguments.iter().filter(|argument| selection.passes(config, &argument.name));
    let described = taken.filter_map(|a| Some((a, a.tensormap.as_ref()?)));
    described
        .map(|(argument, map)| {
            if let Some(when) = &map.when
                && !quantities.truth(when, &format!("when of {}", argument.name))?
            {
                return Ok((argument.name.to_string(), Vec::new()));
            }
            let sides =
                map.box_shape.iter().map(|f| number(&quantities, f, &format!("a side of {}'s box", argument.name)));
            Ok((argument.name.to_string(), sides.collect::<Result<_, _>>()?))
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use kiln_spec::Choice;

    const FILE: &str = "[kernel]\nname = \"k\"\n[tunables]\nBLOCK = [16, 32]\n[target.cuda]\nsource = \"k.cu\"\n\
        [[target.cuda.launches]]\ngrid = \"N\"\nblock = \"BLOCK\"\n\
        [[arguments]]\nname = \"x\"\ntype = \"bf16[N, K]\"\nrole = \"in\"\n\
        [[arguments]]\nname = \"always\"\nrole = \"tensormap\"\ntensor = \"x\"\nbox = [\"BLOCK\", 64]\n\
        [[arguments]]\nname = \"at_times\"\nrole = \"tensormap\"\ntensor = \"x\"\nbox = [8, \"BLOCK\"]\nwhen = \"K % 8 == 0\"\n\
        [[workloads]]\nname = \"even\"\ndims = { N = 4, K = 16 }\n[[workloads]]\nname = \"odd\"\ndims = { N = 4, K = 17 }\n";

    #[test]
    fn shapes_that_a_descriptor_is_not_for_have_no_box() {
        let (spec, _) = kiln_spec::parse("kernel.toml", FILE.as_bytes()).unwrap();
        let (all, config) = (spec.select(Choice::default()).unwrap(), Config::parse("BLOCK=32").unwrap());
        let of = |at: usize| boxes(&all, spec.workloads.get(at), &config).unwrap();
        assert_eq!(of(0), [("always".into(), vec![32, 64]), ("at_times".into(), vec![8, 32])]);
        assert_eq!(of(1), [("always".into(), vec![32, 64]), ("at_times".into(), vec![])]);
    }
}
