//! The employees who can be in a payroll run, and those who are already in a run of the period.

use std::collections::BTreeSet;

use crate::api::business::companies::blockers;
use crate::api::prelude::*;
use crate::model::business::{
    CompanyStatus, ItemStatus, PaySpan, PayrollItem, PayrollRun, RunType,
};
use crate::model::growth::workforce::{Selection, standings};
use crate::model::payroll;

/// Maximum number of employees in a run: a larger run would block its world for too long.
pub(crate) const MOST_EMPLOYEES: usize = 100_000;

/// The employees to include in a run.
pub(crate) struct Wanted<'a> {
    pub(crate) company: &'a Company,
    pub(crate) span: PaySpan,
    pub(crate) kind: RunType,
    /// The member of the body that names the employees.
    pub(crate) member: &'static str,
}

impl Wanted<'_> {
    fn pointer(&self, place: usize) -> String {
        format!("/{}/{place}", self.member)
    }

    /// All employees named in the body, or the 404 that lists the unknown ones.
    pub(crate) fn found(&self, world: &World, ids: &[Id<Employee>]) -> Result<Vec<Arc<Employee>>> {
        found(world, self.member, ids)
    }

    /// The named employees, who must belong to this company and be payable by such a run. Employees of other companies are reported first:
    /// they are a mistake in the request, not in the world.
    pub(crate) fn payable(&self, employees: &[Arc<Employee>]) -> Result<Vec<Id<Employee>>> {
        let company = self.company.id;
        let places = || (0..).zip(employees);
        let foreign = places().filter(|(_, employee)| employee.company_id != company).map(
            |(place, employee)| {
                let detail = format!(
                    "{} is employed by {}, not by {company}",
                    employee.id, employee.company_id
                );
                Violation::new(self.pointer(place), "foreign_employee", detail)
            },
        );
        let foreign: Vec<Violation> = foreign.collect();
        ApiError::if_any(foreign)?;
        let refused: Vec<Violation> = places()
            .filter_map(|(place, employee)| {
                let why = self.not_payable(employee)?;
                let detail = format!("{}: {why}", employee.id);
                Some(Violation::new(self.pointer(place), "not_payable", detail))
            })
            .collect();
        if refused.is_empty() {
            return Ok(employees.iter().map(|employee| employee.id).collect());
        }
        let detail =
            format!("employees who cannot be paid: {} of {}", refused.len(), employees.len());
        Err(ApiError::new(ErrorCode::EmployeeNotPayable, detail).with_errors(refused))
    }

    /// The reason why such a run cannot pay that employee, if any.
    pub(crate) fn not_payable(&self, employee: &Employee) -> Option<String> {
        self.not_eligible(employee).or_else(|| self.without_tables(employee))
    }

    /// The reason why the employee cannot be paid for the pay period, apart from missing tables.
    fn not_eligible(&self, employee: &Employee) -> Option<String> {
        if let Some(why) = employee.not_payable_by(self.kind) {
            return Some(why.to_owned());
        }
        let by_terms = self.kind.pays_by_terms();
        if by_terms && employee.start_date > self.span.end {
            let first = employee.start_date;
            return Some(format!("the employment starts on {first}, after {}", self.span));
        }
        let last = employee.end_date.filter(|_| by_terms)?;
        (last < self.span.start)
            .then(|| format!("the employment ended on {last}, before {}", self.span))
    }

    /// Why the employee's payroll pack cannot calculate pay of the pay period, if so.
    fn without_tables(&self, employee: &Employee) -> Option<String> {
        let (country, frequency) = (employee.payroll_country(), self.span.frequency);
        let pack = payroll::library().in_force(country, self.span.end.civil()).pack;
        (!pack.periods.contains(&frequency))
            .then(|| format!("the payroll pack {} has no {frequency} tables", pack.code))
    }

    /// The employees whom only missing tables exclude from the run, with the reason. There are none if the run excludes other payable
    /// employees, because then the caller has selected its employees. Grown employees always have tables.
    pub(crate) fn left_out(
        &self,
        world: &World,
        included: &[Id<Employee>],
    ) -> Vec<(Id<Employee>, String)> {
        let created = || world.children::<Employee>(self.company.id.bits());
        if self.kind != RunType::Regular || created().next().is_none() {
            return Vec::new();
        }
        let included: BTreeSet<_> = included.iter().collect();
        let others = created().filter(|id| !included.contains(id)).filter_map(|id| world.find(id));
        let employed = others.filter(|employee| self.not_eligible(employee).is_none());
        let left_out: Vec<_> =
            employed.filter_map(|it| Some((it.id, self.without_tables(&it)?))).collect();
        let contains_all = || {
            self.everyone(world).is_ok_and(|payable| payable.iter().all(|id| included.contains(id)))
        };
        if left_out.is_empty() || !contains_all() { Vec::new() } else { left_out }
    }

    /// All employees of the company who are payable by such a run, in creation order.
    pub(crate) fn everyone(&self, world: &World) -> Result<Vec<Id<Employee>>> {
        let mut payable = match world.base().index_of(self.company.id) {
            Some(index) => self.grown(world, index)?,
            None => Vec::new(),
        };
        let created =
            world.children::<Employee>(self.company.id.bits()).filter_map(|id| world.find(id));
        payable.extend(
            created
                .filter(|employee| self.not_payable(employee).is_none())
                .map(|employee| employee.id),
        );
        match payable.len() {
            0 => Err(ApiError::new(
                ErrorCode::EmployeeNotPayable,
                "no employee of the company can be paid",
            )
            .about(self.company.id)),
            1..=MOST_EMPLOYEES => Ok(payable),
            _ => Err(self.too_many()),
        }
    }

    /// The grown ones among them. Unchanged ones are found by calculation, unless the period is before the grown
    /// history.
    fn grown(&self, world: &World, index: u64) -> Result<Vec<Id<Employee>>> {
        let (base, plan) = (world.base(), world.base().plan(index));
        let size = base.shape().employees_per_company;
        let verified = |status, payroll| {
            use crate::model::business::{EmployeeStatus, PayrollStatus};
            matches!(status, EmployeeStatus::Active | EmployeeStatus::OnLeave)
                && payroll == PayrollStatus::Verified
        };
        let selection = Selection { standings: standings(verified), ..Selection::ALL };
        if plan.workforce.count(selection) > MOST_EMPLOYEES as u64 {
            return Err(self.too_many());
        }
        let all_had_begun = self.span.period() >= base.period(0);
        let changed: Vec<u64> = world.changed::<Employee>().collect();
        let looked_at = |person| {
            world
                .at::<Employee>(person)
                .is_some_and(|employee| self.not_payable(&employee).is_none())
        };
        let people = (0..size).filter(|&number| {
            let person = index * size + number;
            match changed.binary_search(&person) {
                Ok(_) => looked_at(person),
                Err(_) => {
                    plan.workforce.chooses(selection, number)
                        && (all_had_begun || looked_at(person))
                }
            }
        });
        Ok(people.map(|number| base.id_at(index * size + number)).collect())
    }

    fn too_many(&self) -> ApiError {
        let detail = format!(
            "more than {MOST_EMPLOYEES} employees would be paid: select the employees of \
                this run"
        );
        let pointer = format!("/{}", self.member);
        ApiError::of_member(pointer, "too_many", detail)
    }

    /// Whether each of these employees already has a regular run of the pay period.
    pub(crate) fn all_have_run(&self, world: &World, employees: &[Id<Employee>]) -> bool {
        let earlier = EarlierRuns::of(world, self.company.id, self.span, None);
        employees.iter().all(|id| earlier.run_with(world, *id).is_some())
    }

    /// An employee can be in at most one regular run per period; cancelled and failed runs do not count. `named` says whether the body
    /// names the employees: if not, the error is about the period. `but` is the run itself.
    pub(crate) fn not_yet_run(
        &self,
        world: &World,
        employees: &[Id<Employee>],
        named: bool,
        but: Option<Id<PayrollRun>>,
    ) -> Result<()> {
        if self.kind != RunType::Regular {
            return Ok(());
        }
        let span = self.span;
        let at = |place| {
            if named { self.pointer(place) } else { "/period".to_owned() }
        };
        let earlier = EarlierRuns::of(world, self.company.id, span, but);
        let mut run_of_first = None;
        let again: Vec<Violation> = (0..)
            .zip(employees)
            .filter_map(|(place, id)| {
                let run = earlier.run_with(world, *id)?;
                run_of_first.get_or_insert(run);
                Some(Violation::new(
                    at(place),
                    "already_run",
                    format!("{id} is already in run {run} of {span}"),
                ))
            })
            .collect();
        let Some(run) = run_of_first else { return Ok(()) };
        let detail = format!(
            "employees who already have a regular run in {span}: {} of {}",
            again.len(),
            employees.len()
        );
        let error = ApiError::new(ErrorCode::PayrollPeriodAlreadyRun, detail);
        Err(error.with_errors(again).about(run))
    }
}

