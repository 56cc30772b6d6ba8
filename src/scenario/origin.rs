//! The origin of a scenario file, and the targets of its includes.

use std::path::Path;

use crate::scenario::shipped;

/// The origin of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Origin {
    File(String),
    Shipped(&'static str),
}

/// The reason why an include cannot be found.
pub(super) enum Missing {
    Shipped,
    FileOfShipped,
}

/// A file relative to the including one, or a shipped scenario by its name.
pub(super) fn target(from: &Origin, wanted: &str) -> Result<Origin, Missing> {
    let is_file = wanted.contains(['/', '\\']) || Path::new(wanted).extension().is_some();
    match (from, is_file) {
        (_, false) => shipped::known(wanted).map(Origin::Shipped).ok_or(Missing::Shipped),
        (Origin::Shipped(_), true) => Err(Missing::FileOfShipped),
        (Origin::File(path), true) => {
            let folder = path.rsplit_once('/').map_or("", |(folder, _)| folder);
            let whole = match (folder, wanted.starts_with('/')) {
                (_, true) => wanted.to_owned(),
                ("", _) if path.starts_with('/') => format!("/{wanted}"),
                ("", _) => wanted.to_owned(),
                _ => format!("{folder}/{wanted}"),
            };
            Ok(Origin::File(normal(&whole)))
        }
    }
}

/// The normalised path, without `.` and inner `..`, so that a cycle is found.
pub(super) fn normal(path: &str) -> String {
    let mut parts: Vec<&str> = Vec::new();
    for part in path.split('/') {
        match (part, parts.last()) {
            (".", _) | ("", Some(_)) => {}
            ("..", Some(last)) if !matches!(*last, ".." | "") => {
                parts.pop();
            }
            _ => parts.push(part),
        }
    }
    match parts.as_slice() {
        [] => ".".to_owned(),
        [""] => "/".to_owned(),
        parts => parts.join("/"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_have_one_spelling() {
        for (path, expected) in [
            ("a.toml", "a.toml"),
            ("./a.toml", "a.toml"),
            ("x/./y/../a.toml", "x/a.toml"),
            ("../a.toml", "../a.toml"),
            ("x/../../a.toml", "../a.toml"),
            ("/x//a.toml", "/x/a.toml"),
            (".", "."),
            ("x/..", "."),
            ("/", "/"),
        ] {
            assert_eq!(normal(path), expected, "{path}");
        }
    }
}
