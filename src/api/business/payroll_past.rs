//! A company's payroll before the world's start.

use crate::api::prelude::*;
use crate::model::business::Calculation;
use crate::model::business::tax_period::TaxYear;
use crate::model::growth::tenure::Tenure;
use crate::model::growth::workforce::Place;
use crate::world::Plan;
use crate::world::opening::Opening;

/// A company before the world's start.
pub(super) struct Past {
    pub(super) plan: Plan,
    opening: Arc<Opening>,
    /// The number of its employees.
    size: u64,
}

impl Past {
    pub(super) fn of(world: &World, company: Id<Company>) -> Option<Self> {
        let base = world.base();
        let index = base.index_of(company)?;
        let (plan, opening) = (base.plan(index), base.opening_at(index));
        Some(Self { plan, opening, size: base.shape().employees_per_company })
    }

    /// The place of the company's employee with that index in the world.
    pub(super) fn place(&self, index: u64) -> Option<Place> {
        let is_own = index / self.size == self.plan.index;
        is_own.then(|| self.plan.workforce.place(index % self.size))
    }

    /// The last pay of people in this place in the tax year.
    pub(super) fn last_paid(
        &self,
        world: &World,
        place: Place,
        year: &TaxYear,
    ) -> Option<Arc<Calculation>> {
        match self.opening.last_paid(&self.plan, place) {
            Some(last) if last.tax_year < year.first => None,
            _ => self.last(world, place, |pay| year.contains(pay)),
        }
    }

    /// The last pay of people in this place that meets a condition.
    pub(super) fn last(
        &self,
        world: &World,
        place: Place,
        counts: impl Fn(&Calculation) -> bool,
    ) -> Option<Arc<Calculation>> {
        if !Tenure::is_ever_paid(place) {
            return None;
        }
        match self.opening.last_paid(&self.plan, place) {
            Some(last) if counts(last) => Some(Arc::clone(last)),
            _ => {
                let history = world.base().history_at(self.plan.index);
                history.payroll.last_paid(&self.plan, place, counts).cloned()
            }
        }
    }

    /// Calls a function with the pay date of each pay of people in this place in the tax year.
    pub(super) fn each_pay(
        &self,
        world: &World,
        place: Place,
        year: &TaxYear,
        mut see: impl FnMut(Date, &Calculation),
    ) {
        let base = world.base();
        let history = base.history_at(self.plan.index);
        for number in self.plan.pays.pays() {
            if let Some(pay) = history.payroll.calculation(&self.plan, place, number)
                && year.contains(pay)
            {
                see(base.pay(number).pay_date, pay);
            }
        }
    }
}
