//! Screenings: whether a watchlist contains a subject, once or every day.

use crate::api::business::payroll_clock::get;
use crate::api::identity::alert_facts::{self, NewAlert};
use crate::api::prelude::*;
use crate::model::decision::WATCHLIST_REPLY;
use crate::model::identity::aml_screening::Hit;
use crate::model::identity::{
    AlertRule, AmlScreening, HitStatus, ListAnswer, ListName, Listed, RiskLevel, ScreeningStatus,
    Severity, Subject, Verification, WatchlistEntry, watchlist,
};
use crate::model::name_match::{MatchType, Name};

/// From the request to the reply of the watchlist provider.
pub(crate) const SCREENING: Span = Span::seconds(5);
/// The default tolerance for differences between names.
const FUZZINESS: u32 = 15;
/// From one screening to the next.
const DAY: Span = Span::seconds(24 * 60 * 60);
/// Number of days for which a screening is repeated.
const DAYS: i32 = 365;
/// Score of a hit about another person.
const LOOKALIKE: u32 = 87;

pub(crate) const OPERATIONS: &[Operation] = &Domain::Identity.table([
    Operation {
        path: "/api/identity/aml-screenings",
        summary: "Screen a subject",
        description: "Searches for the subject in the shipped watchlists, and in the entries that \
            `watchlist_hit` added. All names on the shipped watchlists are invented. The result \
            arrives after 5 seconds: `clear`, or `needs_review` with an alert. An `ongoing` \
            screening is repeated every day for a year.",
        example: r#"{"subject_id":"@subject:1","ongoing":true}"#,
        success: 202,
        starts: &[TaskKind::CompleteScreening],
        emits: &["aml_screening.created"],
        long: true,
        ..operation!(write create_aml_screening)
    },
    Operation {
        path: "/api/identity/aml-screenings/{screening_id}",
        summary: "Read a screening",
        description: "Returns each hit with its score, and the resulting risk score.",
        ..operation!(get get_aml_screening: AmlScreening)
    },
]);

/// A new screening.
#[derive(Deserialize, JsonSchema)]
pub(crate) struct CreateAmlScreening {
    /// The subject that is screened.
    subject_id: Id<Subject>,
    /// The watchlists to search, each at most once. Default: all.
    #[schemars(length(min = 1), extend("uniqueItems" = true))]
    lists: Option<Vec<ListName>>,
    /// Tolerance for differences between names, 0 to 40: a hit must score at least 100 minus this value. Default: 15.
    #[schemars(range(max = 40))]
    fuzziness: Option<u32>,
    /// Whether the screening is repeated every day for a year. Default: false.
    ongoing: Option<bool>,
    /// Key-value pairs set by the caller.
    metadata: Option<Metadata>,
}

fn create_aml_screening(
    world: &mut World,
    input: CreateAmlScreening,
) -> Result<Single<AmlScreening>> {
    let subject = existing(world, input.subject_id, "/subject_id")?;
    let wanted = Wanted {
        verification: None,
        lists: input.lists.unwrap_or_else(|| ListName::ALL.to_vec()),
        fuzziness: input.fuzziness.unwrap_or(FUZZINESS),
        ongoing: input.ongoing.unwrap_or(false),
        metadata: input.metadata.unwrap_or_default(),
    };
    let screening = begin(world, &subject, wanted);
    Ok(Data(Shown(screening)))
}

struct Wanted {
    verification: Option<Id<Verification>>,
    lists: Vec<ListName>,
    fuzziness: u32,
    ongoing: bool,
    metadata: Metadata,
}

/// Screens the subject of a case.
pub(crate) fn begin_for(world: &mut World, case: &Verification) {
    let subject = get(world, case.subject_id);
    let wanted = Wanted {
        verification: Some(case.id),
        lists: ListName::ALL.to_vec(),
        fuzziness: FUZZINESS,
        ongoing: false,
        metadata: Metadata::default(),
    };
    begin(world, &subject, wanted);
}

