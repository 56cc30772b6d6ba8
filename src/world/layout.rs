//! The layout of grown resources: converts between indexes, ids, companies and months.
//!
//! Rule: opening a world and reading any page costs the same for 25 and for 10,000,000 employees. Therefore no
//! structure here contains one entry per object.

#![expect(
    clippy::cast_possible_truncation,
    reason = "indexes of short lists and months of a century"
)]

use std::sync::OnceLock;

use serde::{Deserialize, Serialize};

use crate::model::business::{Deduction, PayrollSettings};
use crate::model::growth::countries::{self, Country};
use crate::model::growth::identity::{self, Origin};
use crate::model::growth::industries::{self, Industry};
use crate::model::growth::people::{self, PayPlan};
use crate::model::growth::tenure::{Paid, Tenure};
use crate::model::growth::workforce::{Place, Workforce};
use crate::model::payments::vat;
use crate::model::payroll::PayPeriod;
use crate::model::{AnyId, Entity, Kind};
use crate::value::id::{Id, Permutation};
use crate::value::money::Currency;
use crate::value::stream::Key;
use crate::value::time::{Date, Period, Timestamp};
use crate::world::company_mix::{CompanyMix, CompanyPlace};
use crate::world::pay_calendar::{PayCalendar, PayTimes};

/// The version of generated data: increase it when a seed generates another world.
pub(crate) const WORLD_VERSION: u32 = 9;
/// The months of history before a world's start.
pub(crate) const HISTORY_MONTHS: u64 = 12;
/// The invoices that a company sends in a month of its history.
pub(crate) const INVOICES_A_MONTH: u64 = 8;
/// The suppliers that a company pays in a month of its history: `world::suppliers`.
pub(crate) const VENDORS_A_MONTH: u64 = 8;
/// The bills that are open when the books begin: of suppliers who are paid in the next month.
pub(crate) const OPEN_BILLS: u64 = 5;
/// The bills of a company: `world::purchases`.
pub(crate) const BILLS_A_COMPANY: u64 = OPEN_BILLS + HISTORY_MONTHS * VENDORS_A_MONTH;
/// The most tax returns of a company for a month of its history. Some of these indexes are not used.
pub(crate) const FILINGS_A_MONTH: u64 = 8;
/// The number of entry ids for a company's history; it never posts more.
pub(crate) const ENTRIES_A_COMPANY: u64 = 4_096;

/// The shape of a world.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Shape {
    /// Companies.
    pub companies: u64,
    /// Employees of each.
    pub employees_per_company: u64,
    /// ISO 3166-1 codes of the companies' countries, in turn.
    pub countries: Vec<String>,
    /// The start of the virtual time.
    pub start: Timestamp,
}

impl Default for Shape {
    fn default() -> Self {
        Self {
            companies: 3,
            employees_per_company: 25,
            countries: ["NG", "GB", "US", "KE", "ZA", "CA"].map(str::to_owned).to_vec(),
            start: "2026-01-01T00:00:00Z".parse().expect("an instant"),
        }
    }
}

impl Shape {
    /// The most companies and employees for which the index arithmetic is exact.
    pub(crate) const MOST: u64 = 1_000_000_000;

    /// Checks the shape; an error is the reason why it is invalid.
    pub(crate) fn check(&self) -> Result<(), String> {
        self.fault().map_or(Ok(()), |(_, detail)| Err(detail))
    }

    /// The first wrong member as a JSON pointer, and the reason; none if the shape is valid.
    pub(crate) fn fault(&self) -> Option<(String, String)> {
        let people = self.companies.checked_mul(self.employees_per_company);
        if people.is_none_or(|people| people > Self::MOST) || self.companies > Self::MOST {
            let detail = format!("a world can have at most {} companies and employees", Self::MOST);
            let member =
                if self.companies > Self::MOST { "companies" } else { "employees_per_company" };
            return Some((format!("/{member}"), detail));
        }
        if self.countries.is_empty() {
            return Some((
                "/countries".to_owned(),
                "a world must have at least one country".to_owned(),
            ));
        }
        let known = || countries::codes().collect::<Vec<_>>().join(", ");
        let mut codes = self.countries.iter().enumerate();
        if let Some((place, unknown)) = codes.find(|(_, code)| !countries::is_known(code)) {
            let near = if unknown == "UK" { " (the United Kingdom is GB)" } else { "" };
            let detail =
                format!("there is no country {unknown:?}{near}; the countries are {}", known());
            return Some((format!("/countries/{place}"), detail));
        }
        let year = self.start.date().period().year();
        let detail =
            || ("/start".to_owned(), "a world must start between 2001 and 2098".to_owned());
        (!(2001..=2098).contains(&year)).then(detail)
    }
}

