//! Money: whole minor units in `i64`, never a float, with an ISO 4217 currency.

use core::fmt;
use std::borrow::Cow;
use std::sync::LazyLock;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

/// Active ISO 4217 currencies without a minor unit.
const WHOLE: &str = "BIF CLP DJF GNF ISK JPY KMF KRW PYG RWF UGX VND VUV XAF XOF XPF";

/// Active ISO 4217 currencies with thousandths.
const THOUSANDTHS: &str = "BHD IQD JOD KWD LYD OMR TND";

/// Active ISO 4217 currencies with hundredths.
const HUNDREDTHS: &str = "AED AFN ALL AMD ANG AOA ARS AUD AWG AZN BAM BBD BDT BGN BMD BND BOB BRL BSD BTN BWP BYN BZD CAD CDF \
CHF CNY COP CRC CUP CVE CZK DKK DOP DZD EGP ERN ETB EUR FJD FKP GBP GEL GHS GIP GMD GTQ GYD HKD HNL HTG HUF IDR ILS INR IRR JMD \
KES KGS KHR KPW KYD KZT LAK LBP LKR LRD LSL MAD MDL MGA MKD MMK MNT MOP MRU MUR MVR MWK MXN MYR MZN NAD NGN NIO NOK NPR NZD PAB \
PEN PGK PHP PKR PLN QAR RON RSD RUB SAR SBD SCR SDG SEK SGD SHP SLE SOS SRD SSP STN SVC SYP SZL THB TJS TMT TOP TRY TTD TWD TZS \
UAH USD UYU UZS VES WST XCD YER ZAR ZMW";

/// All codes, sorted.
static CODES: LazyLock<Vec<[u8; 3]>> = LazyLock::new(|| {
    let codes = [WHOLE, HUNDREDTHS, THOUSANDTHS].into_iter().flat_map(str::split_ascii_whitespace);
    let mut codes: Vec<[u8; 3]> =
        codes.map(|code| code.as_bytes().try_into().expect("a code has three letters")).collect();
    codes.sort_unstable();
    codes
});

/// A currency of ISO 4217.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Currency([u8; 3]);

impl Currency {
    /// The currency with that code, if ISO 4217 has it.
    #[must_use]
    pub fn new(code: &str) -> Option<Self> {
        let code: [u8; 3] = code.as_bytes().try_into().ok()?;
        CODES.binary_search(&code).ok().map(|_| Self(code))
    }

    /// Every currency, by code.
    pub fn all() -> impl Iterator<Item = Self> {
        CODES.iter().copied().map(Self)
    }

    /// The three letters.
    ///
    /// # Panics
    /// Never: codes are ASCII.
    #[must_use]
    pub fn code(&self) -> &str {
        core::str::from_utf8(&self.0).expect("a currency code is ASCII")
    }

    /// Decimal places of the minor unit: 0 for JPY, 2 for EUR, 3 for KWD.
    #[must_use]
    pub fn exponent(&self) -> u32 {
        match self.code() {
            code if WHOLE.contains(code) => 0,
            code if THOUSANDTHS.contains(code) => 3,
            _ => 2,
        }
    }

    /// Minor units in one major unit.
    #[must_use]
    pub fn minor_per_major(&self) -> i64 {
        10_i64.pow(self.exponent())
    }

    /// `1234.50 EUR`: for display, not for JSON.
    #[must_use]
    pub fn display(&self, minor: i64) -> String {
        let unit = self.minor_per_major();
        let sign = if minor < 0 { "-" } else { "" };
        let (whole, part) = (
            minor.unsigned_abs() / unit.unsigned_abs(),
            minor.unsigned_abs() % unit.unsigned_abs(),
        );
        match self.exponent() {
            0 => format!("{sign}{whole} {self}"),
            places => format!("{sign}{whole}.{part:0width$} {self}", width = places as usize),
        }
    }
}

impl fmt::Display for Currency {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.code())
    }
}

impl fmt::Debug for Currency {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.code())
    }
}

impl Serialize for Currency {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.code())
    }
}

impl<'de> Deserialize<'de> for Currency {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let code = Cow::<'de, str>::deserialize(deserializer)?;
        Self::new(&code).ok_or_else(|| de::Error::custom("no ISO 4217 currency has this code"))
    }
}

impl JsonSchema for Currency {
    fn schema_name() -> Cow<'static, str> {
        "CurrencyCode".into() // Java has a class `Currency`
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        let codes: Vec<&str> =
            CODES.iter().filter_map(|code| core::str::from_utf8(code).ok()).collect();
        json_schema!({ "type": "string", "description": "ISO 4217 currency code.", "enum": codes })
    }
}

/// A positive amount from a caller: minor units, from 1 to 10^15.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Amount(i64);

impl Amount {
    /// The largest amount that a caller may send. A world adds thousands of them in `i64`, and larger sums in `i128`.
    pub const MAX: i64 = 1_000_000_000_000_000;

    /// Minor units.
    #[must_use]
    pub const fn minor(self) -> i64 {
        self.0
    }
}

impl JsonSchema for Amount {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "Amount".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "integer", "format": "int64", "minimum": 1, "maximum": Self::MAX })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exponents_follow_iso_4217() {
        for (code, exponent) in [("USD", 2), ("NGN", 2), ("JPY", 0), ("UGX", 0), ("KWD", 3)] {
            assert_eq!(Currency::new(code).map(|c| c.exponent()), Some(exponent), "{code}");
        }
        for code in ["", "usd", "XXX", "EURO", "ZZZ"] {
            assert_eq!(Currency::new(code), None, "{code}");
        }
    }

    #[test]
    fn amounts_read_as_people_write_them() {
        let shown = |code, minor| Currency::new(code).map(|c| c.display(minor)).unwrap_or_default();
        assert_eq!(shown("EUR", 123_450), "1234.50 EUR");
        assert_eq!(shown("EUR", -5), "-0.05 EUR");
        assert_eq!(shown("JPY", 700), "700 JPY");
        assert_eq!(shown("KWD", 1), "0.001 KWD");
    }
}
