//! Everything that the specification leaves open ("not shown"), and what the sandbox does.
//!
//! It describes the program as it is. Tests check that every error code, every header, every key of the overlay and every area of assumed
//! operations has a row here, and that every row names a test that shows it.

mod areas;

use self::areas::AREAS;

/// One assumption.
pub(crate) struct Assumption {
    /// Its name, for references.
    pub(crate) id: &'static str,
    /// The section of the specification that leaves it open.
    pub(crate) section: &'static str,
    pub(crate) question: &'static str,
    /// Ours.
    pub(crate) answer: &'static str,
    /// Keys of the overlay that override it; empty if there are none.
    pub(crate) keys: &'static [&'static str],
    /// The test that shows it.
    pub(crate) proof: &'static str,
}

const fn row(
    id: &'static str,
    section: &'static str,
    question: &'static str,
    answer: &'static str,
    keys: &'static [&'static str],
    proof: &'static str,
) -> Assumption {
    Assumption { id, section, question, answer, keys, proof }
}

/// Keys that change the operations of an area.
const AREA: &[&str] =
    &["operations.*.enabled", "operations.*.aliases", "operations.*.status", "serve"];

/// Every assumption, in the order of the specification.
pub(crate) const ASSUMPTIONS: &[&[Assumption]] =
    &[RESOURCES, STATES, RUN_PAYROLL, LISTS, AREAS, AUTH, EVENTS, ERRORS, HEADERS];

/// Every assumption, as one sequence.
pub(crate) fn all() -> impl Iterator<Item = &'static Assumption> {
    ASSUMPTIONS.iter().copied().flatten()
}

#[rustfmt::skip] // a table
const RESOURCES: &[Assumption] = &[
    row("ids", "§2", "What do ids look like?",
        "`prefix_` and 13 characters of base 32, opaque to callers; the prefix names the kind",
        &[], "an_id_reads_back_what_it_wrote"),
    row("money", "§2", "How are amounts written?",
        "`amount`, an integer in minor units, and `currency`, ISO 4217 with its own decimal \
            places; fractions are refused",
        &[], "money_is_a_whole_number_of_minor_units"),
    row("instants", "§2", "How are instants, days and periods written?",
        "instants RFC 3339 in UTC with three decimals, days `YYYY-MM-DD`, periods `YYYY-MM`",
        &[], "instants_read_back_and_keep_three_decimals"),
    row("single-envelope", "§2", "What is the envelope of a single resource?",
        "`{\"data\": {…}}`, like the published list",
        &[], "created_and_changed_employees_keep_the_published_members"),
    row("employee-fields", "§2", "Which other members does a single employee have?",
        "a list shows exactly the six published members; a single employee shows them first, then \
            the company, contract, pay and account",
        &[], "the_employee_list_has_exactly_the_published_members_in_their_order"),
    row("company-fields", "§2", "Which members do companies and payroll runs have?",
        "those of the OpenAPI document; tests check every response against it",
        &[], "an_answer_that_the_document_does_not_promise_is_noticed"),
    row("text", "§2", "Which text is accepted?",
        "Unicode without control characters, up to a length in the document",
        &[], "control_characters_and_overlong_texts_are_refused"),
    row("unknown-members", "§2", "Are unknown members of a body ignored?",
        "no: 422 `validation_failed` names each",
        &[], "unknown_members_are_named"),
];

