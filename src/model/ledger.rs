//! The chart of accounts, journal entries and their lines. Only `posting` decides the lines of an entry.

use core::fmt;

use schemars::{Schema, SchemaGenerator, json_schema};
use serde::{Deserializer, Serializer, de};

use crate::model::business::Authority;
use crate::model::payments::{Wallet, vat};
use crate::model::prelude::*;

/// The five types of account.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum AccountType {
    Asset,
    Liability,
    Equity,
    Revenue,
    Expense,
}

impl AccountType {
    /// The side that increases the account.
    pub(crate) const fn normal_side(self) -> Direction {
        match self {
            Self::Asset | Self::Expense => Direction::Debit,
            Self::Liability | Self::Equity | Self::Revenue => Direction::Credit,
        }
    }
}

/// Declares the accounts of every company.
macro_rules! chart {
    ($($account:ident $code:literal $type:ident $name:literal;)*) => {
        /// An account of a company's chart, with one balance per currency.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub(crate) enum Account {
            $($account,)*
            /// Taxes and contributions payable to one authority.
            TaxPayable(Authority),
        }

        impl Account {
            /// The accounts of every company, in the chart's order.
            pub(crate) const FIXED: &'static [Self] = &[$(Self::$account,)*];

            /// The account's type.
            pub(crate) const fn account_type(self) -> AccountType {
                match self { $(Self::$account => AccountType::$type,)* Self::TaxPayable(_) => AccountType::Liability }
            }

            /// The account's display name in the books of a company at that place.
            pub(crate) fn name(self, at: vat::Place<'_>) -> Cow<'static, str> {
                match self {
                    $(Self::$account => $name.into(),)*
                    Self::TaxPayable(Authority::VAT) => at.payable(),
                    Self::TaxPayable(authority) => format!("Tax payable to {}", authority.name()).into(),
                }
            }

            const fn fixed_code(self) -> Option<&'static str> {
                match self { $(Self::$account => Some($code),)* Self::TaxPayable(_) => None }
            }
        }
    };
}

chart! {
    CashAvailable         "cash_available"         Asset     "Cash available";
    CashReserved          "cash_reserved"          Asset     "Cash reserved";
    PayoutsInTransit      "payouts_in_transit"     Asset     "Payouts in transit";
    CollectionsInTransit  "collections_in_transit" Asset     "Collections in transit";
    EscrowHeld            "escrow_held"            Asset     "Escrow held";
    AccountsReceivable    "accounts_receivable"    Asset     "Accounts receivable";
    VatRecoverable        "vat_recoverable"        Asset     "VAT recoverable";
    Inventory             "inventory"              Asset     "Inventory";
    FixedAssets           "fixed_assets"           Asset     "Fixed assets, at cost";
    AccumulatedDepreciation "accumulated_depreciation" Asset "Accumulated depreciation";
    AccountsPayable       "accounts_payable"       Liability "Accounts payable";
    WagesPayable          "wages_payable"          Liability "Wages payable";
    ContractorsPayable    "contractors_payable"    Liability "Contractors payable";
    PensionPayable        "pension_payable"        Liability "Pension payable";
    DeductionsPayable     "deductions_payable"     Liability "Deductions payable";
    InterestPayable       "interest_payable"       Liability "Interest payable";
    IncomeTaxPayable      "income_tax_payable"     Liability "Income tax payable";
    RefundsPayable        "refunds_payable"        Liability "Refunds payable";
    LoansPayable          "loans_payable"          Liability "Loans payable";
    OwnerEquity           "owner_equity"           Equity    "Owner's equity";
    RetainedEarnings      "retained_earnings"      Equity    "Retained earnings";
    WorldFx               "world:fx"               Equity    "Foreign exchange clearing";
    Sales                 "sales"                  Revenue   "Sales";
    ExchangeGains         "exchange_gains"         Revenue   "Exchange gains";
    Wages                 "wages"                  Expense   "Wages";
    Contractors           "contractors"            Expense   "Contractors";
    EmployerContributions "employer_contributions" Expense   "Employer contributions";
    Purchases             "purchases"              Expense   "Purchases";
    Rent                  "rent"                   Expense   "Rent";
    Utilities             "utilities"              Expense   "Utilities";
    Insurance             "insurance"              Expense   "Insurance";
    Marketing             "marketing"              Expense   "Marketing";
    ProfessionalFees      "professional_fees"      Expense   "Professional fees";
    Depreciation          "depreciation"           Expense   "Depreciation";
    IncomeTax             "income_tax"             Expense   "Income tax";
    Fees                  "fees"                   Expense   "Fees";
    Interest              "interest"               Expense   "Interest";
    BadDebts              "bad_debts"              Expense   "Bad debts";
    ChargebackLosses      "chargeback_losses"      Expense   "Chargeback losses";
    ExchangeLosses        "exchange_losses"        Expense   "Exchange losses";
}

