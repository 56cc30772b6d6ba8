//! Selects the business days: those of the country of a resource's company.

use crate::model::business::{
    Company, Employee, PaySchedule, PayrollItem, PayrollRun, Payslip, TaxFiling,
};
use crate::model::calendar::Calendar;
use crate::model::payments::{Bill, Collection, Invoice, Payout, Wallet};
use crate::model::{AnyId, Kind};
use crate::value::{Id, Span, Timestamp};
use crate::world::{Grow, World};

impl World {
    /// The business days of the country in which a company is registered.
    pub(crate) fn calendar_of(&self, company: Id<Company>) -> &'static Calendar {
        let company = self.find(company);
        Calendar::of(company.as_ref().map_or("", |company| &company.country))
    }

    /// The business days of the company of a resource.
    pub(crate) fn calendar_behind(&self, id: AnyId) -> &'static Calendar {
        let company = match self.overlay.get(id.kind, id.bits) {
            Some(record) => Some(record.company()),
            None => self.grown_company(id),
        };
        company.map_or(Calendar::of(""), |company| self.calendar_of(company))
    }

    /// The instant after a span from now, by the business days of the resource.
    pub(crate) fn after(&self, span: Span, about: Option<AnyId>) -> Timestamp {
        match (span, about) {
            (Span::BusinessDays(_), Some(id)) => self.calendar_behind(id).after(self.now, span),
            _ => self.now.plus(span),
        }
    }

    fn grown_company(&self, id: AnyId) -> Option<Id<Company>> {
        match id.kind {
            Kind::Company => Some(Id::from_bits(id.bits)),
            Kind::Wallet => self.company_of_grown::<Wallet>(id),
            Kind::Employee => self.company_of_grown::<Employee>(id),
            Kind::PaySchedule => self.company_of_grown::<PaySchedule>(id),
            Kind::PayrollRun => self.company_of_grown::<PayrollRun>(id),
            Kind::PayrollItem => self.company_of_grown::<PayrollItem>(id),
            Kind::Payslip => self.company_of_grown::<Payslip>(id),
            Kind::Payout => self.company_of_grown::<Payout>(id),
            Kind::TaxFiling => self.company_of_grown::<TaxFiling>(id),
            Kind::Collection => self.company_of_grown::<Collection>(id),
            Kind::Invoice => self.company_of_grown::<Invoice>(id),
            Kind::Bill => self.company_of_grown::<Bill>(id),
            _ => None,
        }
    }

    fn company_of_grown<T: Grow>(&self, id: AnyId) -> Option<Id<Company>> {
        let index = self.base.index_of(Id::<T>::from_bits(id.bits))?;
        self.base.record::<T>(index).map(|record| record.company())
    }
}
