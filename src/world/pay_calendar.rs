//! The pay periods of the months before a world's start: one calendar for each frequency with which its companies pay.
//!
//! The pays of a world are numbered: first the months of companies that pay monthly, then the pay periods of each other frequency. So an index of
//! a monthly company does not depend on other companies.

#![expect(
    clippy::cast_possible_truncation,
    clippy::cast_possible_wrap,
    reason = "numbers of pay periods within two years"
)]

use core::ops::Range;

use crate::model::business::PaySpan;
use crate::model::business::pay_schedule::days_of;
use crate::model::calendar::Calendar;
use crate::model::payroll::PayPeriod;
use crate::value::{Date, Timestamp};
use crate::world::layout::{HISTORY_MONTHS, Layout};

/// Days from the last day of a pay period, a Sunday, to its pay date, a Friday.
pub(crate) const PAY_DAYS_AFTER: u16 = 5;
/// Days before the end of the history until which wages are sent, so that they have arrived when the world starts.
const LAST_PAID: i32 = 5;
/// Hours between the postings of two frequencies, so that lists of several companies are in the order of time.
const HOURS_APART: i64 = 4;

/// The pay periods of history of one frequency.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PayCalendar {
    pub(crate) frequency: PayPeriod,
    /// The first day of the first pay period.
    pub(crate) first_day: Date,
    /// The number in the world of its first pay.
    first: u64,
    /// Its place among the calendars of the world.
    place: usize,
}

impl PayCalendar {
    /// The calendars of a world whose countries pay in these frequencies. The first one is monthly, even if no country pays monthly.
    pub(super) fn of_world(frequencies: &[PayPeriod], first_month: Date) -> Vec<Self> {
        let months =
            Self { frequency: PayPeriod::Monthly, first_day: first_month, first: 0, place: 0 };
        let mut calendars = vec![months];
        let others = PayPeriod::ALL.into_iter().filter(|it| !it.is_month());
        for frequency in others.filter(|it| frequencies.contains(it)) {
            let days = days_of(frequency).expect("a test reads the frequency of every country");
            let (first, place) = (calendars.iter().map(Self::count).sum(), calendars.len());
            let end = first_month.period().plus_months(HISTORY_MONTHS as i32).first_day();
            let mut last_days = (0..7).map(|back| end.plus_days(-LAST_PAID - back));
            let is_friday =
                |day: &Date| day.is_business_day() && !day.plus_days(1).is_business_day();
            let paid = last_days.find(is_friday).expect("a week has a Friday");
            let periods = i32::try_from(frequency.per_year()).expect("at most 52");
            let first_day = paid.plus_days(1 - i32::from(PAY_DAYS_AFTER) - periods * days);
            calendars.push(Self { frequency, first_day, first, place });
        }
        calendars
    }

    /// The number of its pays in the history: those of a year.
    pub(crate) fn count(&self) -> u64 {
        u64::from(self.frequency.per_year())
    }

    /// The numbers in the world of its pays.
    pub(crate) fn pays(&self) -> Range<u64> {
        self.first..self.first + self.count()
    }

    /// Hours by which its pays are posted later than monthly pays.
    pub(crate) const fn later_hours(&self) -> i64 {
        self.place as i64 * HOURS_APART
    }

    /// The number in this calendar of a pay of the world, from 0.
    pub(crate) fn number(&self, pay: u64) -> Option<u64> {
        pay.checked_sub(self.first).filter(|number| *number < self.count())
    }

    /// The number in this calendar of the first pay of a twelfth of the history.
    pub(crate) fn of_twelfth(&self, twelfth: u64) -> u64 {
        twelfth * self.count() / HISTORY_MONTHS
    }

    /// The days of a pay period, counted from the first one of the history.
    pub(crate) fn span(&self, number: i32) -> PaySpan {
        match days_of(self.frequency) {
            None => PaySpan::month(self.first_day.period().plus_months(number)),
            Some(days) => {
                let start = self.first_day.plus_days(days * number);
                let end = start.plus_days(days - 1);
                PaySpan { start, end, frequency: self.frequency }
            }
        }
    }

    /// The number in the world of the pay of these days.
    pub(crate) fn pay_of(&self, span: PaySpan) -> Option<u64> {
        self.pays().find(|pay| self.span((pay - self.first) as i32) == span)
    }
}

