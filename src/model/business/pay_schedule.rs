//! A pay schedule: how often a company pays, and the days of each pay period.
//!
//! A month without a schedule is one pay period. If a schedule covers a part of a month, the remaining days are a pay
//! period.

use core::fmt;

use crate::model::calendar::Calendar;
use crate::model::payroll::PayPeriod;
use crate::model::prelude::*;

states! {
    /// Status of a pay schedule.
    ScheduleStatus { Active "active", Ended "ended" }
    "end": Active => Ended;
}

resource! {
    /// How often a company pays its employees. A company has at most one active schedule; without one it pays monthly.
    PaySchedule: ScheduleStatus {
        /// The company that pays.
        company_id: Id<Company>,
        /// How often employees are paid.
        frequency: PayPeriod,
        /// The first day of the first pay period.
        first_day: Date,
        /// The last day of the last pay period, once the schedule has ended.
        last_day: Option<Date>,
        /// Days from the last day of a pay period to its pay date. A pay date on a weekend or holiday moves to the business day before.
        pay_days_after: u16,
        /// How many days before the pay date the clock drafts the run. Null if it drafts none.
        draft_days_before: Option<u16>,
        /// The run that the clock drafts next; null if the clock drafts none.
        next_draft: Option<NextDraft>,
        /// Current status.
        status: ScheduleStatus,
    }
}

/// A run that the clock will draft.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub(crate) struct NextDraft {
    /// The day on which the clock drafts the run.
    pub(crate) on: Date,
    /// The days that the run pays.
    pub(crate) pay_period: PaySpan,
}

/// The days that a regular run pays.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[schemars(rename = "PayPeriodDays")]
pub(crate) struct PaySpan {
    /// The first day of the pay period.
    pub(crate) start: Date,
    /// The last day. It determines the month of the pay.
    pub(crate) end: Date,
    /// How often the company pays. This determines the tax tables.
    pub(crate) frequency: PayPeriod,
}

impl PaySpan {
    /// A whole month.
    pub(crate) fn month(period: Period) -> Self {
        let (start, end) = (period.first_day(), period.last_day());
        Self { start, end, frequency: PayPeriod::Monthly }
    }

    /// The month of the pay.
    pub(crate) fn period(self) -> Period {
        self.end.period()
    }

    /// Whether it is a whole month.
    pub(crate) fn is_month(self) -> bool {
        self == Self::month(self.period())
    }

    /// Itself, unless it is the whole month that its period names.
    pub(crate) fn beside_its_month(self) -> Option<Self> {
        (!self.is_month()).then_some(self)
    }

    /// Its months in order.
    pub(crate) fn months(self) -> Vec<Period> {
        let (first, last) = self.whole();
        let next = |month: &Period| Some(month.plus_months(1));
        let months = core::iter::successors(Some(first.period()), next);
        months.take_while(|month| *month <= last.period()).collect()
    }

    /// Its months in order, each with its number of working days. Months without working days are left out, unless no
    /// month has any.
    pub(crate) fn working_days_by_month(self, calendar: &Calendar) -> Vec<(Period, u32)> {
        let (first, last) = self.whole();
        let mut months: Vec<_> = self
            .months()
            .into_iter()
            .map(|month| {
                let (from, to) = (first.max(month.first_day()), last.min(month.last_day()));
                (month, calendar.working_days(from, to))
            })
            .filter(|(_, days)| *days > 0)
            .collect();
        if months.is_empty() {
            months.push((self.period(), 1));
        }
        months
    }

    /// The days over which the pay is prorated: the whole month, or the days of the pay period.
    pub(crate) fn whole(self) -> (Date, Date) {
        match self.frequency {
            PayPeriod::Monthly => (self.period().first_day(), self.period().last_day()),
            _ => (self.start, self.end),
        }
    }
}

impl fmt::Display for PaySpan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.is_month() {
            return write!(f, "{}", self.period());
        }
        write!(f, "{} to {}", self.start, self.end)
    }
}

impl PaySchedule {
    /// The pay period that contains a day, if the schedule covers it.
    pub(crate) fn containing(&self, day: Date) -> Option<PaySpan> {
        let covers = day >= self.first_day && self.last_day.is_none_or(|last| day <= last);
        covers.then(|| self.around(day))
    }

