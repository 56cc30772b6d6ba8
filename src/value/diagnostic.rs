//! Mistakes in a file: position, expectation and suggestion, printed with the source line and a caret.
//!
//! For any format: a mistake is a range of bytes and text. Deliberately absent: reading files and printing, which the command line does.

use core::fmt::Write as _;
use core::ops::Range;

use annotate_snippets::{AnnotationKind, Level, Renderer, Snippet};
use strsim::osa_distance;

/// Maximum number of mistakes shown per file; the others are counted.
const MOST_SHOWN: usize = 50;
/// Maximum number of bytes shown around a mistake in a very long line.
const LONGEST_SHOWN: usize = 2_000;

/// One mistake in a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Diagnostic {
    /// The bytes that are wrong.
    span: Range<usize>,
    /// What is wrong, a lower-case sentence without a full stop.
    message: String,
    /// Text under the caret: what was expected.
    label: String,
    /// A second place that contradicts the first, with its own text.
    against: Option<(Range<usize>, String)>,
    /// How to fix it.
    help: Option<String>,
    /// Whether the file can still be used.
    harmless: bool,
}

impl Diagnostic {
    /// A mistake at those bytes of the source.
    pub(crate) fn new(span: Range<usize>, message: impl Into<String>) -> Self {
        Self {
            span,
            message: message.into(),
            label: String::new(),
            against: None,
            help: None,
            harmless: false,
        }
    }

    /// Its first byte.
    pub(crate) fn start(&self) -> usize {
        self.span.start
    }

    /// Turns it into a warning: the file can be used, but probably has another meaning than intended.
    pub(crate) const fn warning(mut self) -> Self {
        self.harmless = true;
        self
    }

    /// Whether it is only a warning.
    pub(crate) const fn is_warning(&self) -> bool {
        self.harmless
    }

    /// Whether both are about the same bytes.
    pub(crate) fn is_of_same_place(&self, other: &Self) -> bool {
        self.span == other.span
    }

    /// Whether a text contains the name that the message has in backticks; true if the message has none.
    pub(crate) fn is_about(&self, text: &str) -> bool {
        let mut parts = self.message.split('`');
        parts.nth(1).is_none_or(|name| text.contains(name))
    }

    /// The line, the column, the message, the expectation and the correction, on one line.
    pub(crate) fn sentence(&self, source: &str) -> String {
        let before = source.get(..self.span.start).unwrap_or(source);
        let line = before.matches('\n').count() + 1;
        let column = before.rsplit('\n').next().unwrap_or_default().chars().count() + 1;
        let mut text = format!("line {line}, column {column}: {}", self.message);
        if !self.label.is_empty() {
            let _ = write!(text, "; {}", self.label);
        }
        if let Some(help) = &self.help {
            let _ = write!(text, "; {help}");
        }
        text
    }

    /// Adds the expectation at that place.
    pub(crate) fn expected(mut self, label: impl Into<String>) -> Self {
        self.label = label.into();
        self
    }

    /// Adds the other place that it contradicts.
    pub(crate) fn against(mut self, span: Range<usize>, label: impl Into<String>) -> Self {
        self.against = Some((span, label.into()));
        self
    }

    /// Adds how to fix it.
    pub(crate) fn help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }

    /// Suggests the name that was probably meant, or else lists all names.
    pub(crate) fn one_of<'a>(
        self,
        word: &str,
        known: impl Iterator<Item = &'a str> + Clone,
    ) -> Self {
        if let Some(near) = nearest(word, known.clone()) {
            return self.help(format!("did you mean `{near}`?"));
        }
        let listed: Vec<String> = known.map(|name| format!("`{name}`")).collect();
        self.help(format!("expected one of {}", listed.join(", ")))
    }
}

/// Whether the text is for a terminal with colours.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Look {
    /// Text only.
    Plain,
    /// With a terminal's escape sequences.
    Coloured,
}

