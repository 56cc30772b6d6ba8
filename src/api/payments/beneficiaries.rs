//! Beneficiaries: saved payees, and the bank's check of their accounts, which takes half a minute.

use crate::api::business::companies::Country;
use crate::api::business::payroll_clock::get;
use crate::api::prelude::*;
use crate::model::business::BankAnswer;
use crate::model::decision::BENEFICIARY_CHECK;
use crate::model::growth::{countries, names};
use crate::model::name_match::compare_holders;
use crate::model::payments::beneficiary::{
    AccountCheck, BeneficiaryAccount, BeneficiaryType, NameMatch, Rejection,
};
use crate::model::payments::{
    Beneficiary, BeneficiaryStatus, MatchResult, Recipient, Scope, account_rules,
};

/// From the request to the bank's answer, unless the decision sets another delay.
const RESOLUTION: Span = Span::seconds(30);

pub(crate) const OPERATIONS: &[Operation] = &Domain::Payments.table([
    Operation {
        path: "/api/payments/beneficiaries",
        summary: "List beneficiaries",
        description: "Lists saved payees in creation order. Payees before the world's start are \
            not saved.",
        ..operation!(read list_beneficiaries)
    },
    Operation {
        path: "/api/payments/beneficiaries",
        summary: "Add a beneficiary",
        description: "Creates a beneficiary. The account number must be valid by the rules of its \
            country, such as the check digits of an IBAN. The bank then checks the name of the \
            holder, and answers after 30 seconds. The beneficiary is `verified` if the names match \
            at least partly, otherwise `rejected`. With `verification` `micro_deposits` the bank \
            checks nothing: `sendMicroDeposits` sends two small amounts, and \
            `confirmMicroDeposits` confirms them. The reserved numbers `9999999900` to \
            `9999999999` are accepted in every country, and choose the result of a payout.",
        example: r#"{"company_id":"@company:1","name":"Adaeze Supplies Ltd","type":"business","account":{"bank_code":"011","account_number":"0000014579","country":"NG","currency":"NGN"}}"#,
        success: 201,
        emits: &["beneficiary.created"],
        starts: &[TaskKind::ResolveBeneficiary],
        ..operation!(write create_beneficiary)
    },
    Operation {
        path: "/api/payments/beneficiaries/{beneficiary_id}",
        summary: "Read a beneficiary",
        description: "Returns a beneficiary with the status of the account check and the name \
            comparison.",
        ..operation!(get get_beneficiary: Beneficiary)
    },
]);

list! {
    fn list_beneficiaries(ListBeneficiaries) -> Beneficiary, of company_id;
    filter
        company_id: Id<Company>,
        status: BeneficiaryStatus,
        /// Filter by the account's currency.
        currency: Currency = account.currency;
    sort created_at, name;
}

/// A new beneficiary.
#[derive(Deserialize, JsonSchema)]
pub(crate) struct CreateBeneficiary {
    /// The company that pays.
    company_id: Id<Company>,
    /// The beneficiary's name, which is compared with the account holder's.
    name: Text<200>,
    /// A person or a business.
    #[serde(rename = "type")]
    kind: BeneficiaryType,
    /// The account that receives the beneficiary's money.
    account: AccountInput,
    /// How the account is verified. Default: `bank_check`.
    verification: Option<AccountCheck>,
    /// Key-value pairs set by the caller.
    metadata: Option<Metadata>,
}

/// A bank account.
#[derive(Deserialize, JsonSchema)]
#[schemars(rename = "BeneficiaryAccountInput")]
pub(crate) struct AccountInput {
    /// The bank's code in its country: sort code, routing number, bank code. Optional if the account number is an IBAN.
    bank_code: Option<Text<34>>,
    /// The account number in its country's format, or the IBAN without spaces.
    account_number: Text<34>,
    /// The holder's name that the bank finds for the account. Default: the beneficiary's. A different name is a mismatch.
    account_name: Option<Text<200>>,
    /// The bank's country, ISO 3166-1 alpha-2.
    country: Country,
    /// The currency of the account and of payouts to it.
    currency: Currency,
}

fn create_beneficiary(world: &mut World, input: CreateBeneficiary) -> Result<Single<Beneficiary>> {
    let company = existing(world, input.company_id, "/company_id")?;
    let account = account(input.account)?;
    let (name, now) = (input.name.into_string(), world.now());
    let recipient = Recipient::new(&name, account.bank_code.as_deref(), &account.number);
    let beneficiary = Beneficiary {
        id: world.next_id(company.id.bits()),
        company_id: company.id,
        status: BeneficiaryStatus::Pending,
        name,
        kind: input.kind,
        account,
        recipient: Arc::new(recipient),
        name_match: None,
        verification: input.verification.unwrap_or_default(),
        micro_deposits: None,
        failure: None,
        created_at: now,
        updated_at: now,
        metadata: input.metadata.unwrap_or_default(),
        status_history: [StatusChange::plain(BeneficiaryStatus::Pending, now)].into(),
    };
    if beneficiary.verification == AccountCheck::MicroDeposits {
        return Ok(Data(Shown(world.record("beneficiary.created", beneficiary))));
    }
    let answer = ask_bank(world, &beneficiary);
    let beneficiary = world.record("beneficiary.created", beneficiary);
    let task = Task::ResolveBeneficiary(beneficiary.id, BankAnswer::of(answer.choice));
    world.settle_when(RESOLUTION, answer.after, task);
    Ok(Data(Shown(beneficiary)))
}

