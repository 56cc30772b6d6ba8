//! When the employees of a grown company joined and left within its history: a function of role slot and standing.
//!
//! All employees of one role slot and standing join or leave in the same month. So the employees of a month are a few
//! selections of `workforce`, and counting them is arithmetic. Each company has its own share of joiners, so
//! companies grow at different speeds.

use crate::model::growth::workforce::{
    ALL_SLOTS, CYCLE, PAID_IN_HISTORY, Place, Selection, Slots, Workforce,
};
use crate::value::Key;

/// The standings of employees who may have joined within the history: active and verified.
const JOINERS: [u8; 6] = [11, 12, 13, 14, 15, 16];
/// The smallest and largest number of joiners in ten role slots of a standing that joins.
const JOINED_OF_TEN: (u64, u64) = (1, 8);
/// The standing of employees who have left.
const LEAVER: u8 = 24;
/// The months of a history.
const MONTHS: u64 = 12;
/// Months before the first joiner or leaver, and the number of months in which employees join or leave.
const QUIET: u64 = 1;
const BUSY: u64 = 10;

/// The pays of history that the employees of one company receive.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Tenure {
    key: Key,
    /// The number of pays in a history of twelve months.
    pays: u64,
}

/// The employees of a company who receive one pay.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Paid {
    workforce: Workforce,
    /// The parts have no employee in common.
    parts: [Selection; 2 + JOINERS.len()],
}

impl Tenure {
    /// The tenure of the company with that key. Its history has this number of pays.
    pub(crate) const fn new(company: Key, pays: u64) -> Self {
        Self { key: company.with("tenure"), pays }
    }

    fn draw(self, role: u8, standing: u8) -> u64 {
        QUIET + self.key.at(u64::from(standing)).at(u64::from(role)).below(BUSY)
    }

    /// The number of pays before a month.
    const fn before(self, month: u64) -> u64 {
        month * self.pays / MONTHS
    }

    /// The first pay of history that the employee receives: 0 for employees who were there before.
    pub(crate) fn first(self, place: Place) -> u64 {
        if self.joined(place) { self.before(self.draw(place.role, place.standing)) } else { 0 }
    }

    fn joined(self, place: Place) -> bool {
        let (least, most) = JOINED_OF_TEN;
        let key = self.key.with("joined");
        let of_ten = least + key.below(most - least + 1);
        let draw = || key.at(u64::from(place.standing)).at(u64::from(place.role)).below(10);
        JOINERS.contains(&place.standing) && draw() < of_ten
    }

    /// The last pay of history that the employee receives, if the employee has left.
    pub(crate) fn last(self, place: Place) -> Option<u64> {
        // Leavers leave one month later than joiners join: they are paid for at least three months, and some leave in
        // the last month.
        (place.standing == LEAVER).then(|| self.before(self.draw(place.role, LEAVER) + 2) - 1)
    }

    /// Whether the employee receives any pay.
    pub(crate) const fn is_ever_paid(place: Place) -> bool {
        PAID_IN_HISTORY >> place.standing & 1 == 1
    }

    /// Whether the employee receives a pay.
    pub(crate) fn is_paid(self, place: Place, pay: u64) -> bool {
        Self::is_ever_paid(place)
            && self.first(place) <= pay
            && self.last(place).is_none_or(|last| pay <= last)
    }

    /// The employees who receive a pay.
    pub(crate) fn paid_in(self, workforce: Workforce, pay: u64) -> Paid {
        let of = |standing: u8| {
            let roles = (0..CYCLE).filter_map(|role| u8::try_from(role).ok());
            let places = roles.map(|role| Place { role, standing, step: 0 });
            let paid = places.filter(|place| self.is_paid(*place, pay));
            let roles = paid.fold(0, |set: Slots, place| set | 1 << place.role);
            Selection { roles, standings: 1 << standing }
        };
        let moving = JOINERS.into_iter().chain([LEAVER]);
        let changing = moving.fold(0, |set: Slots, standing| set | 1 << standing);
        let steady = Selection { roles: ALL_SLOTS, standings: PAID_IN_HISTORY & !changing };
        let part = |place| match place {
            0 => steady,
            1 => of(LEAVER),
            joiner => of(JOINERS[joiner - 2]),
        };
        Paid { workforce, parts: core::array::from_fn(part) }
    }
}

impl Paid {
    /// No employee, for a pay of other companies.
    pub(crate) const fn none(workforce: Workforce) -> Self {
        Self { workforce, parts: [Selection { roles: 0, standings: 0 }; 2 + JOINERS.len()] }
    }

    /// The number of employees.
    pub(crate) fn count(&self) -> u64 {
        self.workforce.count_among(&self.parts)
    }

    /// The index of the employee with `rank` others before.
    pub(crate) fn find(&self, rank: u64) -> Option<u64> {
        self.workforce.find_among(&self.parts, rank)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn selections_agree_with_a_scan_of_the_months() {
        for (seed, size, pays) in
            [(1, 1, 12), (2, 25, 26), (3, 26, 12), (4, 700, 26), (5, 16_000, 12)]
        {
            let key = Key::new(seed);
            let (workforce, tenure) = (Workforce::new(key, size), Tenure::new(key, pays));
            for month in 0..pays {
                let paid = tenure.paid_in(workforce, month);
                let is_paid = |index: &u64| tenure.is_paid(workforce.place(*index), month);
                let scanned: Vec<u64> = (0..size).filter(is_paid).collect();
                assert_eq!(paid.count(), scanned.len() as u64, "{size} {month}");
                for rank in (0..scanned.len()).step_by(1 + scanned.len() / 20) {
                    let found = paid.find(rank as u64);
                    assert_eq!(found, Some(scanned[rank]), "{size} {month}");
                }
                assert_eq!(paid.find(scanned.len() as u64), None);
            }
        }
    }

    #[test]
    fn people_join_and_leave_within_a_year_of_history() {
        let key = Key::new(42);
        let (workforce, tenure) = (Workforce::new(key, 25), Tenure::new(key, 12));
        let counts: Vec<u64> =
            (0..12).map(|month| tenure.paid_in(workforce, month).count()).collect();
        assert!(counts.iter().min() < counts.iter().max(), "{counts:?}");
        let left: Vec<u64> =
            (0..25).filter_map(|index| tenure.last(workforce.place(index))).collect();
        assert!(left.len() == 1 && (2..12).contains(&left[0]), "{left:?}");
    }

    #[test]
    fn companies_differ_in_the_number_of_people_who_joined() {
        let joined = |seed| {
            let key = Key::new(seed);
            let (workforce, tenure) = (Workforce::new(key, 25), Tenure::new(key, 12));
            (0..25).filter(|&index| tenure.first(workforce.place(index)) > 0).count()
        };
        let counts: Vec<usize> = (0..200).map(joined).collect();
        let companies = |count| counts.iter().filter(|joined| **joined == count).count();
        assert!((0..=5).all(|count| companies(count) > 5), "{counts:?}");
        assert!(counts.iter().sum::<usize>() < 200 * 4, "{counts:?}");
    }
}
