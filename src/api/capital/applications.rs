//! Applications for capital: submit, list, read, and list offers. The underwriter is in `underwriting`.

use crate::api::business::companies::named;
use crate::api::business::payroll_people::may_pay;
use crate::api::prelude::*;
use crate::model::Object;
use crate::model::capital::{Application, ApplicationStatus, Offer, OfferStatus, Product};

pub(crate) const OPERATIONS: &[Operation] = &[
    Operation {
        method: Method::Get,
        path: "/api/capital/applications",
        domain: Domain::Capital,
        contract: Contract::Assumed,
        summary: "List applications",
        description: "Lists applications for capital, in creation order.",
        ..operation!(read list_applications)
    },
    Operation {
        method: Method::Post,
        path: "/api/capital/applications",
        domain: Domain::Capital,
        contract: Contract::Assumed,
        summary: "Apply for credit",
        description: "Submits an application. An underwriter starts the review after a minute and \
            decides one business day later, based on a new credit score and on overdue amounts. \
            The result is an offer or reasons for a rejection. The offer is the amount requested, \
            or less if the company's sales do not support it. Only an active company can apply.",
        example: r#"{"company_id":"@company:1","product":"term_loan","amount":50000000,"currency":"NGN","term_months":12}"#,
        success: 201,
        errors: &[
            ErrorCode::ComplianceBlocked,
            ErrorCode::CompanySuspended,
            ErrorCode::CurrencyMismatch,
        ],
        emits: &["application.submitted"],
        starts: &["review_application"],
        ..operation!(write create_application)
    },
    Operation {
        method: Method::Get,
        path: "/api/capital/applications/{application_id}",
        domain: Domain::Capital,
        contract: Contract::Assumed,
        summary: "Read an application",
        description: "Returns an application with its status and the underwriter's `decision`.",
        ..operation!(read get_application)
    },
    Operation {
        method: Method::Get,
        path: "/api/capital/applications/{application_id}/offers",
        domain: Domain::Capital,
        contract: Contract::Assumed,
        summary: "List the offers on an application",
        description: "Lists the offers, in creation order.",
        ..operation!(read list_application_offers)
    },
];

/// From the application to the underwriter.
const QUEUE: Span = Span::seconds(60);

#[derive(Deserialize, JsonSchema)]
pub(crate) struct ListApplications {
    #[serde(flatten)]
    paging: Paging,
    sort: Option<Sort<Application>>,
    /// Filter by company.
    company_id: Option<Id<Company>>,
    /// Filter by status.
    status: Option<ApplicationStatus>,
    /// Filter by type of leave.
    product: Option<Product>,
}

impl Sortable for Application {
    const KEYS: &'static [(&'static str, fn(&Self) -> SortKey)] = &[
        ("created_at", |application| SortKey::Number(application.created_at.millis())),
        ("amount", |application| SortKey::Number(application.amount)),
    ];
}

fn list_applications(
    world: &World,
    input: ListApplications,
) -> Result<List<Shown<Application>>, ApiError> {
    let none = |_| None;
    let candidates = match input.company_id {
        Some(company) => Candidates::new(0, none, world.children(company.bits())),
        None => Candidates::new(0, none, world.created()),
    };
    if input.status.is_none() && input.product.is_none() {
        return candidates.page(world, input.paging, input.sort.as_ref());
    }
    let keep = |application: &Application| {
        is(input.status.as_ref(), &application.status)
            && is(input.product.as_ref(), &application.product)
    };
    candidates.page_where(world, input.paging, input.sort.as_ref(), keep)
}

