//! A single line, reported by the bank as soon as it is booked: an action of the outside world.

use crate::api::payments::bank_statements::{Contents, open};
use crate::api::prelude::*;
use crate::model::TransactionType;
use crate::model::payments::{BankStatement, Draft, StatementSource};

/// The time from an imported line to the end of its matching.
const IMPORT: Span = Span::seconds(5);

/// A line that a bank has booked.
#[derive(Deserialize, JsonSchema)]
pub(crate) struct StatementLineArrives {
    /// The wallet that represents the account.
    wallet_id: Id<Wallet>,
    /// The booking day; not in the future. Default: today.
    date: Option<Date>,
    /// Amount in minor units of the wallet's currency, from 1.
    amount: Amount,
    /// Direction of the money: in or out.
    direction: TransactionType,
    /// The bank's description.
    description: Option<Text<500>>,
    /// The payment reference known to payer and payee.
    reference: Option<Text<100>>,
}

pub(crate) fn simulate_statement_line(
    world: &mut World,
    input: StatementLineArrives,
) -> Result<Single<BankStatement>> {
    let wallet = existing(world, input.wallet_id, "/wallet_id")?;
    let today = world.today();
    let date = input.date.unwrap_or(today);
    if date > today {
        let detail = format!("must not be in the future (today is {today})");
        return Err(ApiError::of_member("/date", "in_the_future", detail));
    }
    let draft = Draft {
        date,
        amount: input.amount.minor(),
        direction: input.direction,
        description: input.description.map(Text::into_string),
        reference: input.reference.map(Text::into_string),
    };
    let contents = Contents {
        source: StatementSource::Inbound,
        format: None,
        opening: None,
        closing: None,
        drafts: vec![draft],
        truths: None,
    };
    let statement = open(world, &wallet, (date, date), contents, Metadata::default());
    world.settle_after(IMPORT, Task::ImportStatement(statement.id));
    Ok(Data(Shown(statement)))
}