/// All employees named in a member of the body, or the 404 that lists the unknown ones.
pub(crate) fn found(
    world: &World,
    member: &str,
    ids: &[Id<Employee>],
) -> Result<Vec<Arc<Employee>>> {
    let (mut employees, mut missing) = (Vec::with_capacity(ids.len()), Vec::new());
    for (place, id) in ids.iter().enumerate() {
        match world.find(*id) {
            Some(employee) => employees.push(employee),
            None => missing.push(Violation::new(
                format!("/{member}/{place}"),
                "not_found",
                "no employee with this id exists in this key's world",
            )),
        }
    }
    if missing.is_empty() {
        return Ok(employees);
    }
    let detail = format!("employees who do not exist: {} of {}", missing.len(), ids.len());
    Err(ApiError::new(ErrorCode::ResourceNotFound, detail).with_errors(missing))
}

/// Only an active company without open blocking requirements can pay.
pub(crate) fn may_pay(world: &World, company: &Company) -> Result<()> {
    let open: Vec<_> =
        blockers(world, company.id).map(|blocker| blocker.description.clone()).collect();
    let (code, detail) = match company.status {
        CompanyStatus::Active if open.is_empty() => return Ok(()),
        CompanyStatus::Active => {
            (ErrorCode::ComplianceBlocked, format!("open requirements: {}", open.join("; ")))
        }
        CompanyStatus::Suspended => {
            (ErrorCode::CompanySuspended, "the company is suspended".to_owned())
        }
        status if open.is_empty() => (
            ErrorCode::ComplianceBlocked,
            format!("the company is {}: it must be active", status.name()),
        ),
        status => (
            ErrorCode::ComplianceBlocked,
            format!("the company is {}: {}", status.name(), open.join("; ")),
        ),
    };
    Err(ApiError::new(code, detail).about(company.id))
}

