//! The path before every route: the base URL of a service may have one.

use std::fmt;
use std::str::FromStr;

use http::Uri;
use http::uri::PathAndQuery;

/// The longest allowed path.
const LONGEST: usize = 100;
/// The common part of all messages.
const EXPECTED: &str = "expected a path such as /sandbox: a slash, then letters, digits, `-`, `.`, `_` or `~`, without a slash at the end";

/// A path such as `/sandbox`; empty by default.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct BasePath(String);

impl BasePath {
    pub(crate) fn as_str(&self) -> &str {
        &self.0
    }

    /// The path after this one; `None` if it is outside.
    fn rest<'p>(&self, path: &'p str) -> Option<&'p str> {
        match path.strip_prefix(&self.0)? {
            "" => Some("/"),
            rest if rest.starts_with('/') => Some(rest),
            _ => None,
        }
    }

    /// Removes this path from a target. False if the target is outside.
    pub(crate) fn strip(&self, target: &mut Uri) -> bool {
        if self.0.is_empty() {
            return true;
        }
        let Some(rest) = self.rest(target.path()) else { return false };
        let query = target.query().map_or_else(String::new, |query| format!("?{query}"));
        let Ok(inside) = PathAndQuery::try_from(format!("{rest}{query}")) else { return false };
        let mut parts = core::mem::take(target).into_parts();
        parts.path_and_query = Some(inside);
        *target = Uri::from_parts(parts).expect("only the path has changed");
        true
    }
}

impl fmt::Display for BasePath {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.0)
    }
}

impl FromStr for BasePath {
    type Err = &'static str;

    /// An empty text is no path.
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        if text.is_empty() {
            return Ok(Self::default());
        }
        let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~".contains(&byte);
        let is_part = |part: &str| !matches!(part, "" | "." | "..") && part.bytes().all(plain);
        let parts = text.strip_prefix('/').ok_or(EXPECTED)?;
        if text.len() > LONGEST {
            return Err("a base path has at most 100 characters");
        }
        if !parts.split('/').all(is_part) {
            return Err(EXPECTED);
        }
        if parts.split('/').next() == Some("_sandbox") {
            return Err("/_sandbox is reserved for the sandbox: choose another base path");
        }
        Ok(Self(text.to_owned()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_whole_parts_of_a_path_are_removed() {
        let base: BasePath = "/a/b".parse().expect("a path");
        let inside = |target: &str| {
            let mut uri: Uri = target.parse().expect("a target");
            base.strip(&mut uri).then(|| uri.to_string())
        };
        assert_eq!(inside("/a/b/c?d=/a/b").as_deref(), Some("/c?d=/a/b"));
        assert_eq!(inside("/a/b").as_deref(), Some("/"));
        assert_eq!(inside("/a/b/").as_deref(), Some("/"));
        assert_eq!(inside("/a/b?x").as_deref(), Some("/?x"));
        assert_eq!(inside("http://h.test:1/a/b/c").as_deref(), Some("http://h.test:1/c"));
        for outside in ["/", "/a", "/a/bc", "/c", "/A/b/c", "*"] {
            assert_eq!(inside(outside), None, "{outside}");
        }
    }

    #[test]
    fn an_invalid_base_path_is_refused() {
        for good in ["", "/sandbox", "/api/v1.2", "/~a_b-c"] {
            assert_eq!(good.parse().map(|base: BasePath| base.to_string()).as_deref(), Ok(good));
        }
        let long = format!("/{}", "a".repeat(100));
        for bad in
            ["/", "a", "/a/", "//a", "/a//b", "/a b", "/a?b", "/..", "/a/./b", "/{x}", "/é", &long]
        {
            assert!(bad.parse::<BasePath>().is_err(), "{bad}");
        }
        assert!("/_sandbox/a".parse::<BasePath>().is_err_and(|why| why.contains("reserved")));
    }
}
