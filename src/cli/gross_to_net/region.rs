//! The calculation by the pack of a region, which an attribute such as `state=NY` selects.

use jiff::civil::Date;

use super::outcome::{Error, split};
use crate::model::payroll::{
    Component, InForce, Pack, Pay, PayInput, PayPeriod, Profile, Role, YearToDate, library,
};

/// The part of a pay that the pack of a region calculates. Its totals to date begin at zero.
pub(super) struct Region {
    pub(super) pack: &'static Pack,
    pub(super) pay: Pay,
}

/// Attributes as they are on the command line: those of the country's pack, and those of the region's, without their prefix.
pub(super) struct Attributes<'a> {
    pub(super) national: Vec<(&'a str, &'a str)>,
    own: Vec<(&'a str, &'a str)>,
}

impl<'a> Attributes<'a> {
    pub(super) fn read(pack: &Pack, pairs: &'a [String]) -> Result<Self, Error> {
        let mut read = Self { national: Vec::new(), own: Vec::new() };
        for pair in pairs {
            let (name, value) = split(pair)?;
            let prefix = pack.regions.as_deref();
            let own = prefix.and_then(|prefix| name.strip_prefix(prefix)?.strip_prefix('.'));
            match own {
                Some(own) => read.own.push((own, value)),
                None => read.national.push((name, value)),
            }
        }
        Ok(read)
    }

    /// The pack of the region that the attributes name, with the employee's values. `None` if they name no region, or
    /// a region without a pack.
    fn region(&self, pack: &Pack, day: Date) -> Result<Option<(&'static Pack, Profile)>, Error> {
        let named = self.national.iter().find(|(name, _)| Some(*name) == pack.regions.as_deref());
        let found = named.and_then(|(_, region)| library().of_region(&pack.country, region, day));
        match found {
            Some(InForce { pack, .. }) => Ok(Some((pack, pack.profile(self.own.iter().copied())?))),
            None if self.own.is_empty() => Ok(None),
            None => {
                let attribute = pack.regions.as_deref().unwrap_or("region");
                let message = format!("`{attribute}.…` needs `{attribute}` with a pack of its own");
                Err(Error::Usage(message))
            }
        }
    }
}

impl Region {
    /// Calculates the pay with the pack of the region.
    pub(super) fn of(
        (national, profile): (&Pack, &Profile),
        attributes: &Attributes<'_>,
        (period, date): (PayPeriod, Option<Date>),
        (earnings, number): (&[(String, i64)], u32),
    ) -> Result<Option<Self>, Error> {
        let day = date.unwrap_or(national.effective_from);
        let Some((pack, mut own)) = attributes.region(national, day)? else { return Ok(None) };
        for (input, amount) in national.inputs.iter().zip(&profile.inputs) {
            // Amounts of deductions are of both packs.
            if input.name.starts_with("deduction.")
                && let Ok(place) = pack.input(&input.name)
            {
                own.inputs[place] = *amount;
            }
        }
        let earnings: Vec<(Component, i64)> =
            earnings.iter().map(|(name, amount)| (pack.component(name), *amount)).collect();
        let pay = pack.evaluate(&PayInput {
            period,
            number,
            attributes: own.attributes,
            inputs: &own.inputs,
            on: date,
            earnings: &earnings,
            ytd: &YearToDate::start(),
        })?;
        Ok(Some(Self { pack, pay }))
    }

    /// The amount withheld from the employee.
    pub(super) fn withheld(&self) -> i64 {
        let lines = self.pack.lines().iter().zip(&self.pay.amounts);
        let of_employer = |role| matches!(role, Role::EmployerTax | Role::EmployerSocial);
        lines.filter(|(line, _)| !of_employer(line.role)).map(|(_, amount)| amount).sum()
    }
}