impl Account {
    const TAX_PREFIX: &'static str = "tax_payable:";

    /// The account with that code.
    pub(crate) fn find(code: &str) -> Option<Self> {
        if let Some(authority) = code.strip_prefix(Self::TAX_PREFIX) {
            return Authority::find(authority).map(Self::TaxPayable);
        }
        Self::FIXED.iter().copied().find(|account| account.fixed_code() == Some(code))
    }

    /// Whether it is cash in any state, which a cash-basis report counts.
    pub(crate) const fn is_cash(self) -> bool {
        matches!(
            self,
            Self::CashAvailable
                | Self::CashReserved
                | Self::PayoutsInTransit
                | Self::CollectionsInTransit
                | Self::EscrowHeld
        )
    }
}

impl fmt::Display for Account {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TaxPayable(authority) => write!(f, "{}{}", Self::TAX_PREFIX, authority.code()),
            fixed => f.write_str(fixed.fixed_code().unwrap_or_default()),
        }
    }
}

impl Serialize for Account {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.fixed_code() {
            Some(code) => serializer.serialize_str(code),
            None => serializer.collect_str(self),
        }
    }
}

impl<'de> Deserialize<'de> for Account {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let code = Cow::<'de, str>::deserialize(deserializer)?;
        Self::find(&code).ok_or_else(|| de::Error::custom("no account has this code"))
    }
}

impl JsonSchema for Account {
    fn schema_name() -> Cow<'static, str> {
        "Account".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        let fixed = Self::FIXED.iter().copied();
        let owed = Authority::all().map(Self::TaxPayable);
        let codes: Vec<String> = fixed.chain(owed).map(|account| account.to_string()).collect();
        json_schema!({
            "type": "string",
            "description": "An account of the chart of accounts. `tax_payable:` is followed by the code of the authority.",
            "enum": codes,
        })
    }
}

/// The two sides of an entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(rename = "EntryDirection")]
pub(crate) enum Direction {
    Debit,
    Credit,
}

/// One side of a journal entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub(crate) struct EntryLine {
    /// The code of the account, such as `rent`.
    pub(crate) account: Account,
    /// The side of the line: debit or credit.
    pub(crate) direction: Direction,
    /// Amount in minor units, from 1.
    pub(crate) amount: i64,
    /// Currency of the amount.
    pub(crate) currency: Currency,
}

impl Direction {
    /// The opposite side.
    pub(crate) const fn opposite(self) -> Self {
        match self {
            Self::Debit => Self::Credit,
            Self::Credit => Self::Debit,
        }
    }
}

impl EntryLine {
    /// Its effect on the account's debits minus credits.
    pub(crate) const fn signed(&self) -> i64 {
        match self.direction {
            Direction::Debit => self.amount,
            Direction::Credit => -self.amount,
        }
    }
}

states! {
    /// Whether an entry is reversed. Entries are never edited, only reversed.
    EntryStatus { Posted "posted", Reversed "reversed" }
    "reverse": Posted => Reversed;
}

/// A balanced set of lines: debits equal credits in every currency.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub(crate) struct JournalEntry {
    /// The entry's id.
    pub(crate) id: Id<JournalEntry>,
    /// Always `journal_entry`.
    pub(crate) object: Object<JournalEntry>,
    /// The company whose books contain the entry.
    pub(crate) company_id: Id<Company>,
    /// Whether the entry is posted or reversed.
    pub(crate) status: EntryStatus,
    /// The accounting date, used in reports.
    pub(crate) effective_on: Date,
    /// When it was posted, in virtual time.
    pub(crate) posted_at: Timestamp,
    /// What the entry is for, in a few words.
    pub(crate) memo: Cow<'static, str>,
    /// The resource that caused the entry.
    pub(crate) source: AnyId,
    /// The lines, at least two.
    pub(crate) lines: Vec<EntryLine>,
    /// The entry that this one reverses, if any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) reverses: Option<Id<JournalEntry>>,
    /// The entry that reverses this one, if any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) reversed_by: Option<Id<JournalEntry>>,
    /// When it was created, in virtual time: equal to `posted_at`.
    pub(crate) created_at: Timestamp,
    /// When it last changed, in virtual time.
    pub(crate) updated_at: Timestamp,
    /// Key-value pairs set by the caller.
    pub(crate) metadata: Metadata,
}