#[rustfmt::skip] // a table
const STATES: &[Assumption] = &[
    row("employee-status", "§3", "Which values does an employee's status have?",
        "`pending`, `active`, `on_leave`, `suspended`, `terminated`",
        &[], "the_first_company_has_employees_in_every_status_and_most_are_payable"),
    row("payroll-status", "§3", "Which values does an employee's payroll_status have?",
        "`not_enrolled`, `pending`, `verified`, `failed`, `on_hold`, `closed`; only `verified` \
            employees can be paid",
        &[], "employees_who_cannot_be_paid_are_all_named_with_the_reason"),
    row("run-states", "§3", "Which statuses does a payroll run pass through?",
        "calculating, calculated, (pending_approval,) approved, funding, processing, paid; \
            funding_failed if the wallet is short",
        &[], "in_a_manual_world_a_run_waits_for_the_clock_at_every_step"),
    row("run-times", "§3", "How long does a run take?",
        "calculated after 2 s; funded at the country's cut-off (16:00 UTC unless its table \
            differs) of the business day before the pay date; sent at 09:00 of the pay date; \
            immediately in clock mode `instant`",
        &[], "in_a_manual_world_a_run_waits_for_the_clock_at_every_step"),
    row("approval", "§3", "Does a run need approval?",
        "only if the company's settings require it",
        &[], "a_company_that_asks_for_approval_stops_there"),
    row("funding", "§3", "How is a run funded?",
        "the company's wallet pays the whole employer cost and the platform fee; if it is short, \
            no employee is paid",
        &[], "a_short_wallet_fails_the_funding_and_pays_no_employee"),
    row("platform-fee", "§8", "What does the service cost?",
        "1.5 % to 0.5 % of the monthly volume, by tiers; a run is charged once",
        &[], "a_run_is_charged_once_when_it_is_funded"),
    row("payout-states", "§3", "Which statuses does a payout pass through?",
        "queued, processing, sent, paid: after 10 s (instant), 4 h (same_day) or two business days (standard)",
        &[], "every_status_can_be_reached_from_the_first"),
    row("item-states", "§3", "Which statuses do payroll items and payslips have?",
        "an item is ready, processing, and paid with its payout; a payslip is issued when its item \
            is paid",
        &[], "every_status_can_be_reached_from_the_first"),
    row("business-days", "§3", "Which days are business days?",
        "those of the company's country, from data: weekend, public holidays and their \
            substitutes; half days and regional holidays are not included, holidays by the moon \
            until 2027",
        &[], "a_payday_on_christmas_is_paid_the_day_before_and_arrives_after_the_holidays"),
    row("success-by-default", "§1", "How does the outside world decide?",
        "every step succeeds on the normal timeline, unless a rule, a header or a reserved value \
            decides otherwise",
        &[], "in_an_instant_world_a_run_is_paid_before_the_next_request"),
    row("tax-liabilities", "§1", "When do tax liabilities accrue?",
        "when their run is approved, by authority",
        &[], "tax_liabilities_are_those_of_the_ledger"),
    row("tax-due", "§1", "When are taxes due, and when late?",
        "due on the day in the country's law for the month of the payment, late on the day after",
        &[], "a_liability_is_due_on_its_day_and_late_on_the_next"),
    row("tax-credit", "§1", "What happens to overpaid tax?",
        "it stays with the authority as a credit, and the next filing to it uses it",
        &[], "what_an_amended_return_takes_away_is_used_by_the_next"),
    row("gross-to-net", "§1", "How is net pay calculated?",
        "with the tax tables of the country and the pay date; a country without tables uses a \
            placeholder, and the payslip says so",
        &[], "every_authority_case_is_within_its_tolerance"),
];

#[rustfmt::skip] // a table
const RUN_PAYROLL: &[Assumption] = &[
    row("run-status", "§4.1", "What is the response to an accepted run?",
        "201, with the run in status `calculating` and its `Location`",
        &["operations.*.status"], "the_location_of_what_was_created_leads_to_it"),
    row("run-required", "§4.1", "Which members are required?",
        "`company_id` and `period`",
        &[], "both_missing_members_are_named_at_once"),
    row("run-everyone", "§4.1", "What if employees is absent?",
        "all payable employees are included",
        &[], "a_run_without_employees_includes_everyone_payable"),
    row("run-nobody", "§4.1", "What if employees is empty?",
        "422 `validation_failed`",
        &[], "a_run_without_employees_is_refused"),
    row("run-unknown", "§4.1", "What if the company or employees do not exist?",
        "404 `resource_not_found`, with a pointer for each employee",
        &[], "an_unknown_employee_is_a_404_that_points_at_it"),
    row("run-foreign", "§4.1", "What if an employee belongs to another company?",
        "422 `validation_failed`, violation `foreign_employee`",
        &[], "a_foreign_employee_is_named_with_the_employer"),
    row("run-unpayable", "§4.1", "What if an employee cannot be paid?",
        "422 `employee_not_payable`, with the reason for each",
        &[], "employees_who_cannot_be_paid_are_all_named_with_the_reason"),
    row("run-twice", "§4.1", "Can a period be run twice?",
        "once per employee: 409 `payroll_period_already_run` names the run",
        &[], "an_employee_is_in_at_most_one_regular_run_a_period"),
    row("run-company", "§4.1", "Which companies can pay?",
        "active ones without open blocking requirements; others get 403 `compliance_blocked` or \
            `company_suspended`",
        &[], "a_pending_company_cannot_pay"),
    row("run-period", "§4.1", "Which periods are accepted?",
        "a year and a month as `YYYY-MM`",
        &[], "a_period_is_a_year_and_a_month"),
];

