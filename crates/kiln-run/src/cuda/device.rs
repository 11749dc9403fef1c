//! All that one device holds for this worker, and what can be done with it: load, map, send, lay, fetch, call, time. In: the
//! parts of a question. Out: what it asked for, or a [`Trouble`].

use std::time::{Duration, Instant};

use super::arguments::Arguments;
use super::buffer::{self, Buffer};
use super::call::Bound;
use super::context::Context;
use super::describe::{self, Health};
use super::driver::Trouble;
use super::image::Images;
use super::launch::prepare;
use super::memory::Arenas;
use super::module::Module;
use super::recent::Recent;
use super::replay::Replay;
use super::stopwatch::measure;
use crate::cpu::within;
use crate::handle::Handle;
use crate::protocol::{Copy, Gpu, Launch, Slot, Timing};
use crate::stopwatch::Plan;

/// Numbers of calls for which graphs are kept.
const REPLAYS: usize = 4;
/// A host launcher's call that takes longer gains nothing from a graph.
const LONG: Duration = Duration::from_millis(10);
/// Memory overwritten to cool caches, at least.
const LEAST_COLD: usize = 64 << 20;

pub(super) struct Device {
    /// For each number of calls its graphs; none where they cannot be recorded.
    replays: Recent<u32, Option<Replay>>,
    bound: Option<Bound>,
    module: Option<Module>,
    /// How often it was called, and how long the shortest call took.
    calls: (u32, Duration),
    images: Images,
    arenas: Arenas,
    /// Written over to push everything else out of the caches, and with what.
    cold: Option<(Buffer, u32)>,
    health: Health,
    pub(super) context: Context,
}

impl Device {
    pub(super) fn open() -> Result<Device, Trouble> {
        let context = Context::open()?;
        Ok(Device {
            replays: Recent::default(),
            bound: None,
            module: None,
            calls: (0, Duration::MAX),
            images: Images::default(),
            arenas: Arenas::default(),
            cold: None,
            health: Health::of(context.device)?,
            context,
        })
    }

    pub(super) fn describe(&mut self) -> Result<Gpu, Trouble> {
        describe::describe(&self.context, self.health.state())
    }

    /// Loads another candidate in place of the one before. Memory is to be mapped for it anew.
    pub(super) fn load(&mut self, path: &str, symbol: &str) -> Result<(), Trouble> {
        self.context.synchronise()?;
        self.unbind();
        self.module = None;
        self.module = Some(Module::load(path, symbol)?);
        Ok(())
    }

    fn unbind(&mut self) {
        self.replays.clear();
        self.bound = None;
        self.calls = (0, Duration::MAX);
    }

    pub(super) fn map(
        &mut self,
        arena: &Handle,
        slots: Vec<Slot>,
        launches: &[Launch],
        elsewhere: bool,
        gone: &[u64],
    ) -> Result<(), Trouble> {
        self.context.synchronise()?;
        self.unbind();
        self.arenas.close(gone);
        self.arenas.open(arena, elsewhere, &self.context)?;
        let shared = self.arenas.current()?;
        for Slot { name, offset, bytes, .. } in &slots {
            within(&format!("`{name}`"), *offset, *bytes, shared.len())?;
        }
        let base = shared.mirror.at(0);
        let arguments = Arguments::of(&slots, base, |slot| shared.bytes(slot.offset, slot.bytes))?;
        let launches = match &self.module {
            Some(Module::Cubin(cubin)) => {
                let sizes: Vec<usize> = arguments.sizes().collect();
                prepare(cubin, launches, &slots, base, &sizes, self.context.shared)?
            }
            _ => Vec::new(),
        };
        self.bound = Some(Bound { slots, arguments, launches });
        Ok(())
    }

    pub(super) fn upload(&mut self, image: u64) -> Result<(), Trouble> {
        self.images.upload(image, self.arenas.current()?, &self.context)
    }

    pub(super) fn lay(&mut self, image: u64) -> Result<(), Trouble> {
        let shared = self.arenas.current()?;
        let image = self.images.get(image, shared.len())?;
        buffer::copy(shared.mirror.at(0), image.at(0), image.len(), self.context.stream)?;
        self.context.synchronise()?;
        let Some(bound) = &mut self.bound else { return Ok(()) };
        let scalar = |slot: &Slot| buffer::read(image.at(slot.offset), slot.bytes);
        // A recording holds the scalars it was made with.
        if bound.arguments.set_scalars(&bound.slots, scalar)? {
            self.replays.clear();
        }
        Ok(())
    }

    pub(super) fn fetch(&mut self, parts: &[(usize, usize)]) -> Result<(), Trouble> {
        self.arenas.current()?.fetch(parts, &self.context)
    }

    pub(super) fn call(&mut self) -> Result<(), Trouble> {
        let (module, bound) = ready(&self.module, &mut self.bound)?;
        let mut call = bound.call(module, self.context.stream)?;
        let started = Instant::now();
        call.enqueue()?;
        self.context.synchronise()?;
        let (made, shortest) = self.calls;
        self.calls = (made.saturating_add(1), shortest.min(started.elapsed()));
        Ok(())
    }

