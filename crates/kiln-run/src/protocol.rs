//! What parent and worker say to each other: one JSON object a line, numbered, versioned in the greeting; with `Map` the
//! shared file itself, as a descriptor. Workers for C, for CUDA and for Python speak the same.
//!
//! A worker with a device has memory of its own there: a mirror of the shared memory, byte for byte at the same offsets,
//! in which calls read and write. `Upload` keeps the shared memory's present bytes on the device as a numbered image, `Lay`
//! copies an image into the mirror, `Fetch` copies the mirror back into the shared memory. So a question is sent once and
//! put to any number of candidates. There may be several sets of arguments, each a mirror of its own behind the first;
//! `Draw` fills all of them with numbers nobody has seen before, and every timed call has one. On a worker without a
//! device calls work in the shared memory itself, and these four are not understood.
//!
//! What foreign code works with on a device is kept by another process, a keeper: that has the mirrors and images, draws and
//! fetches, and lends the mirrors (`Lend`) to the worker that calls, which maps nothing else.

mod compilation;
mod gpu;

use std::fs::File;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::confine::{Confined, Rules};
use crate::memory::arena::Arena;
use crate::memory::handle::Handle;
pub use compilation::{AheadKernel, AheadRefusal, AheadSlot, Compilation, Compiled};
pub use gpu::{Gpu, GpuState};

/// The version both sides must speak.
pub const PROTOCOL: u32 = 12;

