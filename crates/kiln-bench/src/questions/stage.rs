//! A workload set up: its arguments laid out in memory, and questions with their right answers. Made once, used for every
//! candidate. Scratch whose size is tuned is laid out anew for each candidate; the questions stay.

use std::borrow::Cow;
use std::sync::atomic::{AtomicU64, Ordering};

use kiln_build::address;
use kiln_core::{Config, Fault, Gate, Outcome, Refusal, Report, Workload};
use kiln_judge::{Bound, Distribution, Exam, Geometry, Marks, Rules, Signature, boxes, geometry};
use kiln_run::{Arena, Launch, MappedSlot, TensorMap};
use kiln_spec::{Formula, Resolver, Role, Selection};

use crate::building::compile::variable;
use crate::drawing::derive;
use crate::kernel::Kernel;
use crate::questions::exams::{Helpers, exam, exams};
use crate::questions::layout::{Edge, Layout};
use crate::questions::supply::Supply;
use crate::workers::seat::{Seat, Spot};
use crate::workers::subject::Subject;

/// A workload with its memory and its questions.
pub struct Stage<'a> {
    /// The workload; none for a kernel file without any.
    pub workload: Option<&'a Workload>,
    /// Floating-point operations of one call.
    pub flops: Option<f64>,
    /// Bytes one call must move.
    pub bytes: Option<f64>,
    pub(crate) layout: Layout,
    pub(crate) exams: Vec<Exam>,
    pub(crate) arena: Arena,
    /// The same arguments with the other edge guarded, for every second question; none on a device.
    begun: Option<(Layout, Arena)>,
    kernel: &'a Kernel<'a>,
    /// Whether the layout depends on the configuration.
    tuned: bool,
    /// Numbers its questions among those of all stages, for workers that keep them.
    images: u64,
    /// Outputs of the call before, for the next one on the same question to be held against.
    pub(crate) kept: Vec<u8>,
    /// Inputs for the timed calls of a search; none before there is one, and on a device.
    pub(crate) supply: Option<Supply>,
}

/// Questions a stage has at most.
const MOST_QUESTIONS: u64 = 1 << 16;

/// A number that no other stage, and no other layout of this one, has.
fn new_images() -> u64 {
    static NEXT: AtomicU64 = AtomicU64::new(1);
    NEXT.fetch_add(1, Ordering::Relaxed) * MOST_QUESTIONS
}

