//! `sandbox openapi`: the document, without a server.

use std::path::PathBuf;

use clap::Args;

use crate::cli::contract;
use crate::cli::failure::{Failure, print};
use crate::render::openapi::{self, Plane};

/// The arguments of `sandbox openapi`.
#[derive(Args, Debug)]
pub(super) struct OpenapiArgs {
    /// Print the document of the control plane instead of the product
    #[arg(long)]
    control: bool,
    /// What differs from the assumed contract: a TOML file, or `published`
    #[arg(long, env = "SANDBOX_CONTRACT", value_name = "FILE|published")]
    contract: Option<PathBuf>,
}

/// Prints the document.
pub(super) fn run(args: &OpenapiArgs) -> Result<(), Failure> {
    let plane = if args.control { Plane::Control } else { Plane::Product };
    let contract = contract::overlay(args.contract.as_deref())?;
    print(&openapi::text(&openapi::document_under(plane, &contract)))
}
