//! Compliance data of a pack: filings and their due dates, payslip law, minimum wages, sources. It is typed and complete, so a due date can
//! be calculated without the TOML. The calculation is elsewhere.

use jiff::civil::Date;
use serde::{Deserialize, Deserializer, Serialize};

/// A filing or payment that an employer owes to an authority.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Filing {
    /// Short name of the form, such as `P10`.
    pub form: String,
    /// The title of the form.
    pub title: String,
    /// The authority, such as `KRA`.
    pub authority: String,
    /// How often.
    pub frequency: Frequency,
    /// When.
    pub due: Due,
    /// How the day moves if it is not a business day. It stays if absent.
    #[serde(default)]
    pub roll: Option<Roll>,
    /// The calendar of the authority, if its business days are not those of the country.
    #[serde(default)]
    pub calendar: Option<String>,
    /// When the payment is due, if not on the day of the form.
    #[serde(default)]
    pub remit: Option<Remit>,
    /// When the payment is due, if the law sets a deposit schedule.
    #[serde(default)]
    pub deposit: Option<Deposit>,
    /// Ids of the role lines that it reports.
    #[serde(default)]
    pub lines: Vec<String>,
}

/// The form that the payment of a line belongs to: one of the authority's forms that name the line, or that name no line and have a day of
/// payment. If there are several, the form that is paid first.
pub(super) fn payment_form(filings: &[Filing], line: &str, authority: &str) -> Option<String> {
    let of_authority = filings.iter().filter(|filing| filing.authority == authority);
    let reports = of_authority.filter(|filing| match filing.lines.as_slice() {
        [] => filing.remit.is_some() || filing.deposit.is_some(),
        lines => lines.iter().any(|name| name == line),
    });
    reports.min_by_key(|filing| filing.payment_rank()).map(|filing| filing.form.clone())
}

impl Filing {
    /// The order in which an authority's forms are paid: first the ones with a day of payment of their own, then the ones of a month.
    #[must_use]
    pub const fn payment_rank(&self) -> u8 {
        match self.frequency {
            _ if self.deposit.is_some() || self.remit.is_some() => 0,
            Frequency::Monthly => 1,
            Frequency::EveryPayday | Frequency::Weekly => 2,
            Frequency::Quarterly => 3,
            Frequency::HalfYearly => 4,
            Frequency::Annual => 5,
        }
    }

    /// The number of months that one payment covers: those of the deposit schedule, if there is one.
    #[must_use]
    pub fn months_paid(&self) -> u8 {
        let deposit = self.deposit.as_ref().map(|deposit| deposit.schedule);
        deposit.unwrap_or(self.frequency).months()
    }
}

/// How often a return is filed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Frequency {
    /// With every payment of wages.
    EveryPayday,
    /// 52 a year.
    Weekly,
    /// 12 a year.
    Monthly,
    /// 4 a year.
    Quarterly,
    /// 2 a year.
    HalfYearly,
    /// Once a year.
    Annual,
}

impl Frequency {
    /// The number of months that one filing or payment covers; 1 if it is made more often.
    #[must_use]
    pub const fn months(self) -> u8 {
        match self {
            Self::EveryPayday | Self::Weekly | Self::Monthly => 1,
            Self::Quarterly => 3,
            Self::HalfYearly => 6,
            Self::Annual => 12,
        }
    }
}

/// When a filing is due.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(try_from = "RawDue")]
pub enum Due {
    /// On a day of the month, a number of months after the period's last month.
    MonthsAfter {
        /// Months after the month the period ends in.
        months: u8,
        /// The day of that month.
        day: Day,
    },
    /// No later than the day wages are paid.
    OnPayDate,
    /// A number of business days after wages are paid.
    BusinessDaysAfterPay(u8),
    /// A number of months after wages are paid.
    MonthsAfterPay(u8),
    /// On a day of the month after the tax month's end.
    DayAfterTaxMonth(u8),
    /// On a day of the calendar year after the tax year's end.
    DayOfYear {
        /// 1 to 12.
        month: u8,
        /// The day of that month.
        day: Day,
    },
}

/// A day of a month. A number past the month's end means its last day.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(try_from = "toml::Value")]
pub enum Day {
    /// 1 to 31.
    Number(u8),
    /// The last day.
    Last,
}

/// How a due date moves if it is not a business day.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Roll {
    /// Back.
    PreviousBusinessDay,
    /// On.
    NextBusinessDay,
}

/// Days of the month on which the payment is due, by payment method.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Remit {
    /// Paid electronically.
    pub day_electronic: u8,
    /// Paid in any other way.
    pub day_other: u8,
}