impl<'a> Stage<'a> {
    /// Sets a workload up with one question for each of these distributions. Refuses one that would not fit into
    /// `memory` bytes.
    pub(crate) fn new(
        kernel: &'a Kernel<'a>,
        workload: Option<&'a Workload>,
        rules: &Rules,
        distributions: &[Distribution],
        seed: u64,
        helpers: Helpers<'_>,
        memory: u64,
    ) -> Result<Stage<'a>, Trouble> {
        let selection = &kernel.selection;
        let (signature, tuned) = Stage::signature(kernel, workload)?;
        let name = workload.map_or("", |w| &w.name);
        fits(&signature, name, distributions.iter().filter(|d| signature.suits(**d)).count(), memory)?;
        let (layout, other) = layouts(kernel, signature)?;
        let seeds = (0..distributions.len() as u64).map(|number| derive(seed, &["inputs", name], number));
        let drawn: Vec<(Distribution, u64)> = distributions.iter().copied().zip(seeds).collect();
        let exams: Vec<Option<Exam>> = match helpers.alone() {
            true => exams(&layout, rules, &drawn, helpers)?,
            false => drawn.iter().map(|draw| exam(&layout, rules, *draw, helpers)).collect::<Result<_, _>>()?,
        };
        // A distribution that makes no sense here is not asked about.
        let mut exams: Vec<Exam> = exams.into_iter().flatten().collect();
        if let Some(other) = &other {
            for exam in exams.iter_mut().skip(1).step_by(2) {
                *exam = other.relaid(exam)?;
            }
        }
        let cost = |formula: &Option<Formula>| cost(selection, workload, formula.as_ref()?);
        let (flops, bytes) = (cost(&selection.spec.cost.flops), cost(&selection.spec.cost.bytes));
        let (arena, begun) = (layout.arena()?, with_memory(other)?);
        Ok(Stage {
            workload,
            flops,
            bytes,
            layout,
            exams,
            arena,
            begun,
            kernel,
            tuned,
            images: new_images(),
            kept: Vec::new(),
            supply: None,
        })
    }

    /// What calls take, and whether that depends on the configuration. Any will do to begin with: each candidate's own
    /// layout takes its place.
    pub(crate) fn signature(kernel: &Kernel<'_>, workload: Option<&Workload>) -> Result<(Signature, bool), Report> {
        match Signature::of(&kernel.selection, workload) {
            Ok(signature) => Ok((signature, false)),
            Err(_) => match Signature::under(&kernel.selection, workload, &kernel.some_config()) {
                Ok(signature) => Ok((signature, true)),
                // The place is that of the argument, which every workload has.
                Err(report) => Err(match workload {
                    Some(Workload { name, .. }) => {
                        Report { message: format!("{} in workload {name}", report.message), ..report }
                    }
                    None => report,
                }),
            },
        }
    }

    /// Bytes it takes with so many questions while they are made.
    pub(crate) fn needed(kernel: &Kernel<'_>, workload: Option<&Workload>, questions: usize) -> Result<u128, Report> {
        Ok(needed(&Stage::signature(kernel, workload)?.0, questions))
    }

    /// The layout a configuration needs, where that is not the stage's own.
    fn other_layout(&self, config: &Config) -> Result<Option<Layout>, Fault> {
        // Without a configuration (a baseline, a reference) any size of scratch and any box will do.
        if !self.tuned || config.is_empty() {
            return Ok(None);
        }
        let signature = Signature::under(&self.kernel.selection, self.workload, config)
            .map_err(|report| Fault::new(format!("laying out the arguments of {config}"), report))?;
        if signature == self.layout.signature { Ok(None) } else { Ok(Some(layouts(self.kernel, signature)?.0)) }
    }

    /// Makes memory and questions fit a configuration.
    pub(crate) fn fit(&mut self, config: &Config) -> Result<(), Fault> {
        let Some(layout) = self.other_layout(config)? else { return Ok(()) };
        let (layout, other) = layouts(self.kernel, layout.signature)?;
        for (number, exam) in self.exams.iter_mut().enumerate() {
            let own = other.as_ref().filter(|_| number % 2 == 1).unwrap_or(&layout);
            *exam = own.relaid(exam)?;
        }
        (self.arena, self.begun) = (layout.arena()?, with_memory(other)?);
        self.layout = layout;
        self.images = new_images();
        Ok(())
    }

    /// A further question, after which it can be asked by its number.
    pub(crate) fn add(&mut self, exam: Exam) -> Result<(), Fault> {
        let exam = match self.begun.as_ref().filter(|_| self.exams.len() % 2 == 1) {
            Some((layout, _)) => layout.relaid(&exam)?,
            None => exam,
        };
        self.exams.push(exam);
        Ok(())
    }

    /// Layout and questions as a configuration needs them, without changing the stage.
    pub(crate) fn fitted(&self, config: &Config) -> Result<(Cow<'_, Layout>, Cow<'_, [Exam]>), Fault> {
        Ok(match self.other_layout(config)? {
            Some(layout) => {
                let exams: Vec<Exam> = self.exams.iter().map(|e| layout.relaid(e)).collect::<Result<_, _>>()?;
                (Cow::Owned(layout), Cow::Owned(exams))
            }
            None => (Cow::Borrowed(&self.layout), Cow::Borrowed(&self.exams[..])),
        })
    }

    /// What calls of a configuration take, and the arguments as a worker is told of them.
    pub(crate) fn signature_for(&self, config: &Config) -> Result<(Cow<'_, Signature>, Vec<MappedSlot>), Fault> {
        Ok(match self.other_layout(config)? {
            Some(Layout { signature, slots, .. }) => (Cow::Owned(signature), slots),
            None => (Cow::Borrowed(&self.layout.signature), self.layout.slots.clone()),
        })
    }

    /// How far each output may be off, roughly: as on the stage's own first question.
    pub(crate) fn bounds(&self) -> Vec<Bound> {
        self.exams.first().map(|exam| exam.answers().iter().map(|answer| answer.bound).collect()).unwrap_or_default()
    }

    /// The workload's name; empty when there is none.
    pub fn name(&self) -> &str {
        self.workload.map_or("", |w| &w.name)
    }

    /// The workload's weight in the objective.
    pub fn weight(&self) -> f64 {
        self.workload.map_or(1.0, |w| w.weight)
    }

    /// Gives a seat this workload's memory.
    pub(crate) fn map(&self, seat: &mut Seat, subject: &Subject) -> Result<Outcome<()>, Fault> {
        self.map_sets(seat, subject, 1)
    }

    /// The same with so many sets of arguments on a device.
    pub(crate) fn map_sets(&self, seat: &mut Seat, subject: &Subject, sets: u32) -> Result<Outcome<()>, Fault> {
        let slots = self.slots(&self.layout, subject)?;
        seat.map(&self.layout, slots, &self.arena, self.launches(subject)?, (Spot::Same, sets))
    }

    /// The arguments as a worker is told of them, constants and descriptors included.
    pub(crate) fn slots(&self, layout: &Layout, subject: &Subject) -> Result<Vec<MappedSlot>, Fault> {
        let mut slots = layout.slots.clone();
        let selection = &self.kernel.selection;
        if let Subject::Cubin { symbols, .. } = subject {
            let constants = slots.iter_mut().zip(&selection.spec.arguments).filter(|(_, a)| a.role == Role::Constant);
            for (slot, argument) in constants {
                let wanted = address(variable(argument));
                let symbol = symbols.iter().find(|(expression, _)| *expression == wanted);
                slot.role = "constant".into();
                slot.symbol = symbol.map(|(_, symbol)| symbol.clone());
            }
        }
        for slot in &mut slots {
            slot.omitted = !selection.passes(subject.config(), &slot.name);
        }
        let passed = selection.spec.arguments.iter().filter(|a| selection.passes(subject.config(), &a.name));
        let Some(described) = passed.into_iter().find(|a| a.tensormap.is_some()) else { return Ok(slots) };
        match subject {
            Subject::Cubin { .. } => {}
            Subject::Launcher { .. } => {
                let why = format!(
                    "{} is a tensormap, which only kernels that kiln launches itself can be given",
                    described.name
                );
                let fault = Fault::new("laying out the arguments of a host launcher", why);
                return Err(fault.hint("let the launcher encode the descriptor from the tensor's pointer"));
            }
            _ => return Ok(slots),
        }
        let fault = |report: Report| Fault::new("laying out the descriptors", report);
        let boxes = boxes(selection, self.workload, subject.config()).map_err(fault)?;
        for (slot, argument) in slots.iter_mut().zip(&selection.spec.arguments) {
            let box_shape = boxes.iter().find(|(name, _)| *name == slot.name).map(|(_, sides)| sides.clone());
            slot.tensormap = argument.tensormap.as_ref().zip(box_shape).map(|(map, box_shape)| TensorMap {
                tensor: map.tensor.clone(),
                box_shape,
                swizzle: map.swizzle.clone(),
                promotion: map.promotion.clone(),
            });
        }
        Ok(slots)
    }

    /// The launches that make one call of a subject here; none for what launches by itself.
    pub(crate) fn launches(&self, subject: &Subject) -> Result<Vec<Launch>, Fault> {
        let Subject::Cubin { config, symbols, laid, .. } = subject else { return Ok(Vec::new()) };
        let fault = |report: Report| Fault::new(format!("laying out the launches of {config}"), report);
        let known = laid.iter().flat_map(|laid| laid.iter()).find(|(workload, _)| workload == self.name());
        let launches = match known {
            Some((_, launches)) => launches.clone(),
            None => geometry(&self.kernel.selection, self.workload, config).map_err(fault)?,
        };
        let launch = |g: Geometry| {
            let symbol =
                symbols.iter().find(|(entry, _)| *entry == g.entry).map_or(g.entry, |(_, symbol)| symbol.clone());
            let Geometry { grid, block, shared, cluster, cooperative, zero, .. } = g;
            Launch { symbol, grid, block, shared, cluster, cooperative, zero }
        };
        Ok(launches.into_iter().map(launch).collect())
    }

    /// The number of a question for workers that keep them.
    pub(crate) fn image(&self, which: usize) -> u64 {
        self.images + (which % self.exams.len().max(1)) as u64
    }

    /// Puts a question into a seat's memory.
    pub(crate) fn lay(&mut self, which: usize, seat: &mut Seat) -> Result<Outcome<()>, Fault> {
        let image = self.image(which);
        let on_device = seat.on_device();
        let (exam, layout, arena) = self.ground(which);
        if !on_device {
            passed!(seat.map_here(layout, arena)?);
        }
        seat.lay(layout, exam, arena, image)
    }

    /// A question, where its arguments lie, and the memory they lie in.
    fn ground(&mut self, which: usize) -> (&Exam, &Layout, &mut Arena) {
        let number = which % self.exams.len().max(1);
        match &mut self.begun {
            Some((layout, arena)) if number % 2 == 1 => (&self.exams[number], layout, arena),
            _ => (&self.exams[number], &self.layout, &mut self.arena),
        }
    }

    /// Holds what another call on a question left against the outputs of the one before.
    pub(crate) fn judge_again(&self, which: usize, before: &[u8]) -> Outcome<()> {
        let exam = &self.exams[which % self.exams.len().max(1)];
        exam.judge_again(self.layout.seen(&self.arena), before)
    }

    /// Puts a question and memory together, and judges what `act` left.
    pub(crate) fn pose(
        &mut self,
        which: usize,
        seat: &mut Seat,
        act: impl FnOnce(&mut Stage<'a>, &mut Seat) -> Result<Outcome<()>, Fault>,
    ) -> Result<Outcome<()>, Fault> {
        Ok(self.posed(which, seat, Guards::Usual, act, |_, _| ())?.map(|_| ()))
    }

    /// Puts a question with every argument in an allocation of its own, and judges what the call left. On a device nothing but the
    /// call happens there, unless another process keeps the memory.
    pub(crate) fn pose_apart(&mut self, which: usize, seat: &mut Seat, blank: bool) -> Result<Outcome<()>, Fault> {
        if seat.is_kept() {
            return self.pose(which, seat, |_, seat| seat.call_apart(blank));
        }
        let on_device = seat.on_device();
        let (exam, layout, arena) = self.ground(which);
        if !on_device {
            passed!(seat.map_here(layout, arena)?);
        }
        layout.lay(exam, arena);
        passed!(seat.call_apart(blank)?);
        Ok(exam.judge(layout.seen(arena)).map(|_| ()))
    }

    /// Puts a question once; the outputs and how good they are, when they are right.
    pub(crate) fn answer(&mut self, which: usize, seat: &mut Seat) -> Result<Outcome<(Vec<u8>, Marks)>, Fault> {
        self.posed(which, seat, Guards::Usual, |_, seat| seat.call(), Exam::outputs)
    }

    /// Puts it once more, with other bytes around the arguments and in scratch, and holds the outputs against the first
    /// ones, which were right.
    pub(crate) fn answer_again(&mut self, which: usize, seat: &mut Seat, first: &[u8]) -> Result<Outcome<()>, Fault> {
        let (again, _) = passed!(self.posed(which, seat, Guards::Other, |_, seat| seat.call(), Exam::outputs)?);
        Ok(self.exams[which % self.exams.len().max(1)].rerun(first, &again))
    }

    /// Puts a question and fetches what one call wrote; it is not judged yet.
    pub(crate) fn ask(&mut self, which: usize, seat: &mut Seat) -> Result<Outcome<()>, Fault> {
        passed!(self.lay(which, seat)?);
        passed!(seat.call()?);
        seat.fetch_written(&self.layout)
    }

    /// What a candidate is refused for that gave a wrong answer: where it also changed its inputs, for that.
    pub(crate) fn reason(&mut self, which: usize, seat: &mut Seat, refusal: Refusal) -> Refusal {
        match self.pose(which, seat, |_, seat| seat.call()) {
            Ok(Outcome::Refused(other)) if other.gate == Gate::InputModified => other,
            // Also when the worker has died meanwhile: that is found, and mended, when it is needed next.
            _ => refusal,
        }
    }

    /// Sends a question to a device ahead of its use.
    pub(crate) fn send(&mut self, which: usize, seat: &mut Seat) -> Result<Outcome<()>, Fault> {
        let image = self.image(which);
        let exam = &self.exams[which % self.exams.len().max(1)];
        seat.send(&self.layout, exam, &mut self.arena, image)
    }

    /// Judges what was fetched on another processor, while `work` goes on here. With `kept`, only what was written was
    /// fetched, and the outputs are kept there.
    pub(crate) fn judge_beside<T>(
        &self,
        which: usize,
        kept: Option<&mut Vec<u8>>,
        work: impl FnOnce() -> T,
    ) -> Result<(Outcome<()>, T), Fault> {
        let exam = &self.exams[which % self.exams.len().max(1)];
        let seen = self.layout.seen(&self.arena);
        std::thread::scope(|scope| {
            let judge = scope.spawn(|| {
                let Some(kept) = kept else { return exam.judge(seen).map(|_| ()) };
                exam.keep_outputs(seen, kept);
                exam.judge_written(seen).map(|_| ())
            });
            let done = work();
            let judged = judge.join().map_err(|_| Fault::new("judging", "a thread ended before its time"))?;
            Ok((judged, done))
        })
    }

    /// Puts a question, lets somebody act, judges, and takes something from the memory that was judged; with its marks.
    fn posed<T>(
        &mut self,
        which: usize,
        seat: &mut Seat,
        guards: Guards,
        act: impl FnOnce(&mut Stage<'a>, &mut Seat) -> Result<Outcome<()>, Fault>,
        take: impl FnOnce(&Exam, &[u8]) -> T,
    ) -> Result<Outcome<(T, Marks)>, Fault> {
        if guards == Guards::Usual || !seat.on_device() {
            passed!(self.lay(which, seat)?);
        }
        if guards == Guards::Other {
            let (exam, layout, arena) = self.ground(which);
            layout.lay_otherwise(exam, arena);
            passed!(seat.lay_here(layout, arena)?);
        }
        passed!(act(self, seat)?);
        passed!(seat.fetch()?);
        let (exam, layout, arena) = self.ground(which);
        // On a device everything has ended, and nothing but the worker writes here.
        if seat.on_device() {
            let judged = match guards {
                Guards::Usual => exam.judge(layout.seen(arena)),
                Guards::Other => exam.judge_otherwise(layout.seen_mut(arena)),
            };
            return Ok(judged.map(|marks| (take(exam, layout.seen(arena)), marks)));
        }
        // As it is now: a thread left behind in this process's memory may still be writing.
        let mut seen = layout.seen(arena).to_vec();
        let judged = match guards {
            Guards::Usual => exam.judge(&seen),
            Guards::Other => exam.judge_otherwise(&mut seen),
        };
        Ok(judged.map(|marks| (take(exam, &seen), marks)))
    }
}

/// What lies around the arguments and in scratch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Guards {
    /// What is no number in any type.
    Usual,
    /// Other bytes.
    Other,
}