fn begin(world: &mut World, subject: &Subject, wanted: Wanted) -> Arc<AmlScreening> {
    let now = world.now();
    let screening = AmlScreening {
        id: world.next_id(subject.id.bits()),
        object: Object::NAME,
        company_id: subject.company_id,
        subject_id: subject.id,
        verification_id: wanted.verification,
        status: ScreeningStatus::Processing,
        lists: wanted.lists,
        fuzziness: wanted.fuzziness,
        ongoing: wanted.ongoing,
        hits: Vec::new(),
        risk_score: 0,
        alert_id: None,
        completed_at: None,
        created_at: now,
        updated_at: now,
        metadata: wanted.metadata,
        status_history: [StatusChange::plain(ScreeningStatus::Processing, now)].into(),
    };
    let screening = world.stage(screening);
    let answer = ask(world, &screening, subject);
    world.emit("aml_screening.created", &screening);
    let task = Task::CompleteScreening(screening.id, ListAnswer::of(answer.choice));
    world.settle_when(SCREENING, answer.after, task);
    screening
}

fn ask(world: &mut World, screening: &AmlScreening, subject: &Subject) -> DecisionAnswer {
    let bearing = subject.reserved_word();
    let reserved = [("Sanctioned", "sanctioned"), ("Pep", "pep"), ("Lookalike", "lookalike")];
    let chosen = reserved.iter().find(|(name, _)| bearing.eq_ignore_ascii_case(name));
    let magic = chosen.map(|(_, choice)| {
        let answer = DecisionAnswer::plain(&WATCHLIST_REPLY, choice);
        (answer, format!("last name {bearing}"))
    });
    world.decide(&WATCHLIST_REPLY, AnyId::of(screening.id), magic)
}

/// The first result has arrived.
pub(crate) fn complete(world: &mut World, id: Id<AmlScreening>, answer: ListAnswer) {
    let screening = get(world, id);
    if screening.status != ScreeningStatus::Processing {
        return; // another step has already done this
    }
    let found = found(world, &screening, answer);
    conclude(world, &screening, found);
    repeat(world, &screening);
}

/// Sets the timer for the next day's screening, if there is one.
fn repeat(world: &mut World, screening: &AmlScreening) {
    let last = screening.created_at.date().plus_days(DAYS);
    let next = world.now().plus(DAY);
    if screening.ongoing && next.date() <= last && next < Timestamp::MAX {
        world.remind_at(next, Task::ScreenAgain(screening.id));
    }
}

/// A day has passed: the watchlists are searched again. A screening in review or confirmed waits, and dismissed hits are not reported
/// again.
pub(crate) fn again(world: &mut World, id: Id<AmlScreening>) {
    let screening = get(world, id);
    if screening.status == ScreeningStatus::ConfirmedMatch {
        return;
    }
    if screening.status == ScreeningStatus::Clear {
        let subject = get(world, screening.subject_id);
        let answer = ask(world, &screening, &subject);
        let answer = ListAnswer::of(answer.choice);
        let new: Vec<Listed> = found(world, &screening, answer)
            .into_iter()
            .filter(|listed| {
                let known = |hit: &Hit| hit.list == listed.list && hit.entry_id == listed.entry_id;
                !screening.hits.iter().any(known)
            })
            .collect();
        if !new.is_empty() {
            conclude(world, &screening, new);
        }
    }
    repeat(world, &screening);
}

/// Whether that answer is a hit.
pub(crate) fn hits(world: &World, screening: &AmlScreening, answer: ListAnswer) -> bool {
    !found(world, screening, answer).is_empty()
}

/// The hits for the subject.
fn found(world: &World, screening: &AmlScreening, answer: ListAnswer) -> Vec<Listed> {
    let subject = get(world, screening.subject_id);
    let name = subject.full_name();
    let made_up = |list: ListName, score: u32, kind: MatchType| {
        if !screening.lists.contains(&list) {
            return Vec::new();
        }
        let entry_id = format!("{}-000", if list == ListName::Pep { "pep" } else { "snc" });
        vec![Listed { list, entry_id, name: name.clone(), score, kind }]
    };
    match answer {
        ListAnswer::Clear => Vec::new(),
        ListAnswer::Sanctioned => made_up(ListName::Sanctions, 100, MatchType::Exact),
        ListAnswer::Pep => made_up(ListName::Pep, 100, MatchType::Exact),
        ListAnswer::Lookalike => made_up(ListName::Sanctions, LOOKALIKE, MatchType::Near),
        ListAnswer::ByName => {
            let least = 100 - screening.fuzziness;
            let mut all = watchlist::search(&name, &screening.lists, least);
            let name = Name::read(&name);
            let added = world.listed_alike(&name).into_iter();
            let added = added.filter(|entry| screening.lists.contains(&entry.list));
            all.extend(added.filter_map(|entry| entry.listed(&name, least)));
            all
        }
    }
}

