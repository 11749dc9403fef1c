//! The tuned constants of `forest` and `auto`, in one table. In: a name and a number. Out: the table with that number.
//! Refuses a name that is none, with the nearest. `scripts/choose_constants.sh` sets them by name, tries the numbers listed
//! beside each, and prints which it would choose without each kernel.

use std::fmt;

use kiln_core::nearest;

/// One constant: its name, its default and the numbers worth trying.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Constant {
    /// As in [`SearchSettings`].
    pub name: &'static str,
    /// What is used unless something else is asked for.
    pub default: f64,
    /// What the choice is made from.
    pub choices: &'static [f64],
}

macro_rules! constants {
    ($($(#[doc = $text:literal])+ $name:ident = $default:literal of [$($choice:literal),+];)+) => {
        /// The constants by name.
        #[derive(Debug, Clone, PartialEq)]
        pub struct SearchSettings {
            $($(#[doc = $text])+ pub $name: f64,)+
        }

        impl Default for SearchSettings {
            fn default() -> SearchSettings {
                SearchSettings { $($name: $default,)+ }
            }
        }

        impl SearchSettings {
            /// Every constant, with the numbers worth trying.
            pub const ALL: &'static [Constant] = &[
                $(Constant { name: stringify!($name), default: $default, choices: &[$($choice),+] },)+
            ];

            /// Sets a constant by its name.
            pub fn set(&mut self, name: &str, value: f64) -> Result<(), UnknownConstant> {
                match name {
                    $(stringify!($name) => self.$name = value,)+
                    _ => return Err(UnknownConstant {
                        name: name.to_string(),
                        nearest: nearest(name, SearchSettings::ALL.iter().map(|constant| constant.name)),
                    }),
                }
                Ok(())
            }
        }
    };
}

constants! {
    /// Configurations seen before the model takes over; those told from elsewhere count.
    startup = 8.0 of [6.0, 8.0, 10.0, 14.0];
    /// What a power of two is worth in the start, where a list has other numbers too; 1 is the largest distance.
    round = 0.2 of [0.0, 0.1, 0.2, 0.4];
    /// What the best static score is worth in the start, against the worst.
    merit = 0.3 of [0.3];
    /// The share of a prior's configurations that are its favourites, which it leads to.
    favourite = 0.03 of [0.02, 0.03, 0.05];
    /// Priors lead until so many configurations were seen, unless refuted.
    led = 13.0 of [10.0, 13.0, 16.0, 20.0];
    /// So many of them are our own, to hold the favourites against.
    apart = 2.0 of [1.0, 2.0, 3.0];
    /// The chance, beforehand, that priors say nothing.
    doubt = 0.2 of [0.1, 0.2, 0.4];
    /// Above this chance priors lead no longer.
    refuted = 0.8 of [0.7, 0.8, 0.9];
    /// After so many trials they must have proved themselves: only up to the next chance they go on.
    trial = 10.0 of [8.0, 10.0, 12.0];
    /// That chance.
    unproven = 0.5 of [0.1, 0.3, 0.5];
    /// The distance over which what devices differ in becomes unlike, by e.
    reach = 0.35 of [0.2, 0.35, 0.5];
    /// What devices differ in without any pattern, in units of how far times lie apart.
    blur = 0.2 of [0.1, 0.2, 0.35];
    /// How far below the best a search led by priors aims, in those units.
    beyond = 0.1 of [0.0, 0.1, 0.2];
    /// The share of a prior's configurations that the search of our own leaves aside that comes then.
    aside = 0.05 of [0.03, 0.05, 0.1];
    /// It does so until so many configurations were seen.
    alone = 60.0 of [40.0, 60.0, 80.0];
    /// What is added, in the likeness of TPE, to the distance of a power of two and another number.
    odd = 0.3 of [0.0, 0.3, 0.6];
    /// The share of proposals that TPE makes.
    parzen = 0.33 of [0.2, 0.33, 0.5];
    /// The share that the forest makes in a slice; it makes the rest in the whole space.
    slices = 0.33 of [0.2, 0.33, 0.5];
    /// How a slice's distance from the best counts: its weight falls by e over this logarithm of times.
    gap = 0.3 of [0.15, 0.3, 0.6];
    /// The quantile of the measured times that failures are put at.
    failure = 0.8 of [0.5, 0.8, 1.0];
    /// Trees of a forest.
    trees = 30.0 of [20.0, 30.0, 45.0];
    /// So few rows of a tree are not cut again.
    leaf = 3.0 of [2.0, 3.0, 5.0];
    /// Random cuts that the best is taken from.
    tries = 8.0 of [4.0, 8.0, 12.0];
    /// What the doubt of the forest is multiplied with.
    curiosity = 1.5 of [1.0, 1.5, 2.0, 3.0];
    /// How far below the best the forest aims, in parts of the distance from the best to the median.
    aim = 0.02 of [0.0, 0.02, 0.1];
    /// Good trials whose every neighbour is a candidate.
    centres = 6.0 of [3.0, 6.0, 10.0];
    /// Candidates that change two or three tunables of a good trial.
    jumps = 60.0 of [30.0, 60.0, 120.0];
    /// Candidates drawn uniformly.
    draws = 100.0 of [50.0, 100.0, 200.0];
}

/// A name that no constant has.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnknownConstant {
    /// What was given.
    pub name: String,
    /// What may have been meant.
    pub nearest: Option<&'static str>,
}

impl fmt::Display for UnknownConstant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "there is no constant '{}'", self.name)?;
        match self.nearest {
            Some(nearest) => write!(f, "; did you mean '{nearest}'?"),
            None => {
                let names: Vec<&str> = SearchSettings::ALL.iter().map(|constant| constant.name).collect();
                write!(f, "; there are {}", names.join(", "))
            }
        }
    }
}

impl std::error::Error for UnknownConstant {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_constant_is_set_by_its_name_and_has_its_default_among_the_choices() {
        for constant in SearchSettings::ALL {
            let mut settings = SearchSettings::default();
            settings.set(constant.name, -7.0).unwrap();
            assert_ne!(settings, SearchSettings::default(), "{}", constant.name);
            settings.set(constant.name, constant.default).unwrap();
            assert_eq!(settings, SearchSettings::default(), "{}", constant.name);
            assert!(constant.choices.contains(&constant.default), "{}", constant.name);
        }
        let error = SearchSettings::default().set("startap", 1.0).unwrap_err();
        assert_eq!(error.to_string(), "there is no constant 'startap'; did you mean 'startup'?");
    }
}
