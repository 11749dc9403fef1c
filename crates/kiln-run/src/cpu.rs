//! The worker's side of the CPU backend: loads a library, maps the shared memory, calls and times the function it is told
//! to. Runs in a process of its own; whatever the function does, it does here.

use std::ffi::c_void;
use std::io;

use libloading::os::unix::{Library, RTLD_LOCAL, RTLD_NOW, Symbol};
use memmap2::MmapRaw;

use crate::cold::Cold;
use crate::handle::Handle;
use crate::pin::pin;
use crate::protocol::{Answer, Ask, Copy, Slot, Timing};
use crate::serve::serve;
use crate::stopwatch::{Plan, measure};

/// The generated function of a built library.
type Entry = unsafe extern "C" fn(*mut *mut c_void);

#[derive(Default)]
struct Backend {
    /// Never closed: the function pointer points into it.
    library: Option<Library>,
    entry: Option<Entry>,
    /// Raw, for the function holds pointers into it while this side puts memory back.
    arena: Option<MmapRaw>,
    offsets: Vec<usize>,
    cold: Cold,
}

/// Answers questions on stdin until it is closed.
pub fn serve_cpu() -> io::Result<()> {
    let mut backend = Backend::default();
    serve(io::stdout(), |ask| backend.answer(ask))
}

impl Backend {
    fn answer(&mut self, ask: Ask) -> Answer {
        let done = |result: Result<(), String>| result.map_or_else(Answer::Failed, |()| Answer::Done);
        match ask {
            Ask::Pin { cpus } => done(pin(&cpus)),
            Ask::Confine(_) => Answer::Done,
            Ask::Load { library, symbol, .. } => done(self.load(&library, &symbol)),
            Ask::Map { arena, slots, .. } => done(self.map(&arena, &slots)),
            Ask::Call => done(self.pointers().map(|(entry, mut pointers)| call(entry, &mut pointers))),
            Ask::Time { samples, calls, restore, flush } => {
                self.time(&Plan { samples, calls }, &restore, flush).map_or_else(Answer::Failed, Answer::Times)
            }
            Ask::Upload { .. } | Ask::Lay { .. } | Ask::Fetch { .. } | Ask::Describe => {
                Answer::Failed("no device here".into())
            }
        }
    }

    fn load(&mut self, path: &str, symbol: &str) -> Result<(), String> {
        // Every symbol is looked up now: one that is missing is named here, and does not end the process in a call.
        // SAFETY: loading runs the library's initialisers, foreign code that may do anything. That is the purpose of this
        // process, which holds nothing of value and is thrown away when it misbehaves.
        let library = unsafe { Library::open(Some(path), RTLD_NOW | RTLD_LOCAL) }.map_err(|e| words(path, &e))?;
        // SAFETY: the library was built with the generated function of exactly this type; the pointer is kept only as
        // long as the library, which is never closed.
        let found: Result<Symbol<Entry>, _> = unsafe { library.get(symbol.as_bytes()) };
        self.entry = Some(*found.map_err(|e| words(path, &e))?);
        // One loaded earlier may have threads that still run its code.
        if let Some(earlier) = self.library.replace(library) {
            std::mem::forget(earlier);
        }
        Ok(())
    }

    fn map(&mut self, arena: &Handle, slots: &[Slot]) -> Result<(), String> {
        let map = MmapRaw::map_raw(arena.file()?).map_err(|e| format!("mapping shared memory: {e}"))?;
        for Slot { name, offset, bytes, .. } in slots {
            within(&format!("`{name}`"), *offset, *bytes, map.len())?;
        }
        self.arena = Some(map);
        self.offsets = slots.iter().map(|slot| slot.offset).collect();
        Ok(())
    }

    /// The function and fresh pointers to its arguments.
    fn pointers(&self) -> Result<(Entry, Vec<*mut c_void>), String> {
        let entry = self.entry.ok_or("no library is loaded")?;
        let arena = self.arena.as_ref().ok_or("no memory is mapped")?;
        let base = arena.as_mut_ptr();
        // Offsets were checked when the memory was mapped.
        let pointers = self.offsets.iter().map(|offset| base.wrapping_add(*offset).cast()).collect();
        Ok((entry, pointers))
    }

    fn time(&mut self, plan: &Plan, restore: &[Copy], flush: u64) -> Result<Timing, String> {
        let (entry, mut pointers) = self.pointers()?;
        if !restore.is_empty() && plan.calls != 1 {
            return Err(format!("{} calls in a sample, but memory is put back before every call", plan.calls));
        }
        let Backend { arena: Some(arena), cold, .. } = self else { return Err("no memory is mapped".into()) };
        for Copy { from, to, bytes } in restore {
            within("what is put back", *from, *bytes, arena.len())?;
            within("what is put back", *to, *bytes, arena.len())?;
        }
        let prepare = || {
            for Copy { from, to, bytes } in restore {
                let base = arena.as_mut_ptr();
                // SAFETY: both ranges were found to lie within the mapping; `copy` allows them to overlap.
                unsafe { std::ptr::copy(base.add(*from), base.add(*to), *bytes) };
            }
            match flush {
                0 => Ok(()),
                _ => cold.walk(flush),
            }
        };
        measure(plan, prepare, || call(entry, &mut pointers))
    }
}

/// What the loader says lies one level below what the error says.
pub(crate) fn words(path: &str, error: &libloading::Error) -> String {
    std::error::Error::source(error).map_or_else(|| format!("{path}: {error}"), |source| source.to_string())
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
