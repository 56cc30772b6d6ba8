//! A country's table as written, parsed into rules. Each rule is a pure function from a year to days.

use jiff::civil;

use crate::model::prelude::*;

/// A `[[country]]` of `fixtures/calendars.toml`; the head of that file explains each key.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Sheet {
    pub(super) code: String,
    weekend: Option<Vec<Weekday>>,
    cut_off: Option<String>,
    #[serde(default)]
    moved: Moved,
    #[serde(default)]
    holidays: Vec<Row>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Row {
    name: String,
    day: Option<String>,
    easter: Option<i32>,
    weekday: Option<Weekday>,
    nth: Option<i8>,
    month: Option<i8>,
    before: Option<String>,
    dates: Option<Vec<Date>>,
    moved: Option<Moved>,
    since: Option<i16>,
    until: Option<i16>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Weekday {
    Mon,
    Tue,
    Wed,
    Thu,
    Fri,
    Sat,
    Sun,
}

impl Weekday {
    pub(super) fn of(day: Date) -> Self {
        match day.civil().weekday() {
            civil::Weekday::Monday => Self::Mon,
            civil::Weekday::Tuesday => Self::Tue,
            civil::Weekday::Wednesday => Self::Wed,
            civil::Weekday::Thursday => Self::Thu,
            civil::Weekday::Friday => Self::Fri,
            civil::Weekday::Saturday => Self::Sat,
            civil::Weekday::Sunday => Self::Sun,
        }
    }
}

/// The substitute for a holiday on a weekend.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Moved {
    /// There is no substitute.
    #[default]
    Lost,
    /// The next day that is neither a weekend nor a holiday.
    NextWeekday,
    /// Like `NextWeekday` for a Sunday; there is no substitute for a Saturday.
    SundayOnly,
    /// Friday for a Saturday, Monday for a Sunday, even if that day is also a holiday.
    NearestWeekday,
}

impl Moved {
    /// The substitute for a holiday on a weekend.
    pub(super) fn instead_of(self, day: Date, taken: impl Fn(Date) -> bool) -> Option<Date> {
        let saturday = Weekday::of(day) == Weekday::Sat;
        match self {
            Self::Lost => None,
            Self::SundayOnly if saturday => None,
            Self::NearestWeekday => Some(day.plus_days(if saturday { -1 } else { 1 })),
            Self::NextWeekday | Self::SundayOnly => {
                (1..=31).map(|days| day.plus_days(days)).find(|&day| !taken(day))
            }
        }
    }
}

/// A holiday, and the years in which it applies.
#[derive(Debug)]
pub(super) struct Holiday {
    when: When,
    since: i16,
    until: i16,
}

#[derive(Debug)]
enum When {
    /// The same day every year.
    Yearly { month: i8, day: i8 },
    /// A number of days from Easter Sunday.
    Easter(i32),
    /// The nth weekday of this kind in the month; a negative n counts from the end of the month.
    Nth { nth: i8, weekday: Weekday, month: i8 },
    /// The last such weekday before that day.
    Before { weekday: Weekday, month: i8, day: i8 },
    /// Exactly these days.
    Listed(Vec<Date>),
}

impl Holiday {
    pub(super) fn days(&self, year: i16) -> Vec<Date> {
        if !(self.since..=self.until).contains(&year) {
            return Vec::new();
        }
        let one = match &self.when {
            When::Listed(days) => {
                let of_year = |day: &&Date| day.civil().year() == year;
                return days.iter().filter(of_year).copied().collect();
            }
            When::Yearly { month, day } => Date::new(year, *month, *day),
            When::Easter(days) => easter(year).map(|sunday| sunday.plus_days(*days)),
            When::Nth { nth, weekday, month } => nth_weekday(year, *month, *weekday, *nth),
            When::Before { weekday, month, day } => Date::new(year, *month, *day).and_then(|day| {
                let mut before = (1..=7).map(|days| day.plus_days(-days));
                before.find(|&day| Weekday::of(day) == *weekday)
            }),
        };
        one.into_iter().collect()
    }
}

fn nth_weekday(year: i16, month: i8, weekday: Weekday, nth: i8) -> Option<Date> {
    let days = (1..=31).filter_map(|day| Date::new(year, month, day));
    let found: Vec<Date> = days.filter(|&day| Weekday::of(day) == weekday).collect();
    let place = usize::from(nth.unsigned_abs()).checked_sub(1)?;
    if nth > 0 { found.get(place).copied() } else { found.iter().rev().nth(place).copied() }
}

