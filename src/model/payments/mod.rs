//! The Payments domain's resources.

pub(crate) mod payout;
pub(crate) mod wallet;
