//! The control plane under `/_sandbox`: no part of the product, with a document of its own.

pub(crate) mod clock;
pub(crate) mod events;
pub(crate) mod process;
