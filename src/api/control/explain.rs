//! Explains an amount by its parts, which sum to it.

use serde_json::{Map, Value};

use crate::api::control::explain_books;
use crate::api::prelude::*;
use crate::model::business::Payslip;
use crate::model::ledger::TransactionType;
use crate::model::payroll;
use crate::model::{Account, Entity};
use crate::value::id::parse;

pub(crate) const OPERATIONS: &[Operation] = &Domain::Sandbox.table([Operation {
    path: "/_sandbox/explain/{id}",
    summary: "Explain an amount",
    description: "Returns the parts of an amount; the parts sum to the amount. The parts of a \
        payslip are its lines, each with the rules of the payroll pack, the base and the sources. \
        The parts of a total of the year are payslips. A wallet or a ledger account has entries, \
        an invoice has lines, a run has employees, a loan has repayments, and a score has factors.",
    example: r#"{"id":"@payslip:1","pointer":"/net"}"#,
    errors: &[ErrorCode::ResourceNotFound],
    long: true,
    ..operation!(read explain_amount)
}]);

#[derive(Deserialize, JsonSchema)]
pub(crate) struct ExplainAmount {
    /// The resource: a payslip, a wallet, a ledger account, an invoice, a run, a loan, a score or an assessment.
    id: Text<64>,
    /// JSON pointer to the amount. Default: the first pointer of the kind.
    ///
    /// - payslip: `/net`, `/gross`, `/employer_cost`, `/taxable`, `/ytd/…`, `/taxes/0/amount`
    /// - wallet: `/available`, `/pending`, `/reserved` or `/escrow`
    /// - ledger account: `/balance`
    /// - invoice: `/total`, `/net_total` or `/tax_total`
    /// - payroll run: `/totals/…`
    /// - loan: `/balances/principal_outstanding`
    /// - score or assessment: `/score` or `/pillars/0/score`
    pointer: Option<Text<100>>,
}

/// An amount and its parts.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "ExplainedAmount")]
pub(crate) struct Explained {
    /// The id of the resource.
    id: String,
    /// JSON pointer to the amount in the resource.
    pointer: String,
    /// The amount in minor units of the currency, or in points.
    amount: i64,
    /// The currency; null for points.
    currency: Option<String>,
    /// The parts. Their amounts sum to the amount.
    parts: Vec<Part>,
}

/// A part of an amount.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "AmountPart")]
pub(super) struct Part {
    /// The name of the part, for people.
    label: String,
    /// The amount of the part; negative if it lowers the whole.
    pub(super) amount: i64,
    /// JSON pointer to the part in the resource; null if it is not a member.
    pub(super) pointer: Option<String>,
    /// The resource that caused the part; null if there is none.
    pub(super) resource_id: Option<String>,
    /// Why the part has this amount; null if a rule or a resource says it.
    pub(super) reason: Option<String>,
    /// The line of the payroll pack; null for other parts.
    rule: Option<PackRule>,
}

/// A line of a payroll pack.
#[derive(Serialize, JsonSchema)]
struct PackRule {
    /// The code of the payroll pack, such as `GB`.
    pack: String,
    /// The id of the line in the payroll pack.
    line: String,
    /// The first base that its rules refer to; null if there is none.
    base: Option<String>,
    /// The amount of the base on this pay, in minor units.
    base_amount: Option<i64>,
    /// The rate of the line; null if its rules have bands or amounts.
    rate: Option<String>,
    /// The line and the lines that it refers to, as the pack has them.
    steps: Vec<Map<String, Value>>,
    /// The sources of the pack.
    sources: Vec<Map<String, Value>>,
}

/// The most entries of a statement that are shown; the balance before them is one part.
const MOST_ENTRIES: usize = 100;

