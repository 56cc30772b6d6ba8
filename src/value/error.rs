//! Error responses: one table of codes and one type.
//!
//! Codes and statuses are an assumption (the specification, §7, shows none) and follow `docs/conventions.md`.

use core::fmt;

use serde::Serialize;

/// Declares the codes, their HTTP statuses and titles in one table.
macro_rules! error_codes {
    ($($variant:ident $code:literal $status:literal $title:literal;)*) => {
        /// Why a request was refused.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
        pub enum ErrorCode {
            $(#[doc = $title] $variant,)*
        }

        impl ErrorCode {
            /// Every code, in the table's order.
            pub const ALL: &'static [Self] = &[$(Self::$variant,)*];

            /// The code in JSON.
            #[must_use]
            pub const fn code(self) -> &'static str {
                match self { $(Self::$variant => $code,)* }
            }

            /// The HTTP status for it.
            #[must_use]
            pub const fn status(self) -> u16 {
                match self { $(Self::$variant => $status,)* }
            }

            /// The title, equal for every occurrence.
            #[must_use]
            pub const fn title(self) -> &'static str {
                match self { $(Self::$variant => $title,)* }
            }
        }
    };
}

error_codes! {
    MalformedJson            "malformed_json"               400 "The body is not valid JSON";
    InvalidHeader            "invalid_header"               400 "A header is missing or malformed";
    IdempotencyKeyInvalid    "idempotency_key_invalid"      400 "The Idempotency-Key is malformed";
    UnknownScenario          "unknown_scenario"             400 "There is no scenario or outcome with \
        this name";
    MissingCredentials       "missing_credentials"          401 "The API key or the admin token is missing";
    InvalidApiKey            "invalid_api_key"              401 "The API key is malformed or unknown";
    LiveKeyRefused           "live_key_refused"             401 "This looks like a live key";
    InsufficientFunds        "insufficient_funds"           402 "The wallet has insufficient funds";
    LimitExceeded            "limit_exceeded"               402 "A limit is exceeded";
    Forbidden                "forbidden"                    403 "The caller is not allowed to do \
        this";
    ComplianceBlocked        "compliance_blocked"           403 "Open compliance requirements \
        block this operation";
    KycRequired              "kyc_required"                 403 "Identity must be verified first";
    CompanySuspended         "company_suspended"            403 "The company is suspended";
    ResourceNotFound         "resource_not_found"           404 "The resource does not exist";
    RouteNotFound            "route_not_found"              404 "The path does not exist";
    MethodNotAllowed         "method_not_allowed"           405 "The path does not support this \
        method";
    NotAcceptable            "not_acceptable"               406 "No media type of the Accept header is \
        available";
    RequestTimeout           "request_timeout"              408 "The request took too long to arrive";
    InvalidStateTransition   "invalid_state_transition"     409 "The resource's status does not \
        allow this operation";
    PayrollPeriodAlreadyRun  "payroll_period_already_run"   409 "Employees already have a run in this period";
    DuplicateReference       "duplicate_reference"          409 "The reference is already in use";
    RequestInProgress        "idempotency_request_in_progress" 409 "A request with this \
        Idempotency-Key is still running";
    AccountingPeriodClosed   "accounting_period_closed"     409 "The books of this period are closed";
    StageGuardFailed         "stage_guard_failed"           409 "A requirement of this stage is \
        not met";
    CutoffPassed             "cutoff_passed"                409 "The cut-off has passed";
    PreconditionFailed       "precondition_failed"          412 "The resource has changed since it \
        was read";
    PayloadTooLarge          "payload_too_large"            413 "The body is too large";
    UnsupportedMediaType     "unsupported_media_type"       415 "The media type of the body is not \
        supported";
    HeadTooLarge             "head_too_large"               431 "The request headers are too large";
    MisdirectedRequest       "misdirected_request"          421 "This host name is not served";
    ValidationFailed         "validation_failed"            422 "The request violates the schema \
        or a rule";
    EmployeeNotPayable       "employee_not_payable"         422 "Employees cannot be paid";
    UnbalancedEntry          "unbalanced_entry"             422 "Debits and credits differ";
    QuoteExpired             "quote_expired"                422 "The quote has expired";
    CurrencyMismatch         "currency_mismatch"            422 "The currencies do not match";
    IdempotencyKeyReused     "idempotency_key_reused"       422 "The Idempotency-Key was used with \
        another request";
    RateLimited              "rate_limited"                 429 "Too many requests";
    QuotaExceeded            "quota_exceeded"               429 "The quota of this key is used up";
    InjectedFault            "injected_fault"               500 "A fault that was injected for a \
        test";
    InternalError            "internal_error"               500 "An internal error of the sandbox";
    NotImplemented           "not_implemented"              501 "This is not implemented";
    UpstreamRailError        "upstream_rail_error"          502 "The payment rail failed";
    Maintenance              "maintenance"                  503 "The service is under maintenance";
    Overloaded               "overloaded"                   503 "Too many requests at once";
    LogUnavailable           "log_unavailable"              503 "The write-ahead log cannot be \
        written";
    WorldMoving              "world_moving"                 503 "The world is moving to another \
        process";
    UpstreamTimeout          "upstream_timeout"             504 "The payment rail did not answer";
}