/// All mistakes of a file in order of position, and their number.
pub(crate) fn report(file: &str, source: &str, found: &[Diagnostic], look: Look) -> String {
    let renderer = match look {
        Look::Plain => Renderer::plain(),
        Look::Coloured => Renderer::styled(),
    };
    let mut ordered: Vec<&Diagnostic> = found.iter().collect();
    ordered.sort_by_key(|one| one.span.start);
    let shown = ordered.iter().take(MOST_SHOWN).map(|one| render(&renderer, file, source, one));
    let mut text = shown.collect::<Vec<_>>().join("\n\n");
    let warnings = found.iter().filter(|one| one.harmless).count();
    let counted = |count: usize, what: &str| {
        let plural = if count == 1 { "" } else { "s" };
        (count > 0).then(|| format!("{count} {what}{plural}"))
    };
    let counts = [counted(found.len() - warnings, "mistake"), counted(warnings, "warning")];
    let counts: Vec<String> = counts.into_iter().flatten().collect();
    // Writing to a string cannot fail.
    let _ = write!(text, "\n\n{} in {file}", counts.join(" and "));
    if found.len() > MOST_SHOWN {
        let _ = write!(text, "; the first {MOST_SHOWN} are shown");
    }
    text.push('\n');
    text
}

fn render(renderer: &Renderer, file: &str, source: &str, one: &Diagnostic) -> String {
    let main = within(source, &one.span);
    let against = one.against.as_ref().map(|(span, label)| (within(source, span), label));
    let (first, last) = match &against {
        Some((span, _)) => (main.start.min(span.start), main.end.max(span.end)),
        None => (main.start, main.end),
    };
    let cut = lines_around(source, first, last);
    let line = source[..cut.start].matches('\n').count() + 1;
    let moved = |span: &Range<usize>| {
        let end = span.end.min(cut.end).max(span.start) - cut.start;
        span.start - cut.start..end
    };
    let mut snippet = Snippet::source(&source[cut.clone()])
        .path(file)
        .line_start(line)
        .fold(true)
        .annotation(AnnotationKind::Primary.span(moved(&main)).label(one.label.as_str()));
    if let Some((span, label)) = &against
        && cut.contains(&span.start)
    {
        snippet =
            snippet.annotation(AnnotationKind::Context.span(moved(span)).label(label.as_str()));
    }
    let level = if one.harmless { Level::WARNING } else { Level::ERROR };
    let mut group = level.primary_title(one.message.as_str()).element(snippet);
    if let Some(help) = &one.help {
        group = group.element(Level::HELP.message(help.as_str()));
    }
    renderer.render(&[group])
}

/// The range, limited to the source, to character boundaries, and to its first line. A wrong table is shown by its head.
fn within(source: &str, span: &Range<usize>) -> Range<usize> {
    let border = |mut at: usize| {
        at = at.min(source.len());
        while !source.is_char_boundary(at) {
            at -= 1;
        }
        at
    };
    let start = border(span.start);
    let end = border(span.end.max(start));
    let line = source[start..end].find('\n').map_or(end, |length| start + length);
    start..line
}

/// The full lines between two bytes; of very long lines only the part near the first.
fn lines_around(source: &str, first: usize, last: usize) -> Range<usize> {
    let start = source[..first].rfind('\n').map_or(0, |at| at + 1);
    let end = source[last..].find('\n').map_or(source.len(), |length| last + length);
    if end - start <= LONGEST_SHOWN || source[start..end].matches('\n').count() > 0 {
        return start..end;
    }
    // The column stays correct, because the text before the mistake is kept.
    let mut end = last.min(first + LONGEST_SHOWN);
    while !source.is_char_boundary(end) {
        end += 1;
    }
    start..end
}

