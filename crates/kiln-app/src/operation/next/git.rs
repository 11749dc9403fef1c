//! What git says of a kernel's folder. In: the folder. Out: files that are not committed, commits that are not pushed, and where something
//! was refused the newest good commit. Outside a repository nothing is known.

use kiln_core::counted;
use kiln_diagnose::next::{GitState, Look, OpenRefusal, RefusalKind};

use super::asked::Asked;
use crate::kernel::folder;
use crate::operation::last_good;
use crate::project::Project;
use crate::repository::git;

pub(super) fn state(project: &Project, asked: &Asked, refusal: Option<&OpenRefusal>) -> GitState {
    let folder = folder(&asked.path);
    let told = |words: &[&str]| git(folder, words).ok().and_then(Result::ok);
    let changed = told(&["status", "--porcelain", "--", "."]).map(|text| text.lines().count());
    // Without an upstream nobody knows where they would be pushed.
    let ahead = told(&["rev-list", "--count", "@{upstream}..HEAD"]).and_then(|text| text.trim().parse::<usize>().ok());
    let look = |count: Option<usize>, noun: &str| match count {
        None => Look::Unknown,
        Some(0) => Look::Nothing,
        Some(count) => Look::Found(counted(count as u128, noun)),
    };
    let judged = |kind: RefusalKind| if kind.is_of_the_build() { "build" } else { "check" };
    let good = refusal.and_then(|refusal| last_good(project, &asked.path, judged(refusal.kind)).ok());
    let good = good.and_then(|good| good.commit);
    // A bisection judges commits: where none lies between the good one and the files as they are, it has nothing to find.
    let broken_here = good.as_ref().map(|good| {
        let unchanged = told(&["diff", "--quiet", &good.commit, "HEAD", "--", "."]).is_some();
        unchanged && changed.is_some_and(|count| count > 0)
    });
    GitState {
        uncommitted: look(changed, "file"),
        unpushed: look(ahead, "commit"),
        last_good: good.map(|commit| commit.short().to_string()),
        broken_here,
    }
}
