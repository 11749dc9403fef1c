//! What a study will cost, by the studies before it, and what it did cost. In: the price of an hour, as it was typed or as the open session
//! has it. Out: a note before the study, and the price in its summary.

use kiln_session::forecast;
use kiln_store::{AttemptsOf, Store};

use super::TuneRequest;
use crate::attempt::open;
use crate::project::Project;
use crate::teller::Teller;

/// Studies of a kernel that are looked back on.
const REMEMBERED: u32 = 50;

/// The price of an hour of this machine, where it is known.
pub(super) fn price(project: &Project, store: &Store, request: &TuneRequest) -> Option<f64> {
    let session = || open(project, store, super::now()).ok().flatten()?.prices.gpu;
    request.price.or_else(session)
}

/// Says what is to be expected.
pub(super) fn expect(store: &Store, kernel: &str, price: f64, teller: &Teller<'_>) {
    let Ok(past) = store.attempts(AttemptsOf::Kernel(kernel, REMEMBERED)) else { return };
    teller.note(match forecast(&past) {
        None => {
            format!("no study of {kernel} came to its end here yet: there is nothing to predict time and cost from")
        }
        Some(found) => {
            let money = |seconds: f64| price * seconds / 3600.0;
            let of = |(phase, seconds): &(kiln_session::SessionPhase, f64)| {
                format!("{} {} ({:.2})", phase.name(), span(*seconds), money(*seconds))
            };
            let phases: Vec<String> = found.phases.iter().map(of).collect();
            let (total, by) = (found.total_s, found.studies);
            let studies = if by == 1 { "1 earlier study" } else { &format!("{by} earlier studies") };
            format!(
                "expected {}, cost {:.2} at {price}/h, by {studies}: {}",
                span(total),
                money(total),
                phases.join(", ")
            )
        }
    });
}

fn span(seconds: f64) -> String {
    match seconds {
        s if s < 60.0 => format!("{s:.1} s"),
        s if s < 3600.0 => format!("{:.0} min {:02.0} s", (s / 60.0).floor(), (s % 60.0).floor()),
        s => format!("{:.0} h {:02.0} min", (s / 3600.0).floor(), (s % 3600.0 / 60.0).floor()),
    }
}
