//! Quotes: exchange rates that are valid for half an hour.

use crate::api::payments::fx_rates::unknown;
use crate::api::prelude::*;
use crate::model::fx_quoting::{Rate, cost_of_spread, spread};
use crate::model::payments::{FxQuote, QuoteStatus};

pub(crate) const OPERATIONS: &[Operation] = &Domain::Payments.table([
Operation {
    path: "/api/payments/fx-quotes",
    summary: "Quote a conversion",
    description: "Creates a quote: the day's reference rate less the spread of the two currencies, \
        valid for 30 minutes of virtual time. Give the amount to sell or the amount to buy; the \
        other is calculated and rounded half to even. No money moves until `createFxTransfer` \
        uses the quote.",
    example: r#"{"company_id":"@company:1","source_currency":"NGN","target_currency":"GBP","source_amount":25000000}"#,
    success: 201,
    emits: &["fx_quote.created"],
    starts: &[TaskKind::ExpireFxQuote],
    ..operation!(write create_fx_quote)
}]);

/// The period of validity of a quote.
const VALIDITY: Span = Span::seconds(30 * 60);

#[derive(Deserialize, JsonSchema)]
pub(crate) struct CreateFxQuote {
    /// The company whose money is converted.
    company_id: Id<Company>,
    /// The currency to sell.
    source_currency: Currency,
    /// The currency to buy.
    target_currency: Currency,
    /// Amount to sell, in minor units. Give this or `target_amount`.
    source_amount: Option<Amount>,
    /// The amount to buy, in minor units.
    target_amount: Option<Amount>,
    /// Key-value pairs set by the caller.
    metadata: Option<Metadata>,
}

fn create_fx_quote(world: &mut World, input: CreateFxQuote) -> Result<Single<FxQuote>> {
    let company = existing(world, input.company_id, "/company_id")?;
    let (source, target) = (input.source_currency, input.target_currency);
    let fixed = checked(&input)?;
    let today = world.today();
    let mid_rate = world.base().mid_rate(source, target, today);
    let mid_rate = mid_rate.expect("both currencies were looked up");
    let spread_bp = spread(source, target);
    let rate = mid_rate.less(spread_bp);
    let (source_amount, target_amount) = both_sides(fixed, rate, source, target)?;
    let (now, expires_at) = (world.now(), world.now().plus(VALIDITY));
    let quote = FxQuote {
        id: world.next_id(company.id.bits()),
        object: Object::NAME,
        company_id: company.id,
        status: QuoteStatus::Open,
        source_currency: source,
        target_currency: target,
        source_amount,
        target_amount,
        mid_rate,
        spread_bp,
        rate,
        fee_amount: cost_of_spread(source_amount, spread_bp),
        as_of: today,
        expires_at,
        fx_transfer_id: None,
        created_at: now,
        updated_at: now,
        metadata: input.metadata.unwrap_or_default(),
        status_history: [StatusChange::plain(QuoteStatus::Open, now)].into(),
    };
    let quote = world.record("fx_quote.created", quote);
    world.remind_at(expires_at, Task::ExpireFxQuote(quote.id));
    Ok(Data(Shown(quote)))
}

/// The amount that the caller gives.
enum Fixed {
    Source(i64),
    Target(i64),
}

fn checked(input: &CreateFxQuote) -> Result<Fixed> {
    let mut wrong = Vec::new();
    wrong.extend(unknown("/source_currency", input.source_currency));
    wrong.extend(unknown("/target_currency", input.target_currency));
    if input.source_currency == input.target_currency {
        let detail = "must differ from the source currency";
        wrong.push(Violation::new("/target_currency", "same_currency", detail));
    }
    let fixed = match (input.source_amount, input.target_amount) {
        (Some(amount), None) => Some(Fixed::Source(amount.minor())),
        (None, Some(amount)) => Some(Fixed::Target(amount.minor())),
        _ => {
            let detail = "expected exactly one of source_amount and target_amount";
            wrong.push(Violation::new("", "one_of", detail));
            None
        }
    };
    fixed.filter(|_| wrong.is_empty()).ok_or_else(|| ApiError::invalid(wrong))
}

/// The amounts to sell and to buy; an error if the calculated one is zero or too large.
fn both_sides(fixed: Fixed, rate: Rate, source: Currency, target: Currency) -> Result<(i64, i64)> {
    let (pointer, follows, currency) = match fixed {
        Fixed::Source(amount) => ("/source_amount", rate.convert(amount, source, target), target),
        Fixed::Target(amount) => ("/target_amount", rate.needed(amount, source, target), source),
    };
    if follows == 0 {
        let detail = format!("is less than half a minor unit of {currency}");
        return Err(ApiError::of_member(pointer, "too_small", detail));
    }
    let within = i64::try_from(follows).ok().filter(|it| *it <= Amount::MAX);
    let Some(follows) = within else {
        let detail = format!(
            "equals {follows} minor units of {currency}, and the maximum is {}",
            Amount::MAX
        );
        return Err(ApiError::of_member(pointer, "too_large", detail));
    };
    Ok(match fixed {
        Fixed::Source(amount) => (amount, follows),
        Fixed::Target(amount) => (follows, amount),
    })
}

/// The quote has expired.
pub(crate) fn expire(world: &mut World, id: Id<FxQuote>) {
    let open = world.find(id).filter(|it| it.status == QuoteStatus::Open);
    let Some(quote) = open else {
        return; // used in the meantime
    };
    let mut quote = (*quote).clone();
    quote.enter(QuoteStatus::Expired, world.now());
    world.record("fx_quote.expired", quote);
}
