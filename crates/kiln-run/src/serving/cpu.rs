//! The worker's side of the CPU backend: loads a library, maps the shared memory, calls and times the function it is told
//! to. Runs in a process of its own; whatever the function does, it does here.

use std::ffi::c_void;
use std::io;

use libloading::os::unix::{Library, RTLD_LOCAL, RTLD_NOW, Symbol};

use crate::memory::handle::Handle;
use crate::memory::mapping::Mapping;
use crate::processes::pin::pin;
use crate::processes::preemption::Waits;
use crate::protocol::{About, Answer, Ask, Failed, MappedSlot, Timing};
use crate::serving::apart::Apart;
use crate::serving::serve::{flush_c_streams, private_stdout, serve};
use crate::serving::stopwatch::{Plan, measure};

/// Bytes of a page, at least.
const PAGE: usize = 4096;

/// The generated function of a built library.
type Entry = unsafe extern "C" fn(*mut *mut c_void);

#[derive(Default)]
struct Backend {
    /// Never closed: the function pointer points into it.
    library: Option<Library>,
    entry: Option<Entry>,
    memory: Option<Memory>,
    waits: Option<Waits>,
}

/// Shared memory and where the arguments lie in it.
struct Memory {
    /// Raw, for the function holds pointers into it.
    mapping: Mapping,
    slots: Vec<MappedSlot>,
    sets: usize,
    stride: usize,
    /// The sets of calls that were made ready.
    order: Vec<u32>,
    /// To the arguments of every call of a question about times.
    pointers: Vec<*mut c_void>,
}

/// Answers questions on stdin until it is closed.
pub fn serve_cpu() -> io::Result<()> {
    let mut backend = Backend::default();
    serve(private_stdout()?, |ask| backend.answer(ask))
}

impl Backend {
    fn answer(&mut self, ask: Ask) -> Answer {
        let failed = |words: String| Answer::Failed(words.into());
        let done = |result: Result<(), String>| result.map_or_else(failed, |()| Answer::Done);
        match ask {
            Ask::Pin { cpus } => done(pin(&cpus)),
            Ask::Confine(_) => Answer::Done,
            Ask::Load { library, symbol, .. } => {
                self.load(&library, &symbol).map_or_else(Answer::Failed, |()| Answer::Done)
            }
            Ask::Map { arena, slots, sets, stride, holes, .. } => done(self.map(&arena, slots, sets, stride, &holes)),
            Ask::Call | Ask::CallWatched => done(self.call()),
            Ask::CallApart { .. } => done(self.call_apart()),
            Ask::Prepare { order } => done(self.prepare(&order)),
            Ask::Go { .. } => self.go().map_or_else(failed, Answer::Times),
            Ask::Time { batches, calls, draw: None, .. } => {
                self.time(&Plan { batches, calls }).map_or_else(failed, Answer::Times)
            }
            Ask::Upload { .. }
            | Ask::Lay { .. }
            | Ask::Draw(_)
            | Ask::Fetch { .. }
            | Ask::Time { draw: Some(_), .. }
            | Ask::Lend
            | Ask::Release
            | Ask::Adopt { .. }
            | Ask::Scalars { .. }
            | Ask::Cool
            | Ask::Describe => failed("no device here".into()),
            Ask::Compile(_) => failed("nothing is compiled here".into()),
        }
    }

    fn load(&mut self, path: &str, symbol: &str) -> Result<(), Failed> {
        if path.is_empty() {
            self.entry = Some(nothing);
            return Ok(());
        }
        // Every symbol is looked up now: one that is missing is named here, and does not end the process in a call.
        // SAFETY: loading runs the library's initialisers, foreign code that may do anything. That is the purpose of this
        // process, which holds nothing of value and is thrown away when it misbehaves.
        let library = unsafe { Library::open(Some(path), RTLD_NOW | RTLD_LOCAL) }.map_err(|e| unloadable(path, &e))?;
        // SAFETY: the library was built with the generated function of exactly this type; the pointer is kept only as
        // long as the library, which is never closed.
        let found: Result<Symbol<Entry>, _> = unsafe { library.get(symbol.as_bytes()) };
        self.entry = Some(*found.map_err(|e| unloadable(path, &e))?);
        // One loaded earlier may have threads that still run its code.
        if let Some(earlier) = self.library.replace(library) {
            std::mem::forget(earlier);
        }
        Ok(())
    }

