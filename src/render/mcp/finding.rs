//! Finds operations by common words: `pay a supplier`, `file a vat return`.
//!
//! A word counts more if few operations have it, and more in a name or a summary than in a description. Deliberately absent: a list of queries with
//! their answers, which only the test has.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::LazyLock;

use serde_json::{Value, json};

use crate::api;
use crate::api::operation::{Contract, Method, Operation};
use crate::render::mcp::calling::{Calling, Done};
use crate::render::mcp::describing::is_served;

/// The most rows of a page.
const MOST_FOUND: usize = 10;
/// A cursor is this text and the number of rows before its page.
const CURSOR: &str = "found-";

/// Words that do not distinguish operations.
const EMPTY_WORDS: [&str; 21] = [
    "a", "an", "the", "to", "of", "for", "in", "on", "and", "or", "all", "with", "by", "my", "our",
    "is", "are", "be", "it", "its", "us",
];

/// Everyday words, and the words of this API for them.
const EVERYDAY: [(&str, &[&str]); 34] = [
    ("supplier", &["beneficiary", "bill"]),
    ("vendor", &["beneficiary", "bill"]),
    ("customer", &["payer", "collection", "invoice"]),
    ("client", &["payer", "collection", "invoice"]),
    ("dismiss", &["terminate"]),
    ("fire", &["terminate"]),
    ("staff", &["employee"]),
    ("worker", &["employee"]),
    ("someone", &["employee"]),
    ("salary", &["payroll", "compensation"]),
    ("wage", &["payroll"]),
    ("vacation", &["leave"]),
    ("holiday", &["leave"]),
    ("sick", &["leave"]),
    ("exchange", &["fx"]),
    ("convert", &["fx"]),
    ("dollar", &["fx"]),
    ("euro", &["fx"]),
    ("vat", &["tax", "filing"]),
    ("file", &["filing", "submit"]),
    ("owe", &["receivable", "payable"]),
    ("charge", &["collection"]),
    ("bill", &["invoice"]),
    ("money", &["payment"]),
    ("transfer", &["payout"]),
    ("time", &["clock"]),
    ("pass", &["advance"]),
    ("forward", &["advance"]),
    ("fail", &["rule", "fault"]),
    ("over", &["reset"]),
    ("undo", &["reverse"]),
    ("kyc", &["verification"]),
    ("test", &["sandbox"]),
    ("pay", &["payout"]),
];

/// First words of a query that reads.
const READING: [&str; 15] = [
    "list", "get", "read", "show", "find", "see", "view", "who", "what", "which", "how", "why",
    "when", "balance", "search",
];

/// An operation as words.
struct Entry {
    row: &'static Operation,
    /// Words of the name, the summary, the path and the description, each with its weight.
    fields: [(u64, BTreeSet<String>); 4],
}

static ENTRIES: LazyLock<Vec<Entry>> = LazyLock::new(|| {
    let entry = |row: &'static Operation| {
        let domain = format!("{:?} {}", row.domain, row.path);
        let set = |text: &str| words(text).into_iter().collect();
        let fields = [
            (40, set(&row.operation_id())),
            (40, set(row.summary)),
            (20, set(&domain)),
            (15, set(row.description)),
        ];
        Entry { row, fields }
    };
    api::product().chain(api::control()).map(entry).collect()
});

/// The first words of write operations. A query that begins with one is a request for a write.
static ACTIONS: LazyLock<BTreeSet<String>> = LazyLock::new(|| {
    let writes = ENTRIES.iter().map(|entry| entry.row).filter(|row| row.method != Method::Get);
    let first = |text: &str| words(text).into_iter().next();
    let own = writes.flat_map(|row| [first(&row.operation_id()), first(row.summary)]).flatten();
    let mut all: BTreeSet<String> = own.collect();
    let same =
        EVERYDAY.iter().filter(|(_, others)| others.iter().any(|other| all.contains(*other)));
    let same: Vec<String> = same.map(|(word, _)| (*word).to_owned()).collect();
    all.extend(same);
    all.extend(["pay", "charge", "exchange", "convert"].map(str::to_owned));
    all
});

/// The served rows that fit best.
pub(super) fn find(calling: &Calling<'_>, arguments: &Value) -> Done {
    fitting(arguments, is_served(calling))
}