/// The times of the steps of a pay, for the first company or employee.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PayTimes {
    pub(crate) span: PaySpan,
    pub(crate) pay_date: Date,
    pub(crate) created: Timestamp,
    pub(crate) approved: Timestamp,
    pub(crate) funded: Timestamp,
    pub(crate) sent: Timestamp,
    pub(crate) paid: Timestamp,
}

/// The pays of a world.
impl Layout {
    /// The number of all pays of the history.
    pub(crate) fn pays(&self) -> u64 {
        self.calendars().iter().map(PayCalendar::count).sum()
    }

    /// The days that a pay of the history pays, its pay date, and its times.
    pub(crate) fn pay(&self, pay: u64) -> &PayTimes {
        &self.pay_times()[pay as usize]
    }

    /// The pays in the order of one of their times.
    pub(crate) fn pays_by(&self, time: impl Fn(&PayTimes) -> Timestamp) -> Vec<u64> {
        let mut pays: Vec<u64> = (0..self.pays()).collect();
        pays.sort_by_key(|pay| time(self.pay(*pay)));
        pays
    }

    /// The pay date of a pay period of a calendar. Monthly wages are paid on the day of [`Layout::pay_date`]. Others
    /// are paid on the last day, up to the usual one, that is a business day in every country with this frequency.
    pub(crate) fn pay_date_of(&self, calendar: PayCalendar, span: PaySpan) -> Date {
        if calendar.frequency.is_month() {
            return self.pay_date(span.period());
        }
        let codes: Vec<&str> = self.countries_with(calendar.frequency).collect();
        let usual = span.end.plus_days(i32::from(PAY_DAYS_AFTER));
        let earlier = (0..).map(|back| usual.plus_days(-back));
        let mut open =
            earlier.filter(|day| codes.iter().all(|code| Calendar::of(code).is_business_day(*day)));
        open.next().unwrap_or(usual)
    }

    /// All pays of the world with their times.
    pub(super) fn time_pays(&self) -> Vec<PayTimes> {
        let calendars = self.calendars().iter();
        let pays = calendars.flat_map(|calendar| {
            (0..calendar.count()).map(move |number| (calendar, calendar.span(number as i32)))
        });
        pays.map(|(calendar, span)| self.times(*calendar, span)).collect()
    }

    fn times(&self, calendar: PayCalendar, span: PaySpan) -> PayTimes {
        let pay_date = self.pay_date_of(calendar, span);
        let later = calendar.later_hours();
        let is_month = calendar.frequency.is_month();
        let prepared = if is_month { span.start } else { span.end.plus_days(1) };
        // Sent two business days before, so that wages are in the accounts on the pay date.
        let sent = pay_date.minus_business_days(2);
        PayTimes {
            span,
            pay_date,
            created: prepared.at_hour(9 + later),
            approved: pay_date.minus_business_days(3).at_hour(11 + later),
            funded: sent.at_hour(8 + later),
            sent: sent.at_hour(9 + later),
            paid: pay_date.at_hour(10 + later),
        }
    }

    /// The companies of a range that pay with one of the wanted frequencies.
    pub(crate) fn payers(
        &self,
        wanted: impl Fn(PayPeriod) -> bool,
        companies: Range<u64>,
    ) -> Payers {
        let cycle = self.shape().countries.len() as u64;
        let places = (0..cycle).filter(|place| wanted(self.frequency_at(*place))).collect();
        let mut payers = Payers { cycle, places, first: 0, count: 0 };
        payers.first = payers.before(companies.start);
        payers.count = payers.before(companies.end).saturating_sub(payers.first);
        payers
    }
}

/// The companies of a range that pay with some frequencies. Countries repeat in a cycle, so the companies can be
/// counted by calculation.
#[derive(Debug)]
pub(crate) struct Payers {
    /// The number of companies after which the countries repeat.
    cycle: u64,
    /// Places in the cycle.
    pub(crate) places: Vec<u64>,
    /// Their number before the range, and in it.
    first: u64,
    pub(crate) count: u64,
}

impl Payers {
    fn before(&self, company: u64) -> u64 {
        let places = self.places.iter().filter(|place| **place < company % self.cycle);
        company / self.cycle * self.places.len() as u64 + places.count() as u64
    }

    /// The company with that rank.
    pub(crate) fn at(&self, rank: u64) -> Option<u64> {
        let rank = (rank < self.count).then_some(self.first + rank)?;
        let each = self.places.len() as u64;
        Some(rank / each * self.cycle + self.places[(rank % each) as usize])
    }
}
