//! Launches of a cubin's kernels. In: launches as the parent describes them, the cubin, the slots. Out: launches that can be
//! put on a stream again and again. Refuses what the driver refuses: a missing symbol, arguments that are not the
//! kernel's, more shared memory than a block can have.

use std::ffi::c_void;

use cudarc::driver::sys::{
    self, CUdeviceptr, CUfunction, CUfunction_attribute, CUlaunchAttribute, CUlaunchAttributeID, CUlaunchConfig,
    CUresult, CUstream,
};

use super::buffer;
use super::driver::{Trouble, check, check_launch};
use super::module::Cubin;
use crate::protocol::{Launch, MappedSlot};

/// What every kernel may have without asking, static and dynamic together.
const PLAIN_SHARED: u32 = 48 << 10;
/// Blocks of a cluster that every device can do.
const PORTABLE_CLUSTER: u32 = 8;

/// A launch that is ready.
pub(super) struct Ready {
    function: CUfunction,
    launch: Launch,
    /// What is filled with zeros before it: where in a set, and how long.
    zero: Vec<(usize, usize)>,
}

/// Gets a call's launches ready. `sizes` are those of the arguments, `limit` the shared memory a block may have.
pub(super) fn prepare(
    cubin: &Cubin,
    launches: &[Launch],
    slots: &[MappedSlot],
    sizes: &[usize],
    limit: u32,
) -> Result<Vec<Ready>, Trouble> {
    let one = |launch: &Launch| {
        let function = cubin.function(&launch.symbol)?;
        fits(&launch.symbol, &parameters(function), slots, sizes)?;
        // The last launch of a kernel must not take back what an earlier one needs.
        let most = launches.iter().filter(|l| l.symbol == launch.symbol).map(|l| l.shared).max();
        allow_shared(function, &launch.symbol, most.unwrap_or_default(), limit)?;
        allow_cluster(function, launch)?;
        Ok(Ready { function, launch: launch.clone(), zero: zeroed(launch, slots)? })
    };
    launches.iter().map(one).collect()
}

impl Ready {
    /// What it puts on a stream.
    pub(super) fn steps(&self) -> usize {
        1 + self.zero.len()
    }

    /// Puts it on a stream. `place` says where what lies at an offset of the shared memory is on the device.
    pub(super) fn enqueue(
        &self,
        pointers: &mut [*mut c_void],
        place: impl Fn(usize) -> CUdeviceptr,
        stream: CUstream,
    ) -> Result<(), Trouble> {
        for (offset, bytes) in &self.zero {
            buffer::zero(place(*offset), *bytes, stream)?;
        }
        let Launch { grid, block, shared, .. } = self.launch;
        let mut attributes = attributes(&self.launch);
        let config = CUlaunchConfig {
            gridDimX: grid[0],
            gridDimY: grid[1],
            gridDimZ: grid[2],
            blockDimX: block[0],
            blockDimY: block[1],
            blockDimZ: block[2],
            sharedMemBytes: shared,
            hStream: stream,
            attrs: attributes.as_mut_ptr(),
            numAttrs: attributes.len() as u32,
        };
        // SAFETY: configuration and attributes outlive the call. There are at least as many pointers as the kernel has
        // parameters, each to a value of the parameter's size, which `prepare` has seen to; the driver copies them.
        let code =
            unsafe { sys::cuLaunchKernelEx(&config, self.function, pointers.as_mut_ptr(), std::ptr::null_mut()) };
        check_launch("cuLaunchKernelEx", &self.launch.symbol, code)
    }
}

fn attributes(launch: &Launch) -> Vec<CUlaunchAttribute> {
    // SAFETY: all zeros are an attribute that is ignored, with a value of numbers.
    let plain: CUlaunchAttribute = unsafe { std::mem::zeroed() };
    let mut list = Vec::new();
    if let Some([x, y, z]) = launch.cluster {
        let mut cluster = plain;
        cluster.id = CUlaunchAttributeID::CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION;
        cluster.value.clusterDim.x = x;
        cluster.value.clusterDim.y = y;
        cluster.value.clusterDim.z = z;
        list.push(cluster);
    }
    if launch.cooperative {
        let mut cooperative = plain;
        cooperative.id = CUlaunchAttributeID::CU_LAUNCH_ATTRIBUTE_COOPERATIVE;
        cooperative.value.cooperative = 1;
        list.push(cooperative);
    }
    list
}

/// The bytes of each of a kernel's parameters.
fn parameters(function: CUfunction) -> Vec<usize> {
    let size = |index| {
        let (mut offset, mut size) = (0, 0);
        // SAFETY: the function is loaded; two numbers are filled in. An index behind the last parameter is an error.
        let code = unsafe { sys::cuFuncGetParamInfo(function, index, &mut offset, &mut size) };
        (code == CUresult::CUDA_SUCCESS).then_some(size)
    };
    (0..).map_while(size).collect()
}

