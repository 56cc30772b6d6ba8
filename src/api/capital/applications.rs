//! Applications for capital: submit, list, read, and list offers. The underwriter is in `underwriting`.

use crate::api::business::payroll_people::may_pay;
use crate::api::prelude::*;
use crate::model::capital::{Application, ApplicationStatus, Offer, OfferStatus, Product};

pub(crate) const OPERATIONS: &[Operation] = &Domain::Capital.table([
    Operation {
        path: "/api/capital/applications",
        summary: "List applications",
        description: "Lists applications for capital, in creation order.",
        ..operation!(read list_applications)
    },
    Operation {
        path: "/api/capital/applications",
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
        starts: &[TaskKind::ReviewApplication],
        ..operation!(write create_application)
    },
    Operation {
        path: "/api/capital/applications/{application_id}",
        summary: "Read an application",
        description: "Returns an application with its status and the underwriter's `decision`.",
        ..operation!(get get_application: Application)
    },
    Operation {
        path: "/api/capital/applications/{application_id}/offers",
        summary: "List the offers on an application",
        description: "Lists the offers on an application, in creation order.",
        ..operation!(read list_application_offers)
    },
]);

/// From the application to the underwriter.
const QUEUE: Span = Span::seconds(60);

list! {
    fn list_applications(ListApplications) -> Application, of company_id;
    filter company_id: Id<Company>, status: ApplicationStatus, product: Product;
    sort created_at, amount;
}

#[derive(Deserialize, JsonSchema)]
pub(crate) struct CreateApplication {
    /// The company that applies.
    company_id: Id<Company>,
    /// The product applied for.
    product: Product,
    /// Amount in minor units, at least 1 minor unit for each month of the term.
    amount: Amount,
    /// The currency. The company must have a wallet in this currency.
    currency: Currency,
    /// Term in months. For `term_loan`, `revenue_advance`, `invoice_finance` and `payroll_bridge` the defaults are 12, 6, 3 and 1, and the
    /// maximums are 60, 24, 12 and 3.
    #[schemars(range(min = 1, max = 60))]
    term_months: Option<u32>,
    /// The purpose of the loan.
    purpose: Option<Text<500>>,
    /// Key-value pairs set by the caller.
    metadata: Option<Metadata>,
}

fn create_application(world: &mut World, input: CreateApplication) -> Result<Single<Application>> {
    let company = existing(world, input.company_id, "/company_id")?;
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
        status_history: [StatusChange::plain(ApplicationStatus::Submitted, now)].into(),
    };
    let application = world.record("application.submitted", application);
    world.settle_after(QUEUE, Task::ReviewApplication(application.id));
    Ok(Data(Shown(application)))
}

/// The term, which must be allowed for the product and the amount.
fn checked_term(input: &CreateApplication) -> Result<u32> {
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

list! {
    struct ListApplicationOffers of Offer;
    in
        /// The application.
        application_id: Id<Application>;
    filter status: OfferStatus;
    sort created_at;
}

fn list_application_offers(
    world: &World,
    input: ListApplicationOffers,
) -> Result<List<Shown<Offer>>> {
    let application = world.get(input.application_id)?;
    select(world, &input, Candidates::created(world, Some(application.id.bits())))
}
