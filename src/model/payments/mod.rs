//! The Payments domain's resources.

pub(crate) mod dispute;
pub(crate) mod payout;
pub(crate) mod platform_fee;
pub(crate) mod return_code;
pub(crate) mod wallet;
