//! Every expression of the file against the names of every target it concerns. In: the draft. Out: the order of each
//! target's derived values, and the dimensions that are used. Logs what is wrong once, naming the targets it is wrong for
//! when it is right for others.

use std::collections::{BTreeMap, HashMap};

use kiln_core::Report;
use kiln_expr::Type;

use crate::model::Role;
use crate::names::namespace::{Namespace, layers};
use crate::names::order::order;
use crate::names::sites;
use crate::names::usage::{Site, Surroundings, Uses, each_name};
use crate::reading::draft::Draft;
use crate::reading::log::{Finding, Log, shortened};
use crate::tables::target::TargetDraft;

/// What the checks found out.
pub(crate) struct Checked {
    /// For each target, the order of its derived values: indices into the shared ones, then its own.
    pub(crate) orders: Vec<Vec<usize>>,
    pub(crate) uses: Uses,
}

pub(crate) fn check_formulas(log: &Log, draft: &Draft) -> Checked {
    let surroundings = Surroundings {
        log,
        arguments: draft.arguments.iter().map(|a| a.name.as_str()).collect(),
        scalars: draft.arguments.iter().filter(|a| a.role == Some(Role::Scalar)).map(|a| a.name.as_str()).collect(),
        has_workloads: !draft.workloads.is_empty(),
    };
    let mut check = Check { surroundings, verdicts: Verdicts::default(), uses: Uses::new() };
    let mut spaces = Vec::new();
    let mut orders = Vec::new();
    for target in &draft.targets {
        let mut names = Namespace::of(log, draft, target);
        orders.push(check.derived(draft, target, &mut names));
        for site in sites::of_target(draft, target) {
            check.judge(&site, &names);
        }
        spaces.push(names);
    }
    let union = Namespace::union(&spaces);
    for site in sites::of_problem(draft) {
        let (_, findings) = check.surroundings.judge(&site, &union, &mut check.uses);
        findings.into_iter().for_each(|f| log.push(f));
    }
    check.verdicts.log(log);
    Checked { orders, uses: check.uses }
}

struct Check<'a> {
    surroundings: Surroundings<'a>,
    verdicts: Verdicts,
    uses: Uses,
}

impl Check<'_> {
    fn judge(&mut self, site: &Site, names: &Namespace) -> Type {
        let (of, findings) = self.surroundings.judge(site, names, &mut self.uses);
        self.verdicts.add(site, &names.path, findings);
        of
    }

    /// Checks the derived values of a target, each after those it needs, so that its type is known where it is used.
    fn derived(&mut self, draft: &Draft, target: &TargetDraft, names: &mut Namespace) -> Vec<usize> {
        let derived: Vec<_> = layers(draft, target).flat_map(|layer| &layer.derived).collect();
        let index: HashMap<&str, usize> = derived.iter().enumerate().rev().map(|(i, d)| (&*d.name, i)).collect();
        let mut needs = vec![Vec::new(); derived.len()];
        for (needs, derived) in needs.iter_mut().zip(&derived) {
            if let Some(formula) = &derived.body {
                each_name(formula.expression.root(), &mut |name, _| needs.extend(index.get(&**name).copied()));
            }
        }
        let (order, circles) = order(&needs);
        for circle in circles {
            let named: Vec<&str> = circle.iter().chain(circle.first()).map(|i| &*derived[*i].name).collect();
            let message = format!("derived values need each other: {}", shortened(&named, " -> "));
            let at = circle.iter().map(|i| derived[*i].span.clone()).min_by_key(|s| s.start).unwrap_or(0..0);
            self.surroundings.log.add(at, Report::error(message).label("expected a value that does not need itself"));
        }
        for i in &order {
            if let Some(site) = sites::of_derived(draft, target, *i) {
                let of = self.judge(&site, names);
                names.set_type(&derived[*i].name, of);
            }
        }
        order
    }
}

/// What was found about each expression in each target.
#[derive(Default)]
struct Verdicts {
    /// By the place of the expression, so that the log keeps file order.
    sites: BTreeMap<usize, Verdict>,
}

#[derive(Default)]
struct Verdict {
    table: Option<&'static str>,
    /// The targets it was judged for, by their paths.
    judged: Vec<String>,
    findings: Vec<(String, Finding)>,
}

impl Verdicts {
    fn add(&mut self, site: &Site, target: &str, findings: Vec<Finding>) {
        let verdict = self.sites.entry(site.formula.span.start).or_default();
        verdict.table = site.table;
        verdict.judged.push(target.to_owned());
        verdict.findings.extend(findings.into_iter().map(|f| (target.to_owned(), f)));
    }

    fn log(self, log: &Log) {
        for verdict in self.sites.into_values() {
            verdict.log(log);
        }
    }
}

impl Verdict {
    fn log(self, log: &Log) {
        for (_, finding) in &self.findings {
            let same = |f: &Finding| f.span == finding.span && f.report.message == finding.report.message;
            let wrong: Vec<&String> = self.findings.iter().filter(|(_, f)| same(f)).map(|(t, _)| t).collect();
            let mut finding = finding.clone();
            let right = self.judged.iter().find(|t| !wrong.contains(t));
            if let Some(right) = right {
                // Some messages name their target already.
                if !wrong.iter().all(|t| finding.report.message.contains(*t)) {
                    let targets: Vec<&str> = wrong.iter().map(|t| t.as_str()).collect();
                    finding.report.message += &format!(" in {}", targets.join(" and "));
                }
                let home = self.table.map(|table| {
                    let what = if right.contains(".implementation.") { "implementation" } else { "target" };
                    format!("what holds for one {what} only belongs under [{right}.{table}]")
                });
                finding.report = finding.report.maybe_hint(home);
            }
            log.push(finding);
        }
    }
}
