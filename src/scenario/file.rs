//! Reads a file and its includes, and returns a checked scenario or all of its mistakes.
//!
//! A function of the caller reads the files, so this module does no IO.

use core::ops::Range;
use std::sync::Arc;

use toml::de::{DeArray, DeTable};

use crate::api::json::quoted;
use crate::scenario::form::FILE;
use crate::scenario::judged::Judged;
use crate::scenario::origin::{Missing, Origin, normal, target};
use crate::scenario::reading::{Fields, Reading, meant};
use crate::scenario::shipped;
use crate::value::{ApiError, Diagnostic, Look};
use crate::world::script::{Limits, Scenario, WorldPart};

/// The largest allowed file; a scenario is written by hand.
pub(crate) const MOST_BYTES: usize = 1 << 20;
/// The deepest allowed level of includes.
const DEEPEST: usize = 8;

/// Reads the file at a path. An error is the reason, in words that follow the path.
pub(crate) type Read<'r> = dyn Fn(&str) -> Result<Vec<u8>, String> + 'r;

/// The result for a file.
#[derive(Debug)]
pub(crate) struct Checked {
    /// The scenario, if there is no mistake.
    pub(crate) scenario: Option<Scenario>,
    /// Every file that was read.
    files: Vec<Judged>,
}

impl Checked {
    /// All mistakes and warnings, as text; empty if there are none.
    pub(crate) fn report(&self, look: Look) -> String {
        Judged::report(&self.files, look)
    }

    /// The scenario and the files that were read.
    pub(super) fn parts(self) -> (Option<Scenario>, Vec<Judged>) {
        (self.scenario, self.files)
    }
}

/// Reads and checks the file at that path.
pub(crate) fn check(path: &str, read: &Read<'_>) -> Checked {
    gather(Origin::File(normal(path)), read)
}

/// Checks a text. It can include shipped scenarios only.
pub(crate) fn check_text(name: &str, text: &str) -> Checked {
    let path = format!("{name}.toml");
    let read = |asked: &str| match asked {
        asked if asked == path => Ok(text.as_bytes().to_vec()),
        _ => Err("a scenario given as text can include only shipped scenarios".to_owned()),
    };
    check(&path, &read)
}

/// The scenario of a text. The refusal contains the report, and each mistake with its line.
pub(crate) fn of_text(name: &str, text: &str) -> Result<Arc<Scenario>, ApiError> {
    let checked = check_text(name, text);
    let scenario = checked.scenario.map(Arc::new);
    scenario.ok_or_else(|| Judged::refusal(&checked.files, "scenario"))
}

/// Checks a shipped scenario.
pub(crate) fn check_shipped(name: &'static str) -> Checked {
    gather(Origin::Shipped(name), &|_| Err("is not shipped".to_owned()))
}

fn gather(origin: Origin, read: &Read<'_>) -> Checked {
    let mut gathering = Gathering { read, files: Vec::new(), open: Vec::new(), done: Vec::new() };
    let scenario = match gathering.source(&origin) {
        Ok(bytes) => gathering.file(origin, &bytes),
        Err(why) => {
            let refused = Some(why);
            gathering.files.push(Judged { refused, ..Judged::new(origin.path(), String::new()) });
            Scenario::default()
        }
    };
    let sound = !gathering.files.iter().any(Judged::is_wrong);
    Checked { scenario: sound.then_some(scenario), files: gathering.files }
}

impl Origin {
    /// Its name in messages.
    fn path(&self) -> String {
        match self {
            Self::File(path) => path.clone(),
            Self::Shipped(name) => format!("{name}.toml"),
        }
    }
}

struct Gathering<'r> {
    read: &'r Read<'r>,
    files: Vec<Judged>,
    /// The files around this one, outermost first.
    open: Vec<Origin>,
    /// The files that are already included. If they were included again, their rows could never match.
    done: Vec<Origin>,
}

