//! How busy builders are. In: when jobs come, begin and end. Out: the share of the builders' time spent building while there
//! was a job for each of them. Less than all of it means that something other than compiling holds builds up.

use std::time::Instant;

/// What builders did so far.
#[derive(Debug)]
pub(crate) struct Load {
    builders: usize,
    waiting: usize,
    running: usize,
    last: Instant,
    /// Seconds of builders, while all of them could have been busy: in all, and building.
    could: f64,
    did: f64,
}

impl Load {
    pub(crate) fn new(builders: usize) -> Load {
        Load { builders, waiting: 0, running: 0, last: Instant::now(), could: 0.0, did: 0.0 }
    }

    /// A job came.
    pub(crate) fn came(&mut self, now: Instant) {
        self.pass(now);
        self.waiting += 1;
    }

    /// A builder began one.
    pub(crate) fn began(&mut self, now: Instant) {
        self.pass(now);
        self.waiting = self.waiting.saturating_sub(1);
        self.running += 1;
    }

    /// A builder ended one.
    pub(crate) fn ended(&mut self, now: Instant) {
        self.pass(now);
        self.running = self.running.saturating_sub(1);
    }

    /// The share of their time in which builders built while work was queued; none when it never was.
    pub(crate) fn busy(&self) -> Option<f64> {
        (self.could > 0.0).then(|| self.did / self.could)
    }

    fn pass(&mut self, now: Instant) {
        let seconds = now.saturating_duration_since(self.last).as_secs_f64();
        self.last = now;
        if self.waiting + self.running >= self.builders {
            self.could += seconds * self.builders as f64;
            self.did += seconds * self.running as f64;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn time_counts_while_there_is_work_for_every_builder() {
        let start = Instant::now();
        let at = |seconds: u64| start + Duration::from_secs(seconds);
        let mut load = Load { last: start, ..Load::new(2) };
        assert_eq!(load.busy(), None);
        load.came(at(0));
        load.began(at(0));
        // One job for two builders: nobody is to blame for the idle one.
        load.came(at(4));
        // The second job waits a second before it is taken.
        load.began(at(5));
        load.ended(at(8));
        load.ended(at(9));
        // Of 2 x (1 + 3) seconds 1 + 2 x 3 were spent building.
        assert_eq!(load.busy(), Some(7.0 / 8.0));
    }
}
