//! Bank statements: lines from a caller, a file from a bank, or a simulated statement.

mod file;

use schemars::{Schema, SchemaGenerator, json_schema};

use self::file::{file_of, no_file, of_file};
use crate::api::payments::statement_clock;
use crate::api::prelude::*;
use crate::model::decision::STATEMENT_NOISE;
use crate::model::payments::bank_statement::MatchCounts;
use crate::model::payments::statement_file::CsvMapping;
use crate::model::payments::{
    Bank, BankStatement, Draft, Level, MOST_LINES, Sent, StatementFormat, StatementLine,
    StatementSource, StatementStatus, Truths,
};
use crate::model::{TransactionType, WalletTransaction};

/// From the request to the end of the matching.
const IMPORT: Span = Span::seconds(5);

pub(crate) const OPERATIONS: &[Operation] = &Domain::Payments.table([
    Operation {
        path: "/api/payments/bank-statements",
        summary: "Import a bank statement",
        description: "Imports `lines`, or a bank's file as `content` or `content_base64`: MT940, \
            camt.053, OFX, BAI2, or CSV with its columns. The `format` is detected if it is \
            absent. Several statements in a file are imported as one statement. If the file has \
            several accounts, name the `account`. Without `lines` and a file, the sandbox \
            simulates the bank and generates the statement from the wallet's transactions. The \
            simulation adds fees and duplicates, merges and omits lines, shifts days, and cuts \
            references. After five seconds the statement is `imported`, and every line is a row of \
            the reconciliation. A file with a mistake is refused with its line and column.",
        example: r#"{"company_id":"@company:1","wallet_id":"@wallet:1","from":"2025-12-01","to":"2025-12-31"}"#,
        success: 202,
        emits: &["bank_statement.created"],
        starts: &[TaskKind::ImportStatement],
        long: true,
        ..operation!(write import_bank_statement)
    },
    Operation {
        path: "/api/payments/bank-statements/{bank_statement_id}",
        summary: "Read a bank statement",
        description: "Returns balances, sums, and the number of matched lines. `GET \
            /api/payments/reconciliation-matches?statement_id=…` lists the lines as rows.",
        ..operation!(get get_bank_statement: BankStatement)
    },
]);

/// A statement to import.
#[derive(Deserialize, JsonSchema)]
pub(crate) struct ImportBankStatement {
    /// The company that owns the account.
    company_id: Id<Company>,
    /// The wallet that represents the account.
    wallet_id: Id<Wallet>,
    /// The statement's first day.
    from: Date,
    /// The last day; not in the future.
    to: Date,
    /// The lines, in the bank's order.
    #[schemars(length(min = 1, max = MOST_LINES))]
    lines: Option<Vec<ImportLine>>,
    /// The text of a bank's file.
    content: Option<FileText>,
    /// The bytes of a bank's file in Base64, instead of `content`. They are decoded by the encoding that the file declares. Without a
    /// declaration, they are decoded as UTF-8, or as Windows-1252 if they are not valid UTF-8.
    content_base64: Option<FileBytes>,
    /// The file's format. If it is absent, the format is detected; if the member `csv` is given, the format is CSV.
    format: Option<StatementFormat>,
    /// The account whose statements are imported, as the file writes it. Required if the file has statements of several accounts.
    account: Option<Text<100>>,
    /// Whether a file is refused if its balances do not agree with its entries, or if it lacks a page. If false, the statement shows the
    /// `balance_difference`.
    #[serde(default)]
    check_balances: bool,
    /// The columns of a CSV file.
    csv: Option<CsvMapping>,
    /// Key-value pairs set by the caller.
    #[serde(default)]
    metadata: Metadata,
}

/// One line of a statement.
#[derive(Deserialize, JsonSchema)]
pub(crate) struct ImportLine {
    /// The bank's booking day.
    date: Date,
    /// Amount in minor units of the wallet's currency, from 1.
    amount: Amount,
    /// Direction of the money: in or out.
    direction: TransactionType,
    /// The bank's description.
    description: Option<Text<500>>,
    /// The payment reference known to payer and payee.
    reference: Option<Text<100>>,
}

