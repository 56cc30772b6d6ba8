//! The embedded packs, found by code, or by country and pay date. Each is parsed at first use, so that a start does not wait for unused
//! countries.

use std::sync::LazyLock;

use jiff::civil::Date;

use super::error::PackError;
use super::pack::Pack;

/// A code and its pack. The code is a file name of `fixtures/jurisdictions` and starts with the country. The list is
/// sorted by code.
type Entry = (&'static str, LazyLock<Pack>);

macro_rules! embedded {
    ($count:literal: $($code:literal),+ $(,)?) => {
        static EMBEDDED: [Entry; $count] = [$(($code, LazyLock::new(|| {
            Pack::parse($code, text!($code)).expect("a test reads every embedded pack")
        }))),+];

        /// The packs as they are written.
        static RULES: [(&str, LazyLock<toml::Table>); $count] = [$(($code, LazyLock::new(|| {
            text!($code).parse().expect("a test reads every embedded pack")
        }))),+];
    };
}

macro_rules! text {
    ($code:literal) => {
        include_str!(concat!("../../../fixtures/jurisdictions/", $code, ".toml"))
    };
}

embedded![
    18: "CA", "GB", "GB-2025", "KE", "KE-2025", "NG", "NG-2025", "US", "US-2025", "US-CA", "US-FL",
    "US-IL", "US-NY", "US-TX", "XC", "XX", "ZA", "ZA-2025",
];

/// Country code of the pack for contractors. ISO 3166-1 leaves this code to its users.
pub const CONTRACTORS: &str = "XC";

/// Country code of the pack for countries without their own.
const PLACEHOLDER: &str = "XX";

/// The embedded packs.
#[must_use]
pub const fn library() -> Library {
    Library { entries: &EMBEDDED }
}

/// Packs by code and by country.
#[derive(Clone, Copy, Debug)]
pub struct Library {
    entries: &'static [Entry],
}

/// The pack for a pay date, and how well it fits.
#[derive(Clone, Copy, Debug)]
pub struct InForce {
    /// The pack.
    pub pack: &'static Pack,
    /// How well it fits the day.
    pub fit: Match,
}

/// How well a pack fits a country and a pay date.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Match {
    /// The country's pack, in force on that day.
    InForce,
    /// The country's nearest pack; none is in force on that day. The payslip says so.
    Nearest,
    /// The placeholder, because the country has no pack. The payslip says so.
    Placeholder,
}

impl Library {
    /// All packs.
    pub fn packs(self) -> impl Iterator<Item = &'static Pack> {
        self.entries.iter().map(|(_, pack)| &**pack)
    }

    /// The rules of the pack with that code, as its file has them.
    #[must_use]
    pub fn rules(self, code: &str) -> Option<&'static toml::Table> {
        RULES.iter().find(|(known, _)| *known == code).map(|(_, rules)| &**rules)
    }

    /// The pack with a code such as `GB` or `GB-2025`; also a country with the year in which its tax year starts, such as `GB-2026`.
    #[must_use]
    pub fn pack(self, code: &str) -> Option<&'static Pack> {
        if let Some((_, pack)) = self.entries.iter().find(|(known, _)| *known == code) {
            return Some(pack);
        }
        let (country, year) = code.split_once('-')?;
        self.country(country).find(|pack| pack.effective_from.year().to_string() == year)
    }

    /// The country's pack that is in force on the pay date, or else its nearest (the earlier one of two), or else the placeholder.
    ///
    /// # Panics
    ///
    /// Never: the placeholder is embedded.
    #[must_use]
    pub fn in_force(self, country: &str, pay_date: Date) -> InForce {
        let nearness = |pack: &&Pack| (days_from(pack, pay_date), pack.effective_from);
        let covering = self.country(country).find(|pack| pack.covers(pay_date)); // at most one
        let nearest = covering.or_else(|| self.country(country).min_by_key(nearness));
        let pack = nearest.or_else(|| self.pack(PLACEHOLDER)).expect("the placeholder is embedded");
        InForce { pack, fit: pack.fit(pay_date) }
    }

    fn country(self, country: &str) -> impl Iterator<Item = &'static Pack> {
        self.all_of(country).filter(|pack| pack.region.is_none())
    }

    /// The packs of a country and of its regions, which are adjacent in the list.
    fn all_of(self, country: &str) -> impl Iterator<Item = &'static Pack> {
        let first = self.entries.partition_point(|(code, _)| *code < country);
        let packs = self.entries[first..].iter().take_while(move |(code, _)| is_of(code, country));
        packs.map(|(_, pack)| &**pack)
    }

    /// The packs of a country's regions that apply beside a national pack, each the one in force on the pay date or the nearest.
    pub fn regions_of(self, national: &Pack, pay_date: Date) -> impl Iterator<Item = InForce> {
        let name = national.regions.as_ref();
        let attribute =
            name.and_then(|name| national.attributes.iter().find(|known| known.name == *name));
        let values = attribute.map(|attribute| attribute.values.as_slice()).unwrap_or_default();
        values.iter().filter_map(move |region| self.of_region(&national.country, region, pay_date))
    }

    /// The pack of a part of a country that is in force on the pay date, or else its nearest. `None` if it has none.
    #[must_use]
    pub fn of_region(self, country: &str, region: &str, pay_date: Date) -> Option<InForce> {
        let is_of_region = |pack: &&Pack| pack.region.as_deref() == Some(region);
        let of_region = self.all_of(country).filter(is_of_region);
        let nearest = of_region.min_by_key(|pack| (days_from(pack, pay_date), pack.effective_from));
        nearest.map(|pack| InForce { pack, fit: pack.fit(pay_date) })
    }
}

