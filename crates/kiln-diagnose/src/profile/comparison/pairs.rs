//! Which kernel of one page belongs to which of another: by the whole name, then by the name without parameters and template
//! arguments. Where nothing matches and one page has a single kernel, it is paired with the one that took the other page's time.

use std::collections::HashMap;

use super::super::name;
use super::super::page::{Kernel, Pages};

/// Kernels of two pages, paired.
#[derive(Debug, Default)]
pub struct Pairs<'a> {
    /// Pairs, the one with the largest difference in time first.
    pub all: Vec<(&'a Kernel, &'a Kernel)>,
    /// Whether names did not match, and kernels were paired by their time.
    pub by_time: bool,
    /// Kernels of the first page without a partner.
    pub here: Vec<&'a str>,
    /// Kernels of the other.
    pub against: Vec<&'a str>,
}

/// Pairs the kernels of two pages.
pub fn pairs<'a>(here: &'a Pages, against: &'a Pages) -> Pairs<'a> {
    let mut ours: Vec<&Kernel> = here.kernels.iter().collect();
    let mut theirs: Vec<&Kernel> = against.kernels.iter().collect();
    let mut all = matched(&mut ours, &mut theirs, |kernel| &kernel.name);
    all.extend(matched(&mut ours, &mut theirs, |kernel| name::base(&kernel.name)));
    let alone = here.kernels.len() == 1 || against.kernels.len() == 1;
    let by_time = all.is_empty() && alone;
    if let (true, Some(one), Some(other)) = (by_time, here.dominant(), against.dominant()) {
        all.push((one, other));
        ours.retain(|kernel| kernel.name != one.name);
        theirs.retain(|kernel| kernel.name != other.name);
    }
    let apart = |(one, other): &(&Kernel, &Kernel)| (one.total_ns - other.total_ns).abs();
    all.sort_by(|one, other| apart(other).total_cmp(&apart(one)));
    let names = |rest: Vec<&'a Kernel>| rest.into_iter().map(|kernel| kernel.name.as_str()).collect();
    Pairs { all, by_time, here: names(ours), against: names(theirs) }
}

/// Takes out of both lists what has the same name and is the only one of it.
fn matched<'a>(
    ours: &mut Vec<&'a Kernel>,
    theirs: &mut Vec<&'a Kernel>,
    name: impl Fn(&'a Kernel) -> &'a str,
) -> Vec<(&'a Kernel, &'a Kernel)> {
    let count = |kernels: &[&'a Kernel]| {
        let mut all: HashMap<&str, usize> = HashMap::new();
        kernels.iter().for_each(|kernel| *all.entry(name(kernel)).or_default() += 1);
        all
    };
    let (here, there) = (count(ours), count(theirs));
    let single = |own: &'a Kernel| {
        let name = name(own);
        !name.is_empty() && here.get(name) == Some(&1) && there.get(name) == Some(&1)
    };
    let partners: HashMap<&str, &'a Kernel> =
        theirs.iter().filter(|own| single(own)).map(|own| (name(own), *own)).collect();
    let found = ours.iter().filter(|own| single(own)).filter_map(|own| Some((*own, *partners.get(name(own))?)));
    let found = found.collect();
    ours.retain(|own| !single(own));
    theirs.retain(|own| !single(own));
    found
}
