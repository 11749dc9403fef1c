//! The worker's side of the CPU backend: loads a library, maps the shared memory, calls and times the function it is told
//! to. Runs in a process of its own; whatever the function does, it does here.

use std::ffi::c_void;
use std::fs::OpenOptions;
use std::io::{self, BufRead, Write};
use std::time::Instant;

use libloading::{Library, Symbol};
use memmap2::MmapMut;

use crate::protocol::{Answer, Ask, PROTOCOL, Question, Reply, Timing};

/// The generated function of a built library.
type Entry = unsafe extern "C" fn(*mut *mut c_void);

#[derive(Default)]
struct Backend {
    /// Never closed: the function pointer points into it.
    library: Option<Library>,
    entry: Option<Entry>,
    arena: Option<MmapMut>,
    arguments: Vec<usize>,
}

/// Answers questions on stdin until it is closed.
pub fn serve_cpu() -> io::Result<()> {
    let mut backend = Backend::default();
    say(&Reply { id: 0, answer: Answer::Ready(PROTOCOL) })?;
    for line in io::stdin().lock().lines() {
        let reply = match serde_json::from_str::<Question>(&line?) {
            Ok(question) => Reply { id: question.id, answer: backend.answer(question.ask) },
            Err(e) => Reply { id: 0, answer: Answer::Failed(format!("not a question: {e}")) },
        };
        flush_c_streams();
        say(&reply)?;
    }
    Ok(())
}

fn say(reply: &Reply) -> io::Result<()> {
    let mut line = serde_json::to_vec(reply)?;
    line.push(b'\n');
    let mut out = io::stdout().lock();
    out.write_all(&line)?;
    out.flush()
}

/// What the function printed must come out before the answer, not at some later call.
fn flush_c_streams() {
    // SAFETY: fflush with a null stream flushes all of C's output streams; it takes no other memory of ours.
    unsafe {
        libc::fflush(std::ptr::null_mut());
    }
}

impl Backend {
    fn answer(&mut self, ask: Ask) -> Answer {
        let done = |result: Result<(), String>| result.map_or_else(Answer::Failed, |()| Answer::Done);
        match ask {
            Ask::Load { library, symbol } => done(self.load(&library, &symbol)),
            Ask::Map { arena, arguments } => done(self.map(&arena, arguments)),
            Ask::Call => done(self.pointers().map(|(entry, mut pointers)| call(entry, &mut pointers))),
            Ask::Time { samples, calls } => match self.time(samples, calls) {
                Ok(timing) => Answer::Times(timing),
                Err(why) => Answer::Failed(why),
            },
        }
    }

    fn load(&mut self, path: &str, symbol: &str) -> Result<(), String> {
        // SAFETY: loading runs the library's initialisers, foreign code that may do anything. That is the purpose of this
        // process, which holds nothing of value and is thrown away when it misbehaves.
        let library = unsafe { Library::new(path) }.map_err(|e| format!("{path}: {e}"))?;
        // SAFETY: the library was built with the generated function of exactly this type; the pointer is kept only as
        // long as the library, which is never closed.
        let found: Result<Symbol<'_, Entry>, _> = unsafe { library.get(symbol.as_bytes()) };
        self.entry = Some(*found.map_err(|e| format!("{path}: {e}"))?);
        self.library = Some(library);
        Ok(())
    }

    fn map(&mut self, path: &str, arguments: Vec<usize>) -> Result<(), String> {
        let file = OpenOptions::new().read(true).write(true).open(path).map_err(|e| format!("{path}: {e}"))?;
        // SAFETY: the parent made this file to be shared and both sides treat it as plain bytes.
        let map = unsafe { MmapMut::map_mut(&file) }.map_err(|e| format!("{path}: {e}"))?;
        if let Some(outside) = arguments.iter().find(|offset| **offset >= map.len()) {
            return Err(format!("offset {outside} lies outside the {} shared bytes", map.len()));
        }
        self.arena = Some(map);
        self.arguments = arguments;
        Ok(())
    }

    /// The function and fresh pointers to its arguments.
    fn pointers(&mut self) -> Result<(Entry, Vec<*mut c_void>), String> {
        let entry = self.entry.ok_or("no library is loaded")?;
        let arena = self.arena.as_mut().ok_or("no memory is mapped")?;
        let base = arena.as_mut_ptr();
        // Offsets were checked when the memory was mapped.
        let pointers = self.arguments.iter().map(|offset| base.wrapping_add(*offset).cast()).collect();
        Ok((entry, pointers))
    }

    fn time(&mut self, samples: u32, calls: u32) -> Result<Timing, String> {
        let (entry, mut pointers) = self.pointers()?;
        let mut nanoseconds = Vec::with_capacity(samples as usize);
        for _ in 0..samples {
            let start = Instant::now();
            for _ in 0..calls {
                call(entry, &mut pointers);
            }
            nanoseconds.push(start.elapsed().as_nanos() as u64);
        }
        Ok(Timing { nanoseconds, calls })
    }
}

fn call(entry: Entry, pointers: &mut [*mut c_void]) {
    // SAFETY: the generated function reads as many pointers as the kernel has arguments, and was given that many. What the
    // kernel then does with them is the very thing under test: this process exists to bear it.
    unsafe { entry(pointers.as_mut_ptr()) }
}