/// The candidate that `word` probably misspells: at most a third of its letters differ, ignoring case.
pub(crate) fn nearest<'a>(
    word: &str,
    candidates: impl Iterator<Item = &'a str>,
) -> Option<&'a str> {
    const LONGEST: usize = 64; // the distance costs the product of both lengths, and the word is a caller's
    if word.len() > LONGEST {
        return None;
    }
    let word = word.to_ascii_lowercase();
    let most = (word.chars().count() / 3).max(1);
    let near = candidates
        .map(|candidate| (osa_distance(&candidate.to_ascii_lowercase(), &word), candidate));
    let near = near.filter(|(distance, _)| *distance <= most).min_by_key(|(distance, _)| *distance);
    near.map(|(_, candidate)| candidate)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mistake_is_shown_with_its_place_and_how_to_mend_it() {
        let source = "[errors]\nfromat = \"problem\"\n";
        let found = [Diagnostic::new(9..15, "`errors` has no key `fromat`")
            .expected("unknown key")
            .one_of("fromat", ["format"].into_iter())];
        assert_eq!(
            report("overlay.toml", source, &found, Look::Plain),
            "error: `errors` has no key `fromat`\n \
             --> overlay.toml:2:1\n  \
             |\n\
             2 | fromat = \"problem\"\n  \
             | ^^^^^^ unknown key\n  \
             |\n  \
             = help: did you mean `format`?\n\n\
             1 mistake in overlay.toml\n"
        );
    }

    #[test]
    fn a_warning_is_counted_apart() {
        let found = [Diagnostic::new(0..1, "a").warning(), Diagnostic::new(2..3, "b")];
        let text = report("f", "x\ny\n", &found, Look::Plain);
        assert!(text.starts_with("warning: a\n"), "{text}");
        assert!(text.ends_with("\n\n1 mistake and 1 warning in f\n"), "{text}");
        let text = report("f", "x\ny\n", &found[..1], Look::Plain);
        assert!(text.ends_with("\n\n1 warning in f\n"), "{text}");
    }

    #[test]
    fn a_contradiction_shows_both_places() {
        let source = "a = 1\nb = 2\nc = 3\n";
        let found =
            [Diagnostic::new(12..17, "c is more than a").expected("3").against(0..5, "1 here")];
        let text = report("f", source, &found, Look::Plain);
        assert!(text.contains("f:3:1"), "{text}");
        assert!(text.contains("1 | a = 1\n  | ----- 1 here"), "{text}");
        assert!(text.contains("3 | c = 3\n  | ^^^^^ 3"), "{text}");
    }

    #[test]
    fn spans_beyond_the_source_and_within_letters_do_not_break() {
        let long = format!("a = \"{}\"\n", "é".repeat(100_000));
        for (source, span) in [
            ("", 0..0),
            ("", 7..9),
            ("é", 1..2),
            ("a\n", 2..2),
            ("a", Range { start: 5, end: 3 }),
            (long.as_str(), 6..99_999),
            (long.as_str(), 0..long.len()),
        ] {
            let text = report("f", source, &[Diagnostic::new(span, "m")], Look::Plain);
            assert!(text.starts_with("error: m\n"), "{text}");
            assert!(text.len() < 150_000);
        }
    }

    #[test]
    fn mistakes_come_in_the_order_of_the_lines_and_are_bounded() {
        let source = "x\n".repeat(200);
        let found: Vec<Diagnostic> = (0..200)
            .rev()
            .map(|line| Diagnostic::new(line * 2..line * 2 + 1, format!("m{line}")))
            .collect();
        let text = report("f", &source, &found, Look::Plain);
        assert!(text.starts_with("error: m0\n"), "{text}");
        assert!(text.contains("error: m49\n") && !text.contains("error: m50\n"));
        assert!(text.ends_with("200 mistakes in f; the first 50 are shown\n"));
    }

    #[test]
    fn only_a_terminal_gets_escape_sequences() {
        let found = [Diagnostic::new(0..1, "m")];
        assert!(!report("f", "x", &found, Look::Plain).contains('\u{1b}'));
        assert!(report("f", "x", &found, Look::Coloured).contains('\u{1b}'));
        // The contents of a file must not control the terminal either.
        assert!(!report("f", "\u{1b}[2Jx", &found, Look::Plain).contains('\u{1b}'));
    }

    #[test]
    fn a_slip_is_recognised_and_a_stranger_is_not() {
        let known = ["status", "company_id", "page", "USD", "EUR"];
        let near = |word| nearest(word, known.into_iter());
        assert_eq!(near("statsu"), Some("status"));
        assert_eq!(near("companyId"), Some("company_id"));
        assert_eq!(near("usd"), Some("USD"));
        assert_eq!(near("pge"), Some("page"));
        assert_eq!(near("apge"), Some("page"));
        assert_eq!(near("name"), None);
        assert_eq!(near(""), None);
        assert_eq!(near("employee"), None);
        assert_eq!(near(&"x".repeat(100_000)), None);
    }
}
