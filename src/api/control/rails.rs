//! The payment rails of each country, with their codes.

use crate::api::prelude::*;
use crate::model::payments::rails::{self, PaymentRail};

pub(crate) const OPERATIONS: &[Operation] = &Domain::Sandbox.table([Operation {
    path: "/_sandbox/rails",
    summary: "List payment rails",
    description: "Lists the payment rails of each country with direction, cut-off and settlement. \
        Each rail has its codes of refusals and returns: the meaning, the reason, and whether a \
        retry makes sense. Every rail names its sources. A payout, a collection and a refund name \
        their rail in `payment_rail`, and their failures have its codes.",
    ..operation!(read list_rails)
}]);

/// Filters of the table.
#[derive(Deserialize, JsonSchema)]
pub(crate) struct ListRails {
    /// Filter by country: ISO 3166-1 alpha-2, or `EU` for the SEPA area.
    country: Option<Text<2>>,
    /// Filter by direction.
    direction: Option<rails::RailDirection>,
}

fn list_rails(_: &World, input: ListRails) -> Result<List<&'static PaymentRail>> {
    let wanted = |rail: &&PaymentRail| {
        input.country.as_ref().is_none_or(|country| country.as_str() == rail.country)
            && input.direction.is_none_or(|direction| direction == rail.direction)
    };
    Ok(List::whole(rails::all().iter().filter(wanted).collect()))
}
