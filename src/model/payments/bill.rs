//! A bill: what the company owes to a supplier for goods or services, with tax.

use crate::model::Account;
use crate::model::payments::Beneficiary;
use crate::model::payments::invoice::TaxOfRate;
use crate::model::prelude::*;

states! {
    /// Status of a bill. Whether it is overdue is a separate member.
    BillStatus { Draft "draft", Approved "approved", PartiallyPaid "partially_paid", Paid "paid", Void "void" }
    "approve": Draft => Approved;
    "pay_part": Approved | PartiallyPaid => PartiallyPaid;
    "pay": Approved | PartiallyPaid => Paid;
    "void": Draft | Approved => Void;
}

impl BillStatus {
    /// Whether an amount is outstanding.
    pub(crate) const fn is_owed(self) -> bool {
        matches!(self, Self::Approved | Self::PartiallyPaid)
    }
}

/// The supplier who sent the bill.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub(crate) struct Vendor {
    /// The name of the supplier.
    pub(crate) name: String,
    /// The beneficiary that represents the supplier, if any.
    pub(crate) beneficiary_id: Option<Id<Beneficiary>>,
}

/// One item bought.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub(crate) struct BillLine {
    /// The item bought.
    pub(crate) description: String,
    /// The expense account.
    pub(crate) account: Account,
    /// The number of units.
    pub(crate) quantity: i64,
    /// Price of one unit in minor units, without tax.
    pub(crate) unit_amount: i64,
    /// Tax rate in basis points: 750 is 7.5 %.
    pub(crate) tax_rate: u32,
    /// Total of the line in minor units, without tax.
    pub(crate) amount: i64,
}

resource! {
    /// What the company owes to a supplier for goods or services.
    Bill: BillStatus {
        /// The company that must pay the bill.
        company_id: Id<Company>,
        /// Current status.
        status: BillStatus,
        /// The supplier who sent the bill.
        vendor: Vendor,
        /// The supplier's number of the bill, if any.
        number: Option<String>,
        /// The items bought.
        lines: Vec<BillLine>,
        /// The tax by rate, lowest rate first.
        taxes: Vec<TaxOfRate>,
        /// Total without tax, in minor units.
        net_total: i64,
        /// Total tax, in minor units.
        tax_total: i64,
        /// The part of the tax that the company deducts from its own, in minor units. The rest is part of the expense.
        tax_recoverable: i64,
        /// Total including tax, in minor units.
        total: i64,
        /// Currency of all amounts.
        currency: Currency,
        /// Amount paid, in minor units.
        amount_paid: i64,
        /// Amount outstanding, in minor units; 0 for a void bill.
        amount_due: i64,
        /// The date of the bill: the accounting date of its expense.
        issued_on: Date,
        /// The last day to pay.
        due_date: Date,
        /// Whether the due date has passed and an amount is outstanding.
        overdue: bool,
    }
}

impl Bill {
    /// The cost by account, in the order of the lines: the net amounts, and the tax that cannot be deducted.
    pub(crate) fn expenses(&self) -> Vec<(Account, i64)> {
        self.with_tax(self.tax_total - self.tax_recoverable)
    }

    /// The amounts to pay by account, in the order of the lines: the net amounts and the whole tax. They sum to the
    /// total.
    pub(crate) fn payments(&self) -> Vec<(Account, i64)> {
        self.with_tax(self.tax_total)
    }

    /// The net amounts by account, with `tax` split in proportion to the tax on the lines. The parts sum to `tax`.
    fn with_tax(&self, tax: i64) -> Vec<(Account, i64)> {
        let mut costs: Vec<(Account, i64)> = Vec::new();
        let mut add = |account, amount| match costs.iter_mut().find(|(known, _)| *known == account)
        {
            Some((_, sum)) => *sum += amount,
            None => costs.push((account, amount)),
        };
        for line in &self.lines {
            add(line.account, line.amount);
        }
        let weight = |line: &BillLine| i128::from(line.amount) * i128::from(line.tax_rate);
        let all: i128 = self.lines.iter().map(weight).sum();
        let part = |weight: i128| {
            let part = i128::from(tax) * weight / all.max(1);
            i64::try_from(part).expect("a part of the tax")
        };
        let mut before = 0;
        for line in self.lines.iter().filter(|_| tax > 0) {
            let until = before + weight(line);
            add(line.account, part(until) - part(before));
            before = until;
        }
        costs
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bill(tax_recoverable: i64) -> Bill {
        let line = |account: &str, tax_rate, amount| BillLine {
            description: String::new(),
            account: Account::find(account).expect("an account"),
            quantity: 1,
            unit_amount: amount,
            tax_rate,
            amount,
        };
        Bill {
            id: Id::UNKNOWN,
            object: Object::NAME,
            company_id: Id::UNKNOWN,
            status: BillStatus::Draft,
            vendor: Vendor { name: String::new(), beneficiary_id: None },
            number: None,
            lines: vec![line("rent", 1_000, 5), line("fees", 0, 100), line("purchases", 1_000, 10)],
            taxes: vec![
                TaxOfRate { rate: 0, net: 100, tax: 0 },
                TaxOfRate { rate: 1_000, net: 15, tax: 2 },
            ],
            net_total: 115,
            tax_total: 2,
            tax_recoverable,
            total: 117,
            currency: Currency::new("USD").expect("a currency"),
            amount_paid: 0,
            amount_due: 117,
            issued_on: Date::FIRST,
            due_date: Date::FIRST,
            overdue: false,
            created_at: Timestamp::EPOCH,
            updated_at: Timestamp::EPOCH,
            metadata: Metadata::default(),
            status_history: StatusHistory::default(),
        }
    }

    /// IAS 2, paragraph 11: taxes that the company cannot recover are part of the cost.
    #[test]
    fn tax_that_cannot_be_recovered_is_part_of_the_expense() {
        let costs = |bill: &Bill| -> Vec<(String, i64)> {
            let costs = bill.expenses().into_iter();
            costs.map(|(account, amount)| (account.to_string(), amount)).collect()
        };
        let expected = |rent, purchases| {
            [("rent", rent), ("fees", 100), ("purchases", purchases)]
                .map(|(account, amount)| (account.to_owned(), amount))
        };
        assert_eq!(costs(&bill(2)), expected(5, 10));
        assert_eq!(costs(&bill(0)), expected(5, 12));
        assert_eq!(costs(&bill(1)), expected(5, 11));
    }

    /// The supplier is paid the whole tax, with and without a deduction.
    #[test]
    fn the_payment_of_each_account_includes_its_tax() {
        for recoverable in [0, 1, 2] {
            let paid = bill(recoverable).payments().into_iter();
            let paid: Vec<_> =
                paid.map(|(account, amount)| (account.to_string(), amount)).collect();
            let expected = [("rent", 5), ("fees", 100), ("purchases", 12)];
            assert_eq!(paid, expected.map(|(account, amount)| (account.to_owned(), amount)));
        }
    }
}