/// The plan of one grown company.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Plan {
    pub(crate) index: u64,
    pub(crate) key: Key,
    pub(crate) country: &'static Country,
    pub(crate) industry: &'static Industry,
    /// Its position in the list of industries.
    pub(crate) industry_place: usize,
    /// The inputs of its identity.
    pub(crate) origin: Origin,
    /// The key of its people, by their number.
    pub(crate) people: Key,
    pub(crate) currency: Currency,
    pub(crate) workforce: Workforce,
    pub(crate) tenure: Tenure,
    /// When it pays.
    pub(crate) pays: PayCalendar,
}

impl Plan {
    /// The inputs of the pay in the company.
    pub(crate) const fn pay(&self) -> PayPlan<'static> {
        PayPlan {
            country: self.country,
            industry: self.industry,
            currency: self.currency,
            company: self.key,
        }
    }

    /// The pension in which people of a pay class save.
    pub(crate) fn pension(&self, class: (u8, u8)) -> Option<Deduction> {
        people::pension(self.pay(), class)
    }

    /// The place of its sales and purchases, for the tax on them.
    pub(crate) fn tax_place(&self) -> vat::Place<'static> {
        let region = identity::region(self.country, self.industry, self.origin);
        vat::Place { country: self.country.code, region }
    }

    /// The employees who receive a pay of history. Pays have their numbers in the world.
    pub(crate) fn paid_in(&self, pay: u64) -> Paid {
        let number = self.pays.number(pay);
        number.map_or(Paid::none(self.workforce), |number| {
            self.tenure.paid_in(self.workforce, number)
        })
    }

    /// Whether an employee receives a pay of history.
    pub(crate) fn is_paid_in(&self, pay: u64, employee: u64) -> bool {
        let place = (employee < self.workforce.size()).then(|| self.workforce.place(employee));
        let place = place.zip(self.pays.number(pay));
        place.is_some_and(|(place, number)| self.tenure.is_paid(place, number))
    }

    /// The number in the company's calendar of the first pay to which raises apply.
    pub(crate) fn first_raised(&self) -> u64 {
        self.pays.of_twelfth(1 + self.key.with("raise").below(HISTORY_MONTHS - 1))
    }

    /// The monthly pay of an employee before and after the raise. An employee who joined within the history has had none.
    pub(crate) fn monthly_pay(&self, place: Place) -> [i64; 2] {
        let [before, now] = people::monthly_pay(self.pay(), place.role, place.step);
        if self.tenure.first(place) > 0 { [now, now] } else { [before, now] }
    }
}

/// The layout of grown resources, from a seed and a shape.
#[derive(Debug)]
pub(crate) struct Layout {
    seed: u64,
    shape: Shape,
    key: Key,
    /// Calculated at the first use, because it reads the tables of growth, which takes a third of the memory of a server without requests.
    mix: OnceLock<CompanyMix>,
    /// The key of the names of companies.
    names: Key,
    /// The first day of history.
    first_day: Date,
    /// By pay. Calculated at the first use, because it reads the holidays.
    times: OnceLock<Vec<PayTimes>>,
    /// By kind.
    permutations: Vec<Permutation>,
}

impl Layout {
    /// The layout of that seed and shape, which [`Shape::check`] has passed.
    pub(crate) fn new(seed: u64, shape: Shape) -> Self {
        let key = Key::new(seed);
        let permutation = |kind: &Kind| Permutation::new(key.with("id").with(kind.prefix()));
        let first = shape.start.date().period().plus_months(-(HISTORY_MONTHS as i32)).first_day();
        Self {
            seed,
            key,
            mix: OnceLock::new(),
            names: key.with("company names"),
            first_day: first,
            times: OnceLock::new(),
            permutations: Kind::ALL.iter().map(permutation).collect(),
            shape,
        }
    }

    pub(crate) const fn seed(&self) -> u64 {
        self.seed
    }

    pub(crate) const fn shape(&self) -> &Shape {
        &self.shape
    }

    /// The root key of all random values of the world.
    pub(crate) const fn key(&self) -> Key {
        self.key
    }

    fn mix(&self) -> &CompanyMix {
        let mix = || CompanyMix::of(&self.shape.countries, self.key, self.first_day);
        self.mix.get_or_init(mix)
    }

    /// The calendars by which companies pay. The first one is monthly.
    pub(crate) fn calendars(&self) -> &[PayCalendar] {
        &self.mix().calendars
    }

    pub(super) fn pay_times(&self) -> &[PayTimes] {
        self.times.get_or_init(|| self.time_pays())
    }

    /// The pay frequency of the companies of a country, by its place among the countries of the world.
    pub(super) fn frequency_at(&self, place: u64) -> PayPeriod {
        self.mix().countries[place as usize].0.pay.interval
    }

