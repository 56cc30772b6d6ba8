//! The matcher against statements with known results, and single cases.

use super::*;
use crate::model::calendar::Calendar;
use crate::model::ledger::TransactionType::{Credit, Debit};
use crate::model::ledger::WalletTransaction;
use crate::model::payments::reconciliation_match::{CERTAIN, ExceptionKind};
use crate::model::payments::statement_noise::{Bank, Draft, Level, Sent};
use crate::value::id::Id;
use crate::value::money::Currency;
use crate::value::stream::Key;
use crate::value::time::Date;

fn day(text: &str) -> Date {
    text.parse().expect("a day")
}

fn line(number: u32, draft: Draft) -> StatementLine {
    StatementLine {
        id: Id::from_bits(u64::from(number)),
        number,
        date: draft.date,
        amount: draft.amount,
        direction: draft.direction,
        description: draft.description,
        reference: draft.reference,
    }
}

/// A line with that amount and day, description and reference.
fn says(number: u32, date: &str, amount: i64, description: &str, reference: &str) -> StatementLine {
    let some = |text: &str| (!text.is_empty()).then(|| text.to_owned());
    let draft = Draft {
        date: day(date),
        amount: amount.abs(),
        direction: if amount < 0 { Debit } else { Credit },
        description: some(description),
        reference: some(reference),
    };
    line(number, draft)
}

fn booked<'a>(date: &str, amount: i64, description: &'a str, reference: &str) -> Booked<'a> {
    Booked {
        date: day(date),
        amount: amount.abs(),
        direction: if amount < 0 { Debit } else { Credit },
        description,
        references: vec![reference.to_owned()],
        taken: false,
    }
}