/// Whether the arguments are what a kernel takes. It may take fewer: not every launch needs all of them.
fn fits(symbol: &str, parameters: &[usize], slots: &[MappedSlot], sizes: &[usize]) -> Result<(), Trouble> {
    let (takes, given) = (parameters.len(), sizes.len());
    if takes > given {
        return Err(format!("cuModuleGetFunction: `{symbol}` takes {takes} arguments, {given} are given").into());
    }
    let passed = slots.iter().filter(|slot| slot.role != "constant" && !slot.omitted);
    for ((takes, given), slot) in parameters.iter().zip(sizes).zip(passed) {
        if takes != given {
            let name = &slot.name;
            let words = format!("`{symbol}` takes {takes} bytes for argument `{name}`, {given} are given");
            return Err(format!("cuModuleGetFunction: {words}").into());
        }
    }
    Ok(())
}

fn allow_shared(function: CUfunction, symbol: &str, dynamic: u32, limit: u32) -> Result<(), Trouble> {
    let fixed = of_function(function, CUfunction_attribute::CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES)?;
    if dynamic == 0 || fixed.saturating_add(dynamic) <= PLAIN_SHARED {
        return Ok(());
    }
    let attribute = CUfunction_attribute::CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES;
    set(function, attribute, dynamic).map_err(|mut trouble| {
        let most = limit.saturating_sub(fixed);
        let words = format!("`{symbol}` wants {dynamic} bytes of dynamic shared memory, there are {most}");
        trouble.failed.words = format!("{}: {words}", trouble.failed.words);
        trouble
    })
}

fn allow_cluster(function: CUfunction, launch: &Launch) -> Result<(), Trouble> {
    let blocks = launch.cluster.map_or(1, |[x, y, z]| x.saturating_mul(y).saturating_mul(z));
    if blocks <= PORTABLE_CLUSTER {
        return Ok(());
    }
    let attribute = CUfunction_attribute::CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED;
    set(function, attribute, 1).map_err(|mut trouble| {
        trouble.failed.words =
            format!("{}: `{}` wants clusters of {blocks} blocks", trouble.failed.words, launch.symbol);
        trouble
    })
}

fn of_function(function: CUfunction, attribute: CUfunction_attribute) -> Result<u32, Trouble> {
    let mut value = 0;
    // SAFETY: the function is loaded; one number is filled in.
    check("cuFuncGetAttribute", unsafe { sys::cuFuncGetAttribute(&mut value, attribute, function) })?;
    Ok(u32::try_from(value).unwrap_or_default())
}

fn set(function: CUfunction, attribute: CUfunction_attribute, value: u32) -> Result<(), Trouble> {
    let value = i32::try_from(value).unwrap_or(i32::MAX);
    // SAFETY: the function is loaded; takes no memory.
    check("cuFuncSetAttribute", unsafe { sys::cuFuncSetAttribute(function, attribute, value) })
}

fn zeroed(launch: &Launch, slots: &[MappedSlot]) -> Result<Vec<(usize, usize)>, Trouble> {
    let one = |name: &String| {
        let slot = slots.iter().find(|slot| slot.name == *name);
        let slot = slot.ok_or_else(|| format!("`{}`: there is no `{name}` to fill with zeros", launch.symbol))?;
        Ok((slot.offset, slot.bytes))
    };
    launch.zero.iter().map(one).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn slots() -> Vec<MappedSlot> {
        let slot = |name: &str, offset, bytes| MappedSlot { name: name.into(), offset, bytes, ..MappedSlot::default() };
        vec![slot("x", 64, 400), slot("n", 512, 4)]
    }

    #[test]
    fn arguments_are_held_against_what_the_kernel_takes() {
        let words = |parameters: &[usize]| fits("k", parameters, &slots(), &[8, 4]).err().map(|t| t.failed.words);
        assert_eq!(words(&[8, 4]), None);
        // A second kernel may need only the first ones.
        assert_eq!(words(&[8]), None);
        assert!(words(&[8, 4, 4]).is_some_and(|w| w.contains("takes 3 arguments, 2 are given")));
        assert!(words(&[8, 8]).is_some_and(|w| w.contains("takes 8 bytes for argument `n`, 4 are given")));
    }

    #[test]
    fn attributes_are_those_the_launch_asks_for() {
        assert!(attributes(&Launch::default()).is_empty());
        let launch = Launch { cluster: Some([2, 1, 1]), cooperative: true, ..Launch::default() };
        let ids: Vec<_> = attributes(&launch).iter().map(|a| a.id).collect();
        let cluster = CUlaunchAttributeID::CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION;
        assert_eq!(ids, [cluster, CUlaunchAttributeID::CU_LAUNCH_ATTRIBUTE_COOPERATIVE]);
        // SAFETY: it was written as the dimensions of a cluster.
        let dimensions = unsafe { attributes(&launch)[0].value.clusterDim };
        assert_eq!((dimensions.x, dimensions.y, dimensions.z), (2, 1, 1));
    }

    #[test]
    fn slots_to_be_zeroed_are_found_by_name() {
        let launch = |name: &str| Launch { zero: vec![name.into()], ..Launch::default() };
        assert_eq!(zeroed(&launch("x"), &slots()), Ok(vec![(64, 400)]));
        assert!(zeroed(&launch("y"), &slots()).is_err_and(|t| t.failed.words.contains("`y`")));
    }
}