/// A whole file as one text, including line ends.
#[derive(Deserialize)]
#[serde(transparent)]
pub(crate) struct FileText(String);

impl JsonSchema for FileText {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "FileText".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "string", "minLength": 1, "maxLength": 1_048_576 })
    }
}

/// The bytes of a file in Base64.
#[derive(Deserialize)]
#[serde(transparent)]
pub(crate) struct FileBytes(String);

impl JsonSchema for FileBytes {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "FileBytes".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "string", "minLength": 1, "maxLength": 1_048_576, "pattern": "^[A-Za-z0-9+/]*={0,2}$" })
    }
}

/// The contents of a statement before it has an id.
pub(crate) struct Contents {
    pub(crate) source: StatementSource,
    pub(crate) format: Option<StatementFormat>,
    pub(crate) opening: Option<i64>,
    pub(crate) closing: Option<i64>,
    pub(crate) drafts: Vec<Draft>,
    pub(crate) truths: Option<Truths>,
}

fn import_bank_statement(
    world: &mut World,
    input: ImportBankStatement,
) -> Result<Single<BankStatement>> {
    let company = existing(world, input.company_id, "/company_id")?;
    let wallet = existing(world, input.wallet_id, "/wallet_id")?;
    let mut wrong = days_of(world, input.from, input.to);
    if wallet.company_id != company.id {
        let detail = "this wallet belongs to another company";
        wrong.push(Violation::new("/wallet_id", "foreign_wallet", detail));
    }
    let days = (input.from, input.to);
    let sent = match &input.lines {
        Some(lines) => {
            wrong.extend(no_file(&input));
            Some(of_lines(lines, days, &mut wrong))
        }
        None => file_of(&input, &mut wrong)
            .and_then(|file| of_file(&file, &input, &wallet, days, &mut wrong)),
    };
    ApiError::if_any(wrong)?;
    if sent.is_some() {
        within_bounds(world, &wallet, days)?;
    }
    let (contents, after) = match sent {
        Some(contents) => (contents, None),
        None => simulated(world, &wallet, days)?,
    };
    let statement = open(world, &wallet, days, contents, input.metadata);
    world.settle_when(IMPORT, after, Task::ImportStatement(statement.id));
    Ok(Data(Shown(statement)))
}

/// Stages a statement with its lines, and emits its event.
pub(crate) fn open(
    world: &mut World,
    wallet: &Wallet,
    (from, to): (Date, Date),
    contents: Contents,
    metadata: Metadata,
) -> Arc<BankStatement> {
    let id: Id<BankStatement> = world.next_id(wallet.id.bits());
    let key = world.base().key().with("statement_line").at(id.bits());
    let numbered = (1..).zip(contents.drafts).map(|(number, draft)| {
        Arc::new(StatementLine {
            id: Id::from_bits(key.at(u64::from(number)).hash()),
            number,
            date: draft.date,
            amount: draft.amount,
            direction: draft.direction,
            description: draft.description,
            reference: draft.reference,
        })
    });
    let lines = Arc::new(numbered.collect());
    let now = world.now();
    let statement = BankStatement {
        id,
        company_id: wallet.company_id,
        wallet_id: wallet.id,
        status: StatementStatus::Processing,
        source: contents.source,
        format: contents.format,
        from,
        to,
        currency: wallet.currency,
        opening_balance: contents.opening,
        closing_balance: contents.closing,
        lines,
        truths: contents.truths.map(Arc::new),
        matches: MatchCounts::default(),
        created_at: now,
        updated_at: now,
        metadata,
        status_history: [StatusChange::plain(StatementStatus::Processing, now)].into(),
    };
    world.record("bank_statement.created", statement)
}

/// The mistakes in a statement's days.
fn days_of(world: &World, from: Date, to: Date) -> Vec<Violation> {
    let mut wrong = Vec::new();
    if to < from {
        let detail = format!("must be on or after the first day, {from}");
        wrong.push(Violation::new("/to", "before_from", detail));
    }
    let today = world.today();
    if to > today {
        let detail = format!("must not be in the future (today is {today})");
        wrong.push(Violation::new("/to", "in_the_future", detail));
    }
    wrong
}

