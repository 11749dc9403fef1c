//! What an attempt measured, in a sentence. In: speedups. Out: the one that counts first, with what it is over and on; then those over
//! other configurations, which count for no goal.

use kiln_session::times;

use super::found::{Found, Ratio};

/// What was measured: `7.14x, faster, mean over 2 workloads (w0 10.0x, w1 5.09x), against naive`.
pub(super) fn sentence(found: &Found, counted: &[&Ratio]) -> Option<String> {
    let mut all: Vec<String> = one(counted, &found.ratios).into_iter().collect();
    let mut names: Vec<Option<&str>> = found.against.iter().map(|ratio| ratio.over.as_deref()).collect();
    names.dedup();
    for name in names {
        let own: Vec<&Ratio> = found.against.iter().filter(|ratio| ratio.over.as_deref() == name).collect();
        all.extend(one(&own, &[]));
    }
    (!all.is_empty()).then(|| all.join("; "))
}

/// Ratios over one other, together. `all` are those that stand beside a figure over all workloads.
fn one(counted: &[&Ratio], all: &[Ratio]) -> Option<String> {
    let first = counted.first()?;
    let mean = counted.iter().map(|one| one.times.ln()).sum::<f64>() / counted.len() as f64;
    let verdict = first.verdict.filter(|verdict| counted.iter().all(|one| one.verdict == Some(verdict)));
    let parts: Vec<&Ratio> = match counted {
        [one] if one.on.is_none() => all.iter().filter(|part| part.on.is_some() && part.over == one.over).collect(),
        _ => counted.to_vec(),
    };
    let apart = |one: &&Ratio| {
        // One verdict for all is said once.
        let own = one.verdict.filter(|_| verdict.is_none()).map_or(String::new(), |own| format!(" {}", plain(own)));
        format!("{} {}{own}", one.on.as_deref().unwrap_or_default(), times(one.times))
    };
    let on = match (parts.as_slice(), counted.len()) {
        ([], _) => None,
        ([one], _) => one.on.as_ref().map(|on| format!("on {on}")),
        (many, counted) => {
            let what = if counted > 1 { "mean over" } else { "over" };
            let each: Vec<String> = many.iter().map(apart).collect();
            Some(format!("{what} {} workloads ({})", many.len(), each.join(", ")))
        }
    };
    let over = first.over.as_ref().map(|over| format!("against {over}"));
    let words = [Some(times(mean.exp())), verdict.map(plain), on, over];
    Some(words.into_iter().flatten().collect::<Vec<String>>().join(", "))
}

/// A verdict's name in a sentence.
fn plain(verdict: &str) -> String {
    verdict.replace('_', " ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ratio(on: Option<&str>, over: &str, times: f64, verdict: &'static str) -> Ratio {
        Ratio { on: on.map(String::from), over: Some(over.into()), times, holdout: false, verdict: Some(verdict) }
    }

    fn said(ratios: Vec<Ratio>, against: Vec<Ratio>) -> Option<String> {
        let found = Found { ratios, against, ..Found::default() };
        sentence(&found, &found.counting(None, |_| true))
    }

    #[test]
    fn a_figure_says_what_it_is_of() {
        let (fast, slow) = (ratio(Some("w0"), "naive", 10.0, "faster"), ratio(Some("w1"), "naive", 5.1, "faster"));
        let both = "7.14x, faster, mean over 2 workloads (w0 10.0x, w1 5.10x), against naive";
        assert_eq!(said(vec![fast.clone(), slow], vec![]).as_deref(), Some(both));
        let odd = ratio(Some("w1"), "naive", 0.4, "too_noisy");
        let mixed = "2.00x, mean over 2 workloads (w0 10.0x faster, w1 0.400x too noisy), against naive";
        assert_eq!(said(vec![fast.clone(), odd], vec![]).as_deref(), Some(mixed));
        let other = ratio(Some("w0"), "LANES=16", 0.82, "slower");
        assert_eq!(said(vec![], vec![other.clone()]).as_deref(), Some("0.820x, slower, on w0, against LANES=16"));
        let together = "10.0x, faster, on w0, against naive; 0.820x, slower, on w0, against LANES=16";
        assert_eq!(said(vec![fast.clone()], vec![other]).as_deref(), Some(together));
        let whole =
            vec![Ratio { on: None, verdict: None, ..fast.clone() }, fast, ratio(Some("w1"), "naive", 9.0, "same")];
        let words = "10.0x, over 2 workloads (w0 10.0x faster, w1 9.00x same), against naive";
        assert_eq!(said(whole, vec![]).as_deref(), Some(words));
        assert_eq!(said(vec![], vec![]), None);
    }
}