fn explain_amount(world: &World, input: ExplainAmount) -> Result<Plain<Explained>> {
    let text = input.id.as_str();
    let missing = || ApiError::not_found("resource").about(text);
    let id = Kind::ALL.iter().find_map(|&kind| {
        let bits = parse(kind.prefix(), text)?;
        Some(AnyId { kind, bits })
    });
    let id = id.ok_or_else(missing)?;
    let wire = match id.kind {
        Kind::LedgerAccount => Value::Null,
        Kind::Wallet => {
            let wallet = world.get(Id::<Wallet>::from_bits(id.bits))?;
            Arc::new(world.with_balances(&wallet)).into_record().to_wire()
        }
        _ => world.any(id).ok_or_else(missing)?.to_wire(),
    };
    let usual = match id.kind {
        Kind::Payslip => "/net",
        Kind::Wallet => "/available",
        Kind::LedgerAccount => "/balance",
        Kind::Invoice => "/total",
        Kind::PayrollRun => "/totals/net",
        Kind::Loan => "/balances/principal_outstanding",
        _ => "/score",
    };
    let pointer = input.pointer.as_ref().map_or(usual, Text::as_str);
    let (wire, parts) = if id.kind == Kind::LedgerAccount {
        let (wire, parts) = explain_books::of_ledger_account(world, text).ok_or_else(missing)?;
        (wire, Some(parts).filter(|_| pointer == usual))
    } else {
        let parts = parts_of(world, id, &wire, pointer)?;
        (wire, parts)
    };
    let amount = wire.pointer(pointer).and_then(Value::as_i64);
    let Some((mut parts, amount)) = parts.zip(amount) else {
        if input.pointer.is_none() {
            return Err(without_amount(text, id.kind));
        }
        let detail = format!(
            "{text} has no amount at {pointer} that can be explained: expected an amount such as \
                /net of a payslip, /available of a wallet, /total of an invoice, /totals/net of a \
                run or /score of a score; the parameter pointer lists all"
        );
        return Err(ApiError::of_member("/pointer", "unexplained", detail));
    };
    let other = amount - parts.iter().map(|part| part.amount).sum::<i64>();
    if other != 0 {
        parts.push(Part::new(OTHER, other));
    }
    let currency = wire["currency"].as_str().map(str::to_owned);
    Ok(Plain(Explained {
        id: id.to_string(),
        pointer: pointer.to_owned(),
        amount,
        currency,
        parts,
    }))
}

/// The refusal for a resource without an explainable amount.
fn without_amount(text: &str, kind: Kind) -> ApiError {
    const WITH_AMOUNTS: &str = "only payslips, wallets, ledger accounts, invoices, payroll runs, \
     loans, completed scores and assessments have such amounts";
    let kind = kind.name().replace('_', " ");
    let detail = format!("{text} ({kind}) has no amount that can be explained: {WITH_AMOUNTS}");
    ApiError::of_member("/id", "unexplained", detail)
}

/// The parts of an amount of a resource other than an account.
fn parts_of(world: &World, id: AnyId, wire: &Value, pointer: &str) -> Result<Option<Vec<Part>>> {
    Ok(match id.kind {
        Kind::Payslip => {
            let payslip = world.get(Id::<Payslip>::from_bits(id.bits))?;
            match pointer {
                "/taxable" => Some(explain_books::of_taxable(&payslip)),
                _ if pointer.starts_with("/ytd/") => {
                    explain_books::of_year(world, &payslip, pointer)
                }
                _ => of_pay(&payslip, wire, pointer),
            }
        }
        Kind::Wallet => {
            let wallet = world.get(Id::<Wallet>::from_bits(id.bits))?;
            let of = |account| {
                Some(explain_books::of_account(world, wallet.company_id, account, wallet.currency))
            };
            match pointer {
                "/available" => Some(of_wallet(world, &wallet)),
                "/pending" => of(Account::CollectionsInTransit),
                "/reserved" => of(Account::CashReserved),
                "/escrow" => of(Account::EscrowHeld),
                _ => None,
            }
        }
        Kind::Invoice => explain_books::of_invoice(&*world.get(Id::from_bits(id.bits))?, pointer),
        Kind::PayrollRun => {
            explain_books::of_run(world, &*world.get(Id::from_bits(id.bits))?, pointer)
        }
        Kind::Loan => explain_books::of_loan(&*world.get(Id::from_bits(id.bits))?, pointer),
        _ => of_score(wire, pointer),
    })
}

/// The label of an unexplained remainder. A test asserts that no amount has such a part.
const OTHER: &str = "other";

impl Part {
    pub(super) fn new(label: impl Into<String>, amount: i64) -> Self {
        Self {
            label: label.into(),
            amount,
            pointer: None,
            resource_id: None,
            reason: None,
            rule: None,
        }
    }
}

/// The lists of lines of a payslip that an amount sums, with their signs.
fn lists(pointer: &str) -> Option<&'static [(&'static str, i64)]> {
    Some(match pointer {
        "/gross" => &[("earnings", 1)],
        "/net" => &[
            ("earnings", 1),
            ("taxes", -1),
            ("contributions", -1),
            ("deductions", -1),
            ("reimbursements", 1),
        ],
        "/employer_cost" => {
            &[("earnings", 1), ("employer_contributions", 1), ("reimbursements", 1)]
        }
        _ => return None,
    })
}

fn of_pay(payslip: &Payslip, wire: &Value, pointer: &str) -> Option<Vec<Part>> {
    let part = |list: &str, place: usize, line: &Value, sign: i64| {
        let amount = line["amount"].as_i64()?;
        let mut part = Part::new(line["label"].as_str().unwrap_or(list), sign * amount);
        part.pointer = Some(format!("/{list}/{place}/amount"));
        part.rule = line["id"].as_str().and_then(|id| rule(payslip, wire, id));
        Some(part)
    };
    if let Some(lists) = lists(pointer) {
        let lines = lists.iter().flat_map(|&(list, sign)| {
            let lines = wire[list].as_array().into_iter().flatten().enumerate();
            lines.map(move |(place, line)| (list, place, line, sign))
        });
        return lines.map(|(list, place, line, sign)| part(list, place, line, sign)).collect();
    }
    let mut names = pointer.strip_prefix('/')?.split('/');
    let (list, place) = (names.next()?, names.next()?.parse().ok()?);
    Some(vec![part(list, place, wire[list].get(place)?, 1)?])
}