    /// The countries of the world that pay with a frequency.
    pub(super) fn countries_with(&self, frequency: PayPeriod) -> impl Iterator<Item = &str> {
        let countries = self.mix().countries.iter().map(|(country, _)| country);
        countries.filter(move |country| country.pay.interval == frequency).map(|it| it.code)
    }

    /// The number of grown resources of a kind.
    pub(crate) fn count(&self, kind: Kind) -> u64 {
        let companies = self.shape.companies;
        let people = companies * self.shape.employees_per_company;
        match kind {
            Kind::Company | Kind::Wallet => companies,
            Kind::Employee => people,
            // A company without employees has no runs and no sales.
            Kind::PayrollRun | Kind::TaxFiling | Kind::Invoice | Kind::Collection | Kind::Bill
                if people == 0 =>
            {
                0
            }
            Kind::PayrollRun => companies * self.pays(),
            // One for each company; those that pay monthly have none.
            Kind::PaySchedule if self.calendars().len() > 1 => companies,
            Kind::TaxFiling => companies * HISTORY_MONTHS * FILINGS_A_MONTH,
            Kind::PayrollItem | Kind::Payslip => people * self.pays(),
            Kind::Payout => people * self.pays() + companies * VENDORS_A_MONTH * HISTORY_MONTHS,
            Kind::Invoice | Kind::Collection => companies * INVOICES_A_MONTH * HISTORY_MONTHS,
            Kind::Bill => companies * BILLS_A_COMPANY,
            Kind::JournalEntry => companies * ENTRIES_A_COMPANY,
            _ => 0,
        }
    }

    /// The id of the grown resource with this index.
    pub(crate) fn id_at<T: Entity>(&self, index: u64) -> Id<T> {
        Id::from_bits(self.any_at(T::KIND, index).bits)
    }

    /// The id at an index, for a kind that is known only at run time.
    pub(crate) fn any_at(&self, kind: Kind, index: u64) -> AnyId {
        AnyId { kind, bits: self.permutation(kind).apply(index) }
    }

    /// The index of a grown resource; none for any other id.
    pub(crate) fn index_of<T: Entity>(&self, id: Id<T>) -> Option<u64> {
        let index = self.permutation(T::KIND).invert(id.bits());
        (index < self.count(T::KIND)).then_some(index)
    }

    /// The index of a grown resource whose kind is known only at run time; none for any other id.
    pub(crate) fn index_of_any(&self, id: AnyId) -> Option<u64> {
        let index = self.permutation(id.kind).invert(id.bits);
        (index < self.count(id.kind)).then_some(index)
    }

    /// Whether a grown resource of any kind has this id.
    pub(crate) fn has(&self, id: AnyId) -> bool {
        self.index_of_any(id).is_some()
    }

    fn permutation(&self, kind: Kind) -> &Permutation {
        &self.permutations[kind as usize]
    }

    /// The plan of the company with this index.
    pub(crate) fn plan(&self, index: u64) -> Plan {
        let key = self.key.with("company").at(index);
        let mix = self.mix();
        let CompanyPlace { country, currency, industry_place, number } = mix.of_company(index);
        let workforce = Workforce::new(key, self.shape.employees_per_company);
        let mut calendars = mix.calendars.iter();
        let pays = calendars.find(|calendar| calendar.frequency == country.pay.interval);
        let pays = *pays.expect("the calendars are those of the countries");
        Plan {
            index,
            key,
            country,
            industry: industries::at(industry_place),
            industry_place,
            origin: Origin { key, names: self.names, number, index, known_on: self.first_day },
            people: key.with("employee"),
            currency,
            workforce,
            tenure: Tenure::new(key, pays.count()),
            pays,
        }
    }

    /// The month of history with this number, from 0.
    pub(crate) fn period(&self, month: u64) -> Period {
        self.shape.start.date().period().plus_months(month as i32 - HISTORY_MONTHS as i32)
    }

    /// The number of this month of history.
    pub(crate) fn month_of(&self, period: Period) -> Option<u64> {
        let months = period.months_since(self.period(0));
        u64::try_from(months).ok().filter(|&month| month < HISTORY_MONTHS)
    }

    /// The pay date of a month. All companies that pay monthly have the same pay date: the default day, and in
    /// December the earliest day of their countries. So the histories of several companies are in the order of time.
    pub(crate) fn pay_date(&self, period: Period) -> Date {
        let usual = PayrollSettings::default().pay_day;
        let december = period.first_day().civil().month() == 12;
        let days = self.mix().countries.iter().filter_map(|(country, _)| country.pay.december);
        let day = days.filter(|_| december).fold(usual, i8::min);
        period.day(day).or_business_day_before()
    }

    /// The first day of history.
    pub(crate) const fn first_day(&self) -> Date {
        self.first_day
    }
}
