use super::*;

const AMOUNT: i64 = 1_200_000;

/// A loan over twelve months at 12 %, paid out on 15 January.
fn loan() -> Loan {
    let at: Timestamp = "2026-01-15T10:00:00Z".parse().expect("an instant");
    let mut loan = Loan {
        id: Id::UNKNOWN,
        object: Object::NAME,
        company_id: Id::UNKNOWN,
        application_id: Id::UNKNOWN,
        offer_id: Id::UNKNOWN,
        wallet_id: Id::UNKNOWN,
        status: LoanStatus::Active,
        product: Product::TermLoan,
        amount: AMOUNT,
        currency: Currency::new("EUR").expect("a currency"),
        rate_bp: 1_200,
        term_months: 12,
        repayment: LoanRepaymentTerms::default(),
        disbursed_at: None,
        schedule: Vec::new(),
        prepaid_principal: 0,
        late_instalments: 0,
        balances: LoanBalances::default(),
        next_due: None,
        created_at: at,
        updated_at: at,
        metadata: Metadata::default(),
        status_history: StatusHistory::default(),
    };
    loan.begin(at);
    loan
}

fn day(text: &str) -> Date {
    text.parse().expect("a day")
}

/// Checks that the principal sums to the amount, and no instalment is overpaid.
fn assert_whole(loan: &Loan) {
    let planned: i64 = loan.schedule.iter().map(|row| row.principal).sum();
    assert_eq!(planned + loan.prepaid_principal, loan.amount);
    let balances = loan.balances;
    assert_eq!(balances.principal_paid + balances.principal_outstanding, loan.amount);
    for row in &loan.schedule {
        assert!((0..=row.amount).contains(&row.paid), "{row:?}");
        assert_eq!(row.amount, row.principal + row.interest);
    }
}

#[test]
fn an_instalment_pays_its_interest_first() {
    let mut loan = loan();
    let first = loan.schedule[0];
    assert_eq!((first.interest, first.amount), (12_000, 106_618));
    let allotted = loan.repay(10_000, day("2026-02-10"));
    assert_eq!((allotted.interest, allotted.principal), (10_000, 0));
    loan.mark(1, InstalmentStatus::Due);
    let allotted = loan.repay(96_618, day("2026-02-15"));
    assert_eq!((allotted.interest, allotted.principal), (2_000, 94_618));
    assert_eq!(loan.schedule[0].status, InstalmentStatus::Paid);
    assert_whole(&loan);
}

#[test]
fn a_due_instalment_is_paid_exactly_and_the_next_one_is_next() {
    let mut loan = loan();
    assert!(loan.mark(1, InstalmentStatus::Due));
    let allotted = loan.repay(106_618, day("2026-02-15"));
    assert_eq!((allotted.interest, allotted.principal), (12_000, 94_618));
    assert_eq!(loan.schedule[0].status, InstalmentStatus::Paid);
    assert_eq!(loan.next_due.map(|next| next.number), Some(2));
    assert!(!loan.mark(1, InstalmentStatus::Late), "it is paid");
    assert_whole(&loan);
}

#[test]
fn an_excess_payment_lowers_every_later_instalment() {
    let mut loan = loan();
    let before = loan.schedule[1].amount;
    let allotted = loan.repay(106_618 + 200_000, day("2026-01-20"));
    assert_eq!((allotted.interest, allotted.principal), (12_000, 294_618));
    assert_eq!(loan.prepaid_principal, 200_000);
    assert_eq!(loan.schedule.len(), 12);
    assert!(loan.schedule[1].amount < before);
    assert_whole(&loan);
    // After the instalment is paid, the rest of a repayment is principal.
    let allotted = loan.repay(50_000, day("2026-01-21"));
    assert_eq!((allotted.interest, allotted.principal), (0, 50_000));
    assert_whole(&loan);
}

