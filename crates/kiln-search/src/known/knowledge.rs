//! What is known before the first measurement. In: other studies' outcomes, the kernel's default configuration, a static
//! score of configurations, constants. Out: what [`crate::strategy_with`] starts a strategy from. All parts may be missing.

use std::fmt;
use std::sync::Arc;

use kiln_space::Point;

use crate::known::prior::Prior;
use crate::settings::SearchSettings;

/// How promising a configuration looks before it is built: occupancy, waves, shared-memory use. Higher is better; none
/// where nothing can be said. Only the order counts. It must be a function of the point alone, and cheap: it is asked a
/// few hundred times before the first proposal.
pub type StaticScore = Arc<dyn Fn(&Point) -> Option<f64> + Send + Sync>;

/// Where a search starts from.
#[derive(Clone, Default)]
pub struct Knowledge {
    /// What other studies measured; used by `forest` and `auto`, passed over by the others.
    pub priors: Vec<Arc<Prior>>,
    /// The kernel's default configuration: proposed first by `auto`, if it is valid and was not tried.
    pub default: Option<Point>,
    /// Orders the first proposals of `auto`.
    pub score: Option<StaticScore>,
    /// The constants of `forest` and `auto`.
    pub settings: SearchSettings,
}

impl fmt::Debug for Knowledge {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Knowledge")
            .field("priors", &self.priors.iter().map(|prior| &prior.label).collect::<Vec<_>>())
            .field("default", &self.default)
            .field("score", &self.score.is_some())
            .field("settings", &self.settings)
            .finish()
    }
}
