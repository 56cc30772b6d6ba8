//! Transfers between a company's wallets in two currencies: at a quote, debited at once, credited on completion.

use crate::api::business::payroll_people::may_pay;
use crate::api::payments::wallet_level;
use crate::api::payments::wallets::{room, short};
use crate::api::prelude::*;
use crate::model::decision::FX_TRANSFER_SETTLE;
use crate::model::payments::{Failure, FxQuote, FxTransfer, FxTransferStatus, QuoteStatus};
use crate::model::posting::{self, Conversion};

pub(crate) const OPERATIONS: &[Operation] = &Domain::Payments.table([
    Operation {
        path: "/api/payments/fx-transfers",
        summary: "List conversions",
        description: "Lists transfers between wallets in two currencies, newest first.",
        ..operation!(read list_fx_transfers)
    },
    Operation {
        path: "/api/payments/fx-transfers",
        summary: "Convert money",
        description: "Executes a quote, which can be used once before it expires. The source \
            wallet is debited now, and the target wallet is credited a minute later. A company \
            without a wallet in the target currency gets one. A failed transfer returns the \
            money.",
        example: r#"{"quote_id":"@fx_quote:1","source_wallet_id":"@wallet:1"}"#,
        success: 201,
        errors: &[
            ErrorCode::InvalidStateTransition,
            ErrorCode::QuoteExpired,
            ErrorCode::CurrencyMismatch,
            ErrorCode::InsufficientFunds,
            ErrorCode::LimitExceeded,
            ErrorCode::ComplianceBlocked,
            ErrorCode::CompanySuspended,
        ],
        emits: &["wallet.created", "fx_transfer.created", "wallet.debited", "wallet.low_balance"],
        starts: &[TaskKind::CompleteFxTransfer, TaskKind::FailFxTransfer],
        ..operation!(write create_fx_transfer)
    },
    Operation {
        path: "/api/payments/fx-transfers/{fx_transfer_id}",
        summary: "Read a conversion",
        description: "Returns a transfer with its status and the reason for a failure.",
        ..operation!(get get_fx_transfer: FxTransfer)
    },
]);

list! {
    fn list_fx_transfers(ListFxTransfers) -> FxTransfer, of company_id;
    filter
        company_id: Id<Company>,
        status: FxTransferStatus,
        /// Filter by the wallet that was debited.
        source_wallet_id: Id<Wallet>,
        /// Filter by the wallet that was credited.
        target_wallet_id: Id<Wallet>;
    sort created_at, source_amount, target_amount;
    newest first;
}

/// From the debit to the credit.
const NORMAL: Span = Span::seconds(60);
/// The default delay of a late transfer.
const LATE: Span = Span::BusinessDays(1);

#[derive(Deserialize, JsonSchema)]
pub(crate) struct CreateFxTransfer {
    /// The quote to use.
    quote_id: Id<FxQuote>,
    /// The wallet to debit. It must belong to the quote's company and have its source currency.
    source_wallet_id: Id<Wallet>,
    /// The wallet to credit. Default: the company's wallet in the target currency, which is created if there is none.
    target_wallet_id: Option<Id<Wallet>>,
    /// Key-value pairs set by the caller.
    metadata: Option<Metadata>,
}

fn create_fx_transfer(world: &mut World, input: CreateFxTransfer) -> Result<Single<FxTransfer>> {
    let quote = existing(world, input.quote_id, "/quote_id")?;
    let source = existing(world, input.source_wallet_id, "/source_wallet_id")?;
    let target = input.target_wallet_id;
    let target = target.map(|id| existing(world, id, "/target_wallet_id"));
    let target = target.transpose()?;
    let company = world.get(quote.company_id)?;
    may_pay(world, &company)?;
    check_wallets(&quote, &source, target.as_deref())?;
    let used = usable(world, &quote)?;
    let target = target.or_else(|| world.wallet_of(quote.company_id, quote.target_currency));
    short(world, &source, quote.source_amount)?;
    if let Some(target) = &target {
        room(world, target, quote.target_amount)?;
    }
    let before = world.balances(company.id, source.currency).available;
    let target = world.wallet_for(quote.company_id, quote.target_currency);
    let transfer = begun(world, &quote, &source, &target, input.metadata.unwrap_or_default());
    let mut quote = (*quote).clone();
    quote.fx_transfer_id = Some(transfer.id);
    quote.enter(used, world.now());
    world.stage(quote);
    let transfer = Arc::new(transfer);
    world.put(&transfer);
    world.post(transfer.company_id, posting::fx_begun(&conversion(&transfer)));
    world.emit("fx_transfer.created", &transfer);
    wallet_level::debited(world, &company, &source, before);
    follow(world, transfer.id);
    Ok(Data(Shown(transfer)))
}