fn found(lines: &[StatementLine], booked: &[Booked<'_>]) -> Vec<Finding> {
    reconcile(&lines.iter().collect::<Vec<_>>(), booked)
}

/// The transactions of a line and the confidence; none for an exception.
fn fit(finding: &Finding) -> (Vec<usize>, u8) {
    match finding {
        Finding::Fits { transactions, confidence, .. } => (transactions.clone(), *confidence),
        Finding::Exception { .. } => (Vec::new(), 0),
    }
}

fn exception(finding: &Finding) -> Option<ExceptionKind> {
    match finding {
        Finding::Exception { kind, .. } => Some(*kind),
        Finding::Fits { .. } => None,
    }
}

const SALE: &str = "Collection settled";

#[test]
fn a_reference_or_the_same_words_make_a_match_certain() {
    let books = [booked("2026-01-05", 5_000, SALE, "col_0123456789abc")];
    for (date, description, reference, certain) in [
        ("2026-01-05", "", "col_0123456789abc", true),
        ("2026-01-07", "", "COL 0123456789ABC", true),
        ("2026-01-07", "REMITTANCE COL_0123456789ABC", "", true),
        ("2026-01-07", "", "col_01234", true),
        ("2026-01-07", "", "col_0123X567Y9abc", true),
        ("2026-01-05", "COLLECTION SETTL", "", true),
        ("2026-01-05", "", "", false),
        ("2026-01-08", "COLLECTION SETTL", "", false),
        ("2026-01-05", "COLLECTION SETTL", "INVOICE 42-2026", false),
    ] {
        let findings = found(&[says(1, date, 5_000, description, reference)], &books);
        let (transactions, confidence) = fit(&findings[0]);
        assert_eq!(transactions, [0], "{date} {description} {reference}");
        assert_eq!(
            confidence >= CERTAIN,
            certain,
            "{date} {description} {reference}: {confidence}"
        );
    }
}

#[test]
fn equal_amounts_without_a_reference_are_suggested_in_their_order() {
    let books: Vec<Booked<'_>> =
        (0..40).map(|_| booked("2026-01-05", -700, "Vendor payout sent", "")).collect();
    let lines: Vec<StatementLine> =
        (1..=40).map(|number| says(number, "2026-01-06", -700, "TRANSFER", "")).collect();
    let findings = found(&lines, &books);
    let mut all: Vec<usize> = Vec::new();
    for finding in &findings {
        let (transactions, confidence) = fit(finding);
        assert!((60..CERTAIN).contains(&confidence), "{finding:?}");
        all.extend(transactions);
    }
    all.sort_unstable();
    assert_eq!(all, (0..40).collect::<Vec<_>>());
}

#[test]
fn the_better_line_gets_the_transaction() {
    let books = [
        booked("2026-01-05", 5_000, SALE, "col_aaaaaaaaaaaa1"),
        booked("2026-01-06", 5_000, SALE, "col_bbbbbbbbbbbb2"),
    ];
    let lines = [
        says(1, "2026-01-06", 5_000, "", "col_aaaaaaaaaaaa1"),
        says(2, "2026-01-06", 5_000, "", "col_bbbbbbbbbbbb2"),
    ];
    let findings = found(&lines, &books);
    assert_eq!((fit(&findings[0]).0, fit(&findings[1]).0), (vec![0], vec![1]));
}

#[test]
fn neighbours_that_the_bank_merged_are_found_together() {
    let books = [
        booked("2026-01-05", 1_100, SALE, "col_aaaaaaaaaaaa1"),
        booked("2026-01-05", -9_000, "Rent", "pyo_rrrrrrrrrrrr1"),
        booked("2026-01-05", 2_210, SALE, "col_bbbbbbbbbbbb2"),
        booked("2026-01-06", 3_330, SALE, "col_cccccccccccc3"),
        booked("2026-01-06", 4_440, SALE, "col_dddddddddddd4"),
    ];
    let lines = [
        says(1, "2026-01-06", 6_640, "COLLECTION SETTLED 3 ITEMS", ""),
        says(2, "2026-01-06", 4_440, "", "col_dddddddddddd4"),
    ];
    let findings = found(&lines, &books);
    let (transactions, confidence) = fit(&findings[0]);
    assert_eq!(transactions, [0, 2, 3]);
    assert!(confidence >= CERTAIN, "{findings:?}");
    let unsaid = found(&[says(1, "2026-01-06", 6_640, "", "")], &books);
    let (transactions, confidence) = fit(&unsaid[0]);
    assert_eq!(transactions, [0, 2, 3]);
    assert!((60..CERTAIN).contains(&confidence), "{unsaid:?}");
}

#[test]
fn unmatched_lines_are_explained() {
    let mut books = vec![
        booked("2026-01-05", 5_000, SALE, "col_aaaaaaaaaaaa1"),
        booked("2026-01-06", 7_000, SALE, "col_bbbbbbbbbbbb2"),
        booked("2026-01-06", 8_000, SALE, "col_cccccccccccc3"),
    ];
    books[2].taken = true;
    let lines = [
        says(1, "2026-01-05", 5_000, "COLLECTION", "col_aaaaaaaaaaaa1"),
        says(2, "2026-01-05", 5_000, "COLLECTION", "col_aaaaaaaaaaaa1"),
        says(3, "2026-01-05", -50, "Account maintenance fee", ""),
        says(4, "2026-01-06", 6_900, "", "col_bbbbbbbbbbbb2"),
        says(5, "2026-01-07", 8_000, "", "col_cccccccccccc3"),
        says(6, "2026-01-07", 123, "UNKNOWN", ""),
        says(7, "2026-01-07", 50, "Fee paid back", ""),
        says(8, "2026-01-20", 7_000, "", ""),
    ];
    let findings = found(&lines, &books);
    let kinds: Vec<Option<ExceptionKind>> = findings.iter().map(exception).collect();
    assert_eq!(
        kinds,
        [
            None,
            Some(ExceptionKind::DuplicateLine),
            Some(ExceptionKind::BankFee),
            Some(ExceptionKind::AmountDiffers),
            Some(ExceptionKind::DuplicateLine),
            Some(ExceptionKind::NotInBooks),
            Some(ExceptionKind::NotInBooks),
            Some(ExceptionKind::NotInBooks),
        ]
    );
    let about = |place: usize| match &findings[place] {
        Finding::Exception { transactions, .. } => transactions.clone(),
        Finding::Fits { .. } => panic!("it is no exception"),
    };
    assert_eq!((about(1), about(3), about(4)), (vec![0], vec![1], vec![2]));
}

/// A month of a busy wallet: repeated amounts, shared sources, days with many and with few transactions.
fn month(seed: u64, count: u64) -> Vec<Sent<'static>> {
    const WORDS: [&str; 4] =
        [SALE, "Vendor payout sent", "Payroll funded", "Bank transfer received"];
    let key = Key::new(seed).with("month");
    let mut sent: Vec<Sent<'static>> = (0..count)
        .map(|number| {
            let key = key.at(number);
            let kind = usize::try_from(key.with("kind").below(4)).expect("small");
            let round = key.with("round").below(4) == 0;
            let amount = if round {
                5_000 * (1 + key.with("amount").below(12))
            } else {
                1 + key.with("amount").below(2_000_000)
            };
            let days = i32::try_from(key.with("day").below(28)).expect("a month");
            Sent {
                id: Id::from_bits(key.with("id").hash()),
                date: day("2026-01-05").plus_days(days),
                amount: i64::try_from(amount).expect("small"),
                direction: if kind % 2 == 0 { Credit } else { Debit },
                description: WORDS[kind],
                reference: format!(
                    "{:?}",
                    Id::<WalletTransaction>::from_bits(key.with("source").hash())
                ),
            }
        })
        .collect();
    sent.sort_by_key(|one| one.date);
    sent
}

