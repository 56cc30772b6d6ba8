//! A date of birth. It can be earlier than all other dates in the sandbox.

use core::fmt;
use std::borrow::Cow;
use std::str::FromStr;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

use crate::value::Date;
use crate::value::short::Short;
use crate::value::wire::{number_parts, text_on_the_wire};

/// A date of birth, `YYYY-MM-DD`, from 1900.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BirthDate(Date);

impl BirthDate {
    /// The day.
    #[must_use]
    pub const fn day(self) -> Date {
        self.0
    }

    fn text(self) -> Short {
        self.0.text()
    }
}

impl FromStr for BirthDate {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        const EXPECTED: &str = "expected a calendar day such as 1961-05-31, between 1900 and 2199";
        let parts = number_parts(text, [4, 2, 2]);
        let born = parts.filter(|[year, ..]| (1900..=2199).contains(year));
        let day = born.and_then(|[year, month, day]| {
            Date::new(year, i8::try_from(month).ok()?, i8::try_from(day).ok()?)
        });
        day.map(Self).ok_or(EXPECTED)
    }
}

text_on_the_wire!(BirthDate, "BirthDate", {
    "type": "string", "format": "birth-date", "pattern": "^[0-9]{4}-[0-9]{2}-[0-9]{2}$", "examples": ["1961-05-31"]
});

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn people_were_born_long_before_the_sandbox_and_on_days_that_exist() {
        for right in ["1900-01-01", "1955-11-05", "2004-02-29"] {
            let born: BirthDate = right.parse().expect("a day");
            assert_eq!(born.to_string(), right);
        }
        for wrong in
            ["1899-12-31", "2200-01-01", "1955-02-29", "1955-00-10", "55-01-01", "1955-1-1", ""]
        {
            assert!(wrong.parse::<BirthDate>().is_err(), "{wrong}");
        }
    }
}
