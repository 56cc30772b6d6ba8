//! Decisions: the only random choices after growth.
//!
//! Decisions are made by the outside world (bank, tax office, payer), never by the world's own state. Order:
//! rule of the running scenario →
//! `Sandbox-Scenario` header → magic value → default. The key of a draw is (seed, decision, subject), so that
//! an unrelated call changes nothing. Every answer is logged with
//! its reason.

use std::borrow::Cow;
use std::sync::Arc;

use imbl::Vector;

use crate::model::decision::Decision;
use crate::model::payments::{FeeSchedule, RailId, Refusal};
use crate::model::{AnyId, Task};
use crate::value::Timestamp;
use crate::world::World;
use crate::world::decided::{Decided, DecisionAnswer, Why};
use crate::world::script::{Moment, OutcomeRule, Range, Scenario, TimelineRow, When};
use crate::world::script_state::{OutcomeState, Script, TimelineState};
use crate::world::transaction::Undo;

/// The most decisions that are stored; beyond it the oldest are dropped.
const MOST_DECIDED: usize = 100_000;
/// A chance is a number of cases in a million.
const MILLION: u64 = 1_000_000;

/// Whether a row acts on the `asked`th match of its selectors, after `hits` actions.
fn in_turn(when: &When, asked: u64, hits: u64) -> bool {
    let place = |range: &Range| range.first <= asked && range.last.is_none_or(|last| asked <= last);
    (when.nth.is_empty() || when.nth.iter().any(place))
        && when.times.is_none_or(|times| hits < times)
}

impl World {
    /// The answer of the outside world about this subject.
    pub(crate) fn decide(
        &mut self,
        decision: &'static Decision,
        subject: AnyId,
        magic: Option<(DecisionAnswer, String)>,
    ) -> DecisionAnswer {
        self.decide_payment(decision, subject, None, magic)
    }

    /// Decides about a payment on a rail: a refusal has a code of that rail.
    pub(crate) fn decide_payment(
        &mut self,
        decision: &'static Decision,
        subject: AnyId,
        rail: Option<RailId>,
        magic: Option<(DecisionAnswer, String)>,
    ) -> DecisionAnswer {
        let by_rule = self.by_rule(decision, subject, rail);
        let by_header = || self.by_header(decision, subject, rail);
        let (answer, why, source) = by_rule
            .map(|(answer, source)| (answer, Why::Rule, Some(source)))
            .or_else(by_header)
            .or_else(|| magic.map(|(answer, value)| (answer, Why::MagicValue, Some(value))))
            .unwrap_or_else(|| {
                let default = decision.choices[0].name;
                (DecisionAnswer::plain(decision, default), Why::Default, None)
            });
        let decided = Arc::new(Decided {
            sequence: self.decided.last().map_or(1, |last| last.sequence + 1),
            at: self.now,
            decision: Cow::Borrowed(decision.name),
            subject,
            chosen: Cow::Borrowed(answer.choice),
            code: answer.code.and_then(Refusal::code).map(|code| Cow::Borrowed(&*code.code)),
            after: answer.after,
            why,
            source: source.map(String::into_boxed_str),
        });
        self.decided.push_back(Arc::clone(&decided));
        let dropped =
            (self.decided.len() > MOST_DECIDED).then(|| self.decided.pop_front()).flatten();
        self.transaction.undo.push(Undo::Decided { dropped });
        self.transaction.latest = Some(Arc::clone(&decided));
        self.transaction.decided = Some(decided);
        answer
    }

