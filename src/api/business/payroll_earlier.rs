//! Earlier pay of the employees of a run: totals of the tax year, pays of the same tax period, and regular pay by month.
//!
//! Pay counts as it was calculated, in any run and order, unless its run was cancelled, failed or reversed.

use crate::api::business::employers::Employers;
use crate::api::business::payroll_clock::{get, items};
use crate::api::prelude::*;
use crate::model::business::earnings::tax_year;
use crate::model::business::year_so_far::YearSoFar;
use crate::model::business::{Before, Calculation, ItemStatus, PaySpan, PayrollItem, PayrollRun};
use crate::model::payroll;
use crate::model::payroll::{PayPeriod, YearToDate};

/// Earlier pay of the company's employees by other runs.
pub(crate) struct EarlierPay {
    pay_date: Date,
    /// The company on the pay date, for thresholds of the law.
    pub(crate) employers: Employers,
    frequency: PayPeriod,
    /// Pays, of any tax year.
    pays: BTreeMap<Id<Employee>, Vec<Arc<Calculation>>>,
    /// Regular pay and arrears, by pay period.
    by_terms: BTreeMap<(Id<Employee>, PaySpan), i64>,
    /// Grown pays of the tax year that have been reversed.
    taken_back: BTreeMap<Id<Employee>, Vec<Arc<PayrollItem>>>,
}

/// Earlier pay of one employee in the tax year.
#[derive(Default)]
pub(crate) struct Earlier {
    year: YearSoFar,
    same_period: Vec<Arc<Calculation>>,
}

impl Earlier {
    /// In the form that the calculation needs.
    pub(crate) fn before(&self) -> Before<'_> {
        Before { year: Some(&self.year), same_period: &self.same_period }
    }
}

impl EarlierPay {
    /// Pay by the company's other runs.
    pub(crate) fn of(world: &World, run: &PayrollRun) -> Self {
        let mut earlier = Self {
            pay_date: run.pay_date,
            employers: Employers::at(world, run.company_id, run.pay_date),
            frequency: run.span().frequency,
            pays: BTreeMap::new(),
            by_terms: BTreeMap::new(),
            taken_back: BTreeMap::new(),
        };
        for id in world.children::<PayrollRun>(run.company_id.bits()) {
            let other = get(world, id);
            if id != run.id && !other.is_void() && other.reverses.is_none() {
                for item in items(world, id) {
                    earlier.add(other.span(), &item);
                }
            }
        }
        let changed = world.changed::<PayrollItem>();
        for item in changed.filter_map(|index| world.at::<PayrollItem>(index)) {
            if item.status == ItemStatus::Reversed && item.company_id == run.company_id {
                let of_employee = earlier.taken_back.entry(item.employee_id).or_default();
                of_employee.push(item);
            }
        }
        earlier
    }

    fn add(&mut self, span: PaySpan, item: &PayrollItem) {
        if matches!(item.status, ItemStatus::Reversed | ItemStatus::Blocked) {
            return;
        }
        let pay = &item.calculation;
        let pays = self.pays.entry(item.employee_id).or_default();
        pays.push(Arc::clone(pay));
        let mut paid = |span, amount| {
            if amount != 0 {
                *self.by_terms.entry((item.employee_id, span)).or_default() += amount;
            }
        };
        paid(span, pay.by_terms());
        for arrears in pay.extras().into_iter().flat_map(|extras| &extras.arrears) {
            paid(arrears.span(), arrears.amount);
        }
    }

    /// Earlier pay of that employee in the tax year: before the world's start or, for a later hire, by earlier employers; and by other
    /// runs.
    pub(crate) fn of_employee(&self, world: &World, employee: &Employee) -> Earlier {
        let country = employee.payroll_country();
        let mut earlier = Earlier { year: self.opening(world, employee), same_period: Vec::new() };
        let taken_back = self.taken_back.get(&employee.id).into_iter().flatten();
        for item in taken_back {
            if item.calculation.counts_with(country, self.pay_date) {
                earlier.year.add(&item.calculation, -1);
            }
        }
        for pay in self.pays.get(&employee.id).into_iter().flatten() {
            if pay.is_of(country, self.frequency, self.pay_date) {
                earlier.same_period.push(Arc::clone(pay));
            } else if pay.counts_with(country, self.pay_date) {
                earlier.year.add(pay, 1);
            }
        }
        earlier
    }

    /// The year up to the world's start.
    fn opening(&self, world: &World, employee: &Employee) -> YearSoFar {
        let country = employee.payroll_country();
        let counts = |pay: &Calculation| pay.counts_with(country, self.pay_date);
        let base = world.base();
        let index = base.index_of(employee.id);
        if let Some(pay) = index.and_then(|index| base.last_paid(index, counts)) {
            return pay.year_so_far();
        }
        let pack =
            payroll::library().in_force(employee.payroll_country(), self.pay_date.civil()).pack;
        let told = employee.brought_in.as_ref();
        let told = told.filter(|told| told.tax_year_start == tax_year(pack, self.pay_date));
        let totals = told.and_then(|told| YearToDate::from_names(pack, &told.totals).ok());
        YearSoFar::opened(totals.unwrap_or_default())
    }

    /// Regular pay of that employee for that pay period, including arrears.
    pub(crate) fn by_terms(&self, world: &World, employee: &Employee, span: PaySpan) -> i64 {
        let since = self.by_terms.get(&(employee.id, span)).copied().unwrap_or(0);
        since + self.in_history(world, employee, span)
    }

    /// Whether another run has paid that employee an earning with this id.
    pub(crate) fn has_paid(&self, employee: Id<Employee>, id: &str) -> bool {
        let pays = self.pays.get(&employee).into_iter().flatten();
        let mut earnings = pays.filter_map(|pay| pay.extras()).flat_map(|extras| &extras.earnings);
        earnings.any(|line| line.id == id && line.amount > 0)
    }

    /// The pay periods for which other runs have paid that employee, with those of the history.
    pub(crate) fn spans<'a>(
        &'a self,
        world: &'a World,
        employee: Id<Employee>,
    ) -> impl Iterator<Item = PaySpan> + 'a {
        let base = world.base();
        let size = base.shape().employees_per_company;
        let plan = base.index_of(employee).map(|index| base.plan(index / size));
        let before = plan.into_iter().flat_map(|plan| plan.pays.pays());
        let before = before.map(|pay| base.pay(pay).span);
        let of_employee = self.by_terms.keys().filter(move |(id, _)| *id == employee);
        before.chain(of_employee.map(|(_, span)| *span))
    }

    fn in_history(&self, world: &World, employee: &Employee, span: PaySpan) -> i64 {
        let base = world.base();
        let Some(index) = base.index_of(employee.id) else { return 0 };
        let size = base.shape().employees_per_company;
        let (company, number) = (index / size, index % size);
        let plan = base.plan(company);
        let Some(pay) = plan.pays.pay_of(span) else { return 0 };
        let run = base.id_at::<PayrollRun>(base.run(pay, company));
        let mut reversed = self.taken_back.get(&employee.id).into_iter().flatten();
        if reversed.any(|item| item.payroll_run_id == run) {
            return 0;
        }
        let history = base.history_at(company);
        let pay = history.payroll.calculation(&plan, plan.workforce.place(number), pay);
        pay.map_or(0, |pay| pay.by_terms())
    }
}
