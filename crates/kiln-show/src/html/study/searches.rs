//! The searches of a study: one over all workloads, or one for each. In: trials, a filter. Out: for each the places of its trials; and
//! the figures that show how it went.

use kiln_app::{StudyLook, TrialFilter};
use kiln_store::Trial;

use crate::html::study::causes::causes;
use crate::html::study::outcome::summary;
use crate::html::study::trials::row_id;
use crate::html::{Block, Cell, Section, Table, View};
use crate::picture::{Bars, Canvas, FoundLater, Funnel, SearchPicture};
use crate::studies::columns::Columns;
use crate::words::refusal::measured;

/// Searches whose tunables are drawn; of more workloads, those that the filter chooses.
const MOST: usize = 3;

/// Refusals after the search that are listed.
const MOST_LATER: usize = 50;

/// One search.
pub(crate) struct Search<'t> {
    /// The workload; none where it is over all.
    pub(crate) workload: Option<&'t str>,
    /// Its trials by their places, in the order recorded.
    pub(crate) places: Vec<usize>,
}

impl Search<'_> {
    /// The kernel, and the workload where each has its own.
    pub(crate) fn name(&self, kernel: &str) -> String {
        self.workload.map_or(kernel.to_string(), |workload| format!("{kernel} on {workload}"))
    }
}

/// The searches of some trials, in the order begun.
pub(crate) fn searches(trials: &[Trial]) -> Vec<Search<'_>> {
    of(trials, 0..trials.len())
}

fn of(trials: &[Trial], places: impl IntoIterator<Item = usize>) -> Vec<Search<'_>> {
    let mut found: Vec<Search<'_>> = Vec::new();
    for place in places {
        let phase = trials[place].phase_id();
        if !phase.is_searching() {
            continue;
        }
        match found.iter_mut().find(|search| search.workload == phase.workload) {
            Some(search) => search.places.push(place),
            None => found.push(Search { workload: phase.workload, places: vec![place] }),
        }
    }
    found
}

/// What is drawn of searches, computed once.
pub(crate) struct Searched<'l> {
    look: &'l StudyLook,
    searches: Vec<Search<'l>>,
    columns: Columns,
    winners: Vec<(Option<String>, String)>,
    shows_refused: bool,
    /// Trials that a later phase refused, by their places.
    refused_later: Vec<usize>,
    /// The places of the trials after the search.
    later: Vec<usize>,
    /// Whether all trials are shown.
    is_open: bool,
}

impl<'l> Searched<'l> {
    /// The searches of a study, as far as a filter keeps their trials.
    pub(crate) fn of(look: &'l StudyLook, filter: &TrialFilter) -> Searched<'l> {
        let trials = &look.story.now.trials;
        let winners = look.winners().into_iter().map(|(workload, config)| (workload, config.to_string())).collect();
        let kept = filter.select(trials);
        let after = kept.iter().copied().filter(|place| !trials[*place].phase_id().is_searching());
        let later: Vec<usize> = after.collect();
        let refused_later = later.iter().copied().filter(|place| trials[*place].refusal.is_some()).collect();
        let (searches, columns) = (of(trials, kept), Columns::of(trials));
        let (shows_refused, is_open) = (!filter.hides_refused, filter.is_open());
        Searched { look, searches, columns, winners, shows_refused, refused_later, later, is_open }
    }

    /// Tunables of all trials.
    pub(super) fn columns(&self) -> &Columns {
        &self.columns
    }

    fn drawn<T>(&self, search: &Search<'l>, draw: impl FnOnce(&SearchPicture<'_>) -> T) -> T {
        let own =
            |(workload, _): &&(Option<String>, String)| workload.is_none() || workload.as_deref() == search.workload;
        draw(&SearchPicture {
            name: &search.name(&self.look.story.now.study.kernel),
            trials: &self.look.story.now.trials,
            places: &search.places,
            columns: &self.columns,
            winner: self.winners.iter().find(own).map(|(_, config)| config.as_str()),
            later: self.later(search),
            improvements: &self.look.improvements,
            over: if search.workload.is_some() { 1 } else { self.look.together },
            shows_refused: self.shows_refused,
        })
    }

