//! Reference rates of a day, and the rates of quotes.

use crate::api::prelude::*;
use crate::model::fx;
use crate::model::fx_quoting::{Rate, spread};

pub(crate) const OPERATIONS: &[Operation] = &Domain::Payments.table([Operation {
    path: "/api/payments/fx-rates",
    summary: "List exchange rates",
    description: "Lists the reference rates of a day for every pair of currencies, ordered by \
        source and target, with the spread that a quote deducts. The rates are monthly rates of a \
        customs authority, not market quotes. Between two months, the rate follows a random path \
        that depends on the seed. Before the first and after the last published month, the nearest \
        rate applies.",
    example: r#"{"source_currency":"GBP","target_currency":"NGN"}"#,
    ..operation!(read list_fx_rates)
}]);

#[derive(Deserialize, JsonSchema)]
pub(crate) struct ListFxRates {
    #[serde(flatten)]
    paging: Paging,
    /// Filter by source currency.
    source_currency: Option<Currency>,
    /// Filter by target currency.
    target_currency: Option<Currency>,
    /// The day; not in the future. Default: today.
    as_of: Option<Date>,
}

/// A rate between two currencies.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct FxRate {
    /// The currency to sell.
    source_currency: Currency,
    /// The currency to buy.
    target_currency: Currency,
    /// The day of the rate.
    as_of: Date,
    /// Reference rate: units of the target currency for one unit of the source currency.
    mid_rate: Rate,
    /// The spread of a quote, in basis points.
    spread_bp: u32,
    /// The rate less the spread, which a quote of that day uses.
    rate: Rate,
}

fn list_fx_rates(world: &World, input: ListFxRates) -> Result<List<FxRate>> {
    let today = world.today();
    let as_of = input.as_of.unwrap_or(today);
    let mut wrong = Vec::new();
    wrong.extend(input.source_currency.and_then(|it| unknown("/source_currency", it)));
    wrong.extend(input.target_currency.and_then(|it| unknown("/target_currency", it)));
    if as_of > today {
        let detail = format!("must not be in the future (today is {today})");
        wrong.push(Violation::new("/as_of", "in_the_future", detail));
    }
    ApiError::if_any(wrong)?;
    let wanted = |filter: Option<Currency>| {
        fx::known().filter(move |currency| filter.is_none_or(|only| only == *currency))
    };
    let sources = wanted(input.source_currency);
    let pairs: Vec<(Currency, Currency)> = sources
        .flat_map(|source| wanted(input.target_currency).map(move |target| (source, target)))
        .filter(|(source, target)| source != target)
        .collect();
    let row = |&(source_currency, target_currency): &(Currency, Currency)| {
        let mid_rate = world.base().mid_rate(source_currency, target_currency, as_of);
        let mid_rate = mid_rate.expect("the list holds currencies with a rate");
        let spread_bp = spread(source_currency, target_currency);
        FxRate {
            source_currency,
            target_currency,
            as_of,
            mid_rate,
            spread_bp,
            rate: mid_rate.less(spread_bp),
        }
    };
    Ok(input.paging.list(&pairs, row))
}

/// The violation for a currency without a reference rate.
pub(crate) fn unknown(pointer: &str, currency: Currency) -> Option<Violation> {
    if fx::is_known(currency) {
        return None;
    }
    let known: Vec<String> = fx::known().map(|known| known.to_string()).collect();
    let detail = format!("{currency} has no reference rate: use one of {}", known.join(", "));
    Some(Violation::new(pointer, "unknown_currency", detail))
}