#[rustfmt::skip] // a table
const LISTS: &[Assumption] = &[
    row("page", "§4.2", "How is a page selected?",
        "`page`, from 1",
        &[], "a_page_is_a_number_from_one_on"),
    row("page-size", "§4.2", "How many rows does a page have?",
        "25, or the number in `per_page`",
        &["paging.per_page_default"], "pages_of_any_size_make_up_the_whole_list"),
    row("page-size-limit", "§8", "What is the maximum number of rows per page?",
        "100; a larger `per_page` is treated as 100",
        &["paging.per_page_max"], "more_rows_than_a_page_may_have_are_as_many_as_it_may"),
    row("past-the-end", "§4.2", "What is after the last page?",
        "200 with no rows, and the total",
        &[], "a_page_past_the_end_is_empty_and_has_the_total"),
    row("order", "§4.2", "In which order are rows listed?",
        "in creation order, newest last, so that pages do not shift",
        &[], "changed_and_created_employees_are_merged_into_every_page_of_a_filtered_list"),
    row("sorting", "§4.2", "How are lists sorted?",
        "`sort=name`, `sort=-created_at`; equal rows stay in creation order",
        &[], "every_sort_key_orders_the_whole_list_and_keeps_equal_rows_in_creation_order"),
    row("filters", "§4.2", "How are lists filtered?",
        "by equality of a member; `q` matches a part of a name, ignoring case",
        &[], "every_filter_leaves_exactly_the_rows_it_names"),
    row("all-companies", "§4.2", "Which employees are listed?",
        "those of all companies of the key, unless `company_id` selects one",
        &[], "the_default_world_is_three_companies_of_twenty_five_people"),
    row("unknown-parameters", "§4.2", "Are unknown query parameters ignored?",
        "no: 422 `validation_failed` names each",
        &[], "unknown_query_parameters_are_all_named"),
];

#[rustfmt::skip] // a table
const AUTH: &[Assumption] = &[
    row("key-format", "§5", "What does a key look like?",
        "1 to 255 visible ASCII characters, otherwise 401 `invalid_api_key`",
        &[], "a_malformed_key_is_no_key"),
    row("no-key", "§5", "What if no key is sent?",
        "401 `missing_credentials`",
        &[], "a_request_without_a_key_is_refused"),
    row("any-key", "§5", "Which keys are accepted?",
        "any: an unknown key opens a fresh world of its own; with a fixed list, others get 401 \
            `invalid_api_key`",
        &["auth.keys"], "a_closed_set_of_keys_takes_no_other"),
    row("live-keys", "§5", "How do sandbox and live keys differ?",
        "a key that starts with `live_` or `live-`, or contains `_live_` or `-live-`, gets 401 \
            `live_key_refused`",
        &["auth.refuse_live"], "keys_that_look_live_are_refused_and_not_repeated"),
    row("scopes", "§5", "Are there scopes?",
        "no: a key can do everything in its world, and sees no other world",
        &[], "another_key_sees_nothing_of_a_world"),
    row("content-type", "§5", "What if the content type of a body is not JSON?",
        "415 `unsupported_media_type`",
        &[], "only_json_with_its_content_type_is_accepted"),
];

