//! Deductions of a type of the payroll pack: what they reduce, the order in which the law takes them, and what happens if pay does not
//! cover them.

use crate::model::business::earnings::PayLine;
use crate::model::business::pay_extras::Extras;
use crate::model::payroll::{DeductionType, Pack, Short};

fn type_of<'a>(pack: &'a Pack, line: &PayLine) -> Option<&'a DeductionType> {
    line.kind.as_ref().and_then(|kind| pack.deduction_type(kind))
}

/// Sorts deductions into the order of the pack. Those of one rank keep their order.
pub(super) fn in_legal_order(pack: &Pack, lines: &mut [PayLine]) {
    lines.sort_by_key(|line| type_of(pack, line).map_or(u8::MAX, |kind| kind.order));
}

/// Adds the deductions to the inputs of a pay.
pub(super) fn give(pack: &Pack, lines: &[PayLine], inputs: &mut [i64]) {
    for line in lines {
        if let Some(kind) = type_of(pack, line) {
            inputs[kind.input()] += line.amount;
        }
    }
}

/// Takes the deductions from what is left of the pay, in their order. Returns what later pays still owe.
pub(super) fn fit(pack: &Pack, lines: &mut [PayLine], mut left: i64) -> Vec<PayLine> {
    let mut carried = Vec::new();
    for line in lines.iter_mut() {
        let short = type_of(pack, line).map_or(Short::Drop, |kind| kind.short);
        let fits = line.amount.min(left.max(0));
        let taken = if short == Short::Refuse && fits < line.amount { 0 } else { fits };
        if short == Short::Carry && taken < line.amount {
            carried.push(PayLine { amount: line.amount - taken, ..line.clone() });
        }
        line.amount = taken;
        left -= taken;
    }
    carried
}

/// Whether nothing at all was taken for one of the deductions, or part of one was left out.
pub(super) fn was_cut(extras: &mut Extras) -> bool {
    let before = extras.typed.len();
    extras.typed.retain(|line| line.amount != 0);
    extras.typed.len() != before
}

/// Adds more that later pays owe to what they already owe, by id.
pub(super) fn merge(carried: &mut Vec<PayLine>, more: Vec<PayLine>) {
    for line in more {
        match carried.iter_mut().find(|known| known.id == line.id && known.kind == line.kind) {
            Some(known) => known.amount += line.amount,
            None => carried.push(line),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::payroll::library;

    fn line(kind: &str, amount: i64) -> PayLine {
        let kind_of = Some(kind.to_owned());
        PayLine { kind: kind_of, ..PayLine::plain(kind.to_owned(), kind.to_owned(), amount) }
    }

    fn taken(pack: &str, mut lines: Vec<PayLine>, left: i64) -> (Vec<i64>, Vec<PayLine>) {
        let pack = library().pack(pack).expect("an embedded pack");
        in_legal_order(pack, &mut lines);
        let carried = fit(pack, &mut lines, left);
        (lines.iter().map(|line| line.amount).collect(), carried)
    }

    /// Labour Act (Nigeria) s. 5: a court order comes before a loan; the rest of the loan is carried.
    #[test]
    fn orders_come_before_loans_and_the_rest_is_carried() {
        let lines = vec![line("loan_repayment", 300), line("court_order", 200)];
        assert_eq!(taken("NG", lines, 350), (vec![200, 150], vec![line("loan_repayment", 150)]));
    }

    /// A salary sacrifice changes the contract pay: a part of it is not taken. A pension contribution that does not fit is not made up.
    #[test]
    fn a_pack_may_refuse_or_drop_what_does_not_fit() {
        let lines = vec![line("salary_sacrifice", 300), line("pension_net_pay", 200)];
        assert_eq!(taken("GB", lines, 250), (vec![0, 200], Vec::new()));
        assert_eq!(taken("GB", vec![line("pension_net_pay", 200)], 50), (vec![50], Vec::new()));
    }

    #[test]
    fn what_is_carried_adds_up() {
        let mut carried = vec![line("court_order", 100)];
        merge(&mut carried, vec![line("court_order", 20), line("union_dues", 5)]);
        assert_eq!(carried, [line("court_order", 120), line("union_dues", 5)]);
    }
}