/// Both wallets must belong to the quote's company and have its currencies.
fn check_wallets(quote: &FxQuote, source: &Wallet, target: Option<&Wallet>) -> Result<()> {
    let named = [
        ("/source_wallet_id", Some(source), quote.source_currency),
        ("/target_wallet_id", target, quote.target_currency),
    ];
    let wallets = || {
        let rows = named.iter();
        rows.filter_map(|&(pointer, wallet, currency)| Some((pointer, wallet?, currency)))
    };
    let foreign = wallets().filter(|(_, wallet, _)| wallet.company_id != quote.company_id);
    let foreign = foreign.map(|(pointer, wallet, _)| {
        let detail = format!(
            "{} is a wallet of {}, but the quote belongs to {}",
            wallet.id, wallet.company_id, quote.company_id
        );
        Violation::new(pointer, "foreign_wallet", detail)
    });
    let foreign: Vec<Violation> = foreign.collect();
    ApiError::if_any(foreign)?;
    let other = wallets().filter(|(_, wallet, currency)| wallet.currency != *currency);
    let other = other.map(|(pointer, wallet, currency)| {
        let detail = format!("{} has the currency {}, not {currency}", wallet.id, wallet.currency);
        Violation::new(pointer, "currency_mismatch", detail)
    });
    let other: Vec<Violation> = other.collect();
    match other.first() {
        None => Ok(()),
        Some(first) => {
            let error = ApiError::new(ErrorCode::CurrencyMismatch, first.detail.clone());
            Err(error.with_errors(other).about(quote.id))
        }
    }
}

/// The new status of the quote: it can be used once, before it expires.
fn usable(world: &World, quote: &FxQuote) -> Result<QuoteStatus> {
    let over = quote.status == QuoteStatus::Open && world.now() >= quote.expires_at;
    if over || quote.status == QuoteStatus::Expired {
        let detail = format!("the quote expired at {}: create another one", quote.expires_at);
        return Err(ApiError::new(ErrorCode::QuoteExpired, detail).about(quote.id));
    }
    step("use", "the quote", quote.id, quote.status)
}

fn begun(
    world: &World,
    quote: &FxQuote,
    source: &Wallet,
    target: &Wallet,
    metadata: Metadata,
) -> FxTransfer {
    let now = world.now();
    FxTransfer {
        id: world.next_id(quote.company_id.bits()),
        object: Object::NAME,
        company_id: quote.company_id,
        fx_quote_id: quote.id,
        source_wallet_id: source.id,
        target_wallet_id: target.id,
        status: FxTransferStatus::Processing,
        source_amount: quote.source_amount,
        source_currency: quote.source_currency,
        target_amount: quote.target_amount,
        target_currency: quote.target_currency,
        rate: quote.rate,
        fee_amount: quote.fee_amount,
        failure: None,
        created_at: now,
        updated_at: now,
        metadata,
        status_history: [StatusChange::plain(FxTransferStatus::Processing, now)].into(),
    }
}

fn conversion(transfer: &FxTransfer) -> Conversion {
    Conversion {
        source: AnyId::of(transfer.id),
        given: transfer.source_amount,
        given_in: transfer.source_currency,
        fee: transfer.fee_amount,
        got: transfer.target_amount,
        got_in: transfer.target_currency,
    }
}

/// Requests the result of the transfer, which arrives later.
fn follow(world: &mut World, id: Id<FxTransfer>) {
    let answer = world.decide(&FX_TRANSFER_SETTLE, AnyId::of(id), None);
    let (task, named) = match answer.choice {
        "failed" => (Task::FailFxTransfer(id), answer.after),
        "delayed" => (Task::CompleteFxTransfer(id), Some(answer.after.unwrap_or(LATE))),
        _ => (Task::CompleteFxTransfer(id), answer.after),
    };
    world.settle_when(NORMAL, named, task);
}

/// The other currency arrives. If the wallet would exceed its maximum, the transfer fails.
pub(crate) fn complete(world: &mut World, id: Id<FxTransfer>) {
    let Some(transfer) = under_way(world, id) else { return };
    let target = world.find(transfer.target_wallet_id);
    let target = target.expect("the transfer was made into a wallet");
    if let Err(full) = room(world, &target, transfer.target_amount) {
        return undo(world, &transfer, "limit_exceeded", full.detail.into());
    }
    let mut transfer = (*transfer).clone();
    transfer.enter(FxTransferStatus::Completed, world.now());
    let transfer = world.stage(transfer);
    let done = posting::fx_completed(&conversion(&transfer));
    world.post(transfer.company_id, done);
    world.emit("fx_transfer.completed", &transfer);
    world.emit_wallet("wallet.credited", &target);
}

/// The transfer was not executed.
pub(crate) fn fail(world: &mut World, id: Id<FxTransfer>) {
    if let Some(transfer) = under_way(world, id) {
        let why = "no provider accepted the conversion into the target currency".into();
        undo(world, &transfer, "rail_unavailable", why);
    }
}

fn under_way(world: &World, id: Id<FxTransfer>) -> Option<Arc<FxTransfer>> {
    let transfer = world.find(id);
    transfer.filter(|it| it.status == FxTransferStatus::Processing) // another step has already done this
}

fn undo(world: &mut World, transfer: &FxTransfer, code: &'static str, message: Cow<'static, str>) {
    let mut transfer = transfer.clone();
    transfer.failure = Some(Failure {
        code: Cow::Borrowed(code),
        return_code: None,
        rail_message: Some(message),
        retryable: true,
        retry: None,
    });
    transfer.enter(FxTransferStatus::Failed, world.now());
    let transfer = world.stage(transfer);
    let back = posting::fx_given_back(&conversion(&transfer));
    world.post(transfer.company_id, back);
    world.emit("fx_transfer.failed", &transfer);
    let source = world.find(transfer.source_wallet_id);
    let source = source.expect("the transfer was made out of a wallet");
    world.emit_wallet("wallet.credited", &source);
}