/// The deposit schedule of a payment.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Deposit {
    /// How often.
    pub schedule: Frequency,
    /// Months after the month of pay.
    pub months_after: u8,
    /// The day of that month.
    pub day: Day,
    /// Amounts up to this limit, in minor units, are carried to the next payment day of the schedule, but not beyond
    /// the year of the filing.
    #[serde(default)]
    pub carry_upto: Option<i64>,
    /// Who uses another schedule, as free text.
    #[serde(default)]
    pub alternative: Option<String>,
}

/// The law's requirements for a payslip.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Payslip {
    /// Whether a law requires a payslip.
    pub statutory: bool,
    /// The required contents.
    pub fields: Vec<String>,
    /// Attributes of the employee that a printed payslip shows, each with its label.
    #[serde(default)]
    pub attributes: Vec<(String, String)>,
}

/// A minimum wage from a given day.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MinimumWage {
    /// Minor units of the pack's currency.
    pub amount: i64,
    /// The time that the amount pays for.
    pub per: WagePer,
    /// First day.
    #[serde(deserialize_with = "civil_date")]
    pub from: Date,
    /// The employees it applies to, and other rates.
    #[serde(default)]
    pub note: Option<String>,
}

/// The time that a minimum wage pays for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum WagePer {
    /// An hour.
    Hour,
    /// A day.
    Day,
    /// A week.
    Week,
    /// A month.
    Month,
    /// A year.
    Year,
}

/// The source of a figure in the pack.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Source {
    /// Short name.
    pub id: String,
    /// Title, and what was used from it.
    pub title: String,
    /// Its address.
    #[serde(default)]
    pub url: Option<String>,
}

/// `due` as written: one of five sets of keys.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawDue {
    months_after: Option<u8>,
    day: Option<Day>,
    month: Option<u8>,
    on_or_before: Option<String>,
    business_days_after_pay: Option<u8>,
    months_after_pay: Option<u8>,
    day_after_tax_month: Option<u8>,
}

impl TryFrom<RawDue> for Due {
    type Error = String;

    fn try_from(raw: RawDue) -> Result<Self, String> {
        let RawDue { months_after, day, month, on_or_before, .. } = raw;
        let counted = (raw.business_days_after_pay, raw.months_after_pay, raw.day_after_tax_month);
        match (months_after, day, month, on_or_before.as_deref(), counted) {
            (Some(months), Some(day), None, None, (None, None, None)) => {
                Ok(Self::MonthsAfter { months, day })
            }
            (None, Some(day), Some(month @ 1..=12), None, (None, None, None)) => {
                Ok(Self::DayOfYear { month, day })
            }
            (None, None, None, Some("pay_date"), (None, None, None)) => Ok(Self::OnPayDate),
            (None, None, None, None, (Some(days), None, None)) => {
                Ok(Self::BusinessDaysAfterPay(days))
            }
            (None, None, None, None, (None, Some(months), None)) => {
                Ok(Self::MonthsAfterPay(months))
            }
            (None, None, None, None, (None, None, Some(day @ 1..=31))) => {
                Ok(Self::DayAfterTaxMonth(day))
            }
            _ => Err("`due` must be { months_after, day }, { month, day }, { on_or_before = \
                \"pay_date\" }, { business_days_after_pay }, { months_after_pay } or { day_after_tax_month }"
                .to_owned()),
        }
    }
}

impl TryFrom<toml::Value> for Day {
    type Error = String;

    fn try_from(value: toml::Value) -> Result<Self, String> {
        match &value {
            toml::Value::String(text) if text == "last" => Ok(Self::Last),
            toml::Value::Integer(day @ 1..=31) => {
                Ok(Self::Number(u8::try_from(*day).expect("1 to 31 fits")))
            }
            _ => Err(format!("`{value}` is not a day of a month: expected 1 to 31 or \"last\"")),
        }
    }
}

/// Reads a TOML local date.
pub(super) fn civil_date<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Date, D::Error> {
    let written = toml::value::Datetime::deserialize(deserializer)?;
    let (Some(date), None, None) = (written.date, written.time, written.offset) else {
        let message = format!("`{written}` is not a date such as 2026-04-06");
        return Err(serde::de::Error::custom(message));
    };
    let parts = (i16::try_from(date.year), i8::try_from(date.month), i8::try_from(date.day));
    let (Ok(year), Ok(month), Ok(day)) = parts else {
        return Err(serde::de::Error::custom(format!("`{written}` is out of range")));
    };
    Date::new(year, month, day).map_err(serde::de::Error::custom)
}
