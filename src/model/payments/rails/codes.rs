//! The codes that a rule, a scenario or a magic value may name.

use crate::model::payments::rails::{
    PaymentRail, RailCode, RailDirection, RailId, all, corrections, refusals, returns,
};

/// The most codes that a message lists.
const MOST_LISTED: usize = 6;

/// The payments of a decision.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Scope {
    /// Credits to an account.
    Payouts,
    /// Money from payers.
    Collections,
    /// Money back to payers.
    Refunds,
    /// Debits that come back after they were paid.
    Returns,
    /// Payouts that arrive although details of the account are wrong.
    Corrections,
}

impl Scope {
    const fn noun(self) -> &'static str {
        match self {
            Self::Payouts => "payouts",
            Self::Collections => "collections",
            Self::Refunds => "refunds",
            Self::Returns => "returned direct debits",
            Self::Corrections => "notifications of change",
        }
    }

    /// Whether callers can name a code of the rail without naming the rail.
    fn covers(self, rail: &PaymentRail) -> bool {
        match self {
            Self::Payouts | Self::Corrections => rail.direction == RailDirection::Credit,
            Self::Collections => rail.direction == RailDirection::Debit,
            Self::Refunds => rail.direction == RailDirection::Credit || rail.refunds,
            Self::Returns => rail.serves.debits(),
        }
    }

    /// Whether payments of this scope can use the rail.
    fn uses(self, rail: &PaymentRail) -> bool {
        self.covers(rail) || (self == Self::Collections && rail.serves.collects())
    }

    /// The codes of the rail for payments of this scope.
    pub(super) fn codes(
        self,
        rail: &'static PaymentRail,
    ) -> impl Iterator<Item = &'static RailCode> {
        let codes: Box<dyn Iterator<Item = _>> = match self {
            Self::Payouts | Self::Collections | Self::Refunds => Box::new(refusals(rail)),
            Self::Returns => Box::new(returns(rail)),
            Self::Corrections => Box::new(corrections(rail)),
        };
        codes
    }

    /// The reason of a code: that of the first rail of the table that has it.
    pub(super) fn reason(self, code: &str) -> Option<&'static str> {
        let rails = || all().iter().filter(|rail| self.covers(rail)).chain(all());
        let mut codes = rails().filter(|rail| self.uses(rail)).flat_map(|rail| self.codes(rail));
        codes.find(|own| own.code == code).map(|own| &*own.reason)
    }

    /// Checks a code that is named for payments of that rail, or of any rail. The error says what is wrong, and lists valid codes.
    pub(crate) fn check(self, rail: Option<RailId>, code: &str) -> Result<(), String> {
        if let Some(rail) = rail.map(RailId::rail) {
            let known = self.codes(rail).any(|own| own.code == code);
            let listed = listed(self.codes(rail).map(|own| own.code.clone()));
            let detail = format!("{} has no such code: expected one of {listed}", rail.id);
            return if known { Ok(()) } else { Err(detail) };
        }
        let mut covered = all().iter().filter(|rail| self.covers(rail));
        if covered.clone().flat_map(|rail| self.codes(rail)).any(|own| own.code == code) {
            return Ok(());
        }
        let noun = self.noun();
        let other = all().iter().find(|rail| refusals(rail).any(|own| own.code == code));
        let wrong = match other {
            Some(other) => format!("{code} is a code of {}, which {noun} do not use", other.id),
            None => "no payment rail has this code for a refusal or a return".to_owned(),
        };
        let examples = covered.by_ref().filter_map(|rail| {
            let first = self.codes(rail).next()?;
            Some(format!("{} ({})", first.code, rail.id))
        });
        let examples = listed(examples);
        Err(format!("{wrong}: expected a code of the rails of {noun}, such as {examples}"))
    }

    /// The rail of that name, if payments of this scope can use it.
    pub(crate) fn rail(self, name: &str) -> Result<RailId, String> {
        if let Some(found) = RailId::find(name).filter(|found| self.uses(found.rail())) {
            return Ok(found);
        }
        let known = all().iter().filter(|rail| self.uses(rail)).map(|rail| &*rail.id);
        let known = known.collect::<Vec<_>>().join(", ");
        Err(format!("{} do not travel by this rail: expected one of {known}", self.noun()))
    }

    /// The code chosen by a reserved account number: `9999999902` is `R02`. `None` if the number chooses no code for
    /// payments of this scope.
    pub(crate) fn magic_code(self, number: &str) -> Option<String> {
        named_code(number).filter(|code| self.check(None, code).is_ok())
    }

    /// Checks a reserved account number for payments of this scope.
    pub(crate) fn check_account(self, number: &str) -> Result<(), String> {
        match named_code(number) {
            Some(code) => self.check(None, &code).map_err(|wrong| {
                format!("this reserved number chooses the return code {code}, but {wrong}")
            }),
            None => Ok(()),
        }
    }
}