    fn map(
        &mut self,
        arena: &Handle,
        slots: Vec<MappedSlot>,
        sets: u32,
        stride: usize,
        holes: &[(usize, usize)],
    ) -> Result<(), String> {
        let mapping = Mapping::new(arena.file()?, holes).map_err(|e| format!("mapping shared memory: {e}"))?;
        let sets = sets.max(1) as usize;
        let reach = (sets - 1).saturating_mul(stride);
        for MappedSlot { name, offset, bytes, .. } in &slots {
            within(&format!("`{name}`"), offset.saturating_add(reach), *bytes, mapping.len())?;
        }
        self.memory = Some(Memory { mapping, slots, sets, stride, order: Vec::new(), pointers: Vec::new() });
        Ok(())
    }

    /// The function and memory to call it with.
    fn ready(&self) -> Result<(Entry, &Memory), String> {
        let entry = self.entry.ok_or("no library is loaded")?;
        Ok((entry, self.memory.as_ref().ok_or("no memory is mapped")?))
    }

    fn call(&self) -> Result<(), String> {
        let (entry, memory) = self.ready()?;
        call(entry, &mut memory.pointers(0).collect::<Vec<_>>());
        flush_c_streams();
        Ok(())
    }

    /// The same with every argument in an allocation of its own.
    fn call_apart(&self) -> Result<(), String> {
        let (entry, memory) = self.ready()?;
        let apart = Apart::new(&memory.slots, memory.base(0))?;
        call(entry, &mut apart.pointers());
        flush_c_streams();
        apart.bring_back();
        Ok(())
    }

    /// Makes ready to call the function on these sets.
    fn prepare(&mut self, order: &[u32]) -> Result<(), String> {
        let memory = self.memory.as_mut().ok_or("no memory is mapped")?;
        memory.renew(order)?;
        memory.order = order.to_vec();
        self.waits.get_or_insert_with(Waits::open);
        Ok(())
    }

    /// Times the calls that were made ready. They find their arguments where the parent has left them: in caches, or in
    /// memory alone.
    fn go(&mut self) -> Result<Timing, String> {
        let (entry, memory) = self.ready()?;
        let (Some(waits), each) = (&self.waits, memory.slots.len()) else { return Err("nothing is made ready".into()) };
        let calls = memory.pointers.len() / each.max(1);
        let mut own = vec![std::ptr::null_mut(); each];
        let batch = || call_all(entry, &memory.pointers, &mut own);
        let look_up = |_| memory.order.iter().for_each(|set| memory.look_up(*set as usize));
        Ok(measure(&Plan { batches: 1, calls: calls as u32 }, waits, look_up, batch))
    }

    /// Times calls on one set after another; with fewer sets than calls they begin anew.
    fn time(&mut self, plan: &Plan) -> Result<Timing, String> {
        let entry = self.entry.ok_or("no library is loaded")?;
        let memory = self.memory.as_mut().ok_or("no memory is mapped")?;
        let order: Vec<u32> = (0..memory.sets as u32).collect();
        memory.renew(&order)?;
        let (calls, each, mut looked_up, mut called) = (plan.calls as usize, memory.slots.len(), 0, 0);
        let memory = &*memory;
        let prepare = |_| {
            (looked_up..looked_up + calls).for_each(|call| memory.look_up(call));
            looked_up += calls;
        };
        let mut own = vec![std::ptr::null_mut(); each];
        let batch = || {
            // With as many sets as calls nothing is divided on the clock.
            match memory.pointers.get(called * each..(called + calls) * each) {
                Some(all) if each > 0 => call_all(entry, all, &mut own),
                _ => {
                    (called..called + calls).for_each(|number| {
                        let first = number % memory.sets * each;
                        own.copy_from_slice(&memory.pointers[first..first + each]);
                        call(entry, &mut own);
                    });
                    flush_c_streams();
                }
            }
            called += calls;
        };
        Ok(measure(plan, self.waits.get_or_insert_with(Waits::open), prepare, batch))
    }
}