/// What the parent asks.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "do", rename_all = "snake_case")]
pub enum Ask {
    /// Keep the whole worker, threads it has and will have, to these processors.
    Pin {
        /// Numbers of processors, as the system counts them.
        cpus: Vec<usize>,
    },
    /// Give up everything that a candidate has no business with. Comes before any of a candidate's code; there is no way
    /// back. A worker with a device opens that first.
    Confine(Rules),
    /// Load what is to be called.
    Load {
        /// The path of a shared library, of a cubin, or of a Python file; empty for a function that does nothing, by which
        /// the cost of everything else is known.
        library: String,
        /// The function's name: of C, one that takes an array of pointers; of a library of host launchers, one that takes
        /// an array of pointers and a stream; of Python, `f(inputs, scalars, outputs)`. Empty for a cubin, whose kernels
        /// are named by the launches.
        symbol: String,
        /// Python only: a keyword argument for each tunable, an object from names to values.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        config: Option<serde_json::Value>,
        /// Python only: whether PyTorch tensors lie on the GPU, and times are taken there.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        device: bool,
    },
    /// Map the shared memory and remember where the arguments lie in it.
    Map {
        /// The shared file. It goes with the line, not in it. None comes where memory is lent.
        #[serde(skip)]
        arena: Handle,
        /// The mirror, where another process keeps it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        lent: Option<Lent>,
        /// The arguments, in order.
        slots: Vec<MappedSlot>,
        /// For a cubin: the launches that make one call, in order.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        launches: Vec<Launch>,
        /// How many sets of arguments there are, each for one timed call. The slots are those of the first.
        #[serde(default = "one", skip_serializing_if = "is_one")]
        sets: u32,
        /// Bytes from one set to the next in the shared memory. A device lays its mirrors of them out by itself.
        #[serde(default)]
        stride: usize,
        /// Stretches of the shared memory that must not be touched, each from its first byte to before its last: whole
        /// pages, which are left out of the mapping where there is no device.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        holes: Vec<(usize, usize)>,
        /// Whether the mirror shall lie elsewhere on the device than before.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        elsewhere: bool,
        /// Numbers of shared files mapped before that are not used any more.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        gone: Vec<u64>,
    },
    /// Keep the shared memory's bytes on the device under this number, in place of what had it.
    Upload {
        /// Any number.
        image: u64,
    },
    /// Copy an image into the mirror. Scalars are those the image holds.
    Lay {
        /// The number it was kept under.
        image: u64,
    },
    /// Fill the sets of arguments with fresh numbers.
    Draw(Drawing),
    /// Copy a set's mirror into the shared memory.
    Fetch {
        /// Which set; calls that are not timed work with set 0.
        #[serde(default, skip_serializing_if = "is_zero")]
        set: u32,
        /// The stretches wanted, each from its first byte to before its last; none for all of it.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        parts: Vec<(usize, usize)>,
    },
    /// Say where the mirror is, so that another process can map it.
    Lend,
    /// Let go of a mirror that was lent: its keeper may move it now.
    Release,
    /// Copy an answer to its output: a call returned it in memory of its own, in another process.
    Adopt {
        /// The set that the call had.
        set: u32,
        /// Where the output begins in it.
        offset: usize,
        /// How long it is.
        bytes: usize,
        /// The answer.
        lies: Lies,
    },
    /// Take these bytes for the scalars at these offsets, where no shared memory holds them.
    Scalars {
        /// Offsets of slots, and the bytes.
        values: Vec<(usize, Vec<u8>)>,
    },
    /// Push everything out of the device's caches.
    Cool,
    /// Say what the device is and how it feels.
    Describe,
    /// Python only: compile the Triton kernels that a function launches, without a device and without a call.
    Compile(Box<Compilation>),
    /// Call the function once, and wait until everything it began has ended.
    Call,
    /// Call the function once with every argument in an allocation of its own, of exactly its size, so that a tool around the
    /// worker sees where each ends, from the shared memory and back to it. Where each lay is said on standard error first.
    CallApart {
        /// On a device, whether outputs and scratch hold nothing before the call, so that a tool sees who reads them first.
        #[serde(default, skip_serializing_if = "is_false")]
        blank: bool,
    },
    /// Call the function once while a profiler around the worker watches, and nothing else that happens here. Python works on
    /// copies of its arguments: profilers save memory and put it back, which is not done to memory of another process.
    CallWatched,
    /// Make ready to call the function on these sets, in order, each once: on a processor. What they hold is not read yet.
    Prepare {
        /// The sets.
        order: Vec<u32>,
    },
    /// Time the calls that were made ready, as one batch. What has to be done besides was done before, so that hardly
    /// anything lies around it.
    Go {
        /// Of an empty function, whether to act as one that returns its answers.
        #[serde(default, skip_serializing_if = "is_false")]
        returned: bool,
        /// Whether answers that calls return are copied to their outputs, on the clock: the parent cannot read them.
        #[serde(default, skip_serializing_if = "is_false")]
        copy: bool,
    },
    /// Time the function: `batches` times `calls` calls in a row. Where there are as many sets of arguments, every call has
    /// its own: the first batch begins with set 0, the next goes on behind it. On a processor
    /// the parent has brought them near; on a device every batch begins with set 0, and with fewer sets than calls they
    /// begin anew.
    Time {
        /// Batches, each timed by itself.
        batches: u32,
        /// Calls in a batch.
        calls: u32,
        /// Whether a device overwrites its second-level cache before every batch, above 0; it then makes no more calls in a
        /// batch than there are sets. On a processor caches are the parent's concern.
        #[serde(default)]
        flush: u64,
        /// On a device, what the sets are filled with before every batch, untimed. The first call of each batch has the
        /// number behind the last one of the batch before.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        draw: Option<Drawing>,
    },
}

fn one() -> u32 {
    1
}

fn is_one(number: &u32) -> bool {
    *number == 1
}

fn is_false(value: &bool) -> bool {
    !*value
}

fn is_zero(number: &u32) -> bool {
    *number == 0
}

impl Ask {
    /// Maps memory for what launches by itself.
    pub fn map(arena: &Arena, slots: Vec<MappedSlot>) -> Ask {
        Ask::Map {
            arena: arena.handle(),
            lent: None,
            slots,
            launches: Vec::new(),
            sets: 1,
            stride: 0,
            holes: Vec::new(),
            elsewhere: false,
            gone: Vec::new(),
        }
    }

