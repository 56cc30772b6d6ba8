//! Gross to net: the payroll law of a country as data, and the one evaluator of it.
//!
//! A [`Pack`] is parsed and checked from TOML (`fixtures/jurisdictions`), compiled on demand into
//! one straight-line plan of integers per pay period and employee attributes, and evaluated
//! exactly: rationals over `i128`, every operation checked, rounding only where the pack says so.
//! Imports nothing of this crate.
//!
//! Deliberately absent: code for any one country, floats, a clock, files.
//!
//! ```
//! # use sandbox::model::payroll::{self, Component, PayInput, PayPeriod, YearToDate};
//! let pack = payroll::library().pack("GB").expect("an embedded pack");
//! let pay = pack.evaluate(&PayInput {
//!     period: PayPeriod::Monthly,
//!     number: 1,
//!     attributes: pack.default_attributes(),
//!     inputs: &[],
//!     earnings: &[(pack.component("basic"), 300_000)],
//!     ytd: &YearToDate::start(),
//! })?;
//! assert_eq!(pay.net, pay.gross - pay.tax - pay.employee);
//! # Ok::<(), payroll::PayError>(())
//! ```
//!
//! # Where the description of schema 1 leaves a choice
//! - A number written in a line (`const` amounts, numbers among `args`, clamps, the limit of `when`)
//!   is in the line's frame as it stands, `ytd` included. The numbers of a table (`bands`, K-table
//!   constants, `taper`) are annual, and in `ytd` count × k/P.
//! - A value on the edge of a band belongs to the band below ("over 37,700"), with `select` or without.
//! - `half_up` sends ties towards +∞, so that a refund rounds as the reversal of what it corrects.
//! - A `ytd` slice is f(to date) − f(before), clamps within f; a memo one read in `ytd` is f(to date).
//!   What keeps no year to date (a memo, an input) is taken to have been the same every period.
//! - A line whose `when` fails is 0 on this payslip: a cumulative one refunds nothing.
//! - A line already over its `max_year` takes nothing more, and refunds nothing.

mod check;
mod compile;
mod error;
mod evaluate;
mod exact;
mod filing;
mod form;
mod formula;
mod library;
mod line;
mod pack;
mod period;
mod plan;
mod rule;
mod schema;
mod ytd;

pub use self::error::{PackError, PayError};
pub use self::evaluate::{Pay, PayInput};
pub use self::filing::{
    Day, Deposit, Due, Filing, Frequency, MinimumWage, Payslip, Remit, Roll, Source, WagePer,
};
pub use self::library::{InForce, Library, Match, check_ranges, library};
pub use self::pack::{Attribute, Attributes, Component, Input, InputScope, Pack, Role, RoleLine};
pub use self::period::{PayPeriod, period_number};
pub use self::ytd::YearToDate;