impl JournalEntry {
    /// Whether a caller posted it, or the entry that it reverses.
    pub(crate) fn is_manual(&self) -> bool {
        self.source.kind == Kind::JournalEntry
    }

    /// Whether it moves the result of a year to retained earnings, or reverses that.
    pub(crate) fn closes_year(&self) -> bool {
        self.source.kind == Kind::AccountingPeriod
    }

    /// Currencies in which it changes available wallet money, in the order of its lines.
    pub(crate) fn moves_available(&self) -> impl Iterator<Item = Currency> {
        let of_cash = |line: &&EntryLine| line.account == Account::CashAvailable;
        let places = self.lines.iter().enumerate();
        let places = places.filter(move |(_, line)| of_cash(line));
        let first = places.filter(move |(place, line)| {
            let mut before = self.lines[..*place].iter().filter(of_cash);
            !before.any(|other| other.currency == line.currency)
        });
        first.map(|(_, line)| line.currency)
    }
}

/// A change of a wallet's available balance: one line of its statement.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub(crate) struct WalletTransaction {
    /// The transaction's id.
    pub(crate) id: Id<WalletTransaction>,
    /// Always `wallet_transaction`.
    pub(crate) object: Object<WalletTransaction>,
    /// The company that owns the wallet.
    pub(crate) company_id: Id<Company>,
    /// The wallet whose balance changed.
    pub(crate) wallet_id: Id<Wallet>,
    /// The direction: in or out.
    #[serde(rename = "type")]
    pub(crate) kind: TransactionType,
    /// Always `posted`.
    pub(crate) status: EntryStatus,
    /// Amount in minor units, from 1.
    pub(crate) amount: i64,
    /// Currency of the amount.
    pub(crate) currency: Currency,
    /// The available balance after the transaction, in minor units.
    pub(crate) balance_after: i64,
    /// What the transaction is for, in a few words.
    pub(crate) description: Cow<'static, str>,
    /// The resource that caused the transaction.
    pub(crate) source: AnyId,
    /// The journal entry that contains the transaction.
    pub(crate) journal_entry_id: Id<JournalEntry>,
    /// The effective day of the transaction.
    pub(crate) effective_on: Date,
    /// When it happened, in virtual time.
    pub(crate) created_at: Timestamp,
    /// Equal to `created_at`: transactions never change.
    pub(crate) updated_at: Timestamp,
    /// Always empty.
    pub(crate) metadata: Metadata,
}

/// The direction: in or out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum TransactionType {
    Credit,
    Debit,
}

impl WalletTransaction {
    /// The wallet transaction for an entry that changes the available balance.
    pub(crate) fn of(
        entry: &JournalEntry,
        wallet: &Wallet,
        id: Id<WalletTransaction>,
        balance_before: i128,
    ) -> Self {
        let moved: i64 = entry
            .lines
            .iter()
            .filter(|line| line.account == Account::CashAvailable)
            .filter(|line| line.currency == wallet.currency)
            .map(EntryLine::signed)
            .sum();
        Self {
            id,
            object: Object::NAME,
            company_id: entry.company_id,
            wallet_id: wallet.id,
            kind: if moved > 0 { TransactionType::Credit } else { TransactionType::Debit },
            status: EntryStatus::Posted,
            amount: moved.abs(),
            currency: wallet.currency,
            balance_after: i64::try_from(balance_before + i128::from(moved))
                .expect("a balance stays within 64 bits"),
            description: entry.memo.clone(),
            source: entry.source,
            journal_entry_id: entry.id,
            effective_on: entry.effective_on,
            created_at: entry.posted_at,
            updated_at: entry.posted_at,
            metadata: Metadata::default(),
        }
    }
}
