//! Companies: list, create, read, update.

use crate::api::business::compliance::{self, Requirement};
use crate::api::business::paid_leave::PaidLeaveInput;
use crate::api::payments::wallet_level::{self, PaymentSettingsChange};
use crate::api::prelude::*;
use crate::model::business::{
    Address, CompanyStatus, ComplianceRequirement, Contact, PayrollSettings,
};
use crate::model::growth::countries;
use crate::model::payments::Rail;
use crate::value::{CountryCode, Email};

pub(crate) const OPERATIONS: &[Operation] = &Domain::Business.table([
    Operation {
        path: "/api/business/companies",
        summary: "List companies",
        description: "Lists every company of this key's world, in creation order.",
        ..operation!(read list_companies)
    },
    Operation {
        path: "/api/business/companies",
        summary: "Create a company",
        description: "Creates a company and its wallet in the base currency. The company is \
            `pending` and cannot pay until its business is verified: by an approved verification, or with \
            `resolveComplianceRequirement`.",
        example: r#"{"legal_name":"Lagos Bakery Ltd","country":"NG","currency":"NGN","industry":"food"}"#,
        success: 201,
        emits: &["company.created", "wallet.created", "compliance_requirement.created"],
        starts: &[TaskKind::RequirementOverdue],
        ..operation!(write create_company)
    },
    Operation {
        path: "/api/business/companies/{company_id}",
        summary: "Read a company",
        description: "Returns a company with its `blockers`: the requirements to resolve before it \
            can pay.",
        ..operation!(read get_company)
    },
    Operation {
        method: Method::Patch,
        path: "/api/business/companies/{company_id}",
        summary: "Update a company",
        description: "Changes only the given members.",
        example: r#"{"payroll_settings":{"pay_day":28}}"#,
        emits: &["company.updated", "wallet.low_balance"],
        ..operation!(write update_company)
    },
]);

list! {
    fn list_companies(ListCompanies) -> Company, from |world, _| Candidates::all(world);
    filter
        status: CompanyStatus,
        /// Filter by country of registration, ISO 3166-1 alpha-2.
        country: Country;
    sort created_at, legal_name, country;
}

impl Accepts<CountryCode> for Country {
    fn accepts(&self, code: &CountryCode) -> bool {
        *self.0 == **code
    }
}

impl Accepts<String> for Country {
    fn accepts(&self, code: &String) -> bool {
        self.0 == *code
    }
}