fn account(input: AccountInput) -> Result<BeneficiaryAccount> {
    let bank_code = input.bank_code.as_ref().map(Text::as_str);
    let number = input.account_number.as_str();
    account_rules::check(&input.country.0, bank_code, number).map_err(|fault| {
        let at = format!("/account/{}", fault.member);
        ApiError::of_member(at, fault.code, fault.detail)
    })?;
    Scope::Payouts.check_account(number).map_err(|detail| {
        ApiError::of_member("/account/account_number", "code_of_another_rail", detail)
    })?;
    let bank_name = bank_code.and_then(|code| account_rules::bank_name(&input.country.0, code));
    Ok(BeneficiaryAccount {
        bank_name: bank_name.map(str::to_owned),
        bank_code: input.bank_code.map(Text::into_string),
        number: input.account_number.into_string(),
        holder: input.account_name.map(Text::into_string),
        country: input.country.0,
        currency: input.currency,
    })
}

/// The bank's answer. Without a decision, a holder name that differs from the beneficiary's is a mismatch.
fn ask_bank(world: &mut World, beneficiary: &Beneficiary) -> DecisionAnswer {
    let holder = beneficiary.account.holder.as_deref();
    let stranger = holder
        .filter(|holder| compare_holders(&beneficiary.name, holder).0 == MatchResult::NoMatch);
    let by_name = stranger.map(|_| {
        let answer = DecisionAnswer::plain(&BENEFICIARY_CHECK, "name_mismatch");
        (answer, "account_name".to_owned())
    });
    world.decide(&BENEFICIARY_CHECK, AnyId::of(beneficiary.id), by_name)
}

/// The bank has answered: the beneficiary is verified or rejected.
pub(crate) fn resolve(world: &mut World, id: Id<Beneficiary>, answer: BankAnswer) {
    let beneficiary = get(world, id);
    if beneficiary.status != BeneficiaryStatus::Pending {
        return; // another step has already done this
    }
    let holder = holder(world, &beneficiary, answer);
    let mut beneficiary = (*beneficiary).clone();
    beneficiary.name_match = holder.map(|holder| {
        let (result, score) = compare_holders(&beneficiary.name, &holder);
        NameMatch { result, score, account_name: holder }
    });
    let refused = answer.result().err().map(|(code, _)| code);
    beneficiary.failure = refused
        .map(|code| Rejection { code: Cow::Borrowed(code), detail: Cow::Borrowed(reason(code)) });
    let (status, name) = match refused {
        None => (BeneficiaryStatus::Verified, "beneficiary.verified"),
        Some(_) => (BeneficiaryStatus::Rejected, "beneficiary.rejected"),
    };
    beneficiary.enter_because(status, world.now(), refused.map(str::to_owned));
    world.record(name, beneficiary);
}

pub(super) fn reason(code: &str) -> &'static str {
    match code {
        "name_mismatch" => "the account is open but its holder has another name",
        "account_closed" => "the account is closed",
        "amounts_not_confirmed" => "wrong amounts were given too often",
        "confirmation_expired" => "the amounts that were sent were not confirmed in time",
        _ => "the bank does not know this account",
    }
}

/// Maximum number of random names drawn until one differs.
const ATTEMPTS: u64 = 16;

/// The account holder's name at the bank, in capitals. None if the bank does not know it.
fn holder(world: &World, beneficiary: &Beneficiary, answer: BankAnswer) -> Option<String> {
    let alike = |name: &str| compare_holders(&beneficiary.name, name).0 != MatchResult::NoMatch;
    let named = beneficiary.account.holder.as_deref();
    let name = match answer {
        BankAnswer::AccountClosed | BankAnswer::AccountNotFound => return None,
        BankAnswer::Match => named.filter(|name| alike(name)).unwrap_or(&beneficiary.name),
        BankAnswer::NameMismatch => match named.filter(|name| !alike(name)) {
            Some(name) => name,
            None => return Some(other_holder_name(world, beneficiary, alike).to_uppercase()),
        },
    };
    Some(name.to_uppercase())
}

/// The name of another person in the account's country.
fn other_holder_name(
    world: &World,
    beneficiary: &Beneficiary,
    alike: impl Fn(&str) -> bool,
) -> String {
    let country = countries::find_or_first(&beneficiary.account.country);
    let key = world.base().key().with("account holder");
    let key = key.at(beneficiary.id.bits());
    let mut drawn = (0..ATTEMPTS).map(|attempt| {
        let person = names::person(country, key.at(attempt));
        format!("{} {}", person.first, person.last)
    });
    drawn.find(|name| !alike(name)).unwrap_or_else(|| "Somebody Else".to_owned())
}
