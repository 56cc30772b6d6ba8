//! Gross to net: the payroll law of each country as data, and one evaluator.
//!
//! A [`Pack`] is parsed and checked from TOML (`fixtures/jurisdictions`). It is compiled on demand into a plan of integer steps for each
//! pay period and set of employee attributes. Evaluation is exact: rationals over `i128`, checked operations, and rounding only where the
//! pack defines it. Imports nothing of this crate.
//!
//! Deliberately absent: code for a single country, floats, a clock, files.
//!
//! ```
//! # use sandbox::model::payroll::{self, Component, PayInput, PayPeriod, YearToDate};
//! let pack = payroll::library().pack("GB").expect("an embedded pack");
//! let pay = pack.evaluate(&PayInput {
//!     period: PayPeriod::Monthly,
//!     number: 1,
//!     attributes: pack.default_attributes(),
//!     inputs: &[],
//!     on: None,
//!     earnings: &[(pack.component("basic"), 300_000)],
//!     ytd: &YearToDate::start(),
//! })?;
//! assert_eq!(pay.net, pay.gross - pay.tax - pay.employee);
//! # Ok::<(), payroll::PayError>(())
//! ```
//!
//! # Details that the description of schema 1 leaves open
//! - A number in a line (`const` amounts, numbers among `args`, clamps, the limit of `when`) is in the line's frame, including `ytd`. The
//!   numbers of a table (`bands`, K-table constants, `taper`) are annual; in `ytd` they count × k/P.
//! - A value on the edge of a band belongs to the band below ("over 37,700"), with or without `select`.
//! - `half_up` sends ties towards +∞, so that a refund rounds as the reversal of what it corrects.
//! - A `ytd` slice is f(to date) − f(before), with clamps within f; a memo slice read in `ytd` is f(to date). Values without a year to
//!   date (a memo, an input) are assumed to be equal in every period.
//! - A line whose `when` fails is 0 on this payslip: a cumulative line refunds nothing.
//! - A line that is already over its `max_year` adds nothing and refunds nothing.

mod attributes;
mod bases;
mod cache;
mod check;
mod compile;
mod condition;
mod error;
mod evaluate;
mod exact;
mod filing;
mod form;
mod formula;
mod library;
mod line;
mod narrow;
mod number;
mod pack;
mod passes;
mod period;
mod plan;
mod profile;
mod rule;
mod schema;
mod types;
mod usual;
mod ytd;

pub use self::error::{PackError, PayError};
pub use self::evaluate::{Pay, PayInput};
pub use self::filing::{
    Day, Deposit, Due, Filing, Frequency, MinimumWage, Payslip, Remit, Roll, Source, WagePer,
};
pub use self::library::{CONTRACTORS, InForce, Library, Match, check_ranges, library};
pub use self::pack::{
    Attribute, Attributes, CompanyFact, Component, Input, InputScope, Pack, Role, RoleLine,
};
pub use self::period::{CountsOn, PayPeriod, period_number};
pub use self::profile::Profile;
pub use self::types::{
    AnnualEarnings, CountedEarnings, DeductionType, EarningType, Ends, MostOfPay, PayForOrders,
    Short,
};
pub use self::ytd::YearToDate;
