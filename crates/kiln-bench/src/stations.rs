//! Devices that try candidates: the bench's own, and others beside it. In: a queue. Out: an evaluation of everything in it;
//! whichever device is free takes the next. What is compared closely (finals, confirmation, ablation) stays on the first,
//! since no two devices are quite alike. Refuses a GPU of another model.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::channel;
use std::time::Instant;

use kiln_core::{Fault, Outcome};
use kiln_judge::Level;
use kiln_run::Gpu;

use crate::apparatus::{Queue, Task};
use crate::bench::Bench;
use crate::building::builder::{Awaiting, Build};
use crate::evaluation::{Ended, Evaluation};
use crate::ladder::{Attempt, Trying};
use crate::questions::check::questions;
use crate::questions::stage::{Stage, Trouble};
use crate::surroundings::machine::now_ms;
use crate::workers::seating::Seating;
use crate::workers::subject::Subject;

/// Where a configuration is tried: workers, workloads set up, a device.
pub(crate) struct Station<'a> {
    pub(crate) seating: Seating,
    pub(crate) stages: Vec<Stage<'a>>,
    pub(crate) gpu: Option<Gpu>,
}

/// A queue whose first task was taken already.
struct Begun<'q, 'a> {
    first: Option<Task<Build>>,
    rest: &'q mut dyn Queue<Bench<'a>>,
}

impl<'a> Queue<Bench<'a>> for Begun<'_, 'a> {
    fn next(&mut self, bench: &mut Bench<'a>) -> Result<Option<Task<Build>>, Fault> {
        self.first.take().map_or_else(|| self.rest.next(bench), |task| Ok(Some(task)))
    }

    fn ended(&mut self, bench: &mut Bench<'a>, number: u64, outcome: Result<Evaluation, Fault>) -> Result<(), Fault> {
        self.rest.ended(bench, number, outcome)
    }
}

/// A trial's end: the station, free again, and what was tried there, where the compiler let it.
struct End<'a> {
    place: usize,
    station: Station<'a>,
    number: u64,
    subject: Option<Subject>,
    outcome: Result<Evaluation, Fault>,
}

impl<'a> Bench<'a> {
    /// Takes another device into the study: the GPU of this UUID, or for targets that need none once more the processor.
    pub fn add_device(&mut self, uuid: Option<String>) -> Result<(), Trouble> {
        let seating = self.seating.elsewhere(uuid);
        let gpu = if self.kernel.on_gpu() { Some(seating.describe()?) } else { None };
        if let (Some(first), Some(other)) = (&self.gpu, &gpu)
            && (first.name != other.name || first.memory != other.memory)
        {
            let why = format!("{} ({}) is not a {} as the first is", other.name, other.uuid, first.name);
            let fault = Fault::new("taking several GPUs into one study", why);
            return Err(fault
                .hint("times of different models do not compare: tune them in studies of their own")
                .into());
        }
        let questions = questions(&Level::Quick.plan());
        let workloads: Vec<_> = self.stages.iter().map(|stage| stage.workload).collect();
        let stages = self.stages(&workloads, "quick", &questions)?;
        self.others.push(Station { seating, stages, gpu });
        Ok(())
    }

    /// Devices that try candidates at the same time.
    pub fn devices(&self) -> usize {
        1 + self.others.len()
    }

    /// Takes what a queue holds up the ladder, as many at a time as there are devices.
    pub fn evaluate_all(&mut self, queue: &mut dyn Queue<Bench<'a>>) -> Result<(), Fault> {
        // Where everything is on record, nothing is set up.
        let Some(first) = queue.next(self)? else { return Ok(()) };
        self.fill_supplies()?;
        let queue = &mut Begun { first: Some(first), rest: queue };
        let workloads: Vec<String> = self.stages.iter().map(|stage| stage.name().to_string()).collect();
        let (kernel, settings, rules, peaks) = (self.kernel, self.settings, self.rules.clone(), self.peaks.clone());
        let trying = Trying {
            kernel,
            samples: settings.search_samples as u32,
            threads: settings.threads,
            rules: &rules,
            peaks: peaks.as_ref(),
            stopped: self.stopped,
            workloads: &workloads,
        };
        let own =
            Station { seating: self.seating.clone(), stages: std::mem::take(&mut self.stages), gpu: self.gpu.clone() };
        let mut stations = Vec::from([own]);
        stations.append(&mut self.others);
        // The bench works without them for the while: it asks for builds and tells what comes of them.
        let (mut back, worked) = match stations.pop() {
            Some(only) if stations.is_empty() => self.in_turn(&trying, queue, only),
            last => self.at_once(&trying, queue, stations.into_iter().chain(last).collect()),
        };
        if back.is_empty() {
            return Err(lost());
        }
        self.stages = back.remove(0).stages;
        self.others = back;
        worked
    }

