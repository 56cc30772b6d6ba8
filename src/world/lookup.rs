//! Look-ups by values other than the id: open collections by reference, account and invoice, invoices by
//! number, list entries by similar names. Indexes find resources created since the start; grown ones are
//! found by calculation.

use std::sync::Arc;

use crate::model::business::Company;
use crate::model::identity::{WatchlistEntry, name_index};
use crate::model::name_match::Name;
use crate::model::payments::{Collection, CollectionStatus, Invoice, invoice};
use crate::model::{Entity, Kind};
use crate::value::Id;
use crate::world::{HISTORY_MONTHS, INVOICES_A_MONTH, World};

/// The last months of history with possibly open collections: they expire three months after the invoice.
const OPEN_MONTHS: usize = 4;

impl World {
    /// The company's open collection with this name: `Collection::by_reference` and similar.
    pub(crate) fn open_collection(
        &self,
        company: Id<Company>,
        name: &str,
    ) -> Option<Id<Collection>> {
        let since = self.overlay.named(Kind::Collection, company.bits(), name.to_owned());
        since.map(Id::from_bits).or_else(|| self.open_since_growth(company, name))
    }

    /// Finds an unchanged grown collection.
    fn open_since_growth(&self, company: Id<Company>, name: &str) -> Option<Id<Collection>> {
        let company = self.base.index_of(company)?;
        // Their references are the numbers of their invoices.
        let reference = name.strip_prefix("reference:");
        if reference.is_some_and(|text| invoice::read_number(text).is_none()) {
            return None;
        }
        let months = (0..HISTORY_MONTHS).rev().take(OPEN_MONTHS);
        let mut indexes = months
            .flat_map(|month| (0..INVOICES_A_MONTH).map(move |number| (month, number)))
            .map(|(month, number)| self.base.invoice(month, company, number))
            .filter(|&index| index < self.base.count(Kind::Collection));
        indexes.find_map(|index| {
            let id = self.base.id_at::<Collection>(index);
            if self.overlay.get(Kind::Collection, id.bits()).is_some() {
                return None;
            }
            let collection = self.base.record::<Collection>(index)?;
            let waits = collection.status == CollectionStatus::Pending;
            (waits && collection.names().iter().any(|own| own == name)).then_some(id)
        })
    }

    /// Added list entries that may be similar to this name, the oldest first.
    pub(crate) fn listed_alike(&self, name: &Name) -> Vec<Arc<WatchlistEntry>> {
        let ids: Vec<u64> = name_index::met(name, |keys| self.overlay.under(keys));
        let found = ids.into_iter().filter_map(|bits| self.find(Id::from_bits(bits)));
        let mut entries: Vec<Arc<WatchlistEntry>> = found.collect();
        entries.sort_by_key(|entry| (entry.created_at, entry.id));
        entries
    }

    /// The number of the company's next invoice of a year, from 1.
    pub(crate) fn next_invoice(&self, company: Id<Company>, year: i16) -> u64 {
        let names = invoice::of_year(year);
        let last = self
            .overlay
            .last_named(Kind::Invoice, company.bits(), &names)
            .and_then(|bits| Invoice::of_record(self.overlay.get(Kind::Invoice, bits)?))
            .and_then(|invoice| invoice::read_number(invoice.number.as_deref()?))
            .map_or(0, |(_, number)| number);
        let grown = match self.base.index_of(company) {
            Some(_) if self.base.count(Kind::Invoice) > 0 => self.base.invoices_of(year),
            _ => 0,
        };
        last.max(grown) + 1
    }
}
