//! The accounts that receive wages: one, or several that each receive a part of the net pay.

use crate::model::prelude::*;

/// The kind of account that receives wages.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum PaymentMethodType {
    Bank,
    MobileMoney,
}

/// The account that receives wages.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub(crate) struct PaymentMethod {
    #[serde(flatten)]
    pub(crate) account: WageAccount,
    /// Other accounts that receive a part of the net pay first, in this order. This account receives the rest. Absent if there are none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) splits: Vec<PaymentSplit>,
}

/// An account that receives wages.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub(crate) struct WageAccount {
    /// Bank account or mobile money.
    #[serde(rename = "type")]
    pub(crate) kind: PaymentMethodType,
    /// The bank's name, if known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) bank_name: Option<String>,
    /// The bank's code in its country, such as sort code, routing number or bank code.
    pub(crate) bank_code: String,
    /// The account number.
    pub(crate) account_number: String,
    /// The IBAN, if the country uses them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) iban: Option<String>,
    /// The account holder's name.
    pub(crate) account_name: String,
}

/// An account that receives a part of the net pay: a fixed amount or a rate.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub(crate) struct PaymentSplit {
    /// A fixed amount of each net pay, in minor units. If less net pay remains, the account receives the remaining net pay.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) amount: Option<i64>,
    /// A part of each net pay, in basis points: 2500 is a quarter. It is rounded down.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) rate_bp: Option<i64>,
    #[serde(flatten)]
    pub(crate) account: WageAccount,
}

impl PaymentSplit {
    fn of(&self, net: i64) -> i64 {
        let by_rate = i128::from(net) * i128::from(self.rate_bp.unwrap_or_default()) / 10_000;
        let by_rate = i64::try_from(by_rate).expect("a rate is at most the whole");
        self.amount.unwrap_or(by_rate)
    }
}

/// A part of a net pay for one account.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Part {
    /// The place of the account among the splits, from 1; none for the account that receives the rest.
    pub(crate) split: Option<u32>,
    pub(crate) amount: i64,
}

impl PaymentMethod {
    /// The account of a split, or the account that receives the rest if there is no such split.
    pub(crate) fn account_of(&self, split: Option<u32>) -> &WageAccount {
        let place = split.and_then(|split| usize::try_from(split).ok()?.checked_sub(1));
        let split = place.and_then(|place| self.splits.get(place));
        split.map_or(&self.account, |split| &split.account)
    }

    /// The account that receives the rest, and those of the splits.
    pub(crate) fn accounts(&self) -> impl Iterator<Item = &WageAccount> {
        core::iter::once(&self.account).chain(self.splits.iter().map(|split| &split.account))
    }

    /// The parts of a net pay. Their sum is the net pay, and none is zero.
    pub(crate) fn parts(&self, net: i64) -> Vec<Part> {
        let (mut left, mut parts) = (net, Vec::with_capacity(1 + self.splits.len()));
        for (number, split) in (1..).zip(&self.splits) {
            let amount = split.of(net).min(left);
            left -= amount;
            parts.push(Part { split: Some(number), amount });
        }
        parts.insert(0, Part { split: None, amount: left });
        parts.retain(|part| part.amount > 0);
        parts
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn account() -> WageAccount {
        WageAccount {
            kind: PaymentMethodType::Bank,
            bank_name: None,
            bank_code: "058".to_owned(),
            account_number: "0000000000".to_owned(),
            iban: None,
            account_name: "Ada Obi".to_owned(),
        }
    }

    fn parts(splits: &[(Option<i64>, Option<i64>)], net: i64) -> Vec<(Option<u32>, i64)> {
        let split = |&(amount, rate_bp): &_| PaymentSplit { amount, rate_bp, account: account() };
        let splits = splits.iter().map(split).collect();
        let method = PaymentMethod { account: account(), splits };
        let parts = method.parts(net);
        assert_eq!(parts.iter().map(|part| part.amount).sum::<i64>(), net);
        parts.iter().map(|part| (part.split, part.amount)).collect()
    }

    #[test]
    fn splits_receive_their_parts_in_order_and_the_account_receives_the_rest() {
        assert_eq!(parts(&[], 100), [(None, 100)]);
        let (fixed, third) = ((Some(40), None), (None, Some(3_333)));
        assert_eq!(parts(&[fixed, third], 100), [(None, 27), (Some(1), 40), (Some(2), 33)]);
        assert_eq!(parts(&[fixed, fixed], 70), [(Some(1), 40), (Some(2), 30)]);
        assert_eq!(parts(&[fixed, fixed], 30), [(Some(1), 30)]);
        assert_eq!(parts(&[(None, Some(10_000)), fixed], 7), [(Some(1), 7)]);
        assert_eq!(parts(&[(None, Some(1))], 7), [(None, 7)]);
    }
}