    /// One after the other, on this thread.
    fn in_turn(
        &mut self,
        trying: &Trying<'_>,
        queue: &mut dyn Queue<Bench<'a>>,
        mut station: Station<'a>,
    ) -> (Vec<Station<'a>>, Result<(), Fault>) {
        let mut worked = Ok(());
        while worked.is_ok() {
            let task = match queue.next(self) {
                Ok(Some(task)) => task,
                Ok(None) => break,
                Err(fault) => {
                    worked = Err(fault);
                    break;
                }
            };
            let end = attempt(trying, &self.awaiting(), task, 0, station);
            let (place, told) = self.ended(queue, end);
            (station, worked) = (place, told);
        }
        (vec![station], worked)
    }

    /// On a thread for each device; a fault ends it once what has begun is done.
    fn at_once(
        &mut self,
        trying: &Trying<'_>,
        queue: &mut dyn Queue<Bench<'a>>,
        stations: Vec<Station<'a>>,
    ) -> (Vec<Station<'a>>, Result<(), Fault>) {
        let awaiting = self.awaiting();
        std::thread::scope(|scope| {
            let (tell, hear) = channel::<Option<End<'a>>>();
            let mut free: Vec<(usize, Station<'a>)> = stations.into_iter().enumerate().rev().collect();
            let (mut busy, mut worked) = (0, Ok(()));
            loop {
                while worked.is_ok()
                    && let Some((place, station)) = free.pop()
                {
                    match queue.next(self) {
                        Ok(Some(task)) => {
                            let (tell, awaiting) = (tell.clone(), &awaiting);
                            // One that panics says so too, or nobody would stop waiting for it.
                            let work = move || attempt(trying, awaiting, task, place, station);
                            scope.spawn(move || drop(tell.send(catch_unwind(AssertUnwindSafe(work)).ok())));
                            busy += 1;
                        }
                        found => {
                            free.push((place, station));
                            worked = found.map(|_| ());
                            break;
                        }
                    }
                }
                if busy == 0 {
                    break;
                }
                busy -= 1;
                let Ok(Some(end)) = hear.recv() else {
                    worked = worked.and(Err(lost()));
                    continue;
                };
                let place = end.place;
                let outcome = end.outcome.map(|way| Evaluation { station: Some(place), ..way });
                let end = End { outcome, ..end };
                let (station, told) = self.ended(queue, end);
                free.push((place, station));
                worked = worked.and(told);
            }
            free.sort_by_key(|(place, _)| *place);
            (free.into_iter().map(|(_, station)| station).collect(), worked)
        })
    }

    /// Passes an end on, with a doubt about the file where there is one.
    fn ended(&mut self, queue: &mut dyn Queue<Bench<'a>>, end: End<'a>) -> (Station<'a>, Result<(), Fault>) {
        let End { mut station, number, subject, outcome, .. } = end;
        self.answered |= station.stages.iter().flat_map(|stage| &stage.exams).any(|exam| exam.was_passed());
        let doubt = match (&outcome, subject) {
            (Ok(Evaluation { outcome: Ended::Refused(refusal, Some(workload)), .. }), Some(subject)) => {
                let stage = station.stages.iter_mut().find(|stage| stage.name() == workload);
                stage.map_or(Ok(()), |stage| self.doubt_the_file(stage, &station.seating, &subject, refusal))
            }
            _ => Ok(()),
        };
        let told = queue.ended(self, number, doubt.and(outcome));
        (station, told)
    }
}

/// A thread that panicked takes its station with it.
fn lost() -> Fault {
    Fault::new("trying a configuration", "a thread ended before its time")
}

/// Waits for a build and tries what comes of it.
fn attempt<'a>(
    trying: &Trying<'_>,
    awaiting: &Awaiting<'_>,
    task: Task<Build>,
    place: usize,
    mut station: Station<'a>,
) -> End<'a> {
    let Task { build, number, best } = task;
    let attempt = Attempt { number, best, started: Instant::now(), started_ms: now_ms() };
    let mut subject = None;
    let outcome = awaiting.built(build).and_then(|built| {
        if let Outcome::Passed(built) = &built {
            subject = Some(built.clone());
        }
        trying.evaluate(&attempt, built, &mut station)
    });
    End { place, station, number, subject, outcome }
}