fn fitting(arguments: &Value, is_served: impl Fn(&Operation) -> bool) -> Done {
    let query = words(arguments["query"].as_str().unwrap_or_default());
    let query: Vec<&str> =
        query.iter().map(String::as_str).filter(|word| !EMPTY_WORDS.contains(word)).collect();
    let mut rarity = BTreeMap::new();
    let scored = ENTRIES.iter().map(|entry| (entry.score(&query, &mut rarity), entry.row));
    let mut found: Vec<(u64, &Operation)> =
        scored.filter(|(score, row)| *score > 0 && is_served(row)).collect();
    found.sort_by_key(|(score, row)| (u64::MAX - score, row.path.len()));
    if found.is_empty() {
        return Err(json!({
            "error": "no operation has these words",
            "hint": "use words of the domain (payout, invoice, payslip), or a domain: business, payments, identity, capital, sandbox",
        }));
    }
    let from = match arguments["cursor"].as_str() {
        None => 0,
        Some(cursor) => match cursor.strip_prefix(CURSOR).map(str::parse) {
            Some(Ok(from)) if from < found.len() => from,
            _ => {
                return Err(
                    json!({ "error": "the cursor is unknown: repeat the call without it" }),
                );
            }
        },
    };
    let until = from.saturating_add(MOST_FOUND);
    let shown = found.iter().skip(from).take(MOST_FOUND).map(|(_, row)| {
        json!({
            "operation": row.operation_id(),
            "method": row.method.name(),
            "path": row.path,
            "about": row.summary,
        })
    });
    let shown: Vec<Value> = shown.collect();
    let mut answer = json!({ "found": found.len(), "operations": shown });
    if until < found.len() {
        answer["next"] = format!("{CURSOR}{until}").into();
    }
    Ok(answer)
}

impl Entry {
    /// The score of the operation. Words of everyday language count seven tenths.
    fn score(&self, query: &[&str], rarity: &mut BTreeMap<String, u64>) -> u64 {
        let mut sum = 0;
        for word in query {
            let others = EVERYDAY.iter().filter(|(everyday, _)| everyday == word);
            let others = others.flat_map(|(_, others)| others.iter().map(|other| (*other, 7)));
            let best = core::iter::once((*word, 10)).chain(others).map(|(word, share)| {
                let weight = self.weight(word);
                let rarity = *rarity.entry(word.to_owned()).or_insert_with(|| rarity_of(word));
                weight * rarity * share
            });
            sum += best.max().unwrap_or_default();
        }
        let first = query.first().copied().unwrap_or_default();
        let is_read = self.row.method == Method::Get;
        if ACTIONS.contains(first) && is_read {
            sum = sum * 6 / 10;
        }
        if READING.contains(&first) && !is_read {
            sum = sum * 7 / 10;
        }
        if self.row.contract == Contract::Control { sum * 85 / 100 } else { sum }
    }

    fn weight(&self, word: &str) -> u64 {
        let of_field = |(weight, words): &(u64, BTreeSet<String>)| {
            weight * words.iter().map(|own| likeness(own, word)).max().unwrap_or_default()
        };
        self.fields.iter().map(of_field).max().unwrap_or_default()
    }
}

/// Four times the logarithm to base 2 of how few operations have the word.
fn rarity_of(word: &str) -> u64 {
    let having = ENTRIES.iter().filter(|entry| entry.weight(word) > 0).count() as u64 + 1;
    let ratio = 16 * (having + ENTRIES.len() as u64) / having;
    u64::from(ratio.pow(4).ilog2() - 16)
}

/// The similarity of two words, from 0 to 10: `pay` and `payout`, `verify` and `verification`.
fn likeness(own: &str, word: &str) -> u64 {
    if own == word {
        return 10;
    }
    let common = own.bytes().zip(word.bytes()).take_while(|(own, word)| own == word).count();
    match common {
        3.. if common == own.len() || common == word.len() => 6,
        5.. => 5,
        _ => 0,
    }
}