/// The rule of a line, from the pack of the country or from that of the region.
fn rule(payslip: &Payslip, wire: &Value, id: &str) -> Option<PackRule> {
    let codes = [&wire["pack"]["code"], &wire["regional_pack"]["code"]];
    codes.into_iter().enumerate().find_map(|(place, code)| {
        let code = code.as_str()?;
        let pack = payroll::library().pack(code)?;
        let rules = payroll::library().rules(code)?;
        let steps = steps(rules, id)?;
        let bases: Vec<&str> = pack.base_names().collect();
        let named = steps.iter().flat_map(names);
        let base = named.into_iter().find(|name| bases.contains(&name.as_str()));
        let amount = |name: &String| match place {
            0 => payslip.calculation.base(name).0,
            _ => payslip.calculation.regional_base(name),
        };
        let rate = steps[0].get("rate").and_then(Value::as_str).map(str::to_owned);
        Some(PackRule {
            pack: code.to_owned(),
            line: id.to_owned(),
            base_amount: base.as_ref().map(amount),
            base,
            rate,
            steps,
            sources: tables(rules, "source").collect(),
        })
    })
}

/// The tables of an array of the pack, as JSON.
fn tables<'a>(rules: &'a toml::Table, name: &str) -> impl Iterator<Item = Map<String, Value>> + 'a {
    let rows = rules.get(name).and_then(toml::Value::as_array);
    rows.into_iter().flatten().filter_map(|row| match serde_json::to_value(row) {
        Ok(Value::Object(members)) => Some(members),
        _ => None,
    })
}

/// The names that a line refers to.
fn names(line: &Map<String, Value>) -> Vec<String> {
    let args = line.get("args").and_then(Value::as_array).into_iter().flatten();
    let args = line.get("of").into_iter().chain(args).filter_map(Value::as_str);
    args.map(|name| name.trim_start_matches('-').to_owned()).collect()
}

/// The line and all lines that it refers to, in the order of their first reference. `None` if the pack has no such
/// line.
fn steps(rules: &toml::Table, id: &str) -> Option<Vec<Map<String, Value>>> {
    let lines: Vec<Map<String, Value>> = tables(rules, "line").collect();
    let find = |id: &str| lines.iter().find(|line| line.get("id").is_some_and(|it| it == id));
    let mut steps = vec![find(id)?.clone()];
    let mut place = 0;
    while place < steps.len() {
        for name in names(&steps[place]) {
            let is_new = steps.iter().all(|step| step.get("id").is_none_or(|it| *it != *name));
            steps.extend(find(&name).filter(|_| is_new).cloned());
        }
        place += 1;
    }
    Some(steps)
}

/// The latest entries of the statement, and the balance before them.
fn of_wallet(world: &World, wallet: &Wallet) -> Vec<Part> {
    let statement = world.statement(wallet);
    let first = statement.len().saturating_sub(MOST_ENTRIES);
    let before = first.checked_sub(1).and_then(|place| statement.get(place));
    let before = before.map(|line| Part::new("balance before these entries", line.balance_after));
    let entries = (first..statement.len()).filter_map(|place| statement.get(place));
    let entries = entries.map(|line| {
        let sign = if line.kind == TransactionType::Credit { 1 } else { -1 };
        let mut part = Part::new(line.description.clone(), sign * line.amount);
        part.resource_id = Some(line.source.to_string());
        part.reason = Some(format!("entry {} of {}", line.journal_entry_id, line.effective_on));
        part
    });
    before.into_iter().chain(entries).collect()
}

/// The factors of a score, or of a pillar of an assessment.
fn of_score(wire: &Value, pointer: &str) -> Option<Vec<Part>> {
    let within = pointer.strip_suffix("/score")?;
    let holder = wire.pointer(within)?;
    let lists = ["reasons", "factors", "drivers", "pillars"];
    let (list, rows) = lists.iter().find_map(|list| Some((list, holder[list].as_array()?)))?;
    let part = |(place, row): (usize, &Value)| {
        let member = if row["points"].is_i64() { "points" } else { "score" };
        let name = row["name"].as_str().or(row["factor"].as_str())?;
        let mut part = Part::new(name, row[member].as_i64()?);
        part.pointer = Some(format!("{within}/{list}/{place}/{member}"));
        part.reason = row["reason"].as_str().or(row["detail"].as_str()).map(str::to_owned);
        Some(part)
    };
    rows.iter().enumerate().map(part).collect()
}