#[test]
fn the_whole_balance_is_paid_with_interest_to_the_day_only() {
    let mut loan = loan();
    // 10 of the 31 days from 15 January to 15 February.
    let settlement = loan.settlement(day("2026-01-25"));
    assert_eq!(settlement, AMOUNT + 3_871);
    let allotted = loan.repay(settlement, day("2026-01-25"));
    assert_eq!((allotted.interest, allotted.principal), (3_871, AMOUNT));
    assert_eq!(loan.balances.principal_outstanding, 0);
    assert_eq!(loan.next_due, None);
    assert_whole(&loan);
}

#[test]
fn a_settlement_in_two_payments_costs_as_much_as_one() {
    let today = day("2026-01-25");
    for first in [1, 10_000, 50_000, 106_618, 400_000, AMOUNT] {
        let mut loan = loan();
        let whole = loan.settlement(today);
        let before = loan.repay(first, today);
        let rest = loan.settlement(today);
        assert_eq!(first + rest, whole);
        let after = loan.repay(rest, today);
        assert_eq!(before.interest + after.interest, 3_871);
        assert_eq!(before.principal + after.principal, AMOUNT);
        assert_eq!(loan.balances.principal_outstanding, 0);
        assert_whole(&loan);
    }
}

#[test]
fn a_settlement_on_the_day_of_the_disbursement_has_no_interest() {
    assert_eq!(loan().settlement(day("2026-01-15")), AMOUNT);
}

#[test]
fn a_late_instalment_counts_and_is_paid_before_the_running_one() {
    let mut loan = loan();
    loan.mark(1, InstalmentStatus::Due);
    loan.mark(1, InstalmentStatus::Late);
    assert!(loan.is_behind());
    assert_eq!((loan.late_instalments, loan.balances.overdue), (1, 106_618));
    loan.repay(106_618 + 5_000, day("2026-02-20"));
    assert!(!loan.is_behind());
    assert_eq!(loan.schedule[1].paid, 5_000);
    assert_whole(&loan);
}

#[test]
fn an_instalment_that_is_late_is_not_due_again_and_counts_once() {
    let mut loan = loan();
    assert!(loan.mark(1, InstalmentStatus::Late));
    assert!(!loan.mark(1, InstalmentStatus::Due));
    assert!(!loan.mark(1, InstalmentStatus::Late));
    assert_eq!(loan.late_instalments, 1);
    assert!(loan.is_behind());
}

#[test]
fn paying_every_due_amount_repays_the_loan() {
    let mut loan = loan();
    for number in 1..=12 {
        loan.mark(number, InstalmentStatus::Due);
        let (due_on, amount) =
            loan.next_due.map_or((day("2027-01-15"), 0), |next| (next.due_on, next.amount));
        loan.repay(amount, due_on);
        assert_whole(&loan);
    }
    assert_eq!(loan.balances.principal_outstanding, 0);
    assert_eq!(loan.first_unpaid(), None);
}

#[test]
fn any_sequence_of_repayments_ends_without_a_balance() {
    let key = crate::value::stream::Key::new(11);
    for case in 0..200 {
        let (mut loan, key) = (loan(), key.at(case));
        let mut paid = 0;
        for step in 0..60_i32 {
            let today = day("2026-01-15").plus_days(step * 6);
            for number in 1..=12 {
                let row = loan.schedule[number as usize - 1];
                if row.due_on <= today && row.status == InstalmentStatus::Upcoming {
                    loan.mark(number, InstalmentStatus::Due);
                }
            }
            let settlement = loan.settlement(today);
            if settlement == 0 {
                break;
            }
            let bound = key.at(u64::from(step.unsigned_abs())).below(150_000);
            let amount = i64::try_from(bound + 1).expect("small").min(settlement);
            let allotted = loan.repay(amount, today);
            assert_eq!(allotted.interest + allotted.principal, amount);
            paid += allotted.principal;
            assert_whole(&loan);
            assert_eq!(loan.balances.principal_paid, paid, "case {case}");
        }
        let today = day("2027-03-01");
        let settlement = loan.settlement(today);
        if settlement > 0 {
            loan.repay(settlement, today);
        }
        assert_eq!(loan.balances.principal_outstanding, 0, "case {case}");
    }
}