impl Gathering<'_> {
    fn source(&self, origin: &Origin) -> Result<Vec<u8>, String> {
        let bytes = match origin {
            Origin::Shipped(name) => {
                let source = shipped::source(name).ok_or("is not shipped")?;
                source.as_bytes().to_vec()
            }
            Origin::File(path) => (self.read)(path)?,
        };
        if bytes.len() > MOST_BYTES {
            let most = MOST_BYTES >> 10;
            return Err(format!("is larger than {most} KiB, the most for a scenario"));
        }
        Ok(bytes)
    }

    /// Reads a file and the files that it includes.
    fn file(&mut self, origin: Origin, bytes: &[u8]) -> Scenario {
        let place = self.files.len();
        self.files.push(Judged::new(origin.path(), String::from_utf8_lossy(bytes).into_owned()));
        let source = match utf8(bytes) {
            Ok(source) => source,
            Err(wrong) => {
                self.files[place].found.push(wrong);
                return Scenario::default();
            }
        };
        self.open.push(origin.clone());
        self.done.push(origin.clone());
        let path = origin.path();
        let name = path.rsplit(['/', '\\']).next().unwrap_or(&path);
        let (document, broken) = DeTable::parse_recoverable(source);
        let mut reading = Reading::new(name, source);
        let scenario = self.scenario(&origin, name, &mut reading, document.get_ref());
        let mut found = reading.found;
        if !broken.is_empty() {
            found = beside(source, &broken, found);
        }
        self.files[place].found = found;
        self.open.pop();
        scenario
    }

    fn scenario<'a>(
        &mut self,
        origin: &Origin,
        name: &str,
        reading: &mut Reading<'a>,
        document: &'a DeTable<'a>,
    ) -> Scenario {
        let file = reading.table(document, 0..0, &FILE);
        let title = reading.text(&file, "title");
        let about = reading.text(&file, "about");
        let world = reading.part(&file, "world");
        let world = world.map(|part| reading.world(&part)).unwrap_or_default();
        let limits = reading.part(&file, "limits");
        let limits = limits.map(|part| reading.limits(&part)).unwrap_or_default();
        let outcomes = reading.each(&file, "outcome", Reading::outcome);
        let webhooks = reading.each(&file, "webhook", Reading::webhook);
        let faults = reading.each(&file, "fault", Reading::fault);
        let timeline =
            reading.each(&file, "timeline", |reading, row| reading.timeline(row, world.start));
        let steps = reading.rows(&file, "step");
        let steps = reading.steps(&steps, &mut Vec::new());
        let expect = reading.part(&file, "expect");
        let expect = expect.map(|part| reading.expectation(&part));
        reading.shadowed(&outcomes);
        reading.shadowed(&webhooks);
        reading.shadowed(&faults);
        let mut scenario = Scenario {
            name: name.strip_suffix(".toml").unwrap_or(name).to_owned(),
            title: title.map_or_else(String::new, |title| title.value.to_owned()),
            about: about.map_or_else(String::new, |about| about.value.to_owned()),
            world,
            outcomes: rows(outcomes),
            webhooks: rows(webhooks),
            faults: rows(faults),
            timeline: rows(timeline),
            limits,
            steps,
            expect: expect.unwrap_or_default(),
            imports: Vec::new(),
        };
        if let Some(list) = reading.list(&file, "include") {
            self.includes(origin, reading, list, &mut scenario);
        }
        scenario
    }

    /// Rows of included files follow, so that the rows of the file itself win. Steps and expectations are not
    /// included: they concern only the
    /// included file.
    fn includes<'a>(
        &mut self,
        origin: &Origin,
        reading: &mut Reading<'a>,
        list: &'a DeArray<'a>,
        scenario: &mut Scenario,
    ) {
        for item in list {
            let Some(wanted) = reading.text_of("include", item) else {
                continue;
            };
            match self.include(origin, wanted.value, &wanted.span) {
                Ok(Some(other)) => merge(scenario, other),
                Ok(None) => {}
                Err(diagnostic) => reading.note(diagnostic),
            }
        }
    }

    fn include(
        &mut self,
        from: &Origin,
        wanted: &str,
        span: &Range<usize>,
    ) -> Result<Option<Scenario>, Diagnostic> {
        let refused = |message: String| Diagnostic::new(span.clone(), message);
        let origin = target(from, wanted).map_err(|diagnostic| {
            let refusal = refused(format!("there is no shipped scenario {}", quoted(wanted)))
                .expected("unknown name");
            match diagnostic {
                Missing::Shipped => {
                    let known: Vec<String> = shipped::names().map(str::to_owned).collect();
                    meant(refusal, wanted, &known)
                }
                Missing::FileOfShipped => {
                    refusal.help("a shipped scenario can include only shipped ones, by name")
                }
            }
        })?;
        if let Some(first) = self.open.iter().position(|open| *open == origin) {
            let circle: Vec<String> =
                self.open[first..].iter().chain([&origin]).map(Origin::path).collect();
            return Err(refused("this file includes itself".to_owned())
                .expected(circle.join(" → "))
                .help("remove one of them"));
        }
        if self.done.contains(&origin) {
            return Ok(None);
        }
        if self.open.len() >= DEEPEST {
            return Err(refused(format!("includes are nested deeper than {DEEPEST} files"))
                .expected("one level too deep")
                .help("include the files directly"));
        }
        match self.source(&origin) {
            Ok(bytes) => Ok(Some(self.file(origin, &bytes))),
            Err(why) => Err(refused(format!("{} cannot be included", quoted(wanted)))
                .expected(format!("{}: {why}", origin.path()))),
        }
    }
}

/// The text of a file.
pub(super) fn utf8(bytes: &[u8]) -> Result<&str, Diagnostic> {
    core::str::from_utf8(bytes).map_err(|error| {
        let at = error.valid_up_to();
        Diagnostic::new(at..at + 1, "the file is not UTF-8")
            .expected(format!("the byte 0x{:02x} begins no character", bytes[at]))
            .help("save it as UTF-8")
    })
}