fn named_code(number: &str) -> Option<String> {
    let digits = number.strip_prefix("99999999").filter(|digits| digits.len() == 2)?;
    let number: u8 = digits.parse().ok()?;
    (1..=85).contains(&number).then(|| format!("R{number:02}"))
}

fn listed(names: impl Iterator<Item = String>) -> String {
    let mut names: Vec<String> = names.take(MOST_LISTED + 1).collect();
    if names.len() > MOST_LISTED {
        names.truncate(MOST_LISTED);
        names.push("…".to_owned());
    }
    names.join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Nacha: R01 and R29 are returns of debits, R23 is a return of a credit.
    #[test]
    fn a_code_of_the_other_direction_is_refused() {
        for (scope, good, bad) in [
            (
                Scope::Payouts,
                &["R02", "R23", "AC04", "ARUCS B", "07"][..],
                &["R01", "R29", "ARUDD 0"][..],
            ),
            (
                Scope::Collections,
                &["R01", "R29", "51", "ARUDD 0", "AM04"],
                &["R23", "ARUCS B", "1160"],
            ),
            (Scope::Refunds, &["R02", "46", "1160"], &["R01", "ARUDD 0"]),
            (Scope::Returns, &["R01", "R10", "DDICA 5", "MD06"], &["R23", "1160"]),
        ] {
            for code in good {
                assert_eq!(scope.check(None, code), Ok(()), "{scope:?} {code}");
                assert!(scope.reason(code).is_some(), "{scope:?} {code}");
            }
            for code in bad {
                let wrong = scope.check(None, code).expect_err(code);
                assert!(wrong.contains("which") && wrong.contains("such as"), "{wrong}");
            }
        }
    }

    #[test]
    fn a_named_rail_takes_its_own_codes_only() {
        let nip = Scope::Payouts.rail("ng_nip").expect("a rail");
        assert_eq!(Scope::Payouts.check(Some(nip), "07"), Ok(()));
        let wrong = Scope::Payouts.check(Some(nip), "R02").expect_err("a code of the ACH");
        assert!(wrong.starts_with("ng_nip has no such code: expected one of 03,"), "{wrong}");
        assert!(Scope::Payouts.rail("us_ach_debit").is_err());
        assert!(Scope::Collections.rail("ng_nip").is_ok(), "payers transfer by it");
    }

    #[test]
    fn successes_and_information_are_no_refusals() {
        for code in ["00", "0", "C01", "AWACS 3", "DDICA 1", "R99", "r02", ""] {
            for scope in [Scope::Payouts, Scope::Collections, Scope::Refunds] {
                assert!(scope.check(None, code).is_err(), "{scope:?} {code}");
            }
        }
    }

    #[test]
    fn reserved_numbers_choose_codes_of_the_direction() {
        assert_eq!(Scope::Payouts.check_account("9999999902"), Ok(()));
        assert!(Scope::Payouts.check_account("9999999901").is_err());
        assert_eq!(Scope::Collections.check_account("9999999901"), Ok(()));
        assert!(Scope::Collections.check_account("9999999923").is_err());
        for number in ["9999999900", "9999999990", "9999999986", "12345678", "999999990"] {
            assert_eq!(Scope::Payouts.check_account(number), Ok(()), "{number}");
        }
    }
}
