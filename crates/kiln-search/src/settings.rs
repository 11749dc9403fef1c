//! The tuned constants of `forest` and `auto`, in one table. In: a name and a number. Out: the table with that number.
//! Refuses a name that is none, with the nearest. `scripts/choose_constants.sh` sets them by name, tries the numbers listed
//! beside each, and prints which it would choose without each kernel.

use std::fmt;

use kiln_core::nearest;

/// One constant: its name, its default and the numbers worth trying.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Constant {
    /// As in [`Settings`].
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
        pub struct Settings {
            $($(#[doc = $text])+ pub $name: f64,)+
        }

        impl Default for Settings {
            fn default() -> Settings {
                Settings { $($name: $default,)+ }
            }
        }

        impl Settings {
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
                        nearest: nearest(name, Settings::ALL.iter().map(|constant| constant.name)),
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
    /// What the first of the priors' favourites is worth in the start, against the last.
    liking = 0.0 of [0.0, 0.2, 0.4];
    /// The agreement with our measurements, from -1 to 1, below which the start stops listening to priors.
    trust = 0.4 of [0.0, 0.2, 0.4];
    /// Configurations of the start when there are priors.
    short = 8.0 of [3.0, 5.0, 8.0];
    /// How much must speak against a prior before it is doubted, in squared logarithms.
    belief = 0.5 of [0.2, 0.5, 2.0];
    /// After so many trials a prior counts half, and soon after hardly at all: by then there are measurements.
    lasting = 10.0 of [10.0, 20.0, 40.0];
    /// What the doubt in a prior is multiplied with.
    reserve = 1.0 of [0.5, 1.0, 2.0];
    /// Of the priors' favourites that were not tried, so many are candidates of every proposal.
    liked = 20.0 of [20.0, 60.0, 120.0];
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
                let names: Vec<&str> = Settings::ALL.iter().map(|constant| constant.name).collect();
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
        for constant in Settings::ALL {
            let mut settings = Settings::default();
            settings.set(constant.name, -7.0).unwrap();
            assert_ne!(settings, Settings::default(), "{}", constant.name);
            settings.set(constant.name, constant.default).unwrap();
            assert_eq!(settings, Settings::default(), "{}", constant.name);
            assert!(constant.choices.contains(&constant.default), "{}", constant.name);
        }
        let error = Settings::default().set("startap", 1.0).unwrap_err();
        assert_eq!(error.to_string(), "there is no constant 'startap'; did you mean 'startup'?");
    }
}
