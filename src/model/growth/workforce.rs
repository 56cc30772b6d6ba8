//! The roles and statuses of a grown company's employees. The arrangement is invertible, so a filter does not need to scan.
//!
//! Employees come in cycles of 25. Each cycle contains each of the 25 role slots of its industry and each of the 25
//! standings (status and payroll status) exactly once. In the first cycle, the first employee is the head of the
//! company, and the first five are active and verified. So even a company of three has payable employees. In later
//! cycles, standing = role slot + cycle, modulo 25. So 25 cycles pair every role with every standing once. Employees
//! of any set of roles and standings can be counted and found by calculation.

#![expect(clippy::cast_possible_truncation, reason = "slots, seats and steps are below 25")]

use std::ops::Range;

use crate::model::business::{EmployeeStatus, PayrollStatus};
use crate::value::Key;

/// Number of employees in a cycle, of role slots of an industry, and of standings.
pub(crate) const CYCLE: u64 = 25;
/// Steps of a salary band.
pub(crate) const STEPS: u64 = 8;
/// Number of cycles after which the pairs of roles and standings repeat.
const PAIRING: u64 = CYCLE;
/// Number of employees after which every combination of role, standing and step has occurred.
const ROUND: u64 = CYCLE * PAIRING * STEPS;

/// A set of role slots or of standings, one bit each.
pub(crate) type Slots = u32;

pub(crate) const ALL_SLOTS: Slots = (1 << CYCLE) - 1;

use EmployeeStatus::{Active, OnLeave, Pending as NotStarted, Suspended, Terminated};
use PayrollStatus::{Closed, Failed, NotEnrolled, OnHold, Pending, Verified};

/// The 25 standings: four in five active, three in four active and verified, and every status at least once.
const STANDINGS: [(EmployeeStatus, PayrollStatus); CYCLE as usize] = [
    (Active, Verified),
    (Active, Verified),
    (Active, Verified),
    (Active, Verified),
    (Active, Verified),
    (Active, Verified),
    (Active, Verified),
    (Active, Verified),
    (Active, Verified),
    (Active, Verified),
    (Active, Verified),
    (Active, Verified),
    (Active, Verified),
    (Active, Verified),
    (Active, Verified),
    (Active, Verified),
    (Active, Verified),
    (OnLeave, Verified),
    (OnLeave, Verified),
    (NotStarted, NotEnrolled),
    (NotStarted, Pending),
    (Suspended, OnHold),
    (Active, Failed),
    (Active, Pending),
    (Terminated, Closed),
];

/// The standings in [`STANDINGS`] that were paid in months before the world's start (`tenure` says in which): all except employees who have not started, and the
/// new employee whose checks are pending.
pub(crate) const PAID_IN_HISTORY: Slots = ALL_SLOTS & !(1 << 19) & !(1 << 20) & !(1 << 23);

/// The standings that satisfy a condition.
pub(crate) fn standings(wanted: impl Fn(EmployeeStatus, PayrollStatus) -> bool) -> Slots {
    let bits =
        STANDINGS.iter().enumerate().filter(|(_, (status, payroll))| wanted(*status, *payroll));
    bits.fold(0, |set, (slot, _)| set | 1 << slot)
}

/// The position of one employee.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Place {
    /// Role slot of the industry, 0–24.
    pub(crate) role: u8,
    /// Index of the standings, 0–24.
    pub(crate) standing: u8,
    /// Step of the salary band, 0–7.
    pub(crate) step: u8,
}

impl Place {
    /// Every standing, in the order of its index.
    pub(crate) fn standings() -> impl Iterator<Item = Self> {
        (0..CYCLE as u8).map(|standing| Self { role: 0, standing, step: 0 })
    }

    pub(crate) const fn status(self) -> EmployeeStatus {
        STANDINGS[self.standing as usize].0
    }

    pub(crate) const fn payroll_status(self) -> PayrollStatus {
        STANDINGS[self.standing as usize].1
    }
}

/// Employees of one company, selected by role slots and standings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Selection {
    pub(crate) roles: Slots,
    pub(crate) standings: Slots,
}

impl Selection {
    /// Everybody.
    pub(crate) const ALL: Self = Self { roles: ALL_SLOTS, standings: ALL_SLOTS };
    fn has(self, place: Place) -> bool {
        self.roles >> place.role & 1 == 1 && self.standings >> place.standing & 1 == 1
    }

    /// Number of selected employees in a cycle, for any cycle but the first.
    fn per_cycle(self, cycle: u64) -> u64 {
        let shift = (cycle % PAIRING) as u32;
        let turned =
            (self.standings >> shift | self.standings << (CYCLE as u32 - shift)) & ALL_SLOTS;
        u64::from((self.roles & turned).count_ones())
    }
}

/// The numbers of selected employees in the cycles after the first.
struct Cycles {
    /// Those in as many cycles as pair every role with every standing.
    pairing: u64,
    /// Those in that many cycles after the first, for less than a pairing.
    first: [u64; PAIRING as usize],
}

