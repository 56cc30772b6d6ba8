//! `sandbox openapi`: the document, without a server.

use std::io::{self, Write};

use clap::Args;

use crate::cli::Failure;
use crate::render::openapi::{self, Plane};

/// Which document.
#[derive(Args, Debug)]
pub(super) struct OpenapiArgs {
    /// The control plane's document instead of the product's
    #[arg(long)]
    control: bool,
}

/// Prints it.
pub(super) fn run(args: &OpenapiArgs) -> Result<(), Failure> {
    let plane = if args.control {
        Plane::Control
    } else {
        Plane::Product
    };
    let mut out = io::stdout().lock();
    out.write_all(openapi::text(&openapi::document(plane)).as_bytes())
        .and_then(|()| out.flush())
        .or_else(|error| Failure::of_output(&error))
}