/// Calls it with one group of pointers after another; what it prints comes out with that.
fn call_all(entry: Entry, pointers: &[*mut c_void], own: &mut [*mut c_void]) {
    pointers.chunks_exact(own.len().max(1)).for_each(|pointers| {
        // Every call is given a copy: the pointers of the next ones are nobody's business.
        own.copy_from_slice(pointers);
        call(entry, own);
    });
    flush_c_streams();
}

impl Memory {
    /// Where a set begins. With fewer sets than calls they begin anew; where they lie was checked when memory was mapped.
    fn base(&self, set: usize) -> *mut u8 {
        self.mapping.start().wrapping_add(set % self.sets * self.stride)
    }

    /// Pointers to the arguments of a set.
    fn pointers(&self, set: usize) -> impl Iterator<Item = *mut c_void> + '_ {
        let base = self.base(set);
        self.slots.iter().map(move |slot| base.wrapping_add(slot.offset).cast())
    }

    /// Makes the pointers of all calls, in this order. Refuses sets that are not there.
    fn renew(&mut self, order: &[u32]) -> Result<(), String> {
        if let Some(set) = order.iter().find(|set| **set as usize >= self.sets) {
            return Err(format!("set {set} is wanted, there are {}", self.sets));
        }
        let mut pointers = std::mem::take(&mut self.pointers);
        pointers.clear();
        order.iter().for_each(|set| pointers.extend(self.pointers(*set as usize)));
        self.pointers = pointers;
        Ok(())
    }

    /// Lets the processor find out where a set's pages are, which it knows for each process anew.
    fn look_up(&self, set: usize) {
        let base = self.base(set);
        for slot in &self.slots {
            for at in (0..slot.bytes).step_by(PAGE) {
                // SAFETY: every slot of every set lies within the mapping, as was found when it was made.
                unsafe { base.wrapping_add(slot.offset + at).read_volatile() };
            }
        }
    }
}

/// What is called where only the cost of everything around is asked for.
unsafe extern "C" fn nothing(arguments: *mut *mut c_void) {
    std::hint::black_box(arguments);
}

/// What the loader says lies one level below what the error says.
pub(crate) fn unloadable(path: &str, error: &libloading::Error) -> Failed {
    let words =
        std::error::Error::source(error).map_or_else(|| format!("{path}: {error}"), |source| source.to_string());
    // The loader has no other way to name it.
    let about = match words.split_once("undefined symbol: ") {
        Some((_, symbol)) => About::Symbol(symbol.split_whitespace().next().unwrap_or_default().into()),
        None => About::Other,
    };
    Failed { about, words }
}

/// Whether a range lies in the shared memory.
pub(crate) fn within(what: &str, offset: usize, bytes: usize, length: usize) -> Result<(), String> {
    match offset.checked_add(bytes) {
        Some(end) if end <= length => Ok(()),
        _ => Err(format!("{what}: {bytes} bytes at offset {offset} lie outside the {length} shared bytes")),
    }
}

fn call(entry: Entry, pointers: &mut [*mut c_void]) {
    // SAFETY: the generated function reads as many pointers as the kernel has arguments, and was given that many. What the
    // kernel then does with them is the very thing under test: this process exists to bear it.
    unsafe { entry(pointers.as_mut_ptr()) }
}