#[rustfmt::skip] // a table
const EVENTS: &[Assumption] = &[
    row("event-kinds", "§6", "Which events are there?",
        "`resource.happened`, such as `payroll_run.created`; the document lists them under webhooks",
        &[], "every_emitted_event_is_a_webhook_of_its_own"),
    row("event-payload", "§6", "What does an event contain?",
        "`id`, `type`, `timestamp`, `sequence`, `api_version`, `company_id`, `livemode` false, `request`, `data.object` and `data.previous`",
        &[], "events_are_numbered_and_name_the_request_that_caused_them"),
    row("event-signature", "§6", "How is a delivery signed?",
        "Standard Webhooks v1: HMAC-SHA256 over id, wall-clock timestamp and body, secret `whsec_…`",
        &[], "the_published_vector_is_signed_as_published"),
    row("event-retries", "§6", "When is a failed delivery retried?",
        "after 5 s, 5 min, 30 min, 2 h, 5 h, 10 h, 14 h, 20 h and 24 h, then not automatically; a \
            redirect is a failure",
        &[], "ten_attempts_are_made_at_the_seconds_of_the_schedule_and_then_it_is_exhausted"),
    row("event-gone", "§6", "How can a receiver stop deliveries?",
        "410 disables the endpoint; `Retry-After` delays the next attempt",
        &[], "gone_disables_the_endpoint_and_cancels_what_waits"),
    row("event-rotation", "§6", "How is a secret rotated?",
        "for 24 hours deliveries have two signatures, with the old and the new secret",
        &[], "a_rotated_secret_signs_beside_the_new_one_for_a_day"),
];

#[rustfmt::skip] // a table
const ERRORS: &[Assumption] = &[
    row("error-format", "§7", "What does an error response look like?",
        "an RFC 9457 document, `application/problem+json`, with `code`, `request_id`, and `errors` \
            with pointers",
        &["errors.format"], "every_violation_of_a_body_is_named_at_once"),
    row("error-order", "§7", "Which of several errors is reported?",
        "path, key, headers, size and type, JSON, idempotency key, shape, precondition, existence, permission, state, money, in this order",
        &[], "a_request_with_several_faults_is_refused_for_the_first_in_order"),
    row("error-effect", "§7", "What does a refused request change?",
        "nothing", &[], "a_refused_write_leaves_the_digest_as_it_was"),
    row("codes-400", "§7", "Which codes does 400 have (unreadable requests)?",
        "`malformed_json`, `invalid_header`, `idempotency_key_invalid`, `unknown_scenario`",
        &[], "a_body_that_is_not_json_is_malformed"),
    row("codes-401-403", "§7", "Which codes do 401 and 403 have?",
        "`missing_credentials`, `invalid_api_key`, `live_key_refused`; `forbidden`, `compliance_blocked`, `kyc_required`, `company_suspended`",
        &[], "existence_comes_before_permission"),
    row("codes-402", "§7", "Which codes does 402 have?",
        "`insufficient_funds`, `limit_exceeded`",
        &[], "every_code_is_unique_and_has_an_error_status"),
    row("codes-404-405", "§7", "Which codes do 404 and 405 have?",
        "`resource_not_found`; `route_not_found`, which names the closest route; `method_not_allowed`, with `Allow`",
        &[], "an_unknown_path_names_the_closest"),
    row("codes-409-412", "§7", "Which codes do 409 and 412 have?",
        "`invalid_state_transition`, `payroll_period_already_run`, `duplicate_reference`, `idempotency_request_in_progress`, \
         `stage_guard_failed`, `cutoff_passed`; `precondition_failed`",
        &[], "a_conflict_is_kept_like_a_success"),
    row("codes-422", "§7", "Which codes does 422 have (readable but invalid requests)?",
        "`validation_failed`, `employee_not_payable`, `unbalanced_entry`, `quote_expired`, `currency_mismatch`, `idempotency_key_reused`",
        &[], "a_body_of_the_wrong_type_is_refused_where_it_is_wrong"),
    row("codes-5xx", "§7", "Which codes do failures of the service have?",
        "`internal_error`, a bug, which is rolled back; `upstream_rail_error`, `maintenance`, \
            `overloaded`, `upstream_timeout`; only by a fault `injected_fault`, with any status",
        &[], "every_status_has_its_code"),
    row("rate-limit", "§8", "Is the request rate limited?",
        "not unless a scenario or a caller sets a limit: then 429 `rate_limited` with \
            `Retry-After`",
        &[], "beyond_the_rate_a_call_is_refused_until_the_window_ends"),
    row("payload-limit", "§8", "How large may a body be?",
        "1 MiB (413 `payload_too_large`), sent within 30 s (408 `request_timeout`), 64 levels deep",
        &[], "a_body_beyond_one_mebibyte_is_too_large"),
    row("hosts", "§7", "Which host names are served?",
        "those that no third party can own, and `--allowed-host`; others get 421 \
            `misdirected_request`",
        &[], "exactly_one_allowed_host_is_required"),
];