    /// Times calls on the sets as they lie, with warm caches.
    pub fn time(batches: u32, calls: u32) -> Ask {
        Ask::Time { batches, calls, flush: 0, draw: None }
    }

    /// What goes with the line.
    pub(crate) fn handle(&self) -> Option<Handle> {
        if let Ask::Map { arena, lent: None, .. } = self { Some(arena.clone()) } else { None }
    }

    /// The same with the file that came with it.
    pub(crate) fn with(mut self, file: Option<File>) -> Ask {
        if let (Ask::Map { arena, .. }, Some(file)) = (&mut self, file) {
            *arena = Handle::of(Arc::new(file));
        }
        self
    }
}

/// A mirror that a process lends to another.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Lent {
    /// What the driver gave out for it, in hex.
    pub handle: String,
    /// Bytes from the beginning of the memory lent to the first set.
    pub offset: usize,
    /// Bytes of one set.
    pub bytes: usize,
    /// Bytes from one set to the next.
    pub stride: usize,
}

/// Where an answer lies that a call on a device returned: in memory that its process gives out.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Lies {
    /// What the driver gave out for the memory, in hex.
    pub handle: String,
    /// Bytes from the beginning of that memory to the answer.
    pub offset: usize,
}

/// Handles of memory, and for each call the numbers of outputs, of handles, and the offsets of answers.
pub type Lying = (Vec<String>, Vec<Vec<(u32, usize, usize)>>);

/// One argument in the shared memory.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct MappedSlot {
    /// The argument's name.
    pub name: String,
    /// Where it begins.
    pub offset: usize,
    /// How long it is.
    pub bytes: usize,
    /// Its elements, as in a kernel file: `f32`, `bf16`, `i64`.
    pub dtype: String,
    /// Its dimensions; none for a scalar.
    pub shape: Vec<usize>,
    /// `in`, `out`, `inout`, `scratch`, `scalar`, `tensormap` or `constant`.
    pub role: String,
    /// Elements from one index to the next, for each dimension; none when they lie one after another.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub strides: Option<Vec<usize>>,
    /// What a `tensormap` describes; it has the described tensor's dtype, shape and strides, and no bytes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tensormap: Option<TensorMap>,
    /// Of an output that calls write in part: where that part begins, and its bytes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub part: Option<(usize, usize)>,
    /// The same as indices: from where to where along each dimension.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub written: Vec<(usize, usize)>,
    /// The variable of a `constant`, which is set before calls and is no parameter of the kernel.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub symbol: Option<String>,
    /// Whether the kernel does not take it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub omitted: bool,
}

/// A TMA descriptor, to be made by the worker.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct TensorMap {
    /// The name of the slot it describes.
    pub tensor: String,
    /// The box copied at a time, outermost dimension first as in the shape. Empty: no descriptor is made, the kernel gets zeros.
    #[serde(rename = "box")]
    pub box_shape: Vec<u32>,
    /// `none`, `32B`, `64B` or `128B`.
    pub swizzle: String,
    /// L2 promotion: `none`, `64B`, `128B` or `256B`.
    pub promotion: String,
}

/// One launch of a kernel.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Launch {
    /// The kernel's symbol in the cubin.
    pub symbol: String,
    /// Blocks along x, y, z.
    pub grid: [u32; 3],
    /// Threads of a block along x, y, z.
    pub block: [u32; 3],
    /// Bytes of dynamic shared memory.
    #[serde(default)]
    pub shared: u32,
    /// Blocks of a cluster along x, y, z; none for no clusters.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cluster: Option<[u32; 3]>,
    /// Whether all blocks must run at once.
    #[serde(default)]
    pub cooperative: bool,
    /// Names of slots filled with zeros before it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub zero: Vec<String>,
}