    pub(super) fn time(&mut self, plan: &Plan, restore: &[Copy], flush: bool) -> Result<Timing, Trouble> {
        let began = Instant::now();
        if plan.calls != 1 && (flush || !restore.is_empty()) {
            let calls = plan.calls;
            let words = format!("{calls} calls in a sample, but memory or caches are prepared before every call");
            return Err(words.into());
        }
        let shared = self.arenas.current()?;
        let copies = restore.iter().map(|copy| copied(copy, shared.len())).collect::<Result<Vec<_>, _>>()?;
        if flush && self.cold.is_none() {
            self.cold = Some((Buffer::new(self.context.l2.saturating_mul(2).max(LEAST_COLD))?, 0));
        }
        self.record(plan.calls)?;
        let Device { replays, bound, module, arenas, cold, context, .. } = self;
        let mirror = &arenas.current()?.mirror;
        let (module, bound) = ready(module, bound)?;
        let mut call = bound.call(module, context.stream)?;
        let replay = replays.peek(&plan.calls).and_then(Option::as_ref);
        let prepare = || {
            for Copy { from, to, bytes } in &copies {
                buffer::copy(mirror.at(*to), mirror.at(*from), *bytes, context.stream)?;
            }
            match cold.as_mut().filter(|_| flush) {
                Some((memory, word)) => {
                    *word = word.wrapping_add(1);
                    memory.fill(*word, context.stream)
                }
                None => Ok(()),
            }
        };
        let work = || match replay {
            Some(replay) => replay.enqueue(context),
            None => (0..plan.calls).try_for_each(|_| call.enqueue()),
        };
        let timing = measure(context, plan, began, replay.is_some(), prepare, work)?;
        let graph = replay.is_some();
        Ok(Timing { gpu: Some(self.health.state()), graph, ..timing })
    }

    /// Sees to it that there are graphs of this many calls, or that it is known that there are none.
    fn record(&mut self, calls: u32) -> Result<(), Trouble> {
        // What is done at the first call alone must neither be timed nor recorded, nor taken for what a call takes.
        let foreign = matches!(self.module, Some(Module::Launcher(_)));
        while self.calls.0 == 0 || (foreign && self.calls.0 == 1 && self.calls.1 > LONG) {
            self.call()?;
        }
        if self.replays.touch(&calls).is_some() {
            return Ok(());
        }
        let took = self.calls.1;
        let mirror = &self.arenas.current()?.mirror;
        let (module, bound) = ready(&self.module, &mut self.bound)?;
        let slots = bound.slots.clone();
        let mut call = bound.call(module, self.context.stream)?;
        let replay = if foreign && took > LONG {
            None
        } else {
            match Replay::record(&self.context, &mut call, calls, took, (&slots, mirror)) {
                Ok(replay) => Some(replay),
                Err(trouble) if trouble.sticky => return Err(trouble),
                Err(_) => {
                    self.context.renew_stream()?;
                    self.settle()?;
                    None
                }
            }
        };
        self.replays.insert(calls, replay);
        while self.replays.len() > REPLAYS {
            self.replays.drop_oldest();
        }
        Ok(())
    }

    /// After a recording that went wrong: the CUDA runtime in a host launcher keeps its error for the next call to find.
    fn settle(&mut self) -> Result<(), Trouble> {
        match self.call() {
            Err(trouble) if !trouble.sticky => self.call(),
            other => other,
        }
    }
}

fn ready<'a>(module: &'a Option<Module>, bound: &'a mut Option<Bound>) -> Result<(&'a Module, &'a mut Bound), Trouble> {
    let module = module.as_ref().ok_or("no library is loaded")?;
    Ok((module, bound.as_mut().ok_or("no memory is mapped")?))
}

/// A copy inside the mirror that can be made. Unlike a processor, a device cannot copy onto what it is still reading.
fn copied(copy: &Copy, length: usize) -> Result<Copy, Trouble> {
    let Copy { from, to, bytes } = *copy;
    within("what is put back", from, bytes, length)?;
    within("what is put back", to, bytes, length)?;
    if from < to + bytes && to < from + bytes {
        return Err(format!("what is put back: {bytes} bytes from {from} to {to} overlap").into());
    }
    Ok(*copy)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn copies_lie_within_the_mirror_and_apart() {
        let words = |from, to, bytes| copied(&Copy { from, to, bytes }, 1000).err().map(|trouble| trouble.words);
        assert_eq!(words(0, 500, 500), None);
        assert_eq!(words(500, 0, 500), None);
        assert_eq!(words(10, 10, 0), None);
        assert!(words(0, 501, 500).is_some_and(|w| w.contains("outside")));
        assert!(words(usize::MAX, 0, 2).is_some_and(|w| w.contains("outside")));
        assert!(words(0, 499, 500).is_some_and(|w| w.contains("overlap")));
        assert!(words(7, 7, 1).is_some_and(|w| w.contains("overlap")));
    }
}