/// Applies the result: no hit means clear, any hit opens an alert.
fn conclude(world: &mut World, screening: &AmlScreening, found: Vec<Listed>) {
    let now = world.now();
    let mut screening = screening.clone();
    screening.completed_at = Some(now);
    screening.hits.extend(found.into_iter().map(Hit::of));
    screening.recalculate_risk();
    let open = |hit: &&Hit| hit.status == HitStatus::Open;
    let hits = screening.hits.iter().filter(open).count();
    if hits == 0 {
        screening.enter(ScreeningStatus::Clear, now);
        alert_facts::rate(world, screening.subject_id, RiskLevel::Low, None);
        world.record("aml_screening.completed", screening);
        return;
    }
    screening.enter(ScreeningStatus::NeedsReview, now);
    let level = screening.risk_level();
    alert_facts::rate(world, screening.subject_id, level, None);
    let subject = get(world, screening.subject_id);
    let parent = subject.company_id.map_or(subject.id.bits(), Id::bits);
    screening.alert_id = Some(world.next_id(parent));
    let screening = world.record("aml_screening.completed", screening);
    let severity = match level {
        RiskLevel::High => Severity::High,
        RiskLevel::Medium => Severity::Medium,
        RiskLevel::Low | RiskLevel::Unknown => Severity::Low,
    };
    let noun = if hits == 1 { "entry" } else { "entries" };
    alert_facts::open(
        world,
        NewAlert {
            company: subject.company_id,
            subject: Some(&subject),
            screening: Some(screening.id),
            rule: AlertRule::WatchlistHit,
            severity,
            detail: format!("{hits} {noun} of the watchlists may be {}", subject.full_name()),
            money: None,
            resources: vec![AnyId::of(screening.id)],
        },
    );
}

/// The screening that a case started, if any.
pub(crate) fn of_case(world: &World, case: &Verification) -> Option<Arc<AmlScreening>> {
    let mut all = world.children::<AmlScreening>(case.subject_id.bits()).rev();
    all.find_map(|id| world.find(id).filter(|one| one.verification_id == Some(case.id)))
}

/// A name to add to a watchlist.
#[derive(Deserialize, JsonSchema)]
pub(crate) struct WatchlistHit {
    /// The watchlist to add the name to.
    list: ListName,
    /// The subject whose name is added. Give exactly one of this and `name`.
    subject_id: Option<Id<Subject>>,
    /// The name of a person or business. Give exactly one of `name` and `subject_id`.
    name: Option<Text<200>>,
}

/// Adds a name to a watchlist: later and repeated screenings find it.
pub(crate) fn simulate_watchlist_hit(
    world: &mut World,
    input: WatchlistHit,
) -> Result<Single<WatchlistEntry>> {
    let subject = input.subject_id.map(|id| existing(world, id, "/subject_id")).transpose()?;
    let name = match (&subject, input.name) {
        (Some(subject), None) => subject.full_name(),
        (None, Some(name)) => name.into_string(),
        _ => {
            let detail = "expected exactly one of subject_id and name";
            return Err(ApiError::of_member("", "one_of", detail));
        }
    };
    let now = world.now();
    let entry = WatchlistEntry {
        id: world.next_id(0),
        object: Object::NAME,
        company_id: subject.and_then(|subject| subject.company_id),
        list: input.list,
        name,
        status: watchlist::EntryStatus::Listed,
        created_at: now,
        updated_at: now,
        metadata: Metadata::default(),
    };
    Ok(Data(Shown(world.record("watchlist_entry.added", entry))))
}