/// Fresh arguments for sets: an image laid into each, and over it numbers that follow from the seed and the call's number.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Drawing {
    /// The image: what is not drawn is as it says, outputs are as unwritten as there.
    pub image: u64,
    /// What the numbers are drawn under. Never the same twice, so that no call can know what the next one reads.
    pub seed: u64,
    /// The number of the call that set 0 is for; set 1 is for the next.
    pub first: u64,
    /// Sets to fill at least, whether calls are made on them or not: what lies there must not tell how many will be.
    #[serde(default)]
    pub least: u32,
    /// The arguments that are drawn.
    pub fills: Vec<Fill>,
}

/// Numbers for one argument.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Fill {
    /// Where it begins in its set.
    pub offset: usize,
    /// Its elements, as in a slot.
    pub dtype: String,
    /// Its dimensions.
    pub shape: Vec<usize>,
    /// Elements from one index to the next, for each dimension; none when they lie one after another.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub strides: Option<Vec<usize>>,
    /// What is drawn.
    pub numbers: Numbers,
}

/// What numbers are drawn from.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Numbers {
    /// Standard normal.
    Normal,
    /// Evenly between two numbers.
    Real(f64, f64),
    /// Integers: the lowest, and how many there are beyond it.
    Whole(i64, u64),
}

/// A numbered question.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Question {
    pub(crate) id: u64,
    #[serde(flatten)]
    pub(crate) ask: Ask,
}

/// What the worker answers.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Answer {
    /// The worker is there and speaks this version.
    Ready(u32),
    /// Done, nothing to tell.
    Done,
    /// The times that were asked for.
    Times(Timing),
    /// What the device is.
    Device(Box<Gpu>),
    /// How far the worker is confined.
    Confined(Confined),
    /// Where the mirror is.
    Lent(Lent),
    /// What became of a compilation.
    Compiled(Box<Compiled>),
    /// It could not be done; the worker is still there.
    Failed(Failed),
}

/// Why something could not be done.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Failed {
    /// What it was about.
    pub about: About,
    /// What was said of it, in words.
    pub words: String,
}

/// What failed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum About {
    /// A library lacks this symbol.
    Symbol(String),
    /// The driver would not load or launch a kernel.
    Launch,
    /// What ran on the device came to a bad end.
    Running,
    /// The device does not hold this image any more.
    Image,
    /// Anything else: a function raised an error, a question made no sense.
    Other,
}

impl From<String> for Failed {
    fn from(words: String) -> Failed {
        Failed { about: About::Other, words }
    }
}

/// Measured times.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Timing {
    /// Nanoseconds of each batch, all its calls together.
    pub nanoseconds: Vec<u64>,
    /// Calls in a batch.
    pub calls: u32,
    /// From the first batch's start to the last one's end.
    pub wall_nanoseconds: u64,
    /// Spent in between on whatever comes before a batch.
    pub untimed_nanoseconds: u64,
    /// For each batch how often the system gave its processor to somebody else; empty when that is not known.
    #[serde(default)]
    pub preemptions: Vec<u64>,
    /// The device's state just after the last sample, where there is a device that tells.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gpu: Option<GpuState>,
    /// Whether the calls were replayed from a graph, and not launched one by one.
    #[serde(default)]
    pub graph: bool,
    /// Where answers lie that calls returned instead of writing them in place: for each call, the numbers of outputs and
    /// addresses in the worker's memory.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub returned: Vec<Vec<(u32, u64)>>,
    /// On a device, the number of the recorded row that was replayed; 0 where calls were launched one by one.
    #[serde(default)]
    pub row: u32,
    /// On a device, where answers lie that calls returned. None for a recorded row of which that was said before.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lie: Option<Box<Lying>>,
    /// The kernels that graph launches: each name once, in order, as the driver has it, with `[memcpy]` and `[memset]` for
    /// what the driver does itself. Empty where they are not known. Where foreign code runs in the worker, a claim.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub kernels: Vec<String>,
}

/// A numbered answer.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Reply {
    pub(crate) id: u64,
    pub(crate) answer: Answer,
}