impl Cycles {
    fn of(selections: &[Selection]) -> Self {
        let (mut first, mut sum) = ([0; PAIRING as usize], 0);
        for (cycle, before) in (1..).zip(&mut first) {
            *before = sum;
            sum += selections.iter().map(|selection| selection.per_cycle(cycle)).sum::<u64>();
        }
        Self { pairing: sum, first }
    }

    /// Number of selected employees before a cycle, without those of the first.
    fn before(&self, cycle: u64) -> u64 {
        let (pairings, rest) = ((cycle - 1) / PAIRING, (cycle - 1) % PAIRING);
        pairings * self.pairing + self.first[rest as usize]
    }
}

/// The employees of one grown company.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Workforce {
    key: Key,
    size: u64,
}

impl Workforce {
    /// The `size` employees of the company with that key.
    pub(crate) const fn new(company: Key, size: u64) -> Self {
        Self { key: company.with("workforce"), size }
    }

    pub(crate) const fn size(&self) -> u64 {
        self.size
    }

    /// The position of the employee with that index.
    pub(crate) fn place(&self, index: u64) -> Place {
        let (cycle, seat) = (index / CYCLE, index % CYCLE);
        if cycle == 0 {
            return self.place_in_first_cycle(seat);
        }
        let role = affine(self.key.at(cycle), seat, CYCLE);
        let standing = (role + cycle) % CYCLE;
        let step = (3 * role + cycle + cycle / PAIRING) % STEPS;
        Place { role: role as u8, standing: standing as u8, step: step as u8 }
    }

    fn place_in_first_cycle(&self, seat: u64) -> Place {
        let key = self.key.at(0);
        let role = if seat == 0 { 0 } else { 1 + affine(key.with("role"), seat - 1, CYCLE - 1) };
        let standing =
            if seat < 5 { seat } else { 5 + affine(key.with("standing"), seat - 5, CYCLE - 5) };
        let step = key.with("step").at(seat).below(STEPS);
        Place { role: role as u8, standing: standing as u8, step: step as u8 }
    }

    /// Number of selected employees before `index`.
    pub(crate) fn count_before(&self, selection: Selection, index: u64) -> u64 {
        self.count_among_before(&[selection], index.min(self.size))
    }

    fn count_among_before(&self, selections: &[Selection], index: u64) -> u64 {
        let (cycle, seats) = (index / CYCLE, index % CYCLE);
        if cycle == 0 {
            return self.count_in(selections, 0..seats);
        }
        let last = cycle * CYCLE..cycle * CYCLE + seats;
        self.count_in(selections, 0..CYCLE)
            + Cycles::of(selections).before(cycle)
            + self.count_in(selections, last)
    }

    fn count_in(&self, selections: &[Selection], indexes: Range<u64>) -> u64 {
        indexes.filter(|index| self.is_among(selections, *index)).count() as u64
    }

    fn is_among(&self, selections: &[Selection], index: u64) -> bool {
        let place = self.place(index);
        selections.iter().any(|selection| selection.has(place))
    }

    /// Total number of selected employees.
    pub(crate) fn count(&self, selection: Selection) -> u64 {
        if selection == Selection::ALL {
            return self.size;
        }
        self.count_before(selection, self.size)
    }

    /// Total number of selected employees. The selections have no employee in common.
    pub(crate) fn count_among(&self, selections: &[Selection]) -> u64 {
        self.count_among_before(selections, self.size)
    }

    /// The index of the selected employee with `rank` selected ones before. The selections have no employee in common.
    pub(crate) fn find_among(&self, selections: &[Selection], rank: u64) -> Option<u64> {
        let first = self.count_in(selections, 0..CYCLE.min(self.size));
        let (mut cycle, mut before) = (0, 0);
        if rank >= first {
            // The last cycle with at most `rank` selected employees before it.
            let cycles = Cycles::of(selections);
            let before_cycle = |cycle| first + cycles.before(cycle);
            let mut high = self.size.div_ceil(CYCLE);
            cycle = 1;
            while high > cycle + 1 {
                let middle = cycle + (high - cycle) / 2;
                if before_cycle(middle) > rank { high = middle } else { cycle = middle }
            }
            before = before_cycle(cycle);
        }
        let left = usize::try_from(rank - before).ok()?;
        let rows = cycle * CYCLE..((cycle + 1) * CYCLE).min(self.size);
        let mut rows = rows.filter(|index| self.is_among(selections, *index));
        rows.nth(left)
    }

    /// Whether the employee with that index is selected.
    pub(crate) fn chooses(&self, selection: Selection, index: u64) -> bool {
        index < self.size && selection.has(self.place(index))
    }

    /// Whether no employee of that cycle is selected; always false for the first cycle.
    pub(crate) fn passes_over(selection: Selection, cycle: u64) -> bool {
        cycle > 0 && selection.per_cycle(cycle) == 0
    }

