//! Volumes for the platform fee, changed in a step and restored if it fails.

use crate::model::AnyId;
use crate::model::business::Company;
use crate::value::{Currency, Id, Period};
use crate::world::World;
use crate::world::transaction::Undo;

impl World {
    /// The volume of a company and currency in a month, in minor units.
    pub(crate) fn volume(&self, company: Id<Company>, month: Period, currency: Currency) -> i64 {
        self.metered.volume((company.bits(), month, currency))
    }

    /// Counts an amount as volume; a negative one is taken back.
    pub(crate) fn add_volume(
        &mut self,
        company: Id<Company>,
        month: Period,
        currency: Currency,
        amount: i64,
    ) {
        let row = (company.bits(), month, currency);
        let volume = self.volume(company, month, currency).saturating_add(amount);
        let before = self.metered.set_volume(row, (volume > 0).then_some(volume));
        self.transaction.undo.push(Undo::Volume { row, before });
    }

    /// The resource with which the company's fixed fee of a month was charged, if it was charged.
    pub(crate) fn fixed_fee(&self, company: Id<Company>, month: Period) -> Option<AnyId> {
        self.metered.fixed((company.bits(), month))
    }

    /// Records the source with which the fixed fee was charged, or that it was refunded.
    pub(crate) fn set_fixed_fee(
        &mut self,
        company: Id<Company>,
        month: Period,
        source: Option<AnyId>,
    ) {
        let row = (company.bits(), month);
        let before = self.metered.set_fixed(row, source);
        self.transaction.undo.push(Undo::FixedFee { row, before });
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::world::{Base, ClockMode, Shape};

    #[test]
    fn a_step_that_fails_counts_nothing_and_a_stored_world_keeps_its_volumes() {
        let base = Arc::new(Base::new(42, Shape::default()));
        let mut world = World::new(Arc::clone(&base), ClockMode::Manual);
        let company = base.id_at::<Company>(0);
        let (month, gbp) = (world.today().period(), Currency::new("GBP").expect("a currency"));
        let source = AnyId::of(company);
        let now =
            |world: &World| (world.volume(company, month, gbp), world.fixed_fee(company, month));
        assert!(!serde_json::to_string(&world).expect("text").contains("metered"));

        world.begin(None);
        world.add_volume(company, month, gbp, 70);
        world.set_fixed_fee(company, month, Some(source));
        world.commit();
        world.begin(None);
        world.add_volume(company, month, gbp, -60);
        world.add_volume(company, month, gbp, -60);
        assert_eq!(now(&world).0, 0);
        world.set_fixed_fee(company, month, None);
        world.roll_back();
        assert_eq!(now(&world), (70, Some(source)));

        let text = serde_json::to_string(&world).expect("text");
        let read: World = serde_json::from_str(&text).expect("a world");
        assert_eq!(now(&read), (70, Some(source)));
    }
}
