//! The rules for retries: the key of the second attempt, and the pauses before it. Only requests of the first run count.

use std::collections::{BTreeMap, BTreeSet};

use crate::api;
use crate::cli::exam::cases::Planned;
use crate::cli::exam::classes::{Class, class, identities, meant};
use crate::cli::exam::judge::Found;
use crate::cli::exam::learn::Learned;
use crate::cli::exam::rules::{self, Rule};
use crate::cli::exam::trial::{Call, Ran};
use crate::render::openapi::row::is_keyed;

/// The number of retries whose pauses are compared in an outage, and the sum that pauses must reach if they do not
/// grow.
const RETRIES: usize = 4;
const LEAST_MS: u64 = 250;
/// On a busy machine, a shorter first pause cannot be distinguished from none.
const NOISE_MS: u64 = 8;

/// Whether a rule depends on the wall clock.
pub(super) fn is_timed(rule: &Rule) -> bool {
    rule == rules::IGNORES_RETRY_AFTER || rule == rules::NO_BACK_OFF
}

/// The findings from the requests of the first run.
pub(super) fn judge(planned: &Planned<'_>, learned: &Learned, ran: &Ran) -> Vec<Found> {
    let known = identities(&ran.calls, &ran.canon, &learned.masks);
    let classes: Vec<Class> = ran.calls.iter().map(|call| class(call, &known)).collect();
    let mut found = Vec::new();
    if planned.case.unknown {
        found.extend(keys(learned, &ran.calls, &classes));
    }
    let mut timed = Vec::new();
    if ignores_retry_after(&ran.calls) {
        timed.push((rules::IGNORES_RETRY_AFTER, "a retry came before the time of Retry-After"));
    }
    if planned.case.name == "outage" && has_no_back_off(&ran.calls, &classes) {
        timed.push((
            rules::NO_BACK_OFF,
            "four retries followed at once, and their pauses did not grow",
        ));
    }
    found.extend(timed.into_iter().map(|(rule, what)| (rule, vec![what.to_owned()])));
    found
}

/// The attempts after a fault whose result the app cannot know: without a key, with a new key, or by another call.
fn keys(learned: &Learned, calls: &[Call], classes: &[Class]) -> Vec<Found> {
    let mut found: BTreeMap<&'static Rule, Vec<String>> = BTreeMap::new();
    for (place, faulted) in calls.iter().enumerate() {
        if faulted.fault.is_none() || !takes_key(faulted) {
            continue;
        }
        let own = &classes[place];
        // Without such an obligation in the reference, the right number is unknown.
        let Some(reference) = learned.classes.get(own) else { continue };
        let later = calls.iter().zip(classes).skip(place + 1);
        let mut later = later.take_while(|(call, _)| !call.is_read());
        if !later.any(|(_, class)| class == own) {
            continue;
        }
        let of_class = || calls.iter().zip(classes).filter(|(_, class)| *class == own);
        let bare = of_class().filter(|(call, _)| call.key.is_none()).count();
        if bare > reference.bare.max(1) {
            let what = format!("{bare} calls without a key (without faults: {})", reference.bare);
            found.insert(rules::WITHOUT_KEY, vec![what]);
        }
        let mut bodies: BTreeMap<&str, Vec<u8>> = BTreeMap::new();
        for (call, _) in of_class() {
            if let Some(key) = call.key.as_deref() {
                bodies.entry(key).or_insert_with(|| meant(call));
            }
        }
        if bodies.len() > reference.keys.len().max(1) {
            let different: BTreeSet<&Vec<u8>> = bodies.values().collect();
            let (rule, how) = if different.len() == 1 {
                (rules::FRESH_KEY, "keys")
            } else {
                (rules::OTHER_WAY, "attempts, each with its own key and in part by another way,")
            };
            let (now, before) = (bodies.len(), reference.keys.len());
            found.insert(
                rule,
                vec![format!("{now} {how} for one purchase (without faults: {before})")],
            );
        }
    }
    found.into_iter().collect()
}

/// Whether its operation takes an idempotency key. A PATCH or PUT with the same body can be repeated without one.
fn takes_key(call: &Call) -> bool {
    let wanted = call.operation.as_deref();
    api::product().any(|row| is_keyed(row) && Some(row.operation_id().as_str()) == wanted)
}

/// Whether a request is repeated before nine tenths of the time in the refusal's `Retry-After`.
fn ignores_retry_after(calls: &[Call]) -> bool {
    calls.iter().enumerate().any(|(place, refused)| {
        let Some(seconds) = refused.fault.as_deref().and_then(retry_after) else { return false };
        let same = |call: &&Call| {
            call.key == refused.key && call.path == refused.path && call.body == refused.body
        };
        let next = calls.iter().skip(place + 1).find(same);
        next.is_some_and(|next| next.arrived_ms.saturating_sub(refused.replied_ms) < seconds * 900)
    })
}

/// Seconds of `retry_after=` in the text of a fault.
fn retry_after(fault: &str) -> Option<u64> {
    let part = fault.split(';').find_map(|part| part.strip_prefix("retry_after="))?;
    part.strip_suffix('s')?.parse().ok()
}

/// Whether the retries of an outage are immediate, with pauses that do not grow.
fn has_no_back_off(calls: &[Call], classes: &[Class]) -> bool {
    let Some(first) = calls.iter().position(|call| call.fault.is_some()) else { return false };
    let attempts = calls.iter().zip(classes).skip(first);
    let attempts = attempts.filter(|(_, class)| **class == classes[first]).map(|(call, _)| call);
    let attempts: Vec<&Call> = attempts.take(RETRIES + 1).collect();
    if attempts.len() <= RETRIES {
        return false;
    }
    let pauses = attempts.windows(2).map(|two| two[1].arrived_ms.saturating_sub(two[0].replied_ms));
    let pauses: Vec<u64> = pauses.collect();
    let last = pauses[RETRIES - 2].max(pauses[RETRIES - 1]);
    pauses.iter().sum::<u64>() < LEAST_MS && last < 2 * pauses[0].max(NOISE_MS)
}