impl Pack {
    /// How well it fits a pay date of its country.
    #[must_use]
    pub fn fit(&self, pay_date: Date) -> Match {
        match self.covers(pay_date) {
            _ if self.country == PLACEHOLDER => Match::Placeholder,
            true => Match::InForce,
            false => Match::Nearest,
        }
    }
}

/// Refuses packs if two of one country are in force on the same day.
pub fn check_ranges<'a>(packs: impl IntoIterator<Item = &'a Pack>) -> Result<(), PackError> {
    let mut packs: Vec<&Pack> = packs.into_iter().collect();
    packs.sort_by_key(|pack| (&pack.country, &pack.region, pack.effective_from));
    for pair in packs.windows(2) {
        let (earlier, later) = (pair[0], pair[1]);
        let same = earlier.country == later.country && earlier.region == later.region;
        if same && later.effective_from <= earlier.effective_to {
            let message = format!(
                "in force from {}, when `{}` still is, to {}",
                later.effective_from, earlier.code, earlier.effective_to
            );
            return Err(PackError { pack: later.code.clone(), line: None, message });
        }
    }
    Ok(())
}

/// Whether a pack with that code belongs to a country.
fn is_of(code: &str, country: &str) -> bool {
    code.strip_prefix(country).is_some_and(|rest| rest.is_empty() || rest.starts_with('-'))
}

/// Days between a date and a pack's tax year; 0 within the year.
fn days_from(pack: &Pack, date: Date) -> i64 {
    let nearest = date.clamp(pack.effective_from, pack.effective_to);
    nearest.duration_until(date).as_hours().abs() / 24
}

#[cfg(test)]
mod tests {
    use jiff::civil::date;

    use super::{Match, check_ranges, library};
    use crate::model::payroll::Pack;

    #[test]
    fn the_pack_of_the_pay_date_is_in_force() {
        let rows = [
            ("GB", date(2026, 4, 6), "GB", Match::InForce),
            ("GB", date(2026, 4, 5), "GB-2025", Match::InForce),
            ("GB", date(2024, 1, 1), "GB-2025", Match::Nearest),
            ("GB", date(2030, 1, 1), "GB", Match::Nearest),
            ("CA", date(2025, 6, 1), "CA", Match::Nearest),
            ("DE", date(2026, 6, 1), "XX", Match::Placeholder),
            ("XX", date(2026, 6, 1), "XX", Match::Placeholder),
        ];
        for (country, pay_date, code, fit) in rows {
            let found = library().in_force(country, pay_date);
            assert_eq!((found.pack.code.as_str(), found.fit), (code, fit), "{country} {pay_date}");
        }
    }

    #[test]
    fn a_code_may_name_the_year() {
        let code = |code| library().pack(code).map(|pack| pack.code.as_str());
        assert_eq!(code("GB-2026"), Some("GB"));
        assert_eq!(code("GB-2025"), Some("GB-2025"));
        assert_eq!(code("GB-2024"), None);
        assert_eq!(code("DE"), None);
    }

    #[test]
    fn packs_of_one_country_in_force_on_one_day_are_refused() {
        let text = include_str!("../../../fixtures/jurisdictions/GB.toml");
        let earlier = text.replace("effective_from = 2026-04-06", "effective_from = 2025-04-06");
        let earlier = earlier.replace("effective_to = 2027-04-05", "effective_to = 2026-04-06");
        let packs = [("GB", text), ("GB-2025", earlier.as_str())]
            .map(|(code, text)| Pack::parse(code, text).unwrap());
        assert_eq!(
            check_ranges(&packs).unwrap_err().to_string(),
            "pack GB: in force from 2026-04-06, when `GB-2025` still is, to 2026-04-06"
        );
    }

    #[test]
    fn every_embedded_pack_is_sound_and_named_after_its_country() {
        check_ranges(library().packs()).unwrap();
        for pack in library().packs() {
            assert_eq!(pack.code.split('-').next(), Some(pack.country.as_str()));
        }
    }

    /// The binary would not contain a file of the folder that is missing from the list.
    #[test]
    #[expect(clippy::disallowed_methods, reason = "the folder is what is asked about")]
    fn every_file_of_the_folder_is_embedded() {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/fixtures/jurisdictions");
        let files = std::fs::read_dir(folder).unwrap().map(|file| file.unwrap().file_name());
        let mut names: Vec<String> = files.map(|name| name.into_string().unwrap()).collect();
        names.sort();
        assert!(library().packs().is_sorted_by_key(|pack| &pack.code), "a search needs the order");
        let mut codes: Vec<String> =
            library().packs().map(|pack| format!("{}.toml", pack.code)).collect();
        codes.sort();
        assert_eq!(names, codes);
    }
}