/// Where arguments lie: on a processor with either edge guarded by pages that cannot be touched.
fn layouts(kernel: &Kernel<'_>, signature: Signature) -> Result<(Layout, Option<Layout>), Fault> {
    if kernel.on_gpu() {
        return Ok((Layout::new(signature)?, None));
    }
    Ok((Layout::edged(signature.clone(), Edge::End)?, Some(Layout::edged(signature, Edge::Start)?)))
}

fn with_memory(layout: Option<Layout>) -> Result<Option<(Layout, Arena)>, Fault> {
    layout.map(|layout| layout.arena().map(|arena| (layout, arena))).transpose()
}

/// Why a stage could not be set up: the file's mistake, or the environment's fault.
#[derive(Debug)]
pub enum Trouble {
    /// The file's.
    File(Report),
    /// The environment's.
    Fault(Fault),
}

impl From<Report> for Trouble {
    fn from(report: Report) -> Trouble {
        Trouble::File(report)
    }
}

impl From<Fault> for Trouble {
    fn from(fault: Fault) -> Trouble {
        Trouble::Fault(fault)
    }
}

/// The value of a cost formula under a workload.
pub fn cost(selection: &Selection<'_>, workload: Option<&Workload>, formula: &Formula) -> Option<f64> {
    match Resolver::new(selection, workload, None).evaluate(formula, "the cost").ok()? {
        kiln_core::Value::Int(v) => Some(v as f64),
        kiln_core::Value::Float(v) => Some(v),
        _ => None,
    }
}

/// Bytes of a stage while it is made: every question has an image of memory, and inputs and answer in double precision.
fn needed(signature: &Signature, questions: usize) -> u128 {
    let numbers: u128 =
        signature.slots.iter().filter(|s| s.is_input() || s.is_output()).map(|s| s.elements() as u128).sum();
    let bytes: u128 = signature.slots.iter().map(|s| s.bytes() as u128).sum();
    questions as u128 * (8 * numbers + bytes) + 4 * bytes
}

/// Refuses what cannot be held.
fn fits(signature: &Signature, name: &str, questions: usize, memory: u64) -> Result<(), Fault> {
    let needed = needed(signature, questions);
    if needed <= u128::from(memory) {
        return Ok(());
    }
    let gib = |bytes: u128| format!("{:.1} GiB", bytes as f64 / (1u64 << 30) as f64);
    let why = format!(
        "it needs about {} for its buffers and {questions} questions, {} are free",
        gib(needed),
        gib(memory.into())
    );
    Err(Fault::new(format!("setting workload {name} up"), why).hint("choose smaller dimensions, or another --workload"))
}
