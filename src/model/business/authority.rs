//! Authorities that receive withheld taxes and contributions, and the ledger account of each.

use crate::model::Account;

/// An authority that receives taxes or contributions, named by the code that payroll packs use.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Authority(&'static str);

/// Declares the authorities with their codes and names. The look-up is a `match`, because it runs for each line of
/// each pay and a loop is slower.
macro_rules! authorities {
    ($($code:literal $name:literal,)*) => {
        const AUTHORITIES: &[Authority] = &[$(Authority($code)),*];

        impl Authority {
            /// The authority with that code.
            pub(crate) fn find(code: &str) -> Option<Self> {
                match code {
                    $($code => Some(Self($code)),)*
                    _ => None,
                }
            }

            /// The display name.
            pub(crate) fn name(self) -> &'static str {
                match self.0 {
                    $($code => $name,)*
                    code => code,
                }
            }
        }
    };
}

authorities! {
    "HMRC" "HM Revenue & Customs",
    "IRS" "the Internal Revenue Service",
    "SSA" "the Social Security Administration",
    "EDD" "the California Employment Development Department",
    "FDOR" "the Florida Department of Revenue",
    "IDOR" "the Illinois Department of Revenue",
    "NYS" "the New York State Department of Taxation and Finance",
    "NYSIF" "the New York State Insurance Fund",
    "TWC" "the Texas Workforce Commission",
    "CRA" "the Canada Revenue Agency",
    "KRA" "the Kenya Revenue Authority",
    "NSSF" "the National Social Security Fund",
    "SHA" "the Social Health Authority",
    "SIRS" "the State Internal Revenue Service",
    "PenCom" "the pension fund custodian",
    "NSITF" "the Nigeria Social Insurance Trust Fund",
    "ITF" "the Industrial Training Fund",
    "FMBN" "the Federal Mortgage Bank of Nigeria",
    "SARS" "the South African Revenue Service",
    "vat" "the authority for tax on sales",
    "other" "the tax office",
}

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

    /// The recipient of pension contributions, which have their own account in the chart of accounts.
    const PENSION: Self = Self("PenCom");

    /// Every authority.
    pub(crate) fn all() -> impl Iterator<Item = Self> {
        AUTHORITIES.iter().copied()
    }

    /// The authority that receives the amount of a pack's line: from the pack's filings, or else from [`UNFILED`].
    pub(crate) fn of_line(line: &str, filed_with: Option<&str>) -> Self {
        let unfiled = || UNFILED.iter().find(|(id, _)| *id == line).map(|(_, code)| *code);
        filed_with.or_else(unfiled).and_then(Self::find).unwrap_or(Self(OTHER))
    }

    /// The account for the amounts payable to it.
    pub(crate) fn account(self) -> Account {
        if self == Self::PENSION { Account::PensionPayable } else { Account::TaxPayable(self) }
    }

    pub(crate) const fn code(self) -> &'static str {
        self.0
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
