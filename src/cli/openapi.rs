//! `sandbox openapi`: the document, without a server.

use std::path::PathBuf;

use clap::Args;
use http::Uri;

use crate::cli::contract_file;
use crate::cli::failure::{Failure, print};
use crate::render::openapi::{self, Plane, variant};

/// The arguments of `sandbox openapi`.
#[derive(Args, Debug)]
pub(super) struct OpenapiArgs {
    /// Print the document of the control plane instead of the product
    #[arg(long)]
    control: bool,
    /// Print the document for client generators: without webhooks and test headers; responses may have unknown members
    #[arg(long)]
    client: bool,
    /// Version of OpenAPI: 3.1, or 3.0 without webhooks
    #[arg(long, default_value = "3.1", value_parser = ["3.1", "3.0"], value_name = "VERSION")]
    openapi: String,
    /// Keep only the operations of one domain: business, payments, identity or capital. With `--control`, keep only the operations of one tag
    #[arg(long, value_name = "DOMAIN")]
    domain: Option<String>,
    /// URL of the server in the document [default: `http://localhost:4747` and the base path of the contract]
    #[arg(long, value_name = "URL", value_parser = server)]
    server: Option<String>,
    /// What differs from the assumed contract: a TOML file, or `published`
    #[arg(long, env = "SANDBOX_CONTRACT", value_name = "FILE|published")]
    contract: Option<PathBuf>,
}

/// A server of a document: a complete URL, because generated clients add paths to it.
fn server(text: &str) -> Result<String, String> {
    let url: Option<Uri> = text.parse().ok();
    let is_complete = url.is_some_and(|url| {
        matches!(url.scheme_str(), Some("http" | "https"))
            && url.host().is_some_and(|host| !host.is_empty())
            && url.query().is_none()
    });
    let is_plain = is_complete && !text.contains('#');
    if is_plain {
        Ok(text.to_owned())
    } else {
        Err("expected a URL such as https://sandbox.example".to_owned())
    }
}

/// Prints the document.
pub(super) fn run(args: &OpenapiArgs) -> Result<(), Failure> {
    let plane = if args.control { Plane::Control } else { Plane::Product };
    let contract = contract_file::overlay(args.contract.as_deref())?;
    let mut document = openapi::document_under(plane, &contract);
    if let Some(domain) = &args.domain {
        let tags = variant::tags(&document).join(", ");
        if !variant::keep_tag(&mut document, domain) {
            let why = format!("--domain: no operation has the tag {domain:?}; the tags are {tags}");
            return Err(Failure::Usage(why));
        }
    }
    if args.client {
        variant::for_clients(&mut document, &contract);
    }
    if args.openapi == "3.0" {
        variant::in_3_0(&mut document);
    }
    let own = || format!("{}{}", openapi::SERVER, contract.base_path);
    variant::serve_at(&mut document, &args.server.clone().unwrap_or_else(own));
    print(&openapi::text(&document))
}
