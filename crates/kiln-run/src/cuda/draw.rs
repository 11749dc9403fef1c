//! Fresh numbers for the timed calls, and sums of what images hold. In: a drawing, the image it begins with, and sets on the
//! device. Out: the sets filled, by kiln's own kernels (draw.cu, as the text draw.ptx, which the driver compiles for whatever
//! device there is). A kernel on the device sees the numbers, and neither the seed nor the code that makes more of them.

use std::ffi::{CString, c_void};
use std::hash::{BuildHasher, RandomState};

use cudarc::driver::sys::{self, CUdeviceptr, CUfunction, CUmodule};

use super::buffer::{self, Buffer};
use super::context::Context;
use super::driver::{Trouble, check};
use super::filling::{Filling, fillings};
use super::memory::Shared;
use crate::protocol::Drawing;

/// The kernels, with the byte that ends a text.
const TEXT: &str = concat!(include_str!("draw.ptx"), "\0");
/// Threads of a block, and blocks for each set at most.
const THREADS: u64 = 256;
const MOST_BLOCKS: u64 = 2048;

/// The kernels, ready. They stay so until the process ends.
pub(super) struct Generator {
    draw: CUfunction,
    spread: CUfunction,
    sum: CUfunction,
    /// Where sums are added up, and what they are made under.
    total: Buffer,
    key: u64,
}

impl Generator {
    pub(super) fn load() -> Result<Generator, Trouble> {
        let mut module = std::ptr::null_mut();
        // SAFETY: the text ends with a null byte; one handle is filled in and kept until the process ends.
        check("cuModuleLoadData", unsafe { sys::cuModuleLoadData(&mut module, TEXT.as_ptr().cast()) })?;
        Ok(Generator {
            draw: function(module, "kiln_draw")?,
            spread: function(module, "kiln_spread")?,
            sum: function(module, "kiln_sum")?,
            total: Buffer::new(size_of::<u64>())?,
            key: RandomState::new().hash_one("images"),
        })
    }

    /// A number that stands for all of an image.
    pub(super) fn sum(&self, image: &Buffer, context: &Context) -> Result<u64, Trouble> {
        let (mut from, mut words, mut key) = (image.at(0), (image.len() / size_of::<u64>()) as u64, self.key);
        let mut total = self.total.at(0);
        buffer::zero(total, self.total.len(), context.stream)?;
        let mut arguments: [*mut c_void; 4] =
            [&mut from, &mut words, &mut key, &mut total].map(|word| std::ptr::from_mut(word).cast());
        launch(self.sum, words, 1, &mut arguments, context)?;
        context.synchronise()?;
        let bytes = buffer::read(total, size_of::<u64>())?;
        Ok(bytes.first_chunk().map_or(0, |bytes| u64::from_ne_bytes(*bytes)))
    }

    /// Fills the first `sets` sets, for calls from number `first` on, and does not wait.
    pub(super) fn fill(
        &self,
        drawing: &Drawing,
        image: CUdeviceptr,
        shared: &Shared,
        (sets, first): (u32, u64),
        context: &Context,
    ) -> Result<(), Trouble> {
        let (fillings, rest) = fillings(&drawing.fills, shared.len())?;
        let (mut base, mut stride, mut image) = (shared.at(0, 0), shared.stride() as u64, image);
        for stretch in rest {
            let (mut start, mut end) = (stretch.start as u64, stretch.end as u64);
            let mut arguments: [*mut c_void; 5] =
                [&mut base, &mut stride, &mut image, &mut start, &mut end].map(|word| std::ptr::from_mut(word).cast());
            launch(self.spread, (end - start).div_ceil(16), sets, &mut arguments, context)?;
        }
        for filling in fillings.iter().filter(|filling| filling.elements > 0) {
            let mut filling: Filling = *filling;
            filling.base += base;
            (filling.stride, filling.first, filling.seed) = (stride, first, drawing.seed);
            let mut arguments: [*mut c_void; 1] = [std::ptr::from_mut(&mut filling).cast()];
            launch(self.draw, filling.elements.div_ceil(4), sets, &mut arguments, context)?;
        }
        Ok(())
    }
}

/// One launch, with a thread for each of so many pieces of work of each set.
fn launch(
    function: CUfunction,
    pieces: u64,
    sets: u32,
    arguments: &mut [*mut c_void],
    context: &Context,
) -> Result<(), Trouble> {
    let blocks = pieces.div_ceil(THREADS).clamp(1, MOST_BLOCKS) as u32;
    // SAFETY: the arguments point to values of the kernel's parameters, which the driver copies; the kernels write within
    // the sets or the sum alone, whose size the caller has seen to.
    let code = unsafe {
        sys::cuLaunchKernel(
            function,
            blocks,
            sets,
            1,
            THREADS as u32,
            1,
            1,
            0,
            context.stream,
            arguments.as_mut_ptr(),
            std::ptr::null_mut(),
        )
    };
    check("cuLaunchKernel", code)
}

fn function(module: CUmodule, name: &str) -> Result<CUfunction, Trouble> {
    let symbol = CString::new(name).map_err(|e| format!("cuModuleGetFunction: `{name}`: {e}"))?;
    let mut function = std::ptr::null_mut();
    // SAFETY: the module is loaded, the name ends with a null byte, one handle is filled in.
    check("cuModuleGetFunction", unsafe { sys::cuModuleGetFunction(&mut function, module, symbol.as_ptr()) })?;
    Ok(function)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_text_has_all_kernels_and_ends() {
        for name in ["kiln_draw", "kiln_spread", "kiln_sum"] {
            assert!(TEXT.contains(&format!(".entry {name}(")), "{name}");
        }
        assert_eq!(TEXT.bytes().filter(|byte| *byte == 0).count(), 1);
        assert!(TEXT.contains("kiln_draw_param_0[184]"), "the kernel's Fill is not draw.rs's");
    }
}