    fn around(&self, day: Date) -> PaySpan {
        let month = day.period();
        let middle = month.day(15);
        let (start, end) = match self.frequency {
            PayPeriod::Monthly => (month.first_day(), month.last_day()),
            PayPeriod::Semimonthly if day <= middle => (month.first_day(), middle),
            PayPeriod::Semimonthly => (middle.plus_days(1), month.last_day()),
            other => self.block(day, days_of(other).expect("other pay periods have fixed lengths")),
        };
        PaySpan { start, end, frequency: self.frequency }
    }

    /// The block of days, counted from the first day, that contains `day`.
    fn block(&self, day: Date, days: i32) -> (Date, Date) {
        let start = self.first_day.plus_days(day.days_since(self.first_day) / days * days);
        (start, start.plus_days(days - 1))
    }

    /// The pay periods in order, starting with the one that contains `day`, or else with the first.
    pub(crate) fn from(&self, day: Date) -> impl Iterator<Item = PaySpan> + '_ {
        let first = self.containing(day.max(self.first_day));
        core::iter::successors(first, |span| self.containing(span.end.plus_days(1)))
    }

    /// Whether a pay period may begin on that day.
    pub(crate) fn may_begin(frequency: PayPeriod, day: Date) -> bool {
        let month = day.period();
        match frequency {
            PayPeriod::Monthly => day == month.first_day(),
            PayPeriod::Semimonthly => day == month.first_day() || day == month.day(16),
            PayPeriod::Weekly | PayPeriod::Biweekly | PayPeriod::Fourweekly => true,
        }
    }
}

/// The number of days of a pay period, if it does not depend on the month.
pub(crate) const fn days_of(frequency: PayPeriod) -> Option<i32> {
    match frequency {
        PayPeriod::Weekly => Some(7),
        PayPeriod::Biweekly => Some(14),
        PayPeriod::Fourweekly => Some(28),
        PayPeriod::Monthly | PayPeriod::Semimonthly => None,
    }
}

/// The pay periods that end in a month: those of the schedules, and the days that no schedule covers, which are paid
/// monthly. Uncovered days without a working day are a pay period only if no other pay period ends in the month.
/// `schedules` are in order and do not overlap.
pub(crate) fn ending_in(
    schedules: &[Arc<PaySchedule>],
    calendar: &Calendar,
    month: Period,
) -> Vec<PaySpan> {
    let (mut next, last) = (month.first_day(), month.last_day());
    let (mut spans, mut idle) = (Vec::new(), None);
    let mut add_monthly = |spans: &mut Vec<PaySpan>, start: Date, end: Date| {
        let span = PaySpan { start, end, frequency: PayPeriod::Monthly };
        let works = calendar.working_days(start, end) > 0;
        if works { spans.push(span) } else { idle = Some(span) }
    };
    for schedule in schedules {
        if schedule.first_day > last || schedule.last_day.is_some_and(|end| end < next) {
            continue;
        }
        if schedule.first_day > next {
            add_monthly(&mut spans, next, schedule.first_day.plus_days(-1));
        }
        spans.extend(schedule.from(next).take_while(|span| span.end <= last));
        // The days after an open schedule's pay periods belong to its next one.
        next = schedule.last_day.map_or(last.plus_days(1), |end| end.plus_days(1).max(next));
    }
    if next <= last {
        add_monthly(&mut spans, next, last);
    }
    if spans.is_empty() {
        spans.extend(idle);
    }
    spans
}

#[cfg(test)]
mod tests {
    use super::*;

    fn day(text: &str) -> Date {
        text.parse().expect("a date")
    }

    fn schedule(frequency: PayPeriod, first: &str, last: Option<&str>) -> Arc<PaySchedule> {
        let at = Timestamp::EPOCH;
        Arc::new(PaySchedule {
            id: Id::from_bits(0),
            object: Object::NAME,
            company_id: Id::from_bits(0),
            frequency,
            first_day: day(first),
            last_day: last.map(day),
            pay_days_after: 5,
            draft_days_before: None,
            next_draft: None,
            status: ScheduleStatus::Active,
            created_at: at,
            updated_at: at,
            metadata: Metadata::default(),
            status_history: StatusHistory::default(),
        })
    }

    fn shown(schedules: &[Arc<PaySchedule>], month: &str) -> Vec<String> {
        let month = day(&format!("{month}-01")).period();
        ending_in(schedules, Calendar::of("GB"), month).iter().map(PaySpan::to_string).collect()
    }

