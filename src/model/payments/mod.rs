//! The Payments domain's resources.

pub(crate) mod account_rules;
pub(crate) mod bank_statement;
pub(crate) mod beneficiary;
pub(crate) mod bill;
pub(crate) mod collection;
pub(crate) mod dispute;
pub(crate) mod escrow;
pub(crate) mod fx_quote;
pub(crate) mod fx_transfer;
pub(crate) mod input_tax;
pub(crate) mod invoice;
pub(crate) mod mandate;
pub(crate) mod payout;
pub(crate) mod platform_fee;
pub(crate) mod rails;
pub(crate) mod reconcile;
pub(crate) mod reconciliation_match;
pub(crate) mod refund;
pub(crate) mod statement_file;
pub(crate) mod statement_noise;
pub(crate) mod vat;
pub(crate) mod wallet;

pub(crate) use self::bank_statement::{
    BankStatement, MOST_LINES, Noise, StatementFormat, StatementLine, StatementSource,
    StatementStatus, Truth, Truths,
};
pub(crate) use self::beneficiary::{Beneficiary, BeneficiaryStatus, MatchResult};
pub(crate) use self::bill::{Bill, BillLine, BillStatus, Vendor};
pub(crate) use self::collection::{
    Collection, CollectionMethod, CollectionPayer, CollectionStatus, DebitReturn, Payment,
    RefundStanding, VirtualAccount,
};
pub(crate) use self::dispute::{Dispute, DisputeStatus, RaisedBy};
pub(crate) use self::escrow::{Escrow, EscrowStatus, MilestoneStatus};
pub(crate) use self::fx_quote::{FxQuote, QuoteStatus};
pub(crate) use self::fx_transfer::{FxTransfer, FxTransferStatus};
pub(crate) use self::invoice::{Customer, Invoice, InvoiceLine, InvoiceStatus};
pub(crate) use self::mandate::{Mandate, MandateStatus};
pub(crate) use self::payout::{
    AccountCorrection, Failure, Payout, PayoutStatus, Pays, Rail, Recipient,
};
pub(crate) use self::platform_fee::{FeeSchedule, FeeTier};
pub(crate) use self::rails::{AccountDetail, Late, RailId, Refusal, Scope, Service};
pub(crate) use self::reconciliation_match::{
    CERTAIN, ExceptionKind, MatchStatus, Reason, ReconciliationMatch, Side,
};
pub(crate) use self::refund::{Refund, RefundStatus};
pub(crate) use self::statement_noise::{Bank, Draft, Level, Sent};
pub(crate) use self::wallet::{Balances, Wallet};
