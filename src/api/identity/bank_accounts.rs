//! Bank account checks: whether an account exists, and who holds it. The bank answers at once.

use crate::api::business::companies::Country;
use crate::api::prelude::*;
use crate::model::decision::ACCOUNT_RESOLVE;
use crate::model::growth::{countries, names};
use crate::model::identity::BankAccountVerification;
use crate::model::identity::bank_account_verification::AccountResult;
use crate::model::name_match::compare_holders;
use crate::model::payments::{MatchResult, Recipient, account_rules};

/// The default country of an account.
const COUNTRY: &str = "NG";
/// Maximum number of random names drawn until one differs.
const ATTEMPTS: u64 = 16;

pub(crate) const OPERATIONS: &[Operation] = &Domain::Identity.table([
Operation {
    path: "/api/identity/bank-account-verifications",
    summary: "Check a bank account",
    description: "Checks an account. The number must be valid in its country; then the bank \
        returns the holder at once, and the names are compared. The reserved numbers `9999999902` \
        to `9999999904` belong to no account.",
    example: r#"{"bank_code":"011","account_number":"0000014579","expected_name":"Ada Okafor","country":"NG"}"#,
    emits: &["bank_account_verification.completed"],
    ..operation!(write verify_bank_account)
}]);

/// The account and the expected holder.
#[derive(Deserialize, JsonSchema)]
pub(crate) struct VerifyBankAccount {
    /// The bank's code in its country, such as sort code, routing number or bank code.
    bank_code: Text<34>,
    /// The account number in its country's format, or the IBAN without spaces.
    account_number: Text<34>,
    /// The expected holder's name.
    expected_name: Text<200>,
    /// The bank's country, ISO 3166-1 alpha-2. Default: `NG`.
    country: Option<Country>,
    /// Key-value pairs set by the caller.
    metadata: Option<Metadata>,
}

fn verify_bank_account(
    world: &mut World,
    input: VerifyBankAccount,
) -> Result<Single<BankAccountVerification>> {
    let country = input.country.map_or_else(|| COUNTRY.to_owned(), |it| it.0);
    let (code, number) = (input.bank_code.as_str(), input.account_number.as_str());
    account_rules::check(&country, Some(code), number).map_err(|fault| {
        let at = format!("/{}", fault.member);
        ApiError::of_member(at, fault.code, fault.detail)
    })?;
    let now = world.now();
    let id: Id<BankAccountVerification> = world.next_id(0);
    let expected = input.expected_name.as_str();
    let mut check = BankAccountVerification {
        id,
        object: Object::NAME,
        company_id: None,
        status: AccountResult::NotFound,
        result: AccountResult::NotFound,
        bank_name: account_rules::bank_name(&country, code).map(str::to_owned),
        account_last4: Recipient::new(expected, code, number).account_last4,
        bank_code: code.to_owned(),
        expected_name: expected.to_owned(),
        account_name: None,
        match_score: None,
        created_at: now,
        updated_at: now,
        metadata: input.metadata.unwrap_or_default(),
        country,
    };
    // The check is stored first, because outcome rules can match its members.
    world.stage(check.clone());
    let answer = world.decide(&ACCOUNT_RESOLVE, AnyId::of(id), magic(number));
    if let Some(holder) = holder(world, &check, answer) {
        let (result, score) = compare_holders(expected, &holder);
        check.result = match result {
            MatchResult::Match => AccountResult::Match,
            MatchResult::PartialMatch => AccountResult::PartialMatch,
            MatchResult::NoMatch => AccountResult::NoMatch,
        };
        check.status = check.result;
        check.account_name = Some(holder);
        check.match_score = Some(score);
    }
    let check = world.record("bank_account_verification.completed", check);
    Ok(Data(Shown(check)))
}

/// The reserved numbers of closed, unknown or invalid accounts.
fn magic(number: &str) -> Option<(DecisionAnswer, String)> {
    matches!(number, "9999999902" | "9999999903" | "9999999904").then(|| {
        let answer = DecisionAnswer::plain(&ACCOUNT_RESOLVE, "not_found");
        (answer, format!("account {number}"))
    })
}

/// The account holder's name at the bank, in capitals. None if the bank does not know it.
fn holder(
    world: &World,
    check: &BankAccountVerification,
    answer: DecisionAnswer,
) -> Option<String> {
    let expected = check.expected_name.as_str();
    let name = match answer.choice {
        "not_found" => return None,
        "no_match" => other_holder_name(world, check),
        "partial_match" => {
            let last = expected.split_whitespace().next_back();
            let last = last.unwrap_or(expected);
            if last == expected { format!("Ada {last}") } else { last.to_owned() }
        }
        _ => expected.to_owned(),
    };
    Some(name.to_uppercase())
}

/// The name of another person in the account's country.
fn other_holder_name(world: &World, check: &BankAccountVerification) -> String {
    let country = countries::find_or_first(&check.country);
    let key = world.base().key().with("account holder");
    let key = key.at(check.id.bits());
    let alike = |name: &str| compare_holders(&check.expected_name, name).0 != MatchResult::NoMatch;
    let mut drawn = (0..ATTEMPTS).map(|attempt| {
        let person = names::person(country, key.at(attempt));
        format!("{} {}", person.first, person.last)
    });
    drawn.find(|name| !alike(name)).unwrap_or_else(|| "Somebody Else".to_owned())
}
