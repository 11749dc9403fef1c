//! Names that the guard prints: verdicts of `kiln ci`, `kiln compare`, `kiln claims` and of sanitizers, and the level `validated`.

use super::Explained;

const VERSIONS: &str = "verdict on two versions";
const CLAIMS: &str = "verdict on a claim";
const TOOLS: &str = "verdict of tools";

/// All of them; what other verdicts have in common with these is explained there.
pub(super) const NAMES: [Explained; 12] = [
    Explained {
        name: "regression",
        kind: VERSIONS,
        meaning: "slower than the version it is compared with, by more than --regression",
        text: "More than 3 % more time unless told otherwise, intervals that do not overlap, and a rank test that agrees. `kiln ci` \
               measures a second time in fresh processes before it fails with exit code 5.",
    },
    Explained {
        name: "improvement",
        kind: VERSIONS,
        meaning: "faster than the version it is compared with, by at least --improvement",
        text: "10 % unless told otherwise, by the same evidence as a regression. `kiln ci --update` moves the ratchet where a second \
               measurement confirms it.",
    },
    Explained {
        name: "identical",
        kind: VERSIONS,
        meaning: "the same machine code, launched alike",
        text: "No verdict is needed, and `kiln ci` measures nothing. Figures that `kiln compare` shows beside it are the machine's doing.",
    },
    Explained {
        name: "new",
        kind: VERSIONS,
        meaning: "there is nothing to compare it with",
        text: "The base does not have this kernel or workload, its dimensions or arguments have changed, or the ratchet has no entry for \
               it. `kiln ci --update` adds one.",
    },
    Explained {
        name: "other_machine",
        kind: VERSIONS,
        meaning: "the ratchet's figures are of another device, driver or compiler",
        text: "They are shown and not judged by. `kiln ci --update` adds an entry for another device; after a new driver or compiler, \
               delete the entries and update.",
    },
    Explained {
        name: "confirmed",
        kind: CLAIMS,
        meaning: "it is as claimed, or better",
        text: "The measured figure is within the claim's tolerance of what was claimed, or better.",
    },
    Explained {
        name: "refuted",
        kind: CLAIMS,
        meaning: "it is worse than claimed",
        text: "The whole 95 % interval is worse than the claim allows, or a gate refuses the configuration. `kiln claims` ends with exit \
               code 5.",
    },
    Explained {
        name: "unverifiable",
        kind: CLAIMS,
        meaning: "that cannot be said here",
        text: "The claim is about another device, its baseline cannot be measured, or the samples do not tell. The output says which.",
    },
    Explained {
        name: "bugs_found",
        kind: TOOLS,
        meaning: "at least one cause is known",
        text: "Each finding has a cause, the place, what supports it, and a fix; `kiln explain CAUSE` says more. Exit code 3.",
    },
    Explained {
        name: "clean",
        kind: TOOLS,
        meaning: "every tool ran to its end and found nothing, and nothing speaks against the program",
        text: "Not a proof: no tool sees races between blocks, wrong indices or hangs. `kiln check --full` and `kiln fuzz` look at results.",
    },
    Explained {
        name: "not_run",
        kind: TOOLS,
        meaning: "no tool checked anything",
        text: "There is no GPU or driver where the tool ran, or it could not be started. The notes say why. Exit code 1.",
    },
    Explained {
        name: "validated",
        kind: "level of a configuration",
        meaning: "100 cases of kiln fuzz or more found nothing wrong with it",
        text: "`kiln fuzz --runs 100` runs the whole check, then so many drawn cases. `kiln history` and `kiln show` report it; it is gone \
               when the sources or the kernel file change.",
    },
];