/// Words in lower case, in the singular.
fn words(text: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut is_after_small = false;
    for letter in text.chars() {
        let starts = letter.is_uppercase() && is_after_small;
        if starts || !letter.is_alphanumeric() {
            words.push(String::new());
        }
        if let Some(word) = words.last_mut().filter(|_| letter.is_alphanumeric()) {
            word.extend(letter.to_lowercase());
        }
        is_after_small = letter.is_lowercase();
    }
    for word in &mut words {
        if word.len() > 4 && word.ends_with("ies") {
            word.truncate(word.len() - 3);
            word.push('y');
        } else if word.len() > 3 && word.ends_with('s') && !word.ends_with("ss") {
            word.pop();
        }
    }
    words.retain(|word| !word.is_empty());
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(query: &str) -> Vec<String> {
        let found = fitting(&json!({ "query": query }), |_| true).expect("an operation");
        let rows = found["operations"].as_array().expect("rows");
        rows.iter().map(|row| row["operation"].as_str().expect("an id").to_owned()).collect()
    }

    #[test]
    fn pages_show_each_operation_once() {
        let (mut cursor, mut ids) = (Value::Null, Vec::new());
        let found = loop {
            let page = fitting(&json!({ "query": "payments", "cursor": cursor }), |_| true);
            let page = page.expect("a page");
            let rows = page["operations"].as_array().expect("rows");
            assert!(rows.len() <= MOST_FOUND);
            ids.extend(rows.iter().map(|row| row["operation"].clone()));
            cursor = page["next"].clone();
            if cursor.is_null() {
                break page["found"].clone();
            }
        };
        assert_eq!(ids.len(), found);
        assert!(ids.len() > 2 * MOST_FOUND);
        ids.sort_by_key(Value::to_string);
        ids.dedup();
        assert_eq!(ids.len(), found);
        for wrong in ["found-", "found-9999", "found--1", "10"] {
            let query = json!({ "query": "payments", "cursor": wrong });
            assert!(fitting(&query, |_| true).is_err(), "{wrong}");
        }
    }

    /// Everyday queries, and an operation that must be among the first three.
    const EXPECTED: [(&str, &str); 44] = [
        ("pay a supplier", "createPayout"),
        ("pay a vendor's bill", "payBill"),
        ("pay a beneficiary", "createPayout"),
        ("createPayout", "createPayout"),
        ("refund a customer", "createRefund"),
        ("charge a customer", "createCollection"),
        ("collect money from a customer", "createCollection"),
        ("bill a customer", "createInvoice"),
        ("send an invoice", "sendInvoice"),
        ("who owes us money", "getAgedReceivables"),
        ("cancel a payment", "cancelPayout"),
        ("run payroll", "runPayroll"),
        ("run the payroll of march", "runPayroll"),
        ("hire an employee", "createEmployee"),
        ("hire someone", "createEmployee"),
        ("dismiss an employee", "terminateEmployee"),
        ("list the employees", "listEmployees"),
        ("payslip as pdf", "getPayslipPdf"),
        ("vacation request", "createLeaveRequest"),
        ("check a bank account", "verifyBankAccount"),
        ("verify the identity of a person", "createVerification"),
        ("sanctions screening", "createAmlScreening"),
        ("file vat return", "submitTaxFiling"),
        ("year end tax form", "getTaxDocument"),
        ("profit and loss", "getProfitAndLoss"),
        ("close the books of a month", "closeAccountingPeriod"),
        ("journal entry", "createJournalEntry"),
        ("import a bank statement", "importBankStatement"),
        ("convert currency", "createFxQuote"),
        ("exchange dollars for euros", "createFxQuote"),
        ("balance of a wallet", "getWallet"),
        ("direct debit", "createMandate"),
        ("apply for a loan", "createApplication"),
        ("repay a loan", "createLoanRepayment"),
        ("credit score", "createCreditScore"),
        ("move the clock forward", "advanceClock"),
        ("advance clock", "advanceClock"),
        ("let time pass", "advanceClock"),
        ("make a payment fail", "addFault"),
        ("lose a reply fault", "addFault"),
        ("register a webhook", "createWebhookEndpoint"),
        ("why was this amount deducted", "explainAmount"),
        ("start over", "resetWorld"),
        ("resetWorld", "resetWorld"),
    ];

    #[test]
    fn everyday_words_find_the_operation_that_they_mean() {
        let is_missed =
            |(query, wanted): &&(&str, &str)| !found(query).iter().take(3).any(|id| id == wanted);
        let missed: Vec<String> = EXPECTED
            .iter()
            .filter(is_missed)
            .map(|(query, wanted)| format!("{query}: {wanted} is not in {:?}", found(query)))
            .collect();
        assert!(missed.is_empty(), "{}", missed.join("\n"));
        assert!(fitting(&json!({ "query": "xyzzy" }), |_| true).is_err());
        assert!(fitting(&json!({ "query": "" }), |_| true).is_err());
    }
}