    /// Calls `add` with every kind of place and the number of employees in it, in several parts.
    pub(crate) fn tally(&self, mut add: impl FnMut(Place, u64)) {
        let mut scan = |from: u64, to: u64, times: u64| {
            for index in from..to {
                add(self.place(index), times);
            }
        };
        // The first cycle differs from all others, so the first round is counted separately.
        scan(0, self.size.min(ROUND), 1);
        if self.size > ROUND {
            let rounds = self.size / ROUND - 1;
            if rounds > 0 {
                scan(ROUND, 2 * ROUND, rounds);
            }
            scan((rounds + 1) * ROUND, self.size, 1);
        }
    }
}

/// A keyed permutation of `0..size` for the sizes used here: multiply by a unit of the ring, add, reduce.
fn affine(key: Key, value: u64, size: u64) -> u64 {
    const UNITS: [u64; 8] = [1, 7, 11, 13, 17, 19, 23, 29]; // coprime to 20, 24 and 25
    let bits = key.hash();
    let (unit, offset) = (UNITS[(bits & 7) as usize], bits >> 40);
    (value * unit + offset) % size
}

#[cfg(test)]
mod tests {
    use super::*;

    fn workforce(size: u64) -> Workforce {
        Workforce::new(Key::new(42), size)
    }

    #[test]
    fn every_cycle_fills_every_role_and_every_standing_once() {
        let all = workforce(CYCLE * 60);
        for cycle in 0..60 {
            let places: Vec<Place> =
                (cycle * CYCLE..(cycle + 1) * CYCLE).map(|i| all.place(i)).collect();
            let roles = places.iter().fold(0, |set, p| set | 1 << p.role);
            let standings = places.iter().fold(0, |set, p| set | 1 << p.standing);
            assert_eq!((roles, standings), (ALL_SLOTS, ALL_SLOTS), "cycle {cycle}");
        }
    }

    #[test]
    fn the_first_five_of_a_company_can_be_paid() {
        for seed in 0..50 {
            let people = Workforce::new(Key::new(seed), 25);
            assert_eq!(people.place(0).role, 0);
            for index in 0..5 {
                assert_eq!(
                    (people.place(index).status(), people.place(index).payroll_status()),
                    (Active, Verified)
                );
            }
        }
    }

    #[test]
    fn counting_and_finding_agree_with_a_scan() {
        let selections = [
            Selection::ALL,
            Selection { roles: ALL_SLOTS, standings: PAID_IN_HISTORY },
            Selection { roles: 0b1011, standings: ALL_SLOTS },
            Selection {
                roles: 0x00F0_F0F0 & ALL_SLOTS,
                standings: standings(|s, _| s == Terminated),
            },
            Selection { roles: 0, standings: ALL_SLOTS },
        ];
        for size in [0, 1, 3, 24, 25, 26, 624, 625, 626, 5_000, 16_789] {
            let people = workforce(size);
            for selection in selections {
                let scanned: Vec<u64> =
                    (0..size).filter(|&i| selection.has(people.place(i))).collect();
                assert_eq!(people.count(selection), scanned.len() as u64);
                for rank in (0..scanned.len()).step_by(1 + scanned.len() / 50) {
                    assert_eq!(people.find_among(&[selection], rank as u64), Some(scanned[rank]));
                    assert_eq!(people.count_before(selection, scanned[rank]), rank as u64);
                }
                assert_eq!(people.find_among(&[selection], scanned.len() as u64), None);
            }
        }
    }

    #[test]
    fn counting_and_finding_among_several_selections_agree_with_a_scan() {
        let selections = [
            Selection { roles: ALL_SLOTS, standings: 0b0110 },
            Selection { roles: 0x000F_00FF, standings: 1 << 8 },
            Selection { roles: 0b1, standings: 1 << 24 },
        ];
        for size in [0, 1, 25, 26, 1_000, 16_789] {
            let people = workforce(size);
            let is_among = |place| selections.iter().any(|selection| selection.has(place));
            let scanned: Vec<u64> = (0..size).filter(|&i| is_among(people.place(i))).collect();
            assert_eq!(people.count_among(&selections), scanned.len() as u64, "{size}");
            for (rank, index) in scanned.iter().enumerate() {
                assert_eq!(people.find_among(&selections, rank as u64), Some(*index));
            }
            assert_eq!(people.find_among(&selections, scanned.len() as u64), None);
        }
    }

    #[test]
    fn a_tally_agrees_with_a_scan() {
        for size in [0, 25, 4_999, 5_001, 10_000, 15_123] {
            let people = workforce(size);
            let count = |counts: &mut [[u64; 8]; 25], place: Place, times| {
                counts[usize::from(place.role)][usize::from(place.step)] += times;
            };
            let (mut scanned, mut tallied) = ([[0; 8]; 25], [[0; 8]; 25]);
            (0..size).for_each(|index| count(&mut scanned, people.place(index), 1));
            people.tally(|place, times| count(&mut tallied, place, times));
            assert_eq!(tallied, scanned, "{size}");
        }
    }
}