    #[test]
    fn a_month_without_a_schedule_is_one_pay_period() {
        assert_eq!(shown(&[], "2026-02"), ["2026-02"]);
    }

    #[test]
    fn a_fortnight_belongs_to_the_month_in_which_it_ends() {
        let one = [schedule(PayPeriod::Biweekly, "2026-01-05", None)];
        assert_eq!(shown(&one, "2025-12"), ["2025-12"]);
        assert_eq!(
            shown(&one, "2026-01"),
            ["2026-01-01 to 2026-01-04", "2026-01-05 to 2026-01-18"]
        );
        assert_eq!(
            shown(&one, "2026-02"),
            ["2026-01-19 to 2026-02-01", "2026-02-02 to 2026-02-15"]
        );
        assert_eq!(shown(&one, "2026-03").len(), 3);
    }

    #[test]
    fn a_schedule_that_ends_leaves_the_other_days_to_the_month() {
        let both = [
            schedule(PayPeriod::Weekly, "2026-01-01", Some("2026-01-14")),
            schedule(PayPeriod::Semimonthly, "2026-02-16", None),
        ];
        let of = |month| shown(&both, month);
        assert_eq!(
            of("2026-01"),
            ["2026-01-01 to 2026-01-07", "2026-01-08 to 2026-01-14", "2026-01-15 to 2026-01-31",]
        );
        assert_eq!(of("2026-02"), ["2026-02-01 to 2026-02-15", "2026-02-16 to 2026-02-28"]);
        assert_eq!(of("2026-03"), ["2026-03-01 to 2026-03-15", "2026-03-16 to 2026-03-31"]);
    }

    /// 1 February 2026 is a Sunday, and so is 31 May. Four weeks from 2 February end in March.
    #[test]
    fn days_without_a_working_day_beside_a_schedule_are_no_pay_period() {
        let weekly = schedule(PayPeriod::Weekly, "2026-02-02", Some("2026-05-29"));
        let of = |month| shown(core::slice::from_ref(&weekly), month);
        assert_eq!(of("2026-02")[0], "2026-02-02 to 2026-02-08");
        assert_eq!(of("2026-05").last().expect("one"), "2026-05-25 to 2026-05-31");
        let ends = [schedule(PayPeriod::Semimonthly, "2026-01-01", Some("2026-01-30"))];
        assert_eq!(shown(&ends, "2026-01").len(), 2);
        let four = [schedule(PayPeriod::Fourweekly, "2026-02-02", None)];
        assert_eq!(shown(&four, "2026-02"), ["2026-02-01 to 2026-02-01"]);
    }

    #[test]
    fn the_working_days_of_a_pay_period_belong_to_their_months() {
        let one = [schedule(PayPeriod::Biweekly, "2025-12-22", None)];
        let calendar = Calendar::of("US");
        let by_month = |span: &PaySpan| -> Vec<(String, u32)> {
            let months = span.working_days_by_month(calendar).into_iter();
            months.map(|(month, days)| (month.to_string(), days)).collect()
        };
        let spans: Vec<_> = ["2026-01", "2026-02"]
            .map(|month| ending_in(&one, calendar, day(&format!("{month}-01")).period()))
            .concat();
        let of = |month: &str, days| (month.to_owned(), days);
        assert_eq!(by_month(&spans[0]), [of("2025-12", 8), of("2026-01", 2)]);
        assert_eq!(by_month(&spans[1]), [of("2026-01", 10)]);
        // Until Sunday, 1 February.
        assert_eq!(by_month(&spans[2]), [of("2026-01", 10)]);
        let weekend = PaySpan { start: day("2026-01-31"), end: day("2026-02-01"), ..spans[0] };
        assert_eq!(by_month(&weekend), [of("2026-02", 1)]);
    }

    #[test]
    fn the_pay_periods_of_four_years_follow_each_other_without_gaps() {
        for frequency in PayPeriod::ALL {
            let one = [schedule(frequency, "2026-01-01", None)];
            let mut next = day("2026-01-01");
            for month in 0..48 {
                let month = day("2026-01-01").period().plus_months(month);
                for span in ending_in(&one, Calendar::of("GB"), month) {
                    assert_eq!(span.start, next, "{frequency}");
                    next = span.end.plus_days(1);
                }
            }
            assert!(next >= day("2029-12-01"), "{frequency}: {next}");
        }
    }
}
