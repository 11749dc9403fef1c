//! What a stretch of work came to. In: attempts, one for each command that judged something, and the session they belong to. Out:
//! time by phase, money, stop rules that apply, blind optimisations, repeated mistakes, how often lessons helped, and the
//! report at the end, compared with earlier ones. Everything is a function of what was recorded: nothing here reads a clock, a
//! file or a store.

mod attempt;
mod changed;
mod counters;
mod forecast;
mod goal;
mod grade;
mod lines;
mod mistakes;
mod money;
mod phases;
mod progress;
mod promises;
mod put_right;
mod refuted;
mod report;
mod rules;
mod session;
mod stop;
mod words;

pub use attempt::{AttemptOutcome, Attempted, SessionPhase};
pub use changed::{BlindChange, Changed, Crowded, blind, blind_last, crowded, crowded_last, difference};
pub use counters::{LessonCount, counters};
pub use forecast::{Forecast, forecast};
pub use goal::{Goal, GoalError, hourly, span};
pub use grade::{Grade, Judged, grade};
pub use lines::changed_lines;
pub use mistakes::{Mistake, mistakes};
pub use money::{Cost, cost};
pub use phases::{Budgeted, PhaseBudget, PhaseTime, budgeted, phases};
pub use progress::{Best, best, broken, newest_behind, time_to_bottleneck, time_to_build};
pub use promises::{Promise, promises};
pub use put_right::{PutRight, last_put_right, put_right};
pub use report::{Facts, Hypothesis, Material, SessionReport, SessionRow, report};
pub use rules::{StopRule, StopWarning, measured, warnings};
pub use session::{Decision, DecisionKind, DecisionOption, Prices, Session, SessionState};
pub use stop::{Stop, stop};
pub use words::{lasting, times};