#[derive(Deserialize, JsonSchema)]
pub(crate) struct CreateApplication {
    /// The employee on leave.
    company_id: Id<Company>,
    /// The product applied for.
    product: Product,
    /// Amount in minor units, at least one for each month of the term.
    amount: Amount,
    /// The currency; the company must have a wallet in it.
    currency: Currency,
    /// Term in months. For `term_loan`, `revenue_advance`, `invoice_finance` and `payroll_bridge` the defaults are 12, 6, 3 and 1, and the
    /// maximums are 60, 24, 12 and 3.
    #[schemars(range(min = 1, max = 60))]
    term_months: Option<u32>,
    /// The purpose of the score.
    purpose: Option<Text<500>>,
    /// Key-value pairs set by the caller.
    metadata: Option<Metadata>,
}

fn create_application(
    world: &mut World,
    input: CreateApplication,
) -> Result<Data<Shown<Application>>, ApiError> {
    let company = named(world, input.company_id)?;
    let term_months = checked_term(&input)?;
    may_pay(world, &company)?;
    if world.wallet_of(company.id, input.currency).is_none() {
        let detail = format!("{} has no wallet in {}", company.id, input.currency);
        let wrong = Violation::new(
            "/currency",
            "currency",
            "the company has no wallet in this \
            currency",
        );
        let error = ApiError::new(ErrorCode::CurrencyMismatch, detail);
        return Err(error.with_errors(vec![wrong]));
    }
    let now = world.now();
    let application = Application {
        id: world.next_id(company.id.bits()),
        object: Object::NAME,
        company_id: company.id,
        status: ApplicationStatus::Submitted,
        product: input.product,
        amount: input.amount.minor(),
        currency: input.currency,
        term_months,
        purpose: input.purpose.map(Text::into_string),
        decision: None,
        offer_id: None,
        information_requested: Vec::new(),
        information_due_by: None,
        created_at: now,
        updated_at: now,
        metadata: input.metadata.unwrap_or_default(),
        status_history: vec![StatusChange::plain(ApplicationStatus::Submitted, now)],
    };
    let application = world.record("application.submitted", application);
    world.settle_after(QUEUE, Task::ReviewApplication(application.id));
    Ok(Data(Shown(application)))
}

/// The term, which must be allowed for the product and the amount.
fn checked_term(input: &CreateApplication) -> Result<u32, ApiError> {
    let terms = input.product.terms();
    let months = input.term_months.unwrap_or(terms.usual_months);
    let mut wrong = Vec::new();
    if months > terms.most_months {
        let detail = format!("the term of this product is at most {} months", terms.most_months);
        wrong.push(Violation::new("/term_months", "too_long", detail));
    }
    if input.amount.minor() < i64::from(months) {
        let detail = format!("must be at least one minor unit for each of {months} months");
        wrong.push(Violation::new("/amount", "too_small", detail));
    }
    if wrong.is_empty() { Ok(months) } else { Err(ApiError::invalid(wrong)) }
}

#[derive(Deserialize, JsonSchema)]
pub(crate) struct OneApplication {
    /// The application.
    application_id: Id<Application>,
}

fn get_application(
    world: &World,
    input: OneApplication,
) -> Result<Data<Shown<Application>>, ApiError> {
    show(world, input.application_id)
}

#[derive(Deserialize, JsonSchema)]
pub(crate) struct ListApplicationOffers {
    /// The application.
    application_id: Id<Application>,
    #[serde(flatten)]
    paging: Paging,
    sort: Option<Sort<Offer>>,
    /// Filter by status.
    status: Option<OfferStatus>,
}

impl Sortable for Offer {
    const KEYS: &'static [(&'static str, fn(&Self) -> SortKey)] =
        &[("created_at", |offer| SortKey::Number(offer.created_at.millis()))];
}

fn list_application_offers(
    world: &World,
    input: ListApplicationOffers,
) -> Result<List<Shown<Offer>>, ApiError> {
    let application = world.get(input.application_id)?;
    let offers = world.children(application.id.bits());
    let candidates = Candidates::new(0, |_| None, offers);
    let keep = |offer: &Offer| is(input.status.as_ref(), &offer.status);
    candidates.page_where(world, input.paging, input.sort.as_ref(), keep)
}
