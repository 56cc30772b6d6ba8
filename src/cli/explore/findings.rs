//! The scenario files of findings, their folder, and the lines that report them.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use crate::cli::explore::args::{ExploreArgs, Options, Subject, TIMEOUT};
use crate::cli::explore::outcome;
use crate::cli::explore::state::Finding;
use crate::cli::failure::{Failure, print};
use crate::cli::lab::word;
use crate::cli::report_file::ReportFile;

/// The folder of the scenario files.
pub(super) struct Folder {
    path: PathBuf,
    is_new: bool,
}

impl Folder {
    /// Makes the folder, and refuses one in which no file can be written, before the first run.
    pub(super) fn open(path: &Path) -> Result<Self, Failure> {
        let refuse = |why: &dyn std::fmt::Display| {
            Failure::Usage(format!("cannot write --out {}: {why}", path.display()))
        };
        if path.exists() && !path.is_dir() {
            return Err(refuse(&"it is no folder"));
        }
        let folder = Self { path: path.to_owned(), is_new: !path.exists() };
        std::fs::create_dir_all(path).map_err(|error| refuse(&error))?;
        ReportFile::check("--out", &path.join(".sandbox-findings"))?;
        Ok(folder)
    }

    /// Writes the file of each finding, and prints its lines. All are printed, also after a file that cannot be written.
    pub(super) fn report(
        &self,
        findings: &[Finding],
        args: &ExploreArgs,
        options: &Options,
    ) -> Result<(), Failure> {
        let mut written = Ok(());
        for (number, finding) in findings.iter().enumerate() {
            let name = format!("{:03}-{}.toml", number + 1, outcome::slug(&finding.rules));
            let path = self.path.join(name);
            print(&lines(finding, &path, args, options))?;
            let file = std::fs::write(&path, &finding.text).map_err(|error| {
                Failure::Impossible(format!("cannot write --out {}: {error}", path.display()))
            });
            written = written.and(file);
        }
        written
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        if self.is_new {
            // This fails if the folder has files.
            let _ = std::fs::remove_dir(&self.path);
        }
    }
}

/// The lines of a finding, with the command that repeats it.
fn lines(finding: &Finding, path: &Path, args: &ExploreArgs, options: &Options) -> String {
    let mut text = String::new();
    for (place, rule) in finding.rules.iter().enumerate() {
        let head = if place == 0 { "FOUND" } else { "  and" };
        let _ = writeln!(text, "{head}  {}", rule.words());
    }
    let _ = writeln!(text, "       {}", finding.broken.words());
    for line in finding.printed.lines() {
        let _ = writeln!(text, "     {line}");
    }
    let mut words = args.lab.again();
    if options.timeout != TIMEOUT {
        words.push(format!("--timeout {}ms", options.timeout.as_millis()));
    }
    words.extend(options.check.as_ref().map(|check| format!("--check {}", word(check))));
    words.push(format!("--replay {}", word(&path.display().to_string())));
    match &options.subject {
        Subject::Steps(file) => {
            words.push(format!("--steps {}", word(&file.display().to_string())));
        }
        Subject::Command(command) => {
            words.push("--".to_owned());
            words.extend(command.iter().map(|part| word(part)));
        }
    }
    let _ = writeln!(text, "       repeat: sandbox explore {}", words.join(" "));
    text
}
