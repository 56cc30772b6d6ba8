//! A statement as the file that a bank would send to the customer.

use crate::api::payments::statement_clock::balance_before;
use crate::api::prelude::*;
use crate::model::TransactionType;
use crate::model::payments::statement_file::{Outgoing, write};
use crate::model::payments::{BankStatement, StatementFormat};

pub(crate) const OPERATIONS: &[Operation] = &Domain::Sandbox.table([Operation {
    path: "/_sandbox/bank-statements/{bank_statement_id}/file",
    summary: "Read a statement as a bank's file",
    description: "Returns the statement as the text of a file in `format`. The account is the \
        wallet's id. If the statement has no balances, the wallet's balance before the first day \
        is the opening balance. `importBankStatement` reads the file with the same lines.",
    long: true,
    ..operation!(read get_statement_file)
}]);

/// The statement and the format of its file.
#[derive(Deserialize, JsonSchema)]
pub(crate) struct GetStatementFile {
    /// The statement.
    bank_statement_id: Id<BankStatement>,
    /// The file's format; default `mt940`.
    format: Option<StatementFormat>,
}

/// A bank's file.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "StatementFile")]
pub(crate) struct WrittenFile {
    /// The statement.
    bank_statement_id: Id<BankStatement>,
    /// The file's format.
    format: StatementFormat,
    /// A name for the file.
    file_name: String,
    /// The text, including line ends.
    content: String,
}

fn get_statement_file(world: &World, input: GetStatementFile) -> Result<Plain<WrittenFile>> {
    let statement = world.get(input.bank_statement_id)?;
    let wallet = world.get(statement.wallet_id)?;
    let format = input.format.unwrap_or(StatementFormat::Mt940);
    let before = || balance_before(world, &wallet, statement.from);
    let opening = statement.opening_balance.unwrap_or_else(before);
    let moved = statement.lines.iter().map(|line| match line.direction {
        TransactionType::Credit => i128::from(line.amount),
        TransactionType::Debit => -i128::from(line.amount),
    });
    let closing = i128::from(opening) + moved.sum::<i128>();
    let closing = i64::try_from(closing).unwrap_or(i64::MAX);
    let (id, account) = (statement.id.to_string(), wallet.id.to_string());
    let content = write(
        format,
        &Outgoing {
            id: &id,
            account: &account,
            currency: statement.currency,
            from: statement.from,
            to: statement.to,
            opening,
            closing,
            lines: &statement.lines,
        },
    );
    let ending = match format {
        StatementFormat::Camt053 => "xml",
        StatementFormat::Mt940 => "sta",
        StatementFormat::Ofx => "ofx",
        StatementFormat::Bai2 => "bai",
        StatementFormat::Csv => "csv",
    };
    Ok(Plain(WrittenFile {
        bank_statement_id: statement.id,
        format,
        file_name: format!("{id}.{ending}"),
        content,
    }))
}
