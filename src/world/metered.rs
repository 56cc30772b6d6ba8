//! What the platform fee of a month is calculated from: the volume of each company and currency, and what the fixed fee came with.
//!
//! An amount counts from the moment at which its fee is charged, and no longer if that fee is refunded. The log explains these sums, so they
//! are in no digest. Deliberately absent: the price (`api::payments::platform_fee`).

use imbl::OrdMap;
use serde::{Deserialize, Serialize};

use crate::model::AnyId;
use crate::model::business::Company;
use crate::value::{Currency, Id, Period};
use crate::world::World;
use crate::world::transaction::Undo;

/// A company's months with a volume. A clone shares them.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(from = "Written", into = "Written")]
pub(crate) struct Metered {
    volumes: OrdMap<(u64, Period, Currency), i64>,
    fixed: OrdMap<(u64, Period), AnyId>,
}

/// The serialised form: rows, because keys in JSON are texts.
#[derive(Serialize, Deserialize)]
struct Written {
    volumes: Vec<((u64, Period, Currency), i64)>,
    fixed: Vec<((u64, Period), AnyId)>,
}

impl From<Written> for Metered {
    fn from(written: Written) -> Self {
        Self {
            volumes: written.volumes.into_iter().collect(),
            fixed: written.fixed.into_iter().collect(),
        }
    }
}

impl From<Metered> for Written {
    fn from(metered: Metered) -> Self {
        Self {
            volumes: metered.volumes.into_iter().collect(),
            fixed: metered.fixed.into_iter().collect(),
        }
    }
}

impl Metered {
    pub(super) fn is_empty(&self) -> bool {
        self.volumes.is_empty() && self.fixed.is_empty()
    }

    pub(super) fn set_volume(
        &mut self,
        row: (u64, Period, Currency),
        volume: Option<i64>,
    ) -> Option<i64> {
        match volume {
            Some(volume) => self.volumes.insert(row, volume),
            None => self.volumes.remove(&row),
        }
    }

    pub(super) fn set_fixed(&mut self, row: (u64, Period), source: Option<AnyId>) -> Option<AnyId> {
        match source {
            Some(source) => self.fixed.insert(row, source),
            None => self.fixed.remove(&row),
        }
    }
}

impl World {
    /// The volume of a company and currency in a month, in minor units.
    pub(crate) fn volume(&self, company: Id<Company>, month: Period, currency: Currency) -> i64 {
        let row = (company.bits(), month, currency);
        self.metered.volumes.get(&row).copied().unwrap_or_default()
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

    /// What the company's fixed fee of a month came with, if it was charged.
    pub(crate) fn fixed_fee(&self, company: Id<Company>, month: Period) -> Option<AnyId> {
        self.metered.fixed.get(&(company.bits(), month)).copied()
    }

    /// Records what the fixed fee came with, or that it was refunded.
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