fn of_lines(lines: &[ImportLine], days: (Date, Date), wrong: &mut Vec<Violation>) -> Contents {
    for (place, line) in lines.iter().enumerate() {
        if let Some(detail) = outside(line.date, days) {
            wrong.push(Violation::new(format!("/lines/{place}/date"), "outside", detail));
        }
    }
    let drafts: Vec<Draft> = lines
        .iter()
        .map(|line| Draft {
            date: line.date,
            amount: line.amount.minor(),
            direction: line.direction,
            description: line.description.clone().map(Text::into_string),
            reference: line.reference.clone().map(Text::into_string),
        })
        .collect();
    wrong.extend(sums_of(&drafts, "/lines"));
    Contents {
        source: StatementSource::Lines,
        format: None,
        opening: None,
        closing: None,
        drafts,
        truths: None,
    }
}

fn outside(day: Date, (from, to): (Date, Date)) -> Option<String> {
    let within = (from..=to).contains(&day);
    (!within)
        .then(|| format!("expected a day of the statement, from {from} to {to}, but found {day}"))
}

/// Sums that exceed 64 bits cannot be shown.
fn sums_of(drafts: &[Draft], pointer: &str) -> Option<Violation> {
    let sum = |direction| -> i128 {
        let of = drafts.iter().filter(|draft| draft.direction == direction);
        of.map(|draft| i128::from(draft.amount)).sum()
    };
    let most = sum(TransactionType::Credit).max(sum(TransactionType::Debit));
    (most > i128::from(i64::MAX)).then(|| {
        let detail = "the sum of the lines in one direction is too large";
        Violation::new(pointer, "sum_too_large", detail)
    })
}

/// A simulated statement: the wallet's transactions with the differences that the decision sets.
fn simulated(
    world: &mut World,
    wallet: &Wallet,
    (from, to): (Date, Date),
) -> Result<(Contents, Option<Span>)> {
    let transactions = within_bounds(world, wallet, (from, to))?;
    let answer = world.decide(&STATEMENT_NOISE, AnyId::of(wallet.id), None);
    let key = world.base().key().with("bank_statement");
    let day = |day: Date| day.midnight().millis().unsigned_abs();
    let bank = Bank {
        key: key.at(wallet.id.bits()).at(day(from)).at(day(to)),
        level: match answer.choice {
            "clean" => Level::Clean,
            "heavy" => Level::Heavy,
            _ => Level::Usual,
        },
        calendar: world.calendar_of(wallet.company_id),
        currency: wallet.currency,
        from,
        to,
    };
    let sent: Vec<Sent<'_>> = transactions
        .iter()
        .map(|one| Sent {
            id: one.id,
            date: one.effective_on,
            amount: one.amount,
            direction: one.kind,
            description: &one.description,
            reference: statement_clock::end_to_end(one),
        })
        .collect();
    let (drafts, truths) = bank.write(&sent);
    if drafts.len() > MOST_LINES {
        return Err(too_many(drafts.len()));
    }
    let opening = statement_clock::balance_before(world, wallet, from);
    let moved: i128 = drafts.iter().map(signed).sum();
    let closing = i64::try_from(i128::from(opening) + moved).ok();
    let contents = Contents {
        source: StatementSource::Simulated,
        format: None,
        opening: Some(opening),
        closing,
        drafts,
        truths: Some(truths),
    };
    Ok((contents, answer.after))
}

fn signed(draft: &Draft) -> i128 {
    match draft.direction {
        TransactionType::Credit => i128::from(draft.amount),
        TransactionType::Debit => -i128::from(draft.amount),
    }
}

/// The wallet's transactions of those days, up to the maximum of a statement.
fn within_bounds(
    world: &World,
    wallet: &Wallet,
    days: (Date, Date),
) -> Result<Vec<Arc<WalletTransaction>>> {
    let transactions = statement_clock::transactions(world, wallet, days);
    if transactions.len() > MOST_LINES {
        return Err(too_many(transactions.len()));
    }
    Ok(transactions)
}

fn too_many(count: usize) -> ApiError {
    let detail = format!(
        "the statement would have {count} lines, and the maximum is {MOST_LINES}: choose fewer \
            days"
    );
    ApiError::of_member("/to", "too_many", detail)
}
