//! The judgement of a case: the ledger first, then retries, pauses and webhooks.

use crate::cli::exam::args::Exam;
use crate::cli::exam::cases::{Acts, Planned};
use crate::cli::exam::evidence::{Entry, Request, counts, entries, requests};
use crate::cli::exam::learn::Learned;
use crate::cli::exam::rules::{self, HOOK_FIXES, Rule, Severity};
use crate::cli::exam::trial::{self, Again, Ran, Trial};
use crate::cli::exam::{hooks, retries};
use crate::cli::failure::Failure;
use crate::cli::lab::canon::{Canon, Groups};
use crate::cli::lab::command::End;

/// The result of a case.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Verdict {
    Pass,
    Fail,
    GaveUp,
    NotExercised,
}

impl Verdict {
    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Pass => "pass",
            Self::Fail => "fail",
            Self::GaveUp => "gave_up",
            Self::NotExercised => "not_exercised",
        }
    }
}

/// A case after its run.
#[derive(Debug)]
pub(super) struct Judged {
    pub(super) at: String,
    pub(super) case: &'static str,
    pub(super) verdict: Verdict,
    pub(super) exit: Option<i32>,
    pub(super) findings: Vec<Finding>,
    /// The reason why it was not exercised, or the way in which it gave up.
    pub(super) note: Option<String>,
}

/// A violated rule.
#[derive(Clone, Debug)]
pub(super) struct Finding {
    pub(super) rule: &'static Rule,
    pub(super) severity: Severity,
    pub(super) what: Vec<String>,
    pub(super) requests: Vec<Request>,
    pub(super) entries: Vec<Entry>,
    pub(super) fix: &'static str,
}

/// Runs a case and judges it. Findings that depend on the wall clock must occur in two more runs.
pub(super) fn case(
    exam: &Exam,
    learned: &Learned,
    planned: &Planned<'_>,
) -> Result<Judged, Failure> {
    let mut judged = once(exam, learned, planned)?;
    for _ in 0..2 {
        let timed = |finding: &Finding| retries::is_timed(finding.rule);
        if !judged.findings.iter().any(timed) {
            break;
        }
        let again = once(exam, learned, planned)?;
        judged.findings.retain(|finding| {
            !timed(finding) || again.findings.iter().any(|other| other.rule == finding.rule)
        });
        judged.settle();
    }
    Ok(judged)
}

fn once(exam: &Exam, learned: &Learned, planned: &Planned<'_>) -> Result<Judged, Failure> {
    let again = if learned.repeatable { Again::IfNotDone } else { Again::Never };
    let trial = Trial {
        faults: planned.faults(&exam.options, learned),
        shapes: planned.shapes(learned),
        unordered: planned.case.name == "hook_order",
        again,
    };
    let ran = trial::run(exam, &trial)?;
    let mut judged = Judged {
        at: planned.at(),
        case: planned.case.name,
        verdict: Verdict::Pass,
        exit: ran.end.code(),
        findings: Vec::new(),
        note: not_exercised(planned, &ran),
    };
    if judged.note.is_some() {
        judged.verdict = Verdict::NotExercised;
        return Ok(judged);
    }
    let mut found = money(exam, learned, &ran);
    if ran.end == End::TimedOut {
        found.push((rules::NEVER_ENDS, vec!["the command ran longer than --timeout".to_owned()]));
    }
    found.extend(retries::judge(planned, learned, &ran));
    found.extend(hooks::judge(planned, &ran));
    let requests = if found.is_empty() { Vec::new() } else { requests(&ran, learned) };
    let differing =
        entries(&ran.canon.sums(&learned.masks), &learned.reference.sums(&learned.masks));
    judged.findings = found
        .into_iter()
        .map(|(rule, what)| Finding {
            rule,
            severity: exam.severity(rule),
            what,
            requests: requests.clone(),
            entries: if rule.id.starts_with("money.") { differing.clone() } else { Vec::new() },
            fix: fix(rule, planned.case.name),
        })
        .collect();
    judged.settle();
    if judged.verdict == Verdict::GaveUp {
        judged.note = Some(match ran.again {
            None => "the command gave up".to_owned(),
            Some((End::Code(0), _)) => {
                "the command gave up, and the second run finished".to_owned()
            }
            Some(_) => "the command gave up, and the second run did, too".to_owned(),
        });
    }
    Ok(judged)
}

