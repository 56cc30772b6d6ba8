//! The invoices of the months before the world's start, and the collections that paid them, calculated like
//! the entries whose sources they are.

#![expect(
    clippy::cast_possible_truncation,
    clippy::cast_possible_wrap,
    reason = "a shape bounds every index to 10^9 by twelve months; draws are below small bounds"
)]

use crate::model::growth::identity::{self, Origin};
use crate::model::growth::{accounts, industries};
use crate::model::payments::invoice::{TaxOfRate, number};
use crate::model::payments::rails::{Service, route};
use crate::model::payments::{
    Collection, CollectionMethod, CollectionPayer, CollectionStatus, Customer, Invoice,
    InvoiceLine, InvoiceStatus, RefundStanding, VirtualAccount,
};
use crate::model::{Kind, Object, StatusChange, StatusHistory};
use crate::value::{Date, Metadata, Timestamp};
use crate::world::history::POSTING_HOUR;
use crate::world::sales::{InvoiceDays, TERMS};
use crate::world::{Base, Grow, INVOICES_A_MONTH, Plan};

/// The days after the due date for which the collection of an invoice stays open.
pub(crate) const GRACE: i32 = 60;
/// The number of the first customer who buys only once, after all others.
const FIRST_ONE_TIME: u64 = 1_000;

/// More than the customers of any mix who buy again. A test of the mixes checks it.
const REGULAR: u64 = 64;

/// An invoice of history, and its payment.
struct Sale {
    plan: Plan,
    company: u64,
    net: i64,
    tax: i64,
    rate: u32,
    days: InvoiceDays,
    number: String,
    customer: Customer,
    sold: &'static str,
    /// The offset after the companies before it.
    nth: i64,
    start: Date,
}

impl Sale {
    fn find(base: &Base, index: u64) -> Option<Self> {
        if index >= base.count(Kind::Invoice) {
            return None;
        }
        let (month, company, place) = base.invoice_place(index);
        let plan = base.plan(company);
        let sold = base.history_at(company).sales.months[month as usize].invoices[place as usize];
        let year = base.period(month).year();
        let first = (0..month).filter(|earlier| base.period(*earlier).year() == year);
        let before = first.count() as u64 * INVOICES_A_MONTH + place;
        Some(Self {
            days: InvoiceDays::of(base, &plan, month, place),
            number: number(year, before + 1),
            customer: customer(&plan, customer_of(&plan, month, place)),
            sold: plan.industry.sells[sold.what].what,
            rate: sold.rate,
            nth: company as i64,
            start: base.shape().start.date(),
            plan,
            company,
            net: sold.net,
            tax: sold.tax,
        })
    }

    const fn total(&self) -> i64 {
        self.net + self.tax
    }

    fn at(&self, day: Date) -> Timestamp {
        day.at_hour(POSTING_HOUR).plus_millis(self.nth)
    }

    fn due(&self) -> Date {
        self.days.sent.plus_days(TERMS)
    }

    /// The day on which its collection expires.
    fn over(&self) -> Date {
        self.due().plus_days(1 + GRACE)
    }

    /// The steps that had happened when the world began.
    fn past<S>(&self, steps: impl IntoIterator<Item = (S, Option<Date>)>) -> StatusHistory<S> {
        let past = steps.into_iter().filter_map(|(status, day)| Some((status, day?)));
        let past = past.filter(|(_, day)| *day < self.start);
        past.map(|(status, day)| StatusChange::plain(status, self.at(day))).collect()
    }
}

/// The number of the customer of an invoice.
fn customer_of(plan: &Plan, month: u64, place: u64) -> u64 {
    let (kind, before) = plan.industry.customers.of_invoice(place);
    let key = plan.key.with("sale").at(month).at(place).with("customer");
    match kind.customers {
        0 => FIRST_ONE_TIME + month * INVOICES_A_MONTH + place,
        customers => before + key.below(customers),
    }
}

fn customer(plan: &Plan, number: u64) -> Customer {
    let key = plan.key.with("customers").at(number);
    let count = industries::all().len() as u64;
    let industry = industries::at(key.with("industry").below(count) as usize);
    let (names, nth) = (plan.key.with("customer names"), number % FIRST_ONE_TIME);
    let nth = if number < FIRST_ONE_TIME { nth } else { REGULAR + nth };
    let origin = Origin::partner(key, names, nth, plan.origin.known_on);
    let known = identity::company(plan.country, industry, origin);
    Customer {
        id: Some(format!("customer-{}", number + 1)),
        name: known.legal_name,
        email: Some(known.email),
        account_number: Some(accounts::bank_account(plan.country, key).account_number),
    }
}