/// Easter Sunday of the Gregorian calendar, by the anonymous algorithm in Meeus' arrangement.
pub(super) fn easter(year: i16) -> Option<Date> {
    let year_number = i32::from(year);
    let golden = year_number % 19;
    let (century, of_century) = (year_number / 100, year_number % 100);
    let correction = (century - (century + 8) / 25 + 1) / 3;
    let epact = (19 * golden + century - century / 4 - correction + 15) % 30;
    let to_sunday = (32 + 2 * (century % 4) + 2 * (of_century / 4) - epact - of_century % 4) % 7;
    let shift = (golden + 11 * epact + 22 * to_sunday) / 451;
    let days = epact + to_sunday - 7 * shift + 114;
    let (month, day) = (i8::try_from(days / 31).ok()?, i8::try_from(days % 31 + 1).ok()?);
    Date::new(year, month, day)
}

type Read = (Vec<Weekday>, i64, Vec<(Holiday, Moved)>);

impl Sheet {
    pub(super) fn read(self) -> Result<Read, String> {
        let weekend = self.weekend.unwrap_or(vec![Weekday::Sat, Weekday::Sun]);
        if weekend.len() > 6 {
            return Err("a week needs a business day".to_owned());
        }
        let cut_off = time_of_day(self.cut_off.as_deref().unwrap_or("16:00"))?;
        let usual = weekend == [Weekday::Sat, Weekday::Sun];
        let rules = self.holidays.into_iter().map(|row| {
            let moved = row.moved.unwrap_or(self.moved);
            let name = row.name.clone();
            if !usual && matches!(moved, Moved::SundayOnly | Moved::NearestWeekday) {
                return Err(format!("{name}: {moved:?} is of Saturdays and Sundays"));
            }
            let (holiday, listed) = row.read().map_err(|error| format!("{name}: {error}"))?;
            Ok((holiday, if listed { Moved::Lost } else { moved }))
        });
        Ok((weekend, cut_off, rules.collect::<Result<_, String>>()?))
    }
}

impl Row {
    /// The rule, and whether it is a list of days, which are never moved.
    fn read(self) -> Result<(Holiday, bool), String> {
        let Self { day, easter, weekday, nth, month, before, dates, .. } = self;
        let when = match (day, easter, weekday, nth, month, before, dates) {
            (Some(day), None, None, None, None, None, None) => {
                let (month, day) = month_and_day(&day)?;
                When::Yearly { month, day }
            }
            (None, Some(days), None, None, None, None, None) => When::Easter(days),
            (None, None, Some(weekday), Some(nth), Some(month), None, None) => {
                if nth == 0 || nth.unsigned_abs() > 5 || !(1..=12).contains(&month) {
                    return Err("expected nth from 1 to 5 or -1 to -5, and a month".to_owned());
                }
                When::Nth { nth, weekday, month }
            }
            (None, None, Some(weekday), None, None, Some(before), None) => {
                let (month, day) = month_and_day(&before)?;
                When::Before { weekday, month, day }
            }
            (None, None, None, None, None, None, Some(dates)) if self.moved.is_none() => {
                if !dates.is_sorted_by(|one, next| one < next) {
                    return Err("expected dates in ascending order without duplicates".to_owned());
                }
                When::Listed(dates)
            }
            _ => {
                return Err("expected one of { day }, { easter }, { weekday, nth, month }, \
                     { weekday, before }, and { dates } without moved"
                    .to_owned());
            }
        };
        let listed = matches!(when, When::Listed(_));
        let holiday = Holiday {
            when,
            since: self.since.unwrap_or(i16::MIN),
            until: self.until.unwrap_or(i16::MAX),
        };
        Ok((holiday, listed))
    }
}

/// `MM-DD`, of a leap year.
fn month_and_day(text: &str) -> Result<(i8, i8), String> {
    let day: Result<Date, _> = format!("2000-{text}").parse();
    let day =
        day.map_err(|_| format!("expected a day of the year such as 12-25, but found {text}"))?;
    Ok((day.civil().month(), day.civil().day()))
}

/// `HH:MM` in milliseconds.
fn time_of_day(text: &str) -> Result<i64, String> {
    let time: Result<civil::Time, _> = text.parse();
    let time = time.ok().filter(|_| text.len() == 5);
    let time =
        time.ok_or_else(|| format!("expected a time of day such as 16:00, but found {text}"))?;
    Ok((i64::from(time.hour()) * 60 + i64::from(time.minute())) * 60_000)
}