#[rustfmt::skip] // a table
const HEADERS: &[Assumption] = &[
    row("idempotency", "§4.1", "Is there a safe way to repeat a POST?",
        "`Idempotency-Key`, which is optional: 1 to 255 visible ASCII characters, quoted or bare",
        &["idempotency.required", "headers.idempotency_key"], "a_repeated_request_is_answered_alike_and_changes_nothing"),
    row("idempotency-scope", "§4.1", "What is the scope of such a key?",
        "its world, method and path",
        &[], "a_key_holds_for_its_path_and_its_world_only"),
    row("idempotency-body", "§4.1", "What if the key is sent with another body?",
        "422 `idempotency_key_reused` names the members that differ; bodies are compared as JSON",
        &[], "another_body_under_a_used_key_is_refused_with_the_members_that_differ"),
    row("idempotency-lifetime", "§4.1", "How long is a key valid?",
        "24 hours of virtual time, at most 10,000 keys per world",
        &[], "a_key_is_forgotten_after_twenty_four_virtual_hours"),
    row("idempotency-stored", "§4.1", "Which replies are stored?",
        "those from the start of the execution; never 400, 401, 403, 404, 412, 429, 5xx, nor a 422 \
            about the schema",
        &[], "a_request_refused_before_execution_may_be_corrected_under_the_same_key"),
    row("idempotency-replayed", "§4.1", "How is a repeated reply marked?",
        "with `Idempotent-Replayed: true`",
        &["headers.idempotent_replayed"], "a_repeated_request_is_answered_alike_and_changes_nothing"),
    row("request-id", "§7", "How is a request identified?",
        "`Request-Id: req_…` on every reply, equal for equal seeds and calls",
        &["headers.request_id"], "every_reply_has_an_id_and_the_virtual_time"),
    row("virtual-time", "§1", "Where is the virtual time shown?",
        "`Sandbox-Time` on every reply",
        &["headers.sandbox_time"], "the_time_of_a_reply_moves_with_the_clock"),
    row("decisions", "§1", "How can a caller choose and see decisions of the outside world?",
        "`Sandbox-Scenario` chooses them (an unknown name is 400); `Sandbox-Decision` shows them",
        &["headers.sandbox_decision"], "an_unknown_scenario_is_refused_and_never_ignored"),
    row("tags", "§4.3", "How is a lost update avoided?",
        "`ETag` on single resources; an outdated `If-Match` is 412, a matching `If-None-Match` is \
            304",
        &[], "if_match_refuses_a_change_of_an_old_version"),
    row("api-version", "§9", "How is an API version selected?",
        "`Api-Version: 2026-01-01` or none; any other is 400",
        &["headers.api_version"], "the_known_api_version_is_taken_and_any_other_refused"),
    row("path-version", "§9", "Which paths contain a version?",
        "only the published `/v1/payroll/run`",
        &["operations.*.aliases"], "both_published_operations_and_no_others_are_marked_so"),
    row("trace", "§4", "Is a trace passed on?",
        "`traceparent` is returned unchanged",
        &[], "a_trace_parent_comes_back"),
];
