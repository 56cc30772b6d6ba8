//! The latest movements of money of each company, which the rules of monitoring read.
//!
//! They are kept separately, because a company can have many thousands of payouts that never moved money or that pay
//! wages. These rows follow from the log, so no digest contains them. Deliberately absent: the rules
//! (`model::identity::aml_rules`).

use std::sync::Arc;

use crate::model::Kind;
use crate::model::business::Company;
use crate::model::identity::aml_rules::{Movement, WINDOW};
use crate::value::Id;
use crate::world::World;
use crate::world::transaction::Undo;

impl World {
    /// The latest movements of a company by resources of a kind, the oldest first.
    pub(crate) fn movements(&self, kind: Kind, company: Id<Company>) -> &[Movement] {
        self.movements.get(&(kind, company.bits())).map_or(&[], |movements| movements)
    }

    /// Adds the latest movement of a company.
    pub(crate) fn add_movement(&mut self, company: Id<Company>, movement: Movement) {
        let row = (movement.of.kind, company.bits());
        let movements = Arc::make_mut(self.movements.entry(row).or_default());
        let dropped = (movements.len() == WINDOW).then(|| movements.remove(0));
        movements.push(movement);
        self.transaction.undo.push(Undo::Movement { row, dropped });
    }

    /// Undoes the last `add_movement` of this row.
    pub(super) fn undo_movement(&mut self, row: (Kind, u64), dropped: Option<Movement>) {
        let movements = self.movements.get_mut(&row).expect("what is undone was added");
        let movements = Arc::make_mut(movements);
        movements.pop();
        if let Some(oldest) = dropped {
            movements.insert(0, oldest);
        }
        if movements.is_empty() {
            self.movements.remove(&row);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::AnyId;
    use crate::value::Currency;
    use crate::world::{Base, ClockMode, Shape};

    #[test]
    fn a_company_keeps_its_latest_movements_and_a_step_that_fails_adds_none() {
        let base = Arc::new(Base::new(42, Shape::default()));
        let mut world = World::new(Arc::clone(&base), ClockMode::Manual);
        let company = base.id_at::<Company>(0);
        assert!(!serde_json::to_string(&world).expect("text").contains("movements"));
        let movement = |world: &World, amount: i64| Movement {
            of: AnyId { kind: Kind::Payout, bits: amount.unsigned_abs() },
            amount,
            currency: Currency::new("GBP").expect("a currency"),
            at: world.now(),
        };
        let amounts = |world: &World| -> Vec<i64> {
            world.movements(Kind::Payout, company).iter().map(|one| one.amount).collect()
        };
        world.begin(None);
        world.add_movement(company, movement(&world, 1));
        world.roll_back();
        assert!(!serde_json::to_string(&world).expect("text").contains("movements"));

        let last = i64::try_from(WINDOW).expect("a small number") + 2;
        world.begin(None);
        for amount in 1..=last {
            world.add_movement(company, movement(&world, amount));
        }
        world.commit();
        world.begin(None);
        world.add_movement(company, movement(&world, last + 1));
        assert_eq!(amounts(&world), (4..=last + 1).collect::<Vec<_>>());
        world.roll_back();
        assert_eq!(amounts(&world), (3..=last).collect::<Vec<_>>());
        assert_eq!(world.movements(Kind::Collection, company).len(), 0);

        let text = serde_json::to_string(&world).expect("text");
        let read: World = serde_json::from_str(&text).expect("a world");
        assert_eq!(amounts(&read), amounts(&world));
    }
}
