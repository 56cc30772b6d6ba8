//! Tax filings of the months before a world's start, by rank. Companies of one country file the same returns, so
//! their number can be calculated.

use core::ops::Range;

use crate::api::business::payroll::Months;
use crate::api::crud::Candidates;
use crate::api::prelude::*;
use crate::model::Kind;
use crate::model::business::TaxFiling;
use crate::world::pay_calendar::Payers;
use crate::world::{Base, HISTORY_MONTHS, obligations};

/// The filings of some months: ordered by month, then how often the company pays, then company, then authority.
struct GrownFilings<'a> {
    base: &'a Base,
    groups: Vec<Group>,
}

/// The filings of a month of the companies that pay with one frequency.
struct Group {
    month: u64,
    payers: Payers,
    /// Cumulative numbers of filings of the first companies of a cycle. A cycle has one company of each country.
    before: Vec<u64>,
}

impl Group {
    fn count(&self) -> u64 {
        let cycle = self.before.len() as u64 - 1;
        let rest = usize::try_from(self.payers.count % cycle.max(1)).unwrap_or_default();
        self.payers.count / cycle.max(1) * self.before[self.before.len() - 1] + self.before[rest]
    }

    fn index(&self, base: &Base, rank: u64) -> Option<u64> {
        let (cycle, of_cycle) = (self.before.len() as u64 - 1, self.before[self.before.len() - 1]);
        let (cycles, within) = (rank / of_cycle, rank % of_cycle);
        let place = self.before.partition_point(|&before| before <= within) - 1;
        let company = self.payers.at(cycles * cycle + place as u64)?;
        Some(base.filing(self.month, company, within - self.before[place]))
    }
}

impl<'a> GrownFilings<'a> {
    fn new(base: &'a Base, months: Range<u64>, companies: &Range<u64>) -> Self {
        let groups = months.flat_map(|month| {
            base.calendars().iter().map(move |calendar| {
                let frequency = calendar.frequency;
                let payers = base.payers(|it| it == frequency, companies.clone());
                let mut before = vec![0];
                for company in (0..payers.places.len() as u64).map_while(|rank| payers.at(rank)) {
                    let filed = obligations::returns(base, &base.plan(company), month);
                    before.push(before.last().copied().unwrap_or(0) + filed.len() as u64);
                }
                Group { month, payers, before }
            })
        });
        Self { base, groups: groups.collect() }
    }

    fn count(&self) -> u64 {
        self.groups.iter().map(Group::count).sum()
    }

    fn index(&self, rank: u64) -> Option<u64> {
        let mut rank = rank;
        for group in &self.groups {
            let count = group.count();
            if rank < count {
                return group.index(self.base, rank);
            }
            rank -= count;
        }
        None
    }
}

/// Filings before the world's start, then those created since.
pub(super) fn filings(
    world: &World,
    company: Option<Id<Company>>,
    period: Option<Period>,
) -> Candidates<'_, TaxFiling> {
    let base = world.base();
    let mut months = Months::of(world, period);
    if period.is_some_and(|period| period > base.period(HISTORY_MONTHS - 1)) {
        // The last returns of tax on sales may belong to a period that ends later.
        months = Months { first: HISTORY_MONTHS - 1, end: HISTORY_MONTHS };
    }
    let companies = match company {
        None => 0..base.shape().companies,
        Some(company) => base.index_of(company).map_or(0..0, |index| index..index + 1),
    };
    let companies = if base.count(Kind::TaxFiling) == 0 { 0..0 } else { companies };
    let grown = GrownFilings::new(base, months.first..months.end, &companies);
    let count = grown.count();
    let find = move |rank| grown.index(rank);
    match company {
        Some(company) => Candidates::new(count, find, world.children(company.bits())),
        None => Candidates::new(count, find, world.created()),
    }
}

/// Every filing of a company.
pub(crate) fn every(world: &World, company: Id<Company>) -> Vec<Arc<TaxFiling>> {
    filings(world, Some(company), None).every(world)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::world::Shape;

    #[test]
    fn every_rank_is_another_filing_in_order() {
        for companies in [1, 3, 7, 20] {
            let base = Base::new(42, Shape { companies, ..Shape::default() });
            let grown = GrownFilings::new(&base, 0..12, &(0..companies));
            let found: Vec<u64> = (0..grown.count()).filter_map(|rank| grown.index(rank)).collect();
            let filing = |index: &u64| base.record::<TaxFiling>(*index);
            let created = found.iter().filter_map(|index| Some(filing(index)?.created_at));
            assert!(created.is_sorted(), "{companies}: lists are in creation order");
            let all = (0..base.count(Kind::TaxFiling)).filter(|index| filing(index).is_some());
            let found: BTreeSet<u64> = found.into_iter().collect();
            assert_eq!(found, all.collect(), "{companies}");
            assert_eq!(grown.index(grown.count()), None);
            for company in 0..companies {
                let own = GrownFilings::new(&base, 3..5, &(company..company + 1));
                let found = (0..own.count()).filter_map(|rank| own.index(rank));
                let places = found.map(|index| base.filing_place(index));
                assert!(places.into_iter().all(|(month, of, _)| of == company && month / 3 == 1));
            }
        }
    }
}
