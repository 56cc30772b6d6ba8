//! Contract files: the flags that name one, and reading it.

use std::io::{self, IsTerminal, Read};
use std::path::{Path, PathBuf};

use clap::Args;

use crate::cli::failure::Failure;
use crate::engine::contract::{BasePath, Overlay};
use crate::io::input_file;
use crate::value::Look;

/// The most bytes of an overlay.
const MOST_BYTES: u64 = 1024 * 1024;

/// The contract of a server.
#[derive(Args, Debug)]
pub(super) struct ServedContractArgs {
    /// What differs from the assumed contract: a TOML file, or `published` for only the two published
    /// operations
    #[arg(long, env = "SANDBOX_CONTRACT", value_name = "FILE|published")]
    contract: Option<PathBuf>,
    /// Path before every route, such as /sandbox; overrides `base_path` of the contract
    #[arg(long, env = "SANDBOX_BASE_PATH", value_name = "PATH")]
    base_path: Option<BasePath>,
}

impl ServedContractArgs {
    /// The overlay of the file, with the base path of the flag.
    pub(super) fn overlay(&self) -> Result<Overlay, Failure> {
        let mut overlay = overlay(self.contract.as_deref())?;
        if let Some(path) = &self.base_path {
            overlay.base_path = path.clone();
        }
        Ok(overlay)
    }
}

/// The overlay that `--contract` names.
pub(super) fn overlay(named: Option<&Path>) -> Result<Overlay, Failure> {
    match named {
        None => Ok(Overlay::default()),
        Some(name) if name == "published" => Ok(Overlay::published()),
        Some(file) => read(file),
    }
}

/// The overlay in a file.
pub(super) fn read(file: &Path) -> Result<Overlay, Failure> {
    let name = file.display().to_string();
    let cannot =
        |error: &dyn std::fmt::Display| Failure::Impossible(format!("cannot read {name}: {error}"));
    let opened = input_file::open(file).map_err(|why| cannot(&why))?;
    let mut bytes = Vec::new();
    opened.take(MOST_BYTES + 1).read_to_end(&mut bytes).map_err(|error| cannot(&error))?;
    if bytes.len() as u64 > MOST_BYTES {
        return Err(cannot(&format_args!(
            "a contract file may have at most {MOST_BYTES} bytes, and this one has more"
        )));
    }
    let source = String::from_utf8(bytes).map_err(|error| {
        let good = error.utf8_error().valid_up_to();
        let before = &error.as_bytes()[..good];
        let line = before.split(|byte| *byte == b'\n').count();
        cannot(&format_args!("line {line} is not UTF-8, at byte {good} of the file"))
    })?;
    let look = if io::stderr().is_terminal() { Look::Coloured } else { Look::Plain };
    Overlay::parse(&name, &source, look).map_err(Failure::Report)
}
