//! Areas of operations that the specification names and does not show.

use super::{AREA, Assumption, row};

#[rustfmt::skip] // a table
pub(super) const AREAS: &[Assumption] = &[
    row("paths", "§4.3", "Which paths do the other operations have?",
        "`/api/business`, `/api/payments`, plural nouns in kebab case, with a verb as the last \
            part if there is one",
        &["operations.*.aliases"], "every_row_is_one_operation_and_nothing_else_is"),
    row("statuses", "§4.3", "Which statuses do successful responses have?",
        "200, and 201 with the `Location` of the created resource",
        &["operations.*.status"], "the_location_of_what_was_created_leads_to_it"),
    row("companies", "§4.3", "How are companies managed?",
        "`/api/business/companies`: list, create, read, update; a new one is pending until it is \
            verified",
        AREA, "the_tag_of_a_changed_company_is_good_for_the_next_change"),
    row("employees", "§4.3", "How are employees managed, apart from the published list?",
        "`/api/business/employees`: create, read, update, set pay and account, verify, activate, \
            suspend, terminate; a new one is pending",
        AREA, "created_and_changed_employees_keep_the_published_members"),
    row("payroll-verifications", "§4.3", "How does a caller learn why an employee cannot be paid \
        yet?",
        "`/api/business/payroll-verifications`: read one with its checks, which take 30 s",
        AREA, "a_check_takes_half_a_minute_and_names_what_is_missing"),
    row("leave-requests", "§4.3", "How is leave requested, and what is its effect?",
        "`/api/business/leave-requests`: create, list, read, decide; timers set an active employee \
            `on_leave` on approved days, and unpaid days reduce the pay",
        AREA, "an_employee_is_away_from_the_first_day_to_the_last"),
    row("payroll-runs", "§4.3", "How is a run tracked?",
        "`/api/business/payroll-runs`: list, read, list the items, approve, cancel, retry funding",
        AREA, "a_runs_sums_are_those_of_its_items_in_every_country"),
    row("payslips", "§1", "How are payslips read?",
        "`/api/business/payslips`: list and read; `Accept: application/pdf` returns a PDF",
        AREA, "a_payslip_adds_up_and_agrees_with_its_item_and_payout"),
    row("liabilities", "§1", "How are liabilities to authorities read?",
        "`/api/business/tax-liabilities`: list, by authority and period",
        AREA, "a_return_pays_what_the_runs_reserved"),
    row("filings", "§1", "How are tax filings made?",
        "`/api/business/tax-filings`: create, read, submit (with payment), amend; acknowledged \
            after 1 h, answered after two business days",
        AREA, "the_tax_office_answers_with_the_clock"),
    row("requirements", "§1", "What must a company provide before it can pay?",
        "`/api/business/compliance-requirements`: list, and resolve with evidence; a new company \
            becomes active when its business is verified",
        AREA, "a_company_that_is_created_is_verified_funded_and_pays_its_people"),
    row("audit-logs", "§1", "How is the audit log read?",
        "`/api/business/audit-logs`: list, and read with the changes and the hash that links it to \
            the previous record",
        AREA, "the_hash_chain_can_be_calculated_from_the_api_alone"),
    row("regulatory-reports", "§1", "How are regulators informed?",
        "`/api/business/regulatory-reports`: compile from the records of a month, submit, answered on the next business day",
        AREA, "the_regulator_answers_on_the_next_business_day_and_may_reject"),
    row("ledger", "§1", "How are ledger entries read and posted?",
        "`/api/business/ledger-accounts` and `/api/business/journal-entries`: list; callers can \
            post entries and reverse them",
        AREA, "every_journal_entry_balances_and_the_runs_entries_name_it"),
    row("reports", "§1", "How are reports read?",
        "`/api/business/reports`: profit and loss, balance sheet, cash flow and trial balance from \
            the ledger at the time of the request; other currencies at reference rates",
        AREA, "reports_agree_with_the_ledger_and_with_one_another"),
    row("wallets", "§1", "Where is a company's money?",
        "`/api/payments/wallets`: list, read, and list the transactions",
        AREA, "the_wallet_pays_the_employer_cost_and_reserves_the_liabilities"),
    row("payouts", "§1", "How is money sent and tracked?",
        "`/api/payments/payouts`: list and read, including wages; pay a beneficiary, approve, \
            cancel; the wallet is debited at once",
        AREA, "a_payout_debits_the_wallet_at_once_and_arrives_with_the_clock"),
    row("beneficiaries", "§1", "Who can be paid besides employees?",
        "`/api/payments/beneficiaries`: create, list and read; an account must be valid in its \
            country, and the bank returns its holder after 30 s",
        AREA, "an_account_is_resolved_after_half_a_minute_and_its_number_stays_hidden"),
    row("escrows", "§1", "How is money held in escrow?",
        "`/api/payments/escrows`: create, list, read, fund, release (all, by milestone or by \
            amount), refund, dispute; automatic release and expiry on dates",
        AREA, "an_escrow_is_released_milestone_by_milestone"),
    row("bank-statements", "§1", "How is a bank statement imported?",
        "`/api/payments/bank-statements`: import lines, a camt.053 or MT940 file, or a simulated \
            statement; read one",
        AREA, "a_statement_is_processed_and_imported_five_seconds_later"),
    row("reconciliation-matches", "§1", "How is a statement matched with the books?",
        "`/api/payments/reconciliation-matches`: a row for each line and each transaction without \
            one; list, confirm, reject, match or ignore",
        AREA, "every_move_of_a_row_is_made_and_every_other_refused"),
    row("collections", "§1", "How is money collected, and what do payers do?",
        "`/api/payments/collections`: create (card, bank transfer, direct debit, mobile money), \
            list, read, cancel; payments settle one business day later, less the platform fee",
        AREA, "a_card_payment_is_pending_then_available_less_the_fee"),
    row("invoices", "§1", "How are invoices sent?",
        "`/api/payments/invoices`: create, list, read, send (numbered by company and year without \
            gaps), void; `Accept: application/pdf` returns a PDF",
        AREA, "a_sent_invoice_is_numbered_booked_collected_and_paid"),
    row("refunds", "§1", "How is collected money refunded?",
        "`/api/payments/collections/{collection_id}/refunds`, fully or partly, never more than was \
            paid, and `/api/payments/refunds` to read one; reserved at once, arrives one to five \
            business days later",
        AREA, "parts_are_refunded_until_no_money_is_left"),
    row("disputes", "§1", "What if a payer's bank takes money back?",
        "`/api/payments/disputes`: list, read, contest or accept; the amount is withheld, evidence \
            is due in 7 days, the decision follows 14 days later",
        AREA, "a_dispute_without_an_answer_is_lost_after_seven_days"),
    row("fx-rates", "§1", "Which exchange rates are there?",
        "`/api/payments/fx-rates`: monthly reference rates of 25 currencies, with a random path of \
            the seed between them",
        AREA, "the_published_rate_applies_on_the_first_of_its_month"),
    row("fx-quotes", "§1", "How is a rate reserved?",
        "`/api/payments/fx-quotes`: valid for 30 minutes, with a spread by currency pair; can be \
            used once",
        AREA, "a_quote_expires_after_half_an_hour_in_every_world"),
    row("fx-transfers", "§1", "How is money converted?",
        "`/api/payments/fx-transfers`: between a company's wallets, with a quote; debited at once, \
            credited after 60 s",
        AREA, "a_transfer_debits_now_and_credits_a_minute_later"),
    row("credit-scores", "§1", "How is a company's credit scored?",
        "`/api/capital/credit-scores`: request and read, 300 to 850, after five seconds; the sum \
            of factors from the company's own books, payroll, taxes and loans; less than 30 days \
            of revenue or expenses is `failed`, `insufficient_data`",
        AREA, "a_score_can_be_calculated_from_the_api_and_the_formula_alone"),
    row("readiness-assessments", "§1", "How is a company's readiness for investment assessed?",
        "`/api/capital/readiness-assessments`: request and read, 0 to 100 in five pillars, with \
            the gaps and the operations that close them",
        AREA, "pillars_sum_to_the_score_and_what_is_missing_is_a_gap"),
    row("insurance-risk-scores", "§1", "How is an insurance risk scored?",
        "`/api/capital/insurance-risk-scores`: request and read, 0 to 100, higher is riskier, with \
            a tier and an estimated premium",
        AREA, "a_premium_is_the_rate_of_the_sum_insured"),
    row("applications", "§1", "How does a company apply for credit?",
        "`/api/capital/applications`: submit, list, read, and list the offers; decided one \
            business day later by a new credit score and by overdue amounts",
        AREA, "an_underwriter_decides_a_business_day_later_by_a_fresh_score"),
    row("offers", "§1", "How is an offer answered?",
        "`/api/capital/offers`: accept with the wallet that receives the money, or decline, within \
            14 days",
        AREA, "an_offer_is_accepted_once_and_makes_one_loan"),
    row("loans", "§1", "How is a loan repaid?",
        "`/api/capital/loans`: list, read with the schedule, repay by call; late one day after an \
            instalment's due date, in default 90 days after it",
        AREA, "a_loan_paid_month_by_month_is_repaid"),
    row("due-diligence-cases", "§1", "How does due diligence work?",
        "`/api/capital/due-diligence-cases`: open one with a checklist (`lite`, `standard`, \
            `credit`), read it with its requests, progress and findings, add requests",
        AREA, "a_case_is_completed_when_nothing_mandatory_is_open"),
    row("due-diligence-requests", "§1", "How is a due diligence request answered?",
        "`/api/capital/due-diligence-requests`: answered with text, documents or a reference to a \
            report; accepted, rejected or waived; `overdue` after the due date",
        AREA, "a_request_is_answered_taken_up_rejected_answered_again_and_accepted"),
    row("deals", "§1", "How does a deal proceed?",
        "`/api/capital/deals`: create, list, read, advance by one stage if its requirements are \
            met, close; a won deal funds the wallet, as equity or as debt",
        AREA, "a_deal_goes_past_every_guard_and_funds_the_wallet"),
    row("subjects", "§1", "How are people and businesses registered for verification?",
        "`/api/identity/subjects`: create, list, read, update; documents are added by token, there \
            are no files",
        AREA, "a_person_has_a_name_and_a_business_a_legal_name"),
    row("verifications", "§1", "How is a subject verified?",
        "`/api/identity/verifications`: open, submit, review, cancel; the bureau answers after 2 \
            s, or after 60 s if there are documents",
        AREA, "an_approved_business_activates_its_company"),
    row("aml-screenings", "§1", "How is a subject screened?",
        "`/api/identity/aml-screenings`: request, with a result after 5 s, and read; optionally \
            every day for a year; all names on the watchlists are invented",
        AREA, "a_name_of_a_list_is_found_however_it_is_written"),
    row("aml-alerts", "§1", "What happens after a hit or a suspicious transaction?",
        "`/api/identity/aml-alerts`: list, read, resolve; a confirmed one holds payouts",
        AREA, "a_confirmed_alert_holds_the_payouts_of_its_company"),
    row("trust-scores", "§1", "How is trust scored?",
        "`/api/identity/trust-scores`: request, with a result after 2 s, and read; 0 to 1000 from \
            published weights",
        AREA, "a_score_is_the_sum_of_its_reasons_and_can_be_calculated_by_hand"),
    row("bank-account-verifications", "§1", "How is the holder of an account checked?",
        "`/api/identity/bank-account-verifications`: the bank answers at once",
        AREA, "a_bank_names_the_account_holder_at_once"),
];
