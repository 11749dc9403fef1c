//! The workbench: compiler, cache, interpreter, workloads set up, limits. In: a kernel and settings. Out: everything
//! candidates are tried with; `builder` builds there, `ladder` tries them.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use camino::Utf8PathBuf;
use kiln_build::{Cache, Compiler, Pool, Toolchain};
use kiln_core::{Fault, Workload};
use kiln_judge::{Coverage, Exam, Fresh, Inputs, Level, Precision, Rules, Signature, Solution};
use kiln_run::{Gpu, GpuState, Python, WorkerLimits, find_python};
use kiln_search::Prior;
use kiln_spec::TargetKind;

use crate::building::toolchain::cuda_toolchain;
use crate::building::triton::Builders;
use crate::drawing::derive;
use crate::duels::measure::Sets;
use crate::event::{Event, Listener};
use crate::kernel::Kernel;
use crate::questions::check::questions;
use crate::questions::exams::{Helpers, exam};
use crate::questions::layout::Layout;
use crate::questions::outside::Oracle;
use crate::questions::pace::Pace;
use crate::questions::reference::DeviceReference;
use crate::questions::stage::{Stage, Trouble};
use crate::questions::supply::Supply;
use crate::questions::tray::Tray;
use crate::settings::Settings;
use crate::stations::Station;
use crate::surroundings::machine::Machine;
use crate::surroundings::peak::Peaks;
use crate::workers::seating::Seating;
use crate::workers::subject::Subject;

/// Bytes a worker may take beyond four times its buffers: an interpreter with its libraries fits, a leak does not.
pub(crate) const ROOM: u64 = 1 << 30;

/// Everything candidates are tried with.
pub struct Bench<'a> {
    /// The kernel.
    pub kernel: &'a Kernel<'a>,
    /// How it is done.
    pub settings: &'a Settings,
    /// The machine.
    pub machine: Machine,
    /// Python, where there is one.
    pub python: Result<Python, Fault>,
    /// The C compiler, where there is one.
    pub compiler: Result<Compiler, Fault>,
    /// The CUDA compiler, where the target needs one and there is one.
    pub cuda: Result<Toolchain, Fault>,
    /// The GPU, for targets that work on one.
    pub gpu: Option<Gpu>,
    /// What this machine can do at best; known after it was measured.
    pub peaks: Option<Peaks>,
    /// What other studies measured, for searches to start from.
    pub priors: Vec<Arc<Prior>>,
    pub(crate) rules: Rules,
    /// The workloads, smallest first.
    pub stages: Vec<Stage<'a>>,
    pub(crate) cache: Cache,
    /// Who is told.
    pub listener: Listener<'a>,
    oracle: Option<Oracle>,
    pub(crate) stopped: &'a AtomicBool,
    pub(crate) build_limit: Option<Duration>,
    pub(crate) pool: Option<Pool>,
    /// What compiles Triton kernels ahead, once it was looked for.
    pub(crate) builders: OnceLock<Option<Arc<Builders>>>,
    pub(crate) seating: Seating,
    pub(crate) others: Vec<Station<'a>>,
    /// Somebody was right on integers from the whole range of their type.
    pub(crate) answered: bool,
    /// How long questions take to make.
    pub(crate) pace: Pace,
}

/// Where a bench gets things from.
pub struct Surroundings<'a> {
    /// The kiln binary, for workers.
    pub program: Utf8PathBuf,
    /// The build cache.
    pub cache: Cache,
    /// Who is told.
    pub listener: Listener<'a>,
    /// Set when the user wants to stop.
    pub stopped: &'a AtomicBool,
    /// The UUID of the GPU to use; the first when none.
    pub gpu: Option<String>,
    /// False when nothing will be run, and no questions are needed.
    pub live: bool,
    /// Whether many configurations will be built, so that what compiles is started at once.
    pub many: bool,
    /// A build that takes longer is refused; the settings' own limit when none.
    pub build_limit: Option<Duration>,
}

