//! Authorities that receive withheld taxes and contributions, and the ledger account of each.

use crate::model::Account;

/// An authority that receives taxes or contributions, named by the code that payroll packs use.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Authority(&'static str);

/// Code, name, and whether the money is pension money. The chart of accounts keeps pension money apart.
const AUTHORITIES: &[(&str, &str, bool)] = &[
    ("HMRC", "HM Revenue & Customs", false),
    ("IRS", "the Internal Revenue Service", false),
    ("SSA", "the Social Security Administration", false),
    ("EDD", "the California Employment Development Department", false),
    ("FDOR", "the Florida Department of Revenue", false),
    ("IDOR", "the Illinois Department of Revenue", false),
    ("NYS", "the New York State Department of Taxation and Finance", false),
    ("NYSIF", "the New York State Insurance Fund", false),
    ("TWC", "the Texas Workforce Commission", false),
    ("CRA", "the Canada Revenue Agency", false),
    ("KRA", "the Kenya Revenue Authority", false),
    ("NSSF", "the National Social Security Fund", false),
    ("SHA", "the Social Health Authority", false),
    ("SIRS", "the State Internal Revenue Service", false),
    ("PenCom", "the pension fund custodian", true),
    ("NSITF", "the Nigeria Social Insurance Trust Fund", false),
    ("ITF", "the Industrial Training Fund", false),
    ("FMBN", "the Federal Mortgage Bank of Nigeria", false),
    ("SARS", "the South African Revenue Service", false),
    ("vat", "the authority for tax on sales", false),
    (OTHER, "the tax office", false),
];

/// Ids of payroll pack lines that no filing of the pack names.
const UNFILED: &[(&str, &str)] = &[
    ("nsitf", "NSITF"),
    ("itf", "ITF"),
    ("nhf", "FMBN"),
    // Premiums of family leave and disability insurance go to the employer's insurer.
    ("pfl", "NYSIF"),
    ("dbl", "NYSIF"),
];

/// An authority without a row of its own, as in the flat pack of other countries.
const OTHER: &str = "other";

impl Authority {
    /// Tax on sales, for every tax office.
    pub(crate) const VAT: Self = Self("vat");

    /// Every authority.
    pub(crate) fn all() -> impl Iterator<Item = Self> {
        AUTHORITIES.iter().map(|(code, _, _)| Self(code))
    }

    /// The authority with that code.
    pub(crate) fn find(code: &str) -> Option<Self> {
        AUTHORITIES.iter().find(|(known, _, _)| *known == code).map(|(known, _, _)| Self(known))
    }

    /// The authority that a pack's line is paid to: the one its filings name, or the one known for the line itself.
    pub(crate) fn of_line(line: &str, filed_with: Option<&str>) -> Self {
        let unfiled = || UNFILED.iter().find(|(id, _)| *id == line).map(|(_, code)| *code);
        filed_with.or_else(unfiled).and_then(Self::find).unwrap_or(Self(OTHER))
    }

    pub(crate) const fn code(self) -> &'static str {
        self.0
    }

    /// The display name.
    pub(crate) fn name(self) -> &'static str {
        AUTHORITIES.iter().find(|(code, _, _)| *code == self.0).map_or(self.0, |(_, name, _)| name)
    }

    /// The account that holds the money due to it.
    pub(crate) fn account(self) -> Account {
        let pension = AUTHORITIES.iter().any(|(code, _, pension)| *code == self.0 && *pension);
        if pension { Account::PensionPayable } else { Account::TaxPayable(self) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::payroll::{self, Role};

    #[test]
    fn every_tax_of_every_pack_has_a_known_authority() {
        // Court orders have receivers of their own, which are no authorities.
        for pack in payroll::library().packs().filter(|pack| pack.country != "XX") {
            let taxes = pack.lines().iter().filter(|line| line.role != Role::EmployeeDeduction);
            for line in taxes {
                let authority = Authority::of_line(&line.id, line.authority.as_deref());
                assert!(authority.code() != OTHER, "{} {}", pack.code, line.id);
            }
        }
    }
}