    /// The winner that the search did not try, where the filter keeps a trial of it.
    fn later(&self, search: &Search<'l>) -> Option<FoundLater> {
        let (study, trials) = (&self.look.story.now.study, &self.look.story.now.trials);
        let found = FoundLater::of(study, trials, search.workload)?;
        let own = |place: &usize| {
            let trial = &trials[*place];
            trial.config == trials[found.place].config && trial.phase_id().workload == search.workload
        };
        self.later.iter().any(own).then_some(found)
    }

    /// A picture of each search, the first few of many.
    fn each(&self, draw: impl Fn(&SearchPicture<'_>, &[String]) -> Option<Canvas>) -> Vec<Canvas> {
        let of = |search: &Search<'l>| self.drawn(search, |picture| draw(picture, &self.order(search)));
        self.searches.iter().take(MOST).filter_map(of).collect()
    }

    /// How the best improved.
    pub(crate) fn convergence(&self) -> Vec<Canvas> {
        self.each(|picture, _| picture.convergence())
    }

    /// Parallel coordinates.
    pub(crate) fn threads(&self) -> Vec<Canvas> {
        self.each(|picture, order| picture.threads(order))
    }

    /// Times by each tunable.
    pub(crate) fn slices(&self) -> Vec<Canvas> {
        self.each(|picture, order| picture.slices(order))
    }

    /// The best by the two tunables that matter most.
    pub(crate) fn pair(&self) -> Vec<Canvas> {
        self.each(|picture, order| {
            let known = order.iter().filter(|name| self.columns.varying().any(|column| column.name == **name));
            let mut names = known.map(String::as_str).chain(self.columns.varying().map(|column| column.name.as_str()));
            let first = names.next()?;
            let second = names.find(|name| *name != first)?;
            picture.pair(first, second)
        })
    }

    /// Shares of the variation that tunables explain.
    pub(crate) fn importance(&self) -> Vec<Canvas> {
        let bars = self.look.important.iter().filter_map(|of| {
            let kernel = &self.look.story.now.study.kernel;
            let on = if of.workload.is_empty() { String::new() } else { format!(" on {}", of.workload) };
            let rows: Vec<(String, f64)> =
                of.importance.as_ref()?.tunables.iter().map(|one| (one.name.to_string(), one.share)).collect();
            let title = format!("{kernel}{on}: what mattered");
            let axis = "share of the variation that a tunable explains alone";
            (!rows.is_empty()).then(|| Bars { title, heading: "", axis, rows }.canvas())
        });
        bars.take(MOST).collect()
    }

    /// Where configurations were refused.
    pub(crate) fn funnel(&self) -> (Funnel<'l>, Option<Canvas>) {
        let trials = &self.look.story.now.trials;
        let funnel = Funnel::of(self.searches.iter().flat_map(|search| &search.places).map(|place| &trials[*place]));
        let picture = funnel.picture(&format!("{}: what is left after each gate", self.look.story.now.study.kernel));
        (funnel, picture)
    }

    /// Tunables, the most important first.
    fn order(&self, search: &Search<'l>) -> Vec<String> {
        let of = self.look.important.iter().find(|one| one.workload == search.workload.unwrap_or_default());
        let found = of.and_then(|one| one.importance.as_ref());
        found.map_or_else(Vec::new, |found| found.tunables.iter().map(|one| one.name.to_string()).collect())
    }

    /// The gate funnel with an example of each gate.
    pub(super) fn funnel_section(&self, view: &View) -> Section {
        let (funnel, picture) = self.funnel();
        let mut blocks: Vec<Block> = picture.map(Block::Figure).into_iter().collect();
        let mut table =
            Table::new("Refusals by gate, with the first of each", &["gate", "refused #", "meaning", "example", "why"]);
        for (gate, count, example) in &funnel.gates {
            let why = example.refusal.as_ref().map(measured).unwrap_or_default();
            let link = view.is_page.then(|| {
                let filter = TrialFilter { gates: vec![*gate], ..TrialFilter::default() };
                let id = self.look.story.now.study.short_id().to_string();
                format!("{}#trials", crate::html::Address::Study(id, filter.query()))
            });
            let at = if view.is_page { None } else { Some(format!("#{}", row_id(example))) };
            table.row(vec![
                Cell::code(gate.name()).to(link),
                Cell::figure(*count as f64, count.to_string()),
                gate.meaning().into(),
                Cell::code(example.config.clone()).to(at),
                why.into(),
            ]);
        }
        let of = if self.is_open { "" } else { " that the filter keeps" };
        match (table.rows.is_empty(), self.refused_later.is_empty()) {
            (true, true) => blocks.push(Block::words(format!("No gate refused anything{of}."))),
            (true, false) => blocks.push(Block::words(format!("No gate refused anything{of} while searching."))),
            (false, _) => blocks.push(Block::Table(table)),
        }
        blocks.extend(self.later_refusals(view).map(Block::Table));
        blocks.extend(summary(self.look).map(|summary| causes(&summary.sanitized)).unwrap_or_default());
        Section::new("gates", "Gate funnel", blocks)
    }

    /// What finals, run-off, confirmation and ablation refused.
    fn later_refusals(&self, view: &View) -> Option<Table> {
        let trials = &self.look.story.now.trials;
        let mut table = Table::new("Refused after the search", &["trial", "gate", "configuration", "why"]);
        for place in self.refused_later.iter().take(MOST_LATER) {
            let trial = &trials[*place];
            let Some(refusal) = &trial.refusal else { continue };
            let at = if view.is_page { None } else { Some(format!("#{}", row_id(trial))) };
            table.row(vec![
                Cell::text(format!("{} {}", trial.phase, trial.number)),
                Cell::code(refusal.gate.name()),
                Cell::code(trial.config.clone()).to(at),
                measured(refusal).into(),
            ]);
        }
        (!table.rows.is_empty()).then_some(table)
    }

    /// What the search found, in figures.
    pub(super) fn sections(&self) -> Vec<Section> {
        let figures = |canvases: Vec<Canvas>| canvases.into_iter().map(Block::Figure).collect::<Vec<_>>();
        let mut threads = figures(self.threads());
        let fixed: Vec<String> = self.columns.fixed().map(|(name, value)| format!("{name}={value}")).collect();
        if !fixed.is_empty() && !threads.is_empty() {
            threads.push(Block::words(format!("The same in all of them: {}.", fixed.join(", "))));
        }
        let more = self.searches.len().saturating_sub(MOST);
        let note = (more > 0)
            .then(|| Block::words(format!("Figures of {more} more workloads: choose a workload in the filter.")));
        let mut convergence = figures(self.convergence());
        convergence.extend(note);
        let mut importance = figures(self.importance());
        importance.extend(self.edges());
        let all = [
            ("convergence", "Convergence", convergence),
            ("configurations", "Configurations", threads),
            ("slices", "Times by tunable", figures(self.slices())),
            ("importance", "Importance", importance),
            ("contour", "The two most important together", figures(self.pair())),
        ];
        all.into_iter()
            .filter(|(.., blocks)| !blocks.is_empty())
            .map(|(id, title, blocks)| Section::new(id, title, blocks))
            .collect()
    }

    /// Pairs that act together, and values worth adding.
    fn edges(&self) -> Option<Block> {
        let found: Vec<_> = self.look.important.iter().filter_map(|of| of.importance.as_ref()).collect();
        let pairs = found.iter().flat_map(|one| &one.pairs).map(|pair| {
            Cell::text(format!(
                "{} and {} together explain {:.0} % beyond what each does alone",
                pair.names.0,
                pair.names.1,
                100.0 * pair.share
            ))
        });
        let edges = found.iter().flat_map(|one| &one.edges).map(|edge| {
            Cell::text(format!("{} = {} is the end of its list: {} is worth adding", edge.name, edge.at, edge.try_next))
        });
        let all: Vec<Cell> = pairs.chain(edges).collect();
        (!all.is_empty()).then_some(Block::List(all))
    }
}