/// A row of the file.
pub(crate) struct Placed<T> {
    pub(crate) row: T,
    /// Its head.
    pub(crate) span: Range<usize>,
    /// Whether it has no mistake. The matches of a faulty row are unknown.
    pub(crate) sound: bool,
}

impl<'a> Reading<'a> {
    /// The rows of a key, with their positions.
    fn each<T>(
        &mut self,
        file: &Fields<'a>,
        name: &str,
        read: impl Fn(&mut Self, &Fields<'a>) -> Option<T>,
    ) -> Vec<Placed<T>> {
        let mut placed = Vec::new();
        for fields in self.rows(file, name) {
            let before = self.found.len();
            let row = read(self, &fields);
            let sound = self.found[before..].iter().all(Diagnostic::is_warning);
            placed.extend(row.map(|row| Placed { row, span: fields.span, sound }));
        }
        placed
    }
}

fn rows<T>(placed: Vec<Placed<T>>) -> Vec<T> {
    placed.into_iter().map(|placed| placed.row).collect()
}

/// The value of the file itself wins over an included one.
pub(super) fn merge(scenario: &mut Scenario, other: Scenario) {
    scenario.outcomes.extend(other.outcomes);
    scenario.webhooks.extend(other.webhooks);
    scenario.faults.extend(other.faults);
    scenario.timeline.extend(other.timeline);
    let (own, theirs) = (core::mem::take(&mut scenario.limits), other.limits);
    scenario.limits = Limits {
        rate: own.rate.or(theirs.rate),
        latency: own.latency.or(theirs.latency),
        platform_fee: own.platform_fee.or(theirs.platform_fee),
        monthly_fee: own.monthly_fee.or(theirs.monthly_fee),
    };
    let (own, theirs) = (core::mem::take(&mut scenario.world), other.world);
    scenario.world = WorldPart {
        seed: own.seed.or(theirs.seed),
        companies: own.companies.or(theirs.companies),
        employees_per_company: own.employees_per_company.or(theirs.employees_per_company),
        countries: own.countries.or(theirs.countries),
        start: own.start.or(theirs.start),
        clock: own.clock.or(theirs.clock),
    };
}

/// Where a file has invalid syntax. For such a table, further mistakes in the same line and missing members are not
/// reported, because the messages could be wrong.
#[derive(Debug)]
pub(super) struct Broken {
    /// The starts of lines, and the starts of lines that are table headers.
    lines: Vec<usize>,
    heads: Vec<usize>,
    /// The first bytes of invalid syntax, and the text from its line to the end of its table.
    rests: Vec<(usize, String)>,
}

impl Broken {
    pub(super) fn of(source: &str, broken: &[toml::de::Error]) -> Self {
        let lines: Vec<usize> =
            std::iter::once(0).chain(source.match_indices('\n').map(|(end, _)| end + 1)).collect();
        let is_head =
            |&start: &usize| source[start..].trim_start_matches([' ', '\t']).starts_with('[');
        let heads: Vec<usize> = lines.iter().copied().filter(is_head).collect();
        let rest = |error| {
            let at = span_of(error).start;
            let first = lines[lines.partition_point(|&start| start <= at).saturating_sub(1)];
            let end = heads.get(heads.partition_point(|&head| head <= at));
            (at, source[first..end.copied().unwrap_or(source.len())].to_owned())
        };
        let rests = broken.iter().map(rest).collect();
        Self { lines, heads, rests }
    }

    /// Whether invalid syntax may have caused a mistake.
    pub(super) fn hides(&self, mistake: &Diagnostic) -> bool {
        let line = |at: usize| self.lines.partition_point(|&start| start <= at);
        let table = |at: usize| self.heads.partition_point(|&head| head <= at);
        let at = mistake.start();
        let head = table(at).checked_sub(1).map_or(0, |place| self.heads[place]);
        let is_of_head = line(head) == line(at);
        self.rests.iter().any(|(start, rest)| {
            let is_same_line = line(*start) == line(at);
            table(*start) == table(at) && (is_same_line || is_of_head && mistake.is_about(rest))
        })
    }
}

fn span_of(error: &toml::de::Error) -> core::ops::Range<usize> {
    error.span().unwrap_or(0..0)
}

/// Reports invalid syntax, and the mistakes of other tables.
pub(super) fn beside(
    source: &str,
    broken: &[toml::de::Error],
    found: Vec<Diagnostic>,
) -> Vec<Diagnostic> {
    let tables = Broken::of(source, broken);
    let syntax = broken.iter().map(|error| {
        let (message, label) = match error.message().split_once(", ") {
            Some((message, label)) => (message, label),
            None => (error.message(), ""),
        };
        Diagnostic::new(span_of(error), message).expected(label)
    });
    syntax.chain(found.into_iter().filter(|one| !tables.hides(one))).collect()
}
