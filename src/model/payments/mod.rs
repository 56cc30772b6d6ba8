//! The Payments domain's resources.

pub(crate) mod collection;
pub(crate) mod dispute;
pub(crate) mod invoice;
pub(crate) mod payout;
pub(crate) mod platform_fee;
pub(crate) mod refund;
pub(crate) mod return_code;
pub(crate) mod vat;
pub(crate) mod wallet;
