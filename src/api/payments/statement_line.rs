//! The bank tells of one line, as soon as it has booked it: the outside world acting.

use crate::api::payments::bank_statements::{Contents, open};
use crate::api::prelude::*;
use crate::model::TransactionType;
use crate::model::payments::{BankStatement, Draft, StatementSource, Wallet};

/// From the line to the end of its matching.
const IMPORT: Span = Span::seconds(5);

/// A line that a bank has booked.
#[derive(Deserialize, JsonSchema)]
pub(crate) struct StatementLineArrives {
    /// The wallet that is the account.
    wallet_id: Id<Wallet>,
    /// The day of booking: today or earlier; today if absent.
    date: Option<Date>,
    /// Minor units of the wallet's currency, from 1.
    amount: Amount,
    /// Money in, or money out.
    direction: TransactionType,
    /// What the bank wrote.
    description: Option<Text<500>>,
    /// What payer and payee know the payment by.
    reference: Option<Text<100>>,
}

pub(crate) fn statement_line(
    world: &mut World,
    input: StatementLineArrives,
) -> Result<Data<Shown<BankStatement>>, ApiError> {
    let wallet = world.get(input.wallet_id)?;
    let today = world.today();
    let date = input.date.unwrap_or(today);
    if date > today {
        let detail = format!("this day lies ahead: today is {today}");
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