struct Played {
    sent: Vec<Sent<'static>>,
    lines: Vec<StatementLine>,
    truths: Vec<Vec<usize>>,
}

fn played(seed: u64, count: u64, level: Level) -> Played {
    let sent = month(seed, count);
    let bank = Bank {
        key: Key::new(seed).with("bank"),
        level,
        calendar: Calendar::of("NG"),
        currency: Currency::new("NGN").expect("a currency"),
        from: day("2026-01-05"),
        to: day("2026-02-01"),
    };
    let (drafts, truths) = bank.write(&sent);
    let place = |id: &Id<WalletTransaction>| {
        sent.iter().position(|one| one.id == *id).expect("it is there")
    };
    let truths = truths.lines.iter().map(|truth| truth.transactions.iter().map(place).collect());
    let truths = truths.collect();
    Played {
        lines: (1..).zip(drafts).map(|(number, draft)| line(number, draft)).collect(),
        truths,
        sent,
    }
}

fn books_of<'a>(sent: &'a [Sent<'static>]) -> Vec<Booked<'a>> {
    let booked = sent.iter().map(|one| Booked {
        date: one.date,
        amount: one.amount,
        direction: one.direction,
        description: one.description,
        references: vec![one.reference.clone()],
        taken: false,
    });
    booked.collect()
}

/// Counts: lines with transactions; matched; matched correctly; with a suggestion; with a correct one.
fn score(level: Level) -> [u64; 5] {
    let mut score = [0; 5];
    for seed in 1..=20 {
        let played = played(seed, 400, level);
        let findings = found(&played.lines, &books_of(&played.sent));
        for (finding, truth) in findings.iter().zip(&played.truths) {
            score[0] += u64::from(!truth.is_empty());
            let (mut transactions, confidence) = fit(finding);
            if transactions.is_empty() {
                continue;
            }
            transactions.sort_unstable();
            let mut truth = truth.clone();
            truth.sort_unstable();
            let place = if confidence >= CERTAIN { 1 } else { 3 };
            score[place] += 1;
            score[place + 1] += u64::from(transactions == truth);
        }
    }
    score
}

/// A share in hundredths of a percent.
fn share(part: u64, whole: u64) -> u64 {
    part * 10_000 / whole.max(1)
}

#[test]
fn the_matcher_finds_nearly_everything_and_is_hardly_ever_wrong() {
    for (level, least_precision, least_recall) in
        [(Level::Clean, 10_000, 10_000), (Level::Usual, 9_950, 9_000), (Level::Heavy, 9_900, 7_500)]
    {
        let [lines, matched, right, suggested, suggested_right] = score(level);
        let (precision, recall) = (share(right, matched), share(right, lines));
        println!(
            "{level:?}: precision {precision}, recall {recall} of 10,000 over {lines} lines; with suggestions recall {}; {suggested_right} of \
             {suggested} suggestions right",
            share(right + suggested_right, lines)
        );
        assert!(precision >= least_precision, "{level:?}: precision {precision}");
        assert!(recall >= least_recall, "{level:?}: recall {recall}");
    }
}

/// Long statements are processed with any contents: all equal, all different, nothing that matches.
#[test]
fn long_statements_are_reconciled_in_time() {
    let count = 3_000;
    for (same_amount, same_day, in_books) in
        [(true, true, true), (true, false, true), (false, true, true), (true, true, false)]
    {
        let of = |number: u64| {
            let amount = if same_amount { 500 } else { 500 + number };
            let days = if same_day { 0 } else { number % 28 };
            let date = day("2026-01-05").plus_days(i32::try_from(days).expect("a month"));
            (date, i64::try_from(amount).expect("small"))
        };
        let books: Vec<Booked<'_>> = (0..count)
            .map(|number| {
                let (date, amount) = of(number);
                Booked {
                    date,
                    amount: amount + i64::from(!in_books),
                    direction: Credit,
                    description: SALE,
                    references: vec!["the same for all".to_owned()],
                    taken: false,
                }
            })
            .collect();
        let lines: Vec<StatementLine> = (0..count)
            .map(|number| {
                let (date, amount) = of(number);
                let draft = Draft {
                    date,
                    amount,
                    direction: Credit,
                    description: Some(SALE.to_owned()),
                    reference: Some("the same for all".to_owned()),
                };
                line(u32::try_from(number + 1).expect("few"), draft)
            })
            .collect();
        let findings = found(&lines, &books);
        let fits = findings.iter().filter(|finding| exception(finding).is_none()).count();
        assert_eq!(fits, if in_books { lines.len() } else { 0 });
    }
}