    /// The first row that decides about the subject. Every row whose selectors match counts the subject, so `nth` of
    /// a row does not depend on other rows.
    fn by_rule(
        &mut self,
        decision: &'static Decision,
        subject: AnyId,
        rail: Option<RailId>,
    ) -> Option<(DecisionAnswer, String)> {
        let rows = &self.script.outcomes;
        if !rows.iter().any(|state| state.row.on == decision.name) {
            return None;
        }
        let facts = self.facts(subject);
        let mut first = None;
        for place in 0..self.script.outcomes.len() {
            let row = &self.script.outcomes[place].row;
            let selected = row.on == decision.name
                && (row.when.select.iter()).all(|selector| self.selects(selector, &facts));
            if !selected {
                continue;
            }
            let may_act = first.is_none()
                && self.draws(row.when.chance_ppm, decision.name, subject, &row.then);
            let state = &mut self.script.outcomes[place];
            let (asked, hits) = (state.asked, state.hits);
            state.asked += 1;
            let acts = may_act && in_turn(&state.row.when, state.asked, hits);
            state.hits += u64::from(acts);
            self.transaction.undo.push(Undo::Asked { place, asked, hits });
            if acts {
                let row = &self.script.outcomes[place].row;
                first = Some((answer(decision, row, rail), row.source.clone()));
            }
        }
        first
    }

    /// The choice in the header of the original request. Its rows do not count their matches.
    fn by_header(
        &self,
        decision: &'static Decision,
        subject: AnyId,
        rail: Option<RailId>,
    ) -> Option<(DecisionAnswer, Why, Option<String>)> {
        let cause = self.transaction.cause.as_ref()?;
        let mut rows = cause.outcomes.iter().filter(|row| row.on == decision.name).peekable();
        rows.peek()?;
        let facts = self.facts(subject);
        let row = rows.find(|row| {
            row.when.select.iter().all(|selector| self.selects(selector, &facts))
                && self.draws(row.when.chance_ppm, decision.name, subject, &row.then)
        })?;
        Some((answer(decision, row, rail), Why::Header, Some(row.source.clone())))
    }

    fn draws(&self, chance_ppm: Option<u32>, decision: &str, subject: AnyId, then: &str) -> bool {
        let Some(chance) = chance_ppm else { return true };
        let key = self.base.key().with("decision").with(decision);
        let key = key.with(subject.kind.name()).at(subject.bits);
        // Two rows about one subject have separate draws.
        key.with(then).below(MILLION) < u64::from(chance)
    }

    /// The stored decisions, in order.
    pub(crate) const fn decided(&self) -> &Vector<Arc<Decided>> {
        &self.decided
    }

    /// The rows that decide.
    pub(crate) const fn script(&self) -> &Script {
        &self.script
    }

    /// Adds the rows of a scenario after the existing ones, and sets the timers of its dates.
    pub(crate) fn load(&mut self, scenario: &Scenario) {
        self.begin(None);
        self.save_script();
        let of = Some(scenario.name.clone());
        let outcomes = scenario.outcomes.iter().map(|row| OutcomeState {
            row: row.clone(),
            scenario: of.clone(),
            rule: None,
            asked: 0,
            hits: 0,
        });
        self.script.outcomes.extend(outcomes);
        if let (true, Some(schedule)) =
            (self.script.platform_fee.is_standard(), &scenario.limits.platform_fee)
        {
            self.script.platform_fee = schedule.clone();
        }
        if let (0, Some(fee)) = (self.script.monthly_fee, scenario.limits.monthly_fee) {
            self.script.monthly_fee = fee;
        }
        for row in &scenario.timeline {
            self.script.timeline.push(TimelineState {
                row: row.clone(),
                scenario: of.clone(),
                armed: false,
                hits: 0,
                refused: None,
            });
            let due = match row.at {
                Moment::In(span) => self.now.plus(span),
                Moment::At(instant) => instant,
                Moment::After { .. } => continue,
            };
            self.arm(self.script.timeline.len() - 1, due);
        }
        self.commit();
    }

    /// Sets the platform fee, and the fixed fee of a month.
    pub(crate) fn charge_by(&mut self, schedule: FeeSchedule, monthly_fee: i64) {
        self.begin(None);
        if self.script.platform_fee != schedule || self.script.monthly_fee != monthly_fee {
            self.save_script();
            self.script.platform_fee = schedule;
            self.script.monthly_fee = monthly_fee;
        }
        self.commit();
    }

    /// The loaded scenarios are part of the world's start, and count as no change. An import counts as one.
    pub(crate) const fn begins_here(&mut self, imports: u64) {
        self.version = imports;
    }