impl<'a> Bench<'a> {
    /// Sets the workloads up, smallest first, with the questions of the quick check.
    pub fn new(kernel: &'a Kernel<'a>, settings: &'a Settings, around: Surroundings<'a>) -> Result<Bench<'a>, Trouble> {
        let (live, many) = (around.live, around.many);
        let mut bench = Bench::without_stages(kernel, settings, around)?;
        if live && many {
            bench.begin_to_build()?;
        }
        bench.set_up(live)?;
        Ok(bench)
    }

    /// The same machine, compilers and GPU, looked at once, for another selection of the kernel: its workloads set up, smallest
    /// first, with the questions of the quick check.
    pub fn with_workloads<'b>(&self, kernel: &'b Kernel<'b>) -> Result<Bench<'b>, Trouble>
    where
        'a: 'b,
    {
        let mut bench = Bench {
            kernel,
            settings: self.settings,
            machine: self.machine.clone(),
            python: self.python.clone(),
            compiler: self.compiler.clone(),
            cuda: self.cuda.clone(),
            gpu: self.gpu.clone(),
            peaks: None,
            priors: Vec::new(),
            rules: Rules::of(&kernel.selection)?,
            stages: Vec::new(),
            cache: self.cache.clone(),
            listener: self.listener,
            oracle: None,
            stopped: self.stopped,
            build_limit: self.build_limit,
            pool: None,
            builders: OnceLock::new(),
            seating: self.seating.clone(),
            others: Vec::new(),
            answered: false,
            pace: Pace::default(),
        };
        bench.oracle = Oracle::find(&bench)?;
        bench.set_up(true)?;
        Ok(bench)
    }

    fn set_up(&mut self, live: bool) -> Result<(), Trouble> {
        let (kernel, settings) = (self.kernel, self.settings);
        let mut workloads: Vec<Option<&'a Workload>> = kernel.selection.workloads.iter().map(|w| Some(*w)).collect();
        if workloads.is_empty() {
            workloads.push(None);
        }
        let questions = if live { questions(&Level::Quick.plan()) } else { Vec::new() };
        self.stages = self.stages(&workloads, "quick", &questions)?;
        self.stages.sort_by(|a, b| size(a).total_cmp(&size(b)));
        // What a driver and its libraries take of the host's memory is nobody's leak.
        if settings.memory.is_none() && !kernel.on_gpu() {
            let most = self.stages.iter().map(|s| s.layout.bytes()).max().unwrap_or(0) as u64;
            self.seating.limits.memory = self.memory().min(ROOM + 4 * most);
        }
        self.question_the_questions()?;
        Ok(())
    }

    /// The same with no workload set up: each is when it is needed.
    pub fn without_stages(
        kernel: &'a Kernel<'a>,
        settings: &'a Settings,
        around: Surroundings<'a>,
    ) -> Result<Bench<'a>, Trouble> {
        let machine = Machine::look();
        let rules = Rules::of(&kernel.selection)?;
        let cpus = if settings.pin { machine.measuring(settings.threads) } else { Vec::new() };
        let memory = memory(settings, &machine);
        let limits = WorkerLimits { time: Duration::from_secs(60), memory };
        let cuda = match kernel.selection.target.kind {
            TargetKind::Cuda if around.live => cuda_toolchain(&kernel.selection, &around.program),
            _ => Err(Fault::new("looking for a CUDA compiler", "it was not needed")),
        };
        let mut seating = Seating::new(around.program, cpus, settings, limits, around.cache.clone());
        seating.gpu = around.gpu;
        let required = kernel.selection.target.implementations.iter();
        seating.required = required.map(|one| (one.name.clone(), one.kernels.clone().into())).collect();
        let mut bench = Bench {
            kernel,
            settings,
            machine,
            python: find_python(),
            compiler: Compiler::find(),
            cuda,
            gpu: None,
            peaks: None,
            priors: Vec::new(),
            rules,
            stages: Vec::new(),
            cache: around.cache,
            listener: around.listener,
            build_limit: around.build_limit,
            oracle: None,
            stopped: around.stopped,
            pool: None,
            builders: OnceLock::new(),
            seating,
            others: Vec::new(),
            answered: false,
            pace: Pace::default(),
        };
        if around.live {
            kernel.check_files()?;
            bench.expect_python();
            if kernel.on_gpu() {
                bench.gpu = Some(bench.seating.describe()?);
            }
            bench.oracle = Oracle::find(&bench)?;
        }
        Ok(bench)
    }

    /// A workload set up with fresh inputs for a purpose.
    pub(crate) fn stage(
        &self,
        workload: Option<&'a Workload>,
        purpose: &str,
        distributions: &[kiln_judge::Distribution],
        coverage: Coverage,
        device: Option<&DeviceReference>,
    ) -> Result<Stage<'a>, Trouble> {
        let seed = derive(self.settings.seed, &["stage", purpose], 0);
        self.helped_stage(workload, &self.rules.covering(coverage), distributions, seed, device)
    }

    /// A workload set up with the help of whoever answers and fills outside kiln.
    pub(crate) fn helped_stage(
        &self,
        workload: Option<&'a Workload>,
        rules: &Rules,
        distributions: &[kiln_judge::Distribution],
        seed: u64,
        device: Option<&DeviceReference>,
    ) -> Result<Stage<'a>, Trouble> {
        let ask = |s: &Signature, i: &Inputs, p: Precision| self.answer(s, i, p);
        let fill = |slot: &kiln_judge::Slot, seed: u64| crate::questions::filling::filled(self, slot, workload, seed);
        let helpers = Helpers {
            answers: self.asks_reference().then_some(&ask),
            filler: self.kernel.has_fillings().then_some(&fill),
            device,
            stopped: Some(self.stopped),
        };
        let began = Instant::now();
        let made = Stage::new(self.kernel, workload, rules, distributions, seed, helpers, self.memory())?;
        self.pace.saw(self.needed(workload, made.exams.len()), began.elapsed().as_secs_f64());
        Ok(made)
    }

    /// A further question about a workload that is set up, after which it can be asked by its number.
    pub(crate) fn add_question(
        &self,
        stage: &mut Stage<'a>,
        distribution: kiln_judge::Distribution,
        seed: u64,
    ) -> Result<bool, Fault> {
        let workload = stage.workload;
        let ask = |s: &Signature, i: &Inputs, p: Precision| self.answer(s, i, p);
        let fill = |slot: &kiln_judge::Slot, seed: u64| crate::questions::filling::filled(self, slot, workload, seed);
        let helpers = Helpers {
            answers: self.asks_reference().then_some(&ask),
            filler: self.kernel.has_fillings().then_some(&fill),
            device: None,
            stopped: Some(self.stopped),
        };
        let made = exam(&stage.layout, &self.rules, (distribution, seed), helpers)?;
        let there = made.is_some();
        if let Some(made) = made {
            stage.add(made)?;
        }
        Ok(there)
    }

    /// Bytes that stages may have.
    pub(crate) fn memory(&self) -> u64 {
        memory(self.settings, &self.machine)
    }

    /// Bytes that a stage takes; 0 when it cannot be set up at all.
    pub(crate) fn needed(&self, workload: Option<&'a Workload>, questions: usize) -> u128 {
        Stage::needed(self.kernel, workload, questions).unwrap_or(0)
    }

    /// How many sets of arguments samples may have, here and now.
    pub(crate) fn sets(&self, signature: &Signature) -> Sets {
        Sets::of(Tray::set_bytes(signature), self.seating.caches.private / 2)
    }

    /// Draws inputs for timed calls on workloads that have none yet.
    pub(crate) fn fill_supplies(&mut self) -> Result<(), Fault> {
        if self.kernel.on_gpu() {
            return Ok(());
        }
        let interpreter = match (self.kernel.selection.target.kind, &self.python) {
            (TargetKind::Python, Ok(python)) => Some(python.interpreter.clone()),
            _ => None,
        };
        let mut stages = std::mem::take(&mut self.stages);
        let mut others = std::mem::take(&mut self.others);
        let all = stages.iter_mut().chain(others.iter_mut().flat_map(|other| &mut other.stages));
        let filled = self.fill(all, Subject::Empty { interpreter, device: false });
        (self.stages, self.others) = (stages, others);
        filled
    }

    fn fill<'s>(&self, stages: impl Iterator<Item = &'s mut Stage<'a>>, empty: Subject) -> Result<(), Fault>
    where
        'a: 's,
    {
        let mut worker = None;
        for stage in stages.filter(|stage| stage.supply.is_none()) {
            self.go_on()?;
            if worker.is_none() {
                worker = match self.seating.take(&empty)? {
                    kiln_core::Outcome::Passed(seat) => Some(seat),
                    kiln_core::Outcome::Refused(refusal) => {
                        return Err(Fault::new("starting an empty function", refusal.measured));
                    }
                };
            }
            stage.supply = Some(Supply::new(self, stage, self.settings.search_samples, worker.as_mut())?);
        }
        Ok(())
    }

    /// The correct answers to one timed call.
    pub(crate) fn solution(&self, signature: &Signature, fresh: &Fresh) -> Result<Solution, Fault> {
        let ask = |s: &Signature, i: &Inputs, precision: Precision| self.answer(s, i, precision);
        let outside: Option<kiln_judge::Outside<'_>> = self.oracle.is_some().then_some(&ask);
        Solution::of(signature, &self.rules, fresh, outside)
    }

    /// The question that a timed call on a device was, from the bytes of what it read.
    pub(crate) fn question(&self, layout: &Layout, given: &[(usize, &[u8])]) -> Result<Exam, Fault> {
        let ask = |s: &Signature, i: &Inputs, precision: Precision| self.answer(s, i, precision);
        let outside: Option<kiln_judge::Outside<'_>> = self.oracle.is_some().then_some(&ask);
        layout.exam_of(&self.rules, given, outside)
    }

    /// Says something.
    pub fn note(&self, text: String) {
        (self.listener)(&Event::Note { text });
    }

    /// A fault once the user wants to stop.
    pub fn go_on(&self) -> Result<(), Fault> {
        if self.stopped.load(Ordering::Relaxed) { Err(interrupted()) } else { Ok(()) }
    }

    /// Whether a reference lies outside kiln.
    pub(crate) fn asks_reference(&self) -> bool {
        self.oracle.is_some()
    }

    /// Whether questions need somebody outside kiln.
    pub(crate) fn asks_outside(&self) -> bool {
        self.oracle.is_some() || self.kernel.has_fillings()
    }

    /// The correct answers from there.
    pub(crate) fn answer(
        &self,
        signature: &Signature,
        inputs: &Inputs,
        precision: Precision,
    ) -> Result<Vec<kiln_judge::Tensor>, Fault> {
        match &self.oracle {
            Some(oracle) => oracle.answer(self, signature, inputs, precision),
            None => Err(Fault::new("asking the reference", "there is none")),
        }
    }

    /// How the GPU feels now, where there is one that tells.
    pub fn gpu_state(&self) -> Option<GpuState> {
        self.gpu.as_ref().and_then(|_| self.seating.describe().ok()).map(|gpu| gpu.state)
    }

    /// What does the work: the GPU, or the processor.
    pub fn hardware(&self) -> &str {
        self.gpu.as_ref().map_or(&self.machine.processor, |gpu| &gpu.name)
    }

    pub(crate) fn seating(&self) -> &Seating {
        &self.seating
    }

    /// Calls may take as long as the slowest baseline makes reasonable.
    pub fn expect_calls_of(&mut self, seconds: f64) {
        self.allow_calls(Duration::from_secs_f64(self.settings.patience + 50.0 * seconds));
    }

    /// Calls may take this long.
    pub fn allow_calls(&mut self, time: Duration) {
        self.seating.limits.time = time;
        self.others.iter_mut().for_each(|device| device.seating.limits.time = time);
    }
}

/// Bytes that stages and a worker may have each.
fn memory(settings: &Settings, machine: &Machine) -> u64 {
    settings.memory.unwrap_or(machine.memory_available / 5 * 4)
}

/// What makes one workload smaller than another.
fn size(stage: &Stage<'_>) -> f64 {
    stage.flops.or(stage.bytes).unwrap_or(stage.layout.bytes() as f64)
}

/// The fault that Ctrl-C is.
pub(crate) fn interrupted() -> Fault {
    Fault::new("measuring", "interrupted")
}