fn fix(rule: &'static Rule, case: &str) -> &'static str {
    let of_hooks = HOOK_FIXES.iter().find(|(name, _)| *name == case);
    match of_hooks {
        Some((_, fix)) if rule.id.starts_with("money.moved") => fix,
        _ => rule.fix,
    }
}

impl Exam {
    fn severity(&self, rule: &Rule) -> Severity {
        let is_hint = self.options.hooks_are_hints && rule.id.starts_with("hook.");
        match rule.severity {
            _ if self.options.strict => Severity::Fail,
            Severity::Fail if is_hint => Severity::Warn,
            severity => severity,
        }
    }
}

impl Judged {
    fn settle(&mut self) {
        self.findings
            .sort_by_key(|finding| rules::ALL.iter().position(|rule| rule.id == finding.rule.id));
        let fails = self.findings.iter().any(|finding| finding.severity == Severity::Fail);
        self.verdict = match self.exit {
            _ if fails => Verdict::Fail,
            Some(0) => Verdict::Pass,
            _ => Verdict::GaveUp,
        };
    }
}

/// The reason why a run did not exercise its case.
fn not_exercised(planned: &Planned<'_>, ran: &Ran) -> Option<String> {
    let acted = || ran.calls.iter().filter(|call| call.fault.is_some());
    match planned.case.acts {
        Acts::Calls(..) if acted().next().is_none() => Some("the call was not made".to_owned()),
        Acts::Calls(..) if planned.case.name == "slow" && !acted().any(|call| call.client_left) => {
            Some("the client waited for the whole reply".to_owned())
        }
        Acts::EveryReply if acted().next().is_none() => Some("no call was made".to_owned()),
        _ => hooks::not_exercised(planned, ran).map(str::to_owned),
    }
}

pub(super) type Found = (&'static Rule, Vec<String>);

/// The findings from the ledger.
fn money(exam: &Exam, learned: &Learned, ran: &Ran) -> Vec<Found> {
    let of = |canon: &Canon| Compared::of(canon, learned);
    let first = of(&ran.canon);
    let mut found = Vec::new();
    if first.is_more {
        let rule = if first.is_twice { rules::MOVED_TWICE } else { rules::MOVED_ELSEWHERE };
        found.push((rule, first.lines.clone()));
        if first.is_twice && first.is_elsewhere {
            found.push((rules::MOVED_ELSEWHERE, first.lines.clone()));
        }
    }
    if ran.end == End::Code(0) {
        if first.is_less {
            found.push((rules::UNPAID_BUT_OK, first.lines.clone()));
        } else if !first.is_more && first.sums_differ {
            found.push((rules::ENTRIES_DIFFER, Vec::new()));
        }
        if !first.others.is_empty() {
            found.push((rules::STATE_DIFFERS, first.others.clone()));
        }
    } else if let Some((end, canon)) = &ran.again {
        let second = of(canon);
        if second.is_more && !first.is_more {
            found.push((rules::MOVED_TWICE_ON_RERUN, second.lines.clone()));
        }
        if *end == End::Code(0) && second.is_less {
            found.push((rules::UNPAID_BUT_OK_ON_RERUN, second.lines.clone()));
        }
    } else if let End::Code(code) = ran.end
        && code != exam.options.unknown_exit
        && !first.is_less
        && !learned.repeatable
    {
        let what = format!("the command ends with {code}, but all of its money moved");
        found.push((rules::SAYS_FAILED_BUT_PAID, vec![what]));
    }
    found
}

/// A state beside that of the run without faults.
#[expect(clippy::struct_excessive_bools, reason = "each is a question to the two states")]
struct Compared {
    /// Whether an obligation exists more often than without faults.
    is_more: bool,
    /// One of those that the run without faults has.
    is_twice: bool,
    /// One that the run without faults does not have.
    is_elsewhere: bool,
    /// An obligation is missing.
    is_less: bool,
    sums_differ: bool,
    lines: Vec<String>,
    /// Differences of other objects.
    others: Vec<String>,
}

impl Compared {
    fn of(canon: &Canon, learned: &Learned) -> Self {
        let masks = &learned.masks;
        let (now, before) = (canon.groups(masks, true), learned.reference.groups(masks, true));
        let more = |one: &Groups<'_>, other: &Groups<'_>, is_known: Option<bool>| {
            one.iter().any(|(text, group)| {
                let others = other.get(text).map_or(0, |group| group.count);
                group.count > others && is_known.is_none_or(|known| known == (others > 0))
            })
        };
        let (objects, reference) =
            (canon.groups(masks, false), learned.reference.groups(masks, false));
        Self {
            is_more: more(&now, &before, None),
            is_twice: more(&now, &before, Some(true)),
            is_elsewhere: more(&now, &before, Some(false)),
            is_less: more(&before, &now, None),
            sums_differ: canon.sums(masks) != learned.reference.sums(masks),
            lines: counts(&now, &before, masks),
            others: counts(&objects, &reference, masks),
        }
    }
}
