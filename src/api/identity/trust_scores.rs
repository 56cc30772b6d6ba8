//! Trust scores: requested, and calculated two seconds later.

use crate::api::business::payroll_clock::get;
use crate::api::identity::{subjects, trust_factors};
use crate::api::prelude::*;
use crate::model::identity::subject::LatestTrust;
use crate::model::identity::{
    Subject, TrustContext, TrustScore, TrustSignals, TrustStatus, WEIGHTS,
};

/// From the request to the score.
const CALCULATION: Span = Span::seconds(2);

pub(crate) const OPERATIONS: &[Operation] = &Domain::Identity.table([
    Operation {
        path: "/api/identity/trust-scores",
        summary: "List trust scores",
        description: "Lists trust scores, newest first.",
        ..operation!(read list_trust_scores)
    },
    Operation {
        path: "/api/identity/trust-scores",
        summary: "Score a subject's trust",
        description: "Requests a score from 0 to 1000; a higher score means a lower risk. The \
            score is calculated after 2 seconds from past events of the subject and its company. \
            The score is the sum of its `reasons`. If the band differs from the band of the \
            previous score in the same context, `trust_score.changed` is emitted.",
        example: r#"{"subject_id":"@subject:1","context":"payout"}"#,
        success: 202,
        emits: &["trust_score.created"],
        starts: &[TaskKind::CompleteTrustScore],
        long: true,
        ..operation!(write create_trust_score)
    },
    Operation {
        path: "/api/identity/trust-scores/{trust_score_id}",
        summary: "Read a trust score",
        description: "Returns a score with its band and its parts.",
        ..operation!(get get_trust_score: TrustScore)
    },
]);

list! {
    fn list_trust_scores(ListTrustScores) -> TrustScore, of subject_id;
    filter
        subject_id: Id<Subject>,
        company_id: Id<Company>,
        status: TrustStatus,
        context: TrustContext;
    sort created_at, score;
    newest first;
}

/// A new score.
#[derive(Deserialize, JsonSchema)]
pub(crate) struct CreateTrustScore {
    /// The subject that is scored.
    subject_id: Id<Subject>,
    /// The purpose of the score. Default: `onboarding`.
    context: Option<TrustContext>,
    /// What the caller knows about the subject.
    signals: Option<SignalsInput>,
    /// Key-value pairs set by the caller.
    metadata: Option<Metadata>,
}

/// What the caller knows about the subject.
#[derive(Deserialize, JsonSchema)]
#[schemars(rename = "TrustSignalsInput")]
pub(crate) struct SignalsInput {
    /// Whether the e-mail address was confirmed.
    email_verified: Option<bool>,
    /// Whether the telephone number was confirmed.
    phone_verified: Option<bool>,
    /// Whether the device has been seen before.
    device_known: Option<bool>,
}

fn create_trust_score(world: &mut World, input: CreateTrustScore) -> Result<Single<TrustScore>> {
    let subject = existing(world, input.subject_id, "/subject_id")?;
    let signals = input.signals.map_or_else(TrustSignals::default, |given| TrustSignals {
        email_verified: given.email_verified,
        phone_verified: given.phone_verified,
        device_known: given.device_known,
    });
    let now = world.now();
    let score = TrustScore {
        id: world.next_id(subject.id.bits()),
        object: Object::NAME,
        company_id: subject.company_id,
        subject_id: subject.id,
        context: input.context.unwrap_or_default(),
        signals,
        status: TrustStatus::Processing,
        score: None,
        band: None,
        reasons: Vec::new(),
        previous_score: None,
        created_at: now,
        updated_at: now,
        metadata: input.metadata.unwrap_or_default(),
        status_history: [StatusChange::plain(TrustStatus::Processing, now)].into(),
    };
    let score = world.record("trust_score.created", score);
    world.settle_after(CALCULATION, Task::CompleteTrustScore(score.id));
    Ok(Data(Shown(score)))
}

/// The score is calculated.
pub(crate) fn complete(world: &mut World, id: Id<TrustScore>) {
    let waiting = get(world, id);
    if waiting.status != TrustStatus::Processing {
        return; // another step has already done this
    }
    let now = world.now();
    let subject = get(world, waiting.subject_id);
    let before = latest(world, &waiting);
    let mut score: TrustScore = (*waiting).clone();
    score.reasons = trust_factors::reasons(world, &subject, score.context, score.signals);
    let sum: i32 = score.reasons.iter().map(|reason| reason.points).sum();
    let band = WEIGHTS.band(sum);
    score.score = Some(sum);
    score.band = Some(band);
    score.previous_score = before.as_ref().and_then(|before| before.score);
    score.enter(TrustStatus::Completed, now);
    let mut rated = (*subject).clone();
    rated.trust = Some(LatestTrust { score: sum, at: now });
    rated.updated_at = now;
    subjects::update(world, &subject, rated);
    let score = world.record("trust_score.completed", score);
    if before.is_some_and(|before| before.band != Some(band)) {
        world.emit("trust_score.changed", &score);
    }
}

/// The subject's latest score in the same context.
fn latest(world: &World, of: &TrustScore) -> Option<Arc<TrustScore>> {
    let mut all = world.children::<TrustScore>(of.subject_id.bits()).rev();
    all.find_map(|id| {
        let done = |score: &Arc<TrustScore>| {
            score.context == of.context && score.status == TrustStatus::Completed
        };
        world.find(id).filter(done)
    })
}