fn counts(run: &PayrollRun) -> bool {
    run.kind == RunType::Regular && !run.is_void()
}

/// Employees of a company who already have a regular run of a pay period.
struct EarlierRuns {
    /// The run before the world's start. A large run has no list of employees; its employees are calculated.
    grown: Option<(Id<PayrollRun>, u64)>,
    since: BTreeMap<Id<Employee>, Id<PayrollRun>>,
}

impl EarlierRuns {
    fn of(world: &World, company: Id<Company>, span: PaySpan, but: Option<Id<PayrollRun>>) -> Self {
        let base = world.base();
        let grown = base.index_of(company).and_then(|company| {
            let pay = base.plan(company).pays.pay_of(span)?;
            let run: Arc<PayrollRun> = world.at(base.run(pay, company))?;
            counts(&run).then_some((run.id, company))
        });
        let runs = world.children::<PayrollRun>(company.bits()).filter_map(|id| world.find(id));
        let mut since = BTreeMap::new();
        let of_period =
            |run: &Arc<PayrollRun>| run.span() == span && counts(run) && Some(run.id) != but;
        for run in runs.filter(of_period) {
            since.extend(run.employees.iter().map(|id| (*id, run.id)));
            if !run.reversed_by.is_empty() {
                let items = world.children::<PayrollItem>(run.id.bits());
                let items = items.filter_map(|id| world.find(id));
                for item in items.filter(|item| item.status == ItemStatus::Reversed) {
                    since.remove(&item.employee_id);
                }
            }
        }
        Self { grown, since }
    }

    /// The run that contains the employee.
    fn run_with(&self, world: &World, employee: Id<Employee>) -> Option<Id<PayrollRun>> {
        let base = world.base();
        let in_history = || {
            let (run, company) = self.grown?;
            let index = base.index_of(employee)?;
            let number = index.checked_sub(company * base.shape().employees_per_company)?;
            let place = base.index_of(run)?;
            let paid = base.plan(company).is_paid_in(base.run_place(place).0, number);
            let item = paid.then(|| world.at::<PayrollItem>(base.item(place, number)))??;
            (item.status != ItemStatus::Reversed).then_some(run)
        };
        self.since.get(&employee).copied().or_else(in_history)
    }
}
