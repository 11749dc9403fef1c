//! All that one device holds for this worker, and what can be done with it: load, map, send, lay, draw, fetch, call, time.
//! In: the parts of a question. Out: what it asked for, or a [`Trouble`].

use std::time::{Duration, Instant};

use super::apart::Apart;
use super::arguments::Arguments;
use super::buffer::{self, Buffer};
use super::call::Bound;
use super::constants;
use super::context::Context;
use super::describe::{self, Health};
use super::draw::Generator;
use super::driver::{Trouble, watch};
use super::image::Images;
use super::launch::prepare;
use super::memory::Arenas;
use super::module::Module;
use super::recent::Recent;
use super::replay::Replay;
use super::stopwatch::measure;
use crate::memory::handle::Handle;
use crate::protocol::{Drawing, Gpu, Launch, Lent, Lies, MappedSlot, Timing};
use crate::serving::cpu::within;
use crate::serving::stopwatch::Plan;

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
    /// Loaded before anything of a candidate's: afterwards this process may be confined.
    generator: Result<Generator, Trouble>,
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
            generator: Generator::load(),
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
        self.images.doubt();
        self.module = Some(Module::load(path, symbol)?);
        Ok(())
    }

    fn unbind(&mut self) {
        self.replays.clear();
        self.bound = None;
        self.calls = (0, Duration::MAX);
    }

    /// Maps memory, with so many sets, elsewhere than before where that is wanted; or what another process lends.
    pub(super) fn map(
        &mut self,
        (arena, sets, elsewhere): (&Handle, u32, bool),
        lent: Option<&Lent>,
        slots: Vec<MappedSlot>,
        launches: &[Launch],
        gone: &[u64],
    ) -> Result<(), Trouble> {
        self.context.synchronise()?;
        self.unbind();
        self.arenas.close(gone);
        match lent {
            Some(lent) => self.arenas.borrow(lent, sets.max(1))?,
            None => self.arenas.open(arena, sets.max(1), elsewhere, &self.context)?,
        }
        let shared = self.arenas.current()?;
        for MappedSlot { name, offset, bytes, .. } in &slots {
            within(&format!("`{name}`"), *offset, *bytes, shared.len())?;
        }
        let arguments = |set: u32| {
            let base = shared.at(set, 0);
            Ok((base, Arguments::of(&slots, base, |slot| shared.bytes(slot.offset, slot.bytes))?))
        };
        let sets: Vec<_> = (0..shared.sets).map(arguments).collect::<Result<_, Trouble>>()?;
        let launches = match (&self.module, sets.first()) {
            (Some(Module::Cubin(cubin)), Some((_, arguments))) => {
                let sizes: Vec<usize> = arguments.sizes().collect();
                prepare(cubin, launches, &slots, &sizes, self.context.shared)?
            }
            _ => Vec::new(),
        };
        let constants = match &self.module {
            Some(Module::Cubin(cubin)) => constants::find(cubin, &slots)?,
            _ => Vec::new(),
        };
        self.bound = Some(Bound { slots, sets, launches, constants, laid: None });
        Ok(())
    }

    pub(super) fn lend(&self) -> Result<Lent, Trouble> {
        self.arenas.current()?.lend()
    }

    /// Lets go of memory that was lent.
    pub(super) fn release(&mut self) -> Result<(), Trouble> {
        self.context.synchronise()?;
        self.unbind();
        self.arenas.release();
        Ok(())
    }

    /// Pushes everything out of the caches.
    pub(super) fn cool(&mut self) -> Result<(), Trouble> {
        let stream = self.context.stream;
        let (memory, word) = self.cold()?;
        *word = word.wrapping_add(1);
        memory.fill(*word, stream)?;
        self.context.synchronise()
    }

    /// What is written over to cool caches, and with what it was the last time.
    fn cold(&mut self) -> Result<&mut (Buffer, u32), Trouble> {
        Ok(match &mut self.cold {
            Some(cold) => cold,
            none => none.insert((Buffer::new(self.context.l2.saturating_mul(2).max(LEAST_COLD))?, 0)),
        })
    }

    pub(super) fn upload(&mut self, image: u64) -> Result<(), Trouble> {
        if let Some(bound) = self.bound.as_mut().filter(|bound| bound.laid == Some(image)) {
            bound.laid = None;
        }
        let generator = self.generator.as_ref().map_err(Clone::clone)?;
        self.images.upload(image, self.arenas.current()?, generator, &self.context)
    }

    pub(super) fn lay(&mut self, number: u64) -> Result<(), Trouble> {
        let shared = self.arenas.current()?;
        let generator = self.generator.as_ref().map_err(Clone::clone)?;
        let image = self.images.verified(number, shared.len(), generator, &self.context)?;
        buffer::copy(shared.at(0, 0), image.at(0), image.len(), self.context.stream)?;
        self.context.synchronise()?;
        self.take_scalars(number)
    }

    /// Makes scalars and constants those of an image.
    fn take_scalars(&mut self, number: u64) -> Result<(), Trouble> {
        let image = self.images.get(number, self.arenas.current()?.len())?;
        let Some(bound) = self.bound.as_mut().filter(|bound| bound.laid != Some(number)) else { return Ok(()) };
        let slots = bound.slots.iter().filter(|slot| slot.role == "scalar");
        let read = slots.map(|slot| Ok((slot.offset, buffer::read(image.at(slot.offset), slot.bytes)?)));
        let scalars: Vec<(usize, Vec<u8>)> = read.collect::<Result<_, Trouble>>()?;
        for constant in &bound.constants {
            buffer::copy(constant.address, image.at(constant.offset), constant.bytes, self.context.stream)?;
        }
        self.context.synchronise()?;
        bound.laid = Some(number);
        self.set_scalars(&scalars)
    }

    /// Passes these bytes for the scalars at these offsets from now on.
    pub(super) fn set_scalars(&mut self, scalars: &[(usize, Vec<u8>)]) -> Result<(), Trouble> {
        let bound = self.bound.as_mut().ok_or("no memory is mapped")?;
        let scalar = |slot: &MappedSlot| {
            let found = scalars.iter().find(|(offset, bytes)| *offset == slot.offset && bytes.len() == slot.bytes);
            found.map(|(_, bytes)| bytes.clone()).ok_or_else(|| format!("`{}` has no value", slot.name).into())
        };
        let mut changed = false;
        for (_, arguments) in &mut bound.sets {
            changed |= arguments.set_scalars(&bound.slots, scalar)?;
        }
        // A recording holds the scalars it was made with.
        if changed {
            self.replays.clear();
        }
        Ok(())
    }

    /// Fills every set.
    pub(super) fn draw(&mut self, drawing: &Drawing) -> Result<(), Trouble> {
        self.take_scalars(drawing.image)?;
        let shared = self.arenas.current()?;
        let image = self.images.get(drawing.image, shared.len())?;
        let generator = self.generator.as_ref().map_err(Clone::clone)?;
        generator.fill(drawing, image.at(0), shared, (shared.sets, drawing.first), &self.context)?;
        self.context.synchronise()
    }

    pub(super) fn fetch(&mut self, set: u32, parts: &[(usize, usize)]) -> Result<(), Trouble> {
        self.arenas.current()?.fetch(set, parts, &self.context)
    }

    /// Copies what lies in another process's memory to an output.
    pub(super) fn adopt(
        &mut self,
        (set, offset, bytes): (u32, usize, usize),
        Lies { handle, offset: from }: Lies,
    ) -> Result<(), Trouble> {
        let shared = self.arenas.current()?;
        within("an output", offset, bytes, shared.len())?;
        if set >= shared.sets {
            return Err(format!("set {set} is wanted, there are {}", shared.sets).into());
        }
        let lent = Lent { handle, offset: from, bytes, stride: 0 };
        let answer = Buffer::borrowed(&lent, bytes)?;
        answer.holds()?;
        buffer::copy(shared.at(set, offset), answer.at(0), bytes, self.context.stream)?;
        self.context.synchronise()
    }

    pub(super) fn call(&mut self) -> Result<(), Trouble> {
        let (module, bound) = ready(&self.module, &mut self.bound)?;
        let mut call = bound.call(module, self.context.stream)?;
        let started = Instant::now();
        call.enqueue(0)?;
        self.context.synchronise()?;
        let (made, shortest) = self.calls;
        self.calls = (made.saturating_add(1), shortest.min(started.elapsed()));
        Ok(())
    }

    /// One call that a profiler around this process watches, and nothing else that happens here.
    pub(super) fn call_watched(&mut self) -> Result<(), Trouble> {
        self.context.synchronise()?;
        watch(true)?;
        let called = self.call();
        watch(false)?;
        called
    }

    /// One call with every argument in an allocation of its own.
    pub(super) fn call_apart(&mut self, blank: bool) -> Result<(), Trouble> {
        let shared = self.arenas.current()?;
        let (module, bound) = ready(&self.module, &mut self.bound)?;
        if shared.is_lent() {
            return Err("memory that is lent is not copied to allocations of its own".into());
        }
        let apart = Apart::new(&bound.slots, shared, blank)?;
        let mut arguments = apart.arguments(shared)?;
        for constant in &bound.constants {
            buffer::write(constant.address, &shared.bytes(constant.offset, constant.bytes))?;
        }
        match module {
            Module::Nothing => {}
            Module::Launcher(launcher) => launcher.call(arguments.for_launcher(), self.context.stream)?,
            Module::Cubin(_) => {
                let mut pointers = arguments.for_kernel();
                for launch in &bound.launches {
                    launch.enqueue(&mut pointers, |offset| apart.at(offset), self.context.stream)?;
                }
            }
        }
        self.context.synchronise()?;
        apart.bring_back(shared, blank)
    }

    /// Times calls, with fresh numbers before every batch where a drawing says so.
    pub(super) fn time(&mut self, plan: &Plan, flush: bool, drawing: Option<&Drawing>) -> Result<Timing, Trouble> {
        let began = Instant::now();
        let shared = self.arenas.current()?;
        if flush && plan.calls > shared.sets {
            let (calls, sets) = (plan.calls, shared.sets);
            return Err(format!("{calls} calls in a sample on {sets} sets, but the caches of each are cold").into());
        }
        if flush {
            self.cold()?;
        }
        if let Some(drawing) = drawing {
            self.take_scalars(drawing.image)?;
        }
        self.record(plan.calls)?;
        let Device { replays, bound, module, arenas, images, generator, cold, context, .. } = self;
        let shared = arenas.current()?;
        let drawn = match drawing {
            Some(drawing) => {
                let image = images.get(drawing.image, shared.len())?.at(0);
                Some((drawing, image, generator.as_ref().map_err(|trouble| trouble.clone())?))
            }
            None => None,
        };
        let (module, bound) = ready(module, bound)?;
        let mut call = bound.call(module, context.stream)?;
        let replay = replays.peek(&plan.calls).and_then(Option::as_ref);
        let prepare = |batch: u32| {
            if let Some((drawing, image, generator)) = &drawn {
                let first = drawing.first.wrapping_add(u64::from(batch) * u64::from(plan.calls));
                let sets = plan.calls.max(drawing.least).clamp(1, shared.sets);
                generator.fill(drawing, *image, shared, (sets, first), context)?;
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
            None => (0..plan.calls).try_for_each(|number| call.enqueue(number)),
        };
        let timing = measure(context, plan, began, replay.is_some(), prepare, work)?;
        let graph = replay.is_some();
        let kernels = replay.map(|replay| replay.kernels.clone()).unwrap_or_default();
        Ok(Timing { gpu: Some(self.health.state()), graph, kernels, ..timing })
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
        let shared = self.arenas.current()?;
        let (module, bound) = ready(&self.module, &mut self.bound)?;
        let slots = bound.slots.clone();
        let mut call = bound.call(module, self.context.stream)?;
        let replay = if foreign && took > LONG {
            None
        } else {
            match Replay::record(&self.context, &mut call, calls, took, (&slots, shared)) {
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
