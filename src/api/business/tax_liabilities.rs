//! Tax liabilities since the world's start: of runs, and of tax on sales.

use crate::api::business::tax_clock;
use crate::api::prelude::*;
use crate::model::business::{LiabilityStatus, PayrollRun, TaxFiling, TaxLiability};

pub(crate) const OPERATIONS: &[Operation] = &Domain::Business.table([Operation {
    path: "/api/business/tax-liabilities",
    summary: "List tax liabilities",
    description: "Lists tax liabilities in creation order. There is one liability for each run, \
        authority and form. For each return period, there is one liability for the tax on sales \
        less the tax on purchases. For months before the world's start, see the filings of those \
        months.",
    ..operation!(read list_tax_liabilities)
}]);

list! {
    fn list_tax_liabilities(ListTaxLiabilities) -> TaxLiability;
    filter
        company_id: Id<Company>,
        authority: Text<32>,
        form: Text<64>,
        /// Filter by month.
        period: Period,
        status: LiabilityStatus;
    sort created_at, authority, period, amount;
}

/// A new liability.
pub(crate) struct Accrual {
    pub(crate) company: Id<Company>,
    /// None for tax on sales.
    pub(crate) run: Option<Id<PayrollRun>>,
    pub(crate) authority: &'static str,
    pub(crate) form: Option<String>,
    pub(crate) jurisdiction: String,
    pub(crate) period: Period,
    pub(crate) due_on: Option<Date>,
    pub(crate) amount: i64,
    /// The tax on purchases that the amount is less by.
    pub(crate) input_tax: i64,
    pub(crate) currency: Currency,
    /// The prepared return that takes it up.
    pub(crate) filing: Option<Arc<TaxFiling>>,
}

/// Records a new liability, and sets its timer.
pub(crate) fn accrue(world: &mut World, new: Accrual) -> Id<TaxLiability> {
    let now = world.now();
    let parent = new.run.map_or(new.company.bits(), Id::bits);
    let liability = TaxLiability {
        id: world.next_id(parent),
        object: Object::NAME,
        company_id: new.company,
        payroll_run_id: new.run,
        authority: new.authority.to_owned(),
        form: new.form,
        jurisdiction: new.jurisdiction,
        period: new.period,
        due_on: new.due_on,
        status: LiabilityStatus::Accrued,
        tax_filing_id: new.filing.as_ref().map(|filing| filing.id),
        amount: new.amount,
        input_tax: new.input_tax,
        credit_used: None,
        currency: new.currency,
        created_at: now,
        updated_at: now,
        metadata: Metadata::default(),
        status_history: [StatusChange::plain(LiabilityStatus::Accrued, now)].into(),
    };
    if let Some(filing) = new.filing {
        let mut filing = (*filing).clone();
        filing.tax_liability_ids.push(liability.id);
        filing.take_up(liability.amount, now);
        world.stage(filing);
    }
    let liability = world.record("tax_liability.created", liability);
    tax_clock::watch(world, &liability);
    liability.id
}

/// The liabilities of a run.
pub(crate) fn of_run(
    world: &World,
    run: Id<PayrollRun>,
) -> impl Iterator<Item = Arc<TaxLiability>> {
    world.children::<TaxLiability>(run.bits()).filter_map(|id| world.find(id))
}

/// The liabilities of a company for tax on sales.
pub(crate) fn of_sales(
    world: &World,
    company: Id<Company>,
) -> impl Iterator<Item = Arc<TaxLiability>> {
    world.children::<TaxLiability>(company.bits()).filter_map(|id| world.find(id))
}

/// All liabilities of a company: of its runs, then of its sales.
pub(crate) fn of_company(
    world: &World,
    company: Id<Company>,
) -> impl Iterator<Item = Arc<TaxLiability>> {
    let runs = world.children::<PayrollRun>(company.bits());
    runs.flat_map(move |run| of_run(world, run)).chain(of_sales(world, company))
}
