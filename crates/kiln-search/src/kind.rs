//! The strategies by name. In: what a user typed. Out: the strategy meant. Refuses a name that is none, with the nearest.

use std::fmt;

use kiln_core::nearest;

/// A way to search.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Kind {
    /// Uniform draws.
    Random,
    /// A Latin hypercube, then uniform draws.
    Latin,
    /// A Latin hypercube, then what resembles the good and not the bad.
    Tpe,
    /// Children of the best.
    Genetic,
    /// Local search that never goes back.
    Tabu,
    /// Simulated annealing.
    Annealing,
    /// Where a forest of random trees expects the largest improvement.
    Forest,
    /// The default: TPE, the forest, and the forest in slices of the space, in turns.
    Auto,
}

impl Kind {
    /// Every strategy, simplest first.
    pub const ALL: &'static [Kind] =
        &[Kind::Random, Kind::Latin, Kind::Tpe, Kind::Genetic, Kind::Tabu, Kind::Annealing, Kind::Forest, Kind::Auto];

    /// The stable identifier shown to users and stored in records.
    pub fn name(self) -> &'static str {
        match self {
            Kind::Random => "random",
            Kind::Latin => "latin",
            Kind::Tpe => "tpe",
            Kind::Genetic => "genetic",
            Kind::Tabu => "tabu",
            Kind::Annealing => "annealing",
            Kind::Forest => "forest",
            Kind::Auto => "auto",
        }
    }

    /// The strategy of this name, whatever its case; `lhs` is `latin`.
    pub fn parse(name: &str) -> Result<Kind, UnknownStrategy> {
        if name.eq_ignore_ascii_case("lhs") {
            return Ok(Kind::Latin);
        }
        let known = Kind::ALL.iter().copied().find(|kind| kind.name().eq_ignore_ascii_case(name));
        known.ok_or_else(|| UnknownStrategy {
            name: name.to_string(),
            nearest: nearest(&name.to_ascii_lowercase(), Kind::ALL.iter().map(|kind| kind.name())),
        })
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// A name that no strategy has.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnknownStrategy {
    /// What was typed.
    pub name: String,
    /// The strategy that may have been meant.
    pub nearest: Option<&'static str>,
}

impl fmt::Display for UnknownStrategy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "there is no strategy '{}'", self.name)?;
        if let Some(nearest) = self.nearest {
            return write!(f, "; did you mean '{nearest}'?");
        }
        let names: Vec<&str> = Kind::ALL.iter().map(|kind| kind.name()).collect();
        write!(f, "; there are {}", names.join(", "))
    }
}

impl std::error::Error for UnknownStrategy {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_read_back_and_mistyped_ones_get_a_hint() {
        for kind in Kind::ALL {
            assert_eq!(Kind::parse(kind.name()), Ok(*kind));
        }
        assert_eq!(Kind::parse("TPE"), Ok(Kind::Tpe));
        assert_eq!(Kind::parse("LHS"), Ok(Kind::Latin));
        let near = Kind::parse("randon").unwrap_err();
        assert_eq!(near.to_string(), "there is no strategy 'randon'; did you mean 'random'?");
        let far = Kind::parse("simplex").unwrap_err();
        assert_eq!(
            far.to_string(),
            "there is no strategy 'simplex'; there are random, latin, tpe, genetic, tabu, annealing, forest, auto"
        );
    }
}