    /// All changes since that version count as one.
    pub(crate) const fn is_one_change_since(&mut self, version: u64) {
        self.version = version + 1;
    }

    /// Ends every scenario, with its rows and their timers. Rules made at run time stay.
    pub(crate) fn unload(&mut self) {
        self.begin(None);
        self.save_script();
        self.script.outcomes.retain(|state| state.rule.is_some());
        self.script.timeline.clear();
        self.script.platform_fee = FeeSchedule::Standard;
        self.script.monthly_fee = 0;
        self.drop_scripted_timers();
        self.commit();
    }

    /// Adds a rule before all other rows, because rules made at run time have priority. Returns its number.
    pub(crate) fn add_rule(&mut self, row: OutcomeRule) -> u64 {
        self.begin(None);
        self.save_script();
        self.script.rules += 1;
        let rule = self.script.rules;
        let state = OutcomeState { row, scenario: None, rule: Some(rule), asked: 0, hits: 0 };
        self.script.outcomes.insert(0, state);
        self.commit();
        rule
    }

    /// Removes one rule by its number, or all. Returns how many were removed.
    pub(crate) fn remove_rules(&mut self, number: Option<u64>) -> usize {
        self.begin(None);
        let goes = |state: &OutcomeState| {
            state.rule.is_some_and(|rule| number.is_none_or(|number| number == rule))
        };
        let gone = self.script.outcomes.iter().filter(|state| goes(state)).count();
        if gone > 0 {
            self.save_script();
            self.script.outcomes.retain(|state| !goes(state));
        }
        self.commit();
        gone
    }

    /// A timeline row has run; it runs again if it repeats.
    pub(crate) fn scripted(&mut self, place: u32) -> Option<TimelineRow> {
        let place = usize::try_from(place).ok()?;
        let row = self.script.timeline.get(place)?.row.clone();
        self.save_script();
        self.script.timeline[place].hits += 1;
        if let Some(every) = row.every {
            self.arm(place, self.now.plus(every));
        }
        Some(row)
    }

    /// Whether a timer only repeats a timeline row. Such a timer does not count as work in progress.
    pub(crate) fn is_repetition(&self, task: Task) -> bool {
        let Task::Scripted(place) = task else { return false };
        let state = usize::try_from(place).ok().and_then(|place| self.script.timeline.get(place));
        state.is_some_and(|state| state.hits > 0 && state.row.every.is_some())
    }

    /// The call of a timeline row was refused.
    pub(crate) fn script_refused(&mut self, place: u32, why: String) {
        self.begin(None);
        self.save_script();
        let row = usize::try_from(place).ok();
        if let Some(state) = row.and_then(|place| self.script.timeline.get_mut(place)) {
            state.refused = Some(why);
        }
        self.commit();
    }

    fn save_script(&mut self) {
        let before = Box::new(self.script.clone());
        self.transaction.undo.push(Undo::Script { before });
    }

    /// Sets the timers of timeline rows that wait for an event of that type.
    pub(super) fn arm_after(&mut self, name: &str) {
        for place in 0..self.script.timeline.len() {
            let state = &self.script.timeline[place];
            let Moment::After { event, delay } = &state.row.at else { continue };
            if state.armed || event != name {
                continue;
            }
            let due = self.now.plus(*delay);
            self.arm(place, due);
        }
    }

    /// Sets the timer of a timeline row.
    pub(super) fn arm(&mut self, place: usize, due: Timestamp) {
        self.script.timeline[place].armed = true;
        self.transaction.undo.push(Undo::Armed { place });
        let row = u32::try_from(place).expect("a scenario has few rows");
        self.remind_at(due, Task::Scripted(row));
    }
}

/// The answer of a row; it was checked against the table when it was read.
fn answer(decision: &'static Decision, row: &OutcomeRule, rail: Option<RailId>) -> DecisionAnswer {
    let answer = match rail {
        Some(rail) => DecisionAnswer::on_rail(decision, &row.then, rail, row.code.as_deref()),
        None => DecisionAnswer::plain(decision, &row.then),
    };
    DecisionAnswer { after: row.after, ..answer }
}
