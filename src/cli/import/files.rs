//! Finds, reads and checks the files of an import. Commands that start worlds also use this module.

use std::io::{self, IsTerminal, Read, Write};
use std::path::Path;
use std::sync::Arc;

use crate::cli::failure::Failure;
use crate::io::input_file;
use crate::scenario::import::{self, MOST_CSV_BYTES};
use crate::value::Look;
use crate::world::World;
use crate::world::script::Scenario;

/// The import of a file or a folder, and the world after it. Its mistakes are printed to stderr.
pub(in crate::cli) fn load(path: &str, world: &World) -> Result<(Arc<Scenario>, World), Failure> {
    let paths = files(path).map_err(Failure::Impossible)?;
    let checked = import::check(&paths, &read, world);
    let mut err = io::stderr().lock();
    let coloured = err.is_terminal() && std::env::var_os("NO_COLOR").is_none();
    let look = if coloured { Look::Coloured } else { Look::Plain };
    // If stderr is closed, the report is lost; the exit code is the same.
    let _ = err.write_all(checked.report(look).as_bytes());
    checked.imported.ok_or_else(|| Failure::Impossible(format!("{path} cannot be imported")))
}

/// The TOML files of a folder by name, or the file itself.
pub(super) fn files(path: &str) -> Result<Vec<String>, String> {
    if !Path::new(path).is_dir() {
        return Ok(vec![path.to_owned()]);
    }
    let entries =
        std::fs::read_dir(path).map_err(|error| format!("cannot read {path}: {error}"))?;
    let mut names = Vec::new();
    for entry in entries.flatten() {
        let file = entry.path();
        if file.extension().is_some_and(|ending| ending == "toml") && file.is_file() {
            let name = file.into_os_string().into_string();
            names.push(name.map_err(|name| format!("{} is no name in UTF-8", name.display()))?);
        }
    }
    names.sort();
    if names.is_empty() {
        return Err(format!("{path} contains no TOML file"));
    }
    Ok(names)
}

/// Reads the bytes of a file, at most one more than the limit.
pub(super) fn read(path: &str) -> Result<Vec<u8>, String> {
    let file = input_file::open(Path::new(path))?;
    let mut bytes = Vec::new();
    let most = MOST_CSV_BYTES as u64 + 1;
    file.take(most).read_to_end(&mut bytes).map_err(|error| error.to_string())?;
    Ok(bytes)
}