/// One violation: its place in the request, its kind, and what was expected.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Violation {
    /// JSON pointer into the body, or `/name` of a path or query parameter.
    pub pointer: String,
    /// Error code of the violation: `required`, `type`, `not_found`, `duplicate` …
    pub code: &'static str,
    /// A sentence that explains it.
    pub detail: String,
}

impl Violation {
    /// A violation of that kind at that place.
    pub fn new(pointer: impl Into<String>, code: &'static str, detail: impl Into<String>) -> Self {
        Self { pointer: pointer.into(), code, detail: detail.into() }
    }
}

/// An error response.
#[derive(Clone, Debug)]
pub struct ApiError {
    /// The error code.
    pub code: ErrorCode,
    /// A lower-case sentence without a full stop.
    pub detail: String,
    /// Every violation found.
    pub errors: Vec<Violation>,
    /// The resource that caused the error.
    pub resource_id: Option<String>,
    /// The resource's current status.
    pub current: Option<&'static str>,
    /// What the current status allows, if the status is the reason.
    pub allowed: Option<Vec<&'static str>>,
    /// `Allow` for 405, `Retry-After` for 503, and similar.
    pub header: Option<(&'static str, String)>,
}

impl ApiError {
    /// Maximum number of violations in one response, so that it stays small compared with its request.
    const MOST_ERRORS: usize = 100;

    /// An error with that code and detail.
    pub fn new(code: ErrorCode, detail: impl Into<String>) -> Self {
        Self {
            code,
            detail: detail.into(),
            errors: Vec::new(),
            resource_id: None,
            current: None,
            allowed: None,
            header: None,
        }
    }

    /// 422 for a request whose members are valid on their own but not together.
    #[must_use]
    pub fn invalid(errors: Vec<Violation>) -> Self {
        let detail = match errors.as_slice() {
            [one] => format!("{}: {}", shown(&one.pointer), one.detail),
            many => format!("{} violations are listed in errors", many.len()),
        };
        Self { errors, ..Self::new(ErrorCode::ValidationFailed, detail) }
    }

    /// The same for one member, at `pointer`.
    #[must_use]
    pub fn of_member(
        pointer: impl Into<String>,
        code: &'static str,
        detail: impl Into<String>,
    ) -> Self {
        Self::invalid(vec![Violation::new(pointer, code, detail)])
    }

    /// Refuses a request with violations.
    ///
    /// # Errors
    ///
    /// 422 with all of them, if there is any.
    pub fn if_any(errors: Vec<Violation>) -> Result<(), Self> {
        if errors.is_empty() { Ok(()) } else { Err(Self::invalid(errors)) }
    }

    /// 404 for an id that does not exist.
    #[must_use]
    pub fn not_found(kind: &str) -> Self {
        Self::new(
            ErrorCode::ResourceNotFound,
            format!(
                "no {kind} with this id exists in this \
            key's world"
            ),
        )
    }

    /// Names the resource concerned.
    #[must_use]
    pub fn about(mut self, id: impl fmt::Display) -> Self {
        self.resource_id = Some(id.to_string());
        self
    }

    /// Adds a violation with the same detail.
    #[must_use]
    pub fn at(mut self, pointer: impl Into<String>, code: &'static str) -> Self {
        self.errors.push(Violation::new(pointer, code, self.detail.clone()));
        self
    }

    /// Adds every violation.
    #[must_use]
    pub fn with_errors(mut self, mut errors: Vec<Violation>) -> Self {
        if errors.len() > Self::MOST_ERRORS {
            errors.truncate(Self::MOST_ERRORS);
            self.detail.push_str("; the first 100 are listed in errors");
        }
        self.errors = errors;
        self
    }

    /// Whether the same request may succeed later.
    #[must_use]
    pub const fn retryable(&self) -> bool {
        matches!(
            self.code,
            ErrorCode::RequestTimeout
                | ErrorCode::RequestInProgress
                | ErrorCode::RateLimited
                | ErrorCode::InsufficientFunds
                | ErrorCode::UpstreamRailError
                | ErrorCode::Maintenance
                | ErrorCode::Overloaded
                | ErrorCode::LogUnavailable
                | ErrorCode::WorldMoving
                | ErrorCode::UpstreamTimeout
        )
    }
}

/// A result whose error is an error response, unless it names another.
pub type Result<T, E = ApiError> = core::result::Result<T, E>;

fn shown(pointer: &str) -> &str {
    if pointer.is_empty() { "the body" } else { pointer }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_code_is_unique_and_has_an_error_status() {
        for (index, code) in ErrorCode::ALL.iter().enumerate() {
            assert!((400..600).contains(&code.status()), "{code:?}");
            assert!(
                ErrorCode::ALL[..index].iter().all(|other| other.code() != code.code()),
                "{code:?}"
            );
        }
    }
}