/// A country, ISO 3166-1 alpha-2.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
#[schemars(inline)]
pub(crate) struct Country(#[schemars(regex(pattern = "^[A-Z]{2}$"))] pub(crate) String);

/// A new company.
#[derive(Deserialize, JsonSchema)]
pub(crate) struct CreateCompany {
    /// The registered name.
    legal_name: Text<200>,
    /// The country of registration, ISO 3166-1 alpha-2.
    country: Country,
    /// The base currency.
    currency: Currency,
    /// The company's number in the country's company register.
    registration_number: Option<Text<64>>,
    /// The day on which the company was founded, today or earlier.
    founded_on: Option<Date>,
    /// The company's number at the tax authority.
    tax_id: Option<Text<64>>,
    /// The industry, such as `professional_services`.
    industry: Option<Text<64>>,
    /// Payroll settings; absent members use the defaults.
    payroll_settings: Option<PayrollSettingsChange>,
    /// Settings for payouts; absent members use the defaults.
    payment_settings: Option<PaymentSettingsChange>,
    /// Key-value pairs set by the caller.
    metadata: Option<Metadata>,
}

/// Changes to payroll settings; absent members stay.
#[derive(Deserialize, JsonSchema)]
#[schemars(transform = changes)]
pub(crate) struct PayrollSettingsChange {
    /// The day of the month on which wages are due.
    #[schemars(range(min = 1, max = 31))]
    pay_day: Option<i8>,
    /// The rail used for wage payouts.
    speed: Option<Rail>,
    /// Whether a calculated run needs approval.
    approval_required: Option<bool>,
    /// If true, a run pays as many employees as the wallet covers. If false, a run pays no employee unless the wallet covers all of them.
    partial_runs: Option<bool>,
    /// Paid leave of employees without a setting of their own.
    paid_leave: Option<PaidLeaveInput>,
}

impl PayrollSettingsChange {
    fn apply(&self, settings: PayrollSettings, today: Date) -> PayrollSettings {
        PayrollSettings {
            pay_day: self.pay_day.unwrap_or(settings.pay_day),
            speed: self.speed.unwrap_or(settings.speed),
            approval_required: self.approval_required.unwrap_or(settings.approval_required),
            partial_runs: self.partial_runs.unwrap_or(settings.partial_runs),
            paid_leave: self
                .paid_leave
                .as_ref()
                .map_or(settings.paid_leave, |leave| Some(leave.read(today))),
        }
    }
}

fn create_company(world: &mut World, input: CreateCompany) -> Result<Data<CompanyWithBlockers>> {
    known_country(&input.country.0)?;
    let country = CountryCode::parse(&input.country.0).expect("known codes have two letters");
    let (now, today) = (world.now(), world.today());
    let future = input.founded_on.filter(|day| *day > today).map(|day| {
        let detail = format!("{day} must not be in the future (today is {today})");
        Violation::new("/founded_on", "range", detail)
    });
    ApiError::if_any(future.into_iter().collect())?;
    let defaults = PayrollSettings::default();
    let company = world.record(
        "company.created",
        Company {
            id: world.next_id(0),
            object: Object::NAME,
            status: CompanyStatus::Pending,
            legal_name: input.legal_name.into_string().into(),
            country,
            currency: input.currency,
            industry: input.industry.map(|text| text.into_string().into()),
            registration_number: input.registration_number.map(|text| text.into_string().into()),
            founded_on: input.founded_on,
            tax_id: input.tax_id.map(|text| text.into_string().into()),
            address: None,
            contact: None,
            payroll_settings: input
                .payroll_settings
                .map_or(defaults, |change| change.apply(defaults, today)),
            payment_settings: input.payment_settings.map(|change| Box::new(change.apply(None))),
            created_at: now,
            updated_at: now,
            metadata: input.metadata.unwrap_or_default(),
            status_history: [StatusChange::plain(CompanyStatus::Pending, now)].into(),
        },
    );
    world.wallet_for(company.id, company.currency);
    compliance::require(world, Requirement::business_verification(company.id));
    Ok(Data(with_blockers(world, &company)))
}

/// A country whose banks, holidays and forms the sandbox knows. Other countries are refused, because the sandbox
/// cannot simulate them.
pub(crate) fn known_country(code: &str) -> Result<()> {
    if countries::find(code).is_some() {
        return Ok(());
    }
    let known: Vec<&str> = countries::codes().collect();
    let detail =
        format!("the sandbox does not support this country: use one of {}", known.join(", "));
    Err(ApiError::of_member("/country", "unknown_country", detail))
}

/// A company with its open blocking requirements.
#[derive(Serialize, JsonSchema)]
pub(crate) struct CompanyWithBlockers {
    #[serde(flatten)]
    company: Company,
    /// Requirements to resolve before the company can pay.
    blockers: Vec<ComplianceRequirement>,
}

impl Identified for CompanyWithBlockers {
    fn id_text(&self) -> Option<String> {
        Some(self.company.id.to_string())
    }
}

fn get_company(world: &World, input: One<Company>) -> Result<Data<CompanyWithBlockers>> {
    let company = world.get(input.id)?;
    Ok(Data(with_blockers(world, &company)))
}

fn with_blockers(world: &World, company: &Company) -> CompanyWithBlockers {
    let blockers = blockers(world, company.id).map(|requirement| (*requirement).clone());
    CompanyWithBlockers { company: company.clone(), blockers: blockers.collect() }
}

/// Requirements that block a company's payments.
pub(crate) fn blockers(
    world: &World,
    company: Id<Company>,
) -> impl Iterator<Item = Arc<ComplianceRequirement>> {
    compliance::open(world, company).filter(|requirement| requirement.blocking)
}

/// Changes to a company.
#[derive(Deserialize, JsonSchema)]
#[schemars(transform = changes)]
pub(crate) struct UpdateCompany {
    /// The company.
    company_id: Id<Company>,
    /// Changes to payroll settings; absent members stay.
    payroll_settings: Option<PayrollSettingsChange>,
    /// Changes to the settings for payouts; absent members stay.
    payment_settings: Option<PaymentSettingsChange>,
    /// The complete new address.
    #[serde(default)]
    address: Change<AddressInput>,
    /// Changes to contact details; absent members stay.
    contact: Option<ContactInput>,
    /// Replaces all key-value pairs.
    #[serde(default)]
    metadata: Change<Metadata>,
}

impl UpdateCompany {
    /// Whether it changes nothing; then there is no event.
    const fn is_empty(&self) -> bool {
        self.payroll_settings.is_none()
            && self.payment_settings.is_none()
            && self.address.is_keep()
            && self.contact.is_none()
            && self.metadata.is_keep()
    }
}

impl ContactInput {
    fn apply(self, mut contact: Contact) -> Contact {
        self.email.apply(&mut contact.email, |email| email.as_str().to_owned());
        self.phone.apply(&mut contact.phone, Text::into_string);
        self.website.apply(&mut contact.website, Text::into_string);
        contact
    }
}

/// A postal address.
#[derive(Deserialize, JsonSchema)]
pub(crate) struct AddressInput {
    /// Street and number.
    line1: Text<200>,
    /// Town.
    city: Text<100>,
    /// State, county or province.
    region: Option<Text<100>>,
    /// Postal code.
    postal_code: Option<Text<20>>,
    /// The country, ISO 3166-1 alpha-2.
    country: Country,
}

impl AddressInput {
    /// In its stored form.
    pub(crate) fn kept(self) -> Address {
        Address {
            line1: self.line1.into_string(),
            city: self.city.into_string(),
            region: self.region.map(Text::into_string),
            postal_code: self.postal_code.map(Text::into_string),
            country: self.country.0,
        }
    }
}

/// Contact details of a company.
#[derive(Deserialize, JsonSchema)]
#[schemars(transform = changes)]
pub(crate) struct ContactInput {
    /// An e-mail address.
    #[serde(default)]
    email: Change<Email>,
    /// A telephone number.
    #[serde(default)]
    phone: Change<Text<32>>,
    /// A web address.
    #[serde(default)]
    website: Change<Text<200>>,
}

fn update_company(world: &mut World, input: UpdateCompany) -> Result<Data<CompanyWithBlockers>> {
    let before = world.get(input.company_id)?;
    if input.is_empty() {
        return Ok(Data(with_blockers(world, &before)));
    }
    let mut company = (*before).clone();
    if let Some(change) = input.payroll_settings {
        company.payroll_settings = change.apply(company.payroll_settings, world.today());
    }
    if let Some(change) = input.payment_settings {
        let settings = change.apply(company.payment_settings.as_deref().copied());
        company.payment_settings = Some(Box::new(settings));
    }
    input.address.apply(&mut company.address, |address| Box::new(address.kept()));
    if let Some(change) = input.contact {
        company.contact = Some(Box::new(change.apply(*company.contact.unwrap_or_default())));
    }
    input.metadata.apply_or_empty(&mut company.metadata);
    company.updated_at = world.now();
    let company = world.record("company.updated", company);
    wallet_level::limited(world, &before, &company);
    Ok(Data(with_blockers(world, &company)))
}
