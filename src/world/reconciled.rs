//! The reconciliation rows of wallet transactions. They prevent that a transaction is matched twice.

use imbl::OrdMap;
use serde::{Deserialize, Serialize};

use crate::model::WalletTransaction;
use crate::model::payments::ReconciliationMatch;
use crate::value::Id;
use crate::world::World;
use crate::world::transaction::Undo;

/// Rows by transaction. A transaction without a statement line is in the row that reports it, until a line
/// arrives.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub(crate) struct Reconciled(OrdMap<u64, u64>);

impl Reconciled {
    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(super) fn set(&mut self, transaction: u64, row: Option<u64>) -> Option<u64> {
        match row {
            Some(row) => self.0.insert(transaction, row),
            None => self.0.remove(&transaction),
        }
    }
}

impl World {
    /// The row of a transaction.
    pub(crate) fn reconciled(
        &self,
        transaction: Id<WalletTransaction>,
    ) -> Option<Id<ReconciliationMatch>> {
        let row = self.reconciled.0.get(&transaction.bits());
        row.map(|&row| Id::from_bits(row))
    }

    /// Puts a transaction into a row, or removes it from all rows.
    pub(crate) fn set_reconciled(
        &mut self,
        transaction: Id<WalletTransaction>,
        row: Option<Id<ReconciliationMatch>>,
    ) {
        let transaction = transaction.bits();
        let row = row.map(Id::bits);
        let before = self.reconciled.set(transaction, row);
        let undo = Undo::Reconciled { transaction, before };
        self.transaction.undo.push(undo);
    }
}