impl Grow for Invoice {
    fn grow(base: &Base, index: u64) -> Option<Self> {
        let sale = Sale::find(base, index)?;
        let days = sale.days;
        let status_history = sale.past([
            (InvoiceStatus::Draft, Some(days.sent)),
            (InvoiceStatus::Open, Some(days.sent)),
            (InvoiceStatus::Paid, days.paid),
        ]);
        let status = status_history.last()?.status;
        let paid = status == InvoiceStatus::Paid;
        let (total, due_date) = (sale.total(), sale.due());
        Some(Self {
            id: base.id_at(index),
            object: Object::NAME,
            company_id: base.id_at(sale.company),
            status,
            number: Some(sale.number.clone()),
            lines: vec![InvoiceLine {
                description: sale.sold.to_owned(),
                quantity: 1,
                unit_amount: sale.net,
                tax_rate: sale.rate,
                amount: sale.net,
            }],
            taxes: vec![TaxOfRate { rate: sale.rate, net: sale.net, tax: sale.tax }],
            net_total: sale.net,
            tax_total: sale.tax,
            total,
            currency: sale.plan.currency,
            amount_paid: if paid { total } else { 0 },
            amount_due: if paid { 0 } else { total },
            due_date,
            overdue: !paid && due_date < sale.start,
            issued_on: Some(days.sent),
            collection_id: Some(base.id_at(index)),
            write_off: None,
            created_at: sale.at(days.sent),
            updated_at: status_history.last()?.at,
            metadata: Metadata::default(),
            status_history,
            customer: sale.customer,
        })
    }

    /// An invoice that is not paid becomes overdue after its day.
    fn aged(&self, today: Date) -> Option<Self> {
        let is_overdue = self.status.is_owed() && self.due_date < today;
        (is_overdue && !self.overdue).then(|| Self { overdue: true, ..self.clone() })
    }
}

impl Grow for Collection {
    fn grow(base: &Base, index: u64) -> Option<Self> {
        let sale = Sale::find(base, index)?;
        let days = sale.days;
        let status_history = sale.past([
            (CollectionStatus::Pending, Some(days.sent)),
            (CollectionStatus::Processing, days.paid),
            (CollectionStatus::Succeeded, days.paid),
            (CollectionStatus::Settled, days.settled),
            (CollectionStatus::Expired, Some(sale.over()).filter(|_| days.paid.is_none())),
        ]);
        let status = status_history.last()?.status;
        let account = accounts::bank_account(
            sale.plan.country,
            sale.plan.key.with("virtual account").at(index),
        );
        let holder = identity::company(sale.plan.country, sale.plan.industry, sale.plan.origin);
        Some(Self {
            id: base.id_at(index),
            object: Object::NAME,
            company_id: base.id_at(sale.company),
            status,
            method: CollectionMethod::BankTransfer,
            payment_rail: route(Service::BankTransfer, sale.plan.country.code, sale.plan.currency),
            amount: sale.total(),
            currency: sale.plan.currency,
            amount_received: if status.is_paid() { sale.total() } else { 0 },
            fee: 0,
            amount_refunded: 0,
            amount_refund_pending: 0,
            refund_status: RefundStanding::None,
            amount_charged_back: 0,
            disputed: false,
            dispute_id: None,
            reference: sale.number.clone(),
            invoice_id: Some(base.id_at(index)),
            virtual_account: Some(VirtualAccount {
                bank_name: account.bank_name.to_owned(),
                bank_code: account.bank_code,
                account_number: account.account_number,
                iban: account.iban,
                account_name: holder.legal_name,
            }),
            mandate_id: None,
            returned: None,
            checkout_url: None,
            failure: None,
            expires_at: Some(sale.over().midnight()),
            created_at: sale.at(days.sent),
            updated_at: status_history.last()?.at,
            metadata: Metadata::default(),
            status_history,
            payer: CollectionPayer {
                name: Some(sale.customer.name),
                email: sale.customer.email,
                account_number: sale.customer.account_number,
            },
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Kind;
    use crate::world::{HISTORY_MONTHS, Shape};

    #[test]
    fn every_invoice_of_history_has_lines_and_sums() {
        for (seed, people) in [(1, 1), (2, 2), (42, 25), (7, 3)] {
            let shape = Shape { employees_per_company: people, companies: 7, ..Shape::default() };
            let base = Base::new(seed, shape);
            let mut last = Timestamp::EPOCH;
            for index in 0..base.count(Kind::Invoice) {
                let invoice = Invoice::grow(&base, index).expect("indexes have no holes");
                assert!(invoice.total > 0, "seed {seed}: {index}");
                assert_eq!(invoice.net_total + invoice.tax_total, invoice.total);
                assert!(invoice.created_at > last, "lists are in creation order");
                last = invoice.created_at;
                let collection = Collection::grow(&base, index).expect("one for each");
                assert_eq!(collection.amount, invoice.total);
                assert_eq!(collection.status.is_paid(), invoice.status == InvoiceStatus::Paid);
            }
        }
    }

    #[test]
    fn numbers_of_history_are_gapless_by_company_and_year() {
        let base = Base::new(42, Shape::default());
        let places = (0..HISTORY_MONTHS)
            .flat_map(|month| (0..INVOICES_A_MONTH).map(move |place| (month, place)));
        for (nth, (month, place)) in (1..).zip(places) {
            let invoice = Invoice::grow(&base, base.invoice(month, 1, place)).expect("grown");
            assert_eq!(invoice.number, Some(number(2025, nth)));
        }
        assert_eq!((base.invoices_of(2025), base.invoices_of(2026)), (96, 0));
    }
}
