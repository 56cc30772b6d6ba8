//! Deductions with a type of the payroll pack: the bases that they reduce, their legal order, and
//! what happens if the pay does not cover them.

use std::collections::BTreeMap;

use crate::model::business::earnings::PayLine;
use crate::model::business::employer_part::Paid;
use crate::model::business::pay_extras::{Extras, PartRule, sum};
use crate::model::payroll::{Component, DeductionType, Pack, PayForOrders, PayPeriod, Short};

fn type_of<'a>(pack: &'a Pack, line: &PayLine) -> Option<&'a DeductionType> {
    line.kind.as_ref().and_then(|kind| pack.deduction_type(kind))
}

/// Adds the deductions by percentage of the pay. By some laws only a part of such a deduction is taken from pay.
/// `before` is the gross pay of earlier pays of the pay period on which a deduction was taken.
pub(super) fn take_own(extras: &mut Extras, paid: Paid<'_>, before: impl Fn(&PayLine) -> i64) {
    for PartRule { line, part } in core::mem::take(&mut extras.own_rules) {
        let amount = part.amount_of(0, Paid { before: before(&line), ..paid });
        let taken = type_of(paid.pack, &line).and_then(|kind| kind.taken_of(amount));
        extras.take(PayLine { amount: taken.unwrap_or(amount), ..line });
    }
}

/// Adds the deductions that earlier pays did not cover. Each comes directly before this pay's deduction with its id, so that the rest of a later
/// order does not precede an earlier order. One that this pay does not have keeps its place after the other carried ones.
pub(super) fn add_carried(lines: &mut Vec<PayLine>, carried: &[PayLine]) {
    let mut next = 0;
    for rest in carried {
        let is_same = |line: &PayLine| line.id == rest.id && line.kind == rest.kind;
        let current = lines.iter().position(is_same);
        lines.insert(current.unwrap_or(next), rest.clone());
        next = current.map_or(next + 1, |place| place + 2);
    }
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

/// The employer's parts that are wages by the pack of a region: those for whose type it has earnings.
pub(super) fn wages(pack: &Pack, parts: &[PayLine]) -> Vec<(Component, i64)> {
    let named = parts.iter().filter_map(|part| {
        let component = pack.component(&format!("employer_{}", part.kind.as_ref()?));
        Some((component, part.amount))
    });
    named.filter(|(component, _)| !pack.is_cash(*component)).collect()
}

/// Adds the employer's parts to the totals of the types whose annual limit includes them.
pub(super) fn count_employer(
    pack: &Pack,
    parts: &[PayLine],
    times: i64,
    taken: &mut BTreeMap<String, i64>,
) {
    for line in parts {
        if type_of(pack, line).is_some_and(|kind| kind.annual_limit_with_employer) {
            count(core::slice::from_ref(line), times, taken);
        }
    }
}

/// The remaining annual limit for the employer's part, from the deduction types that include it. `taken` has the
/// totals of the year.
pub(super) fn employer_room(pack: &Pack, line: &PayLine, taken: &BTreeMap<String, i64>) -> i64 {
    let kind = type_of(pack, line).filter(|kind| kind.annual_limit_with_employer);
    let room = kind.and_then(|kind| {
        let limits = kind.annual_limit.into_iter().chain(line.annual_limit);
        Some((limits.min()? - sum_of(taken, &kind.id, &kind.annual_limit_with)).max(0))
    });
    room.unwrap_or(i64::MAX)
}

/// Adds what deductions took to the totals of their types.
pub(super) fn count(lines: &[PayLine], times: i64, taken: &mut BTreeMap<String, i64>) {
    for line in lines {
        if let Some(kind) = &line.kind {
            *taken.entry(kind.clone()).or_default() += times * line.amount;
        }
    }
}

fn sum_of(taken: &BTreeMap<String, i64>, kind: &str, with: &[String]) -> i64 {
    let all = core::iter::once(kind).chain(with.iter().map(String::as_str));
    all.filter_map(|kind| taken.get(kind)).sum()
}

/// Limits deductions to the remainder of their annual limits after earlier pays of the year. The excess is not taken
/// later.
pub(super) fn limit(pack: &Pack, lines: &mut Vec<PayLine>, mut taken: BTreeMap<String, i64>) {
    for line in lines.iter_mut() {
        let Some(kind) = type_of(pack, line) else { continue };
        let room = |limit: Option<i64>, with: &[String]| {
            limit.map(|limit| (limit - sum_of(&taken, &kind.id, with)).max(0))
        };
        let by_law = room(kind.annual_limit, &kind.annual_limit_with);
        let by_terms = room(line.annual_limit, &[]);
        for room in by_law.into_iter().chain(by_terms) {
            line.amount = line.amount.min(room);
        }
        count(core::slice::from_ref(line), 1, &mut taken);
    }
    lines.retain(|line| line.amount != 0);
}

/// A pay before typed deductions.
pub(super) struct Wages {
    pub(super) pay: PayForOrders,
    /// Amounts that the pack itself takes for loans and orders, each with its order among the types.
    pub(super) by_pack: Vec<(u8, i64)>,
    /// The pack of the region in which the employee works. Its limits apply beside those of the country.
    pub(super) region: Option<&'static Pack>,
    /// The earlier pays of the pay period. The law limits the sum of deductions from all pay of the period.
    pub(super) earlier: EarlierWages,
}

/// Earlier pays of a pay period together.
#[derive(Default)]
pub(super) struct EarlierWages {
    pay: PayForOrders,
    /// Amounts that the pack took from them for loans and orders.
    by_pack: i64,
    /// Typed deductions taken from them.
    typed: Vec<PayLine>,
}

impl EarlierWages {
    /// Adds a pay with the deductions that were taken from it.
    pub(super) fn add(&mut self, wages: &Wages, typed: &[PayLine]) {
        self.pay = self.pay.plus(wages.pay);
        self.by_pack += wages.by_pack.iter().map(|(_, amount)| amount).sum::<i64>();
        self.typed.extend_from_slice(typed);
    }
}

impl Wages {
    /// The maximum for a type by the law of the region.
    fn most_in_region(&self, kind: &str, pay: PayForOrders, period: PayPeriod) -> i64 {
        let kind = self.region.and_then(|region| region.deduction_type(kind));
        kind.and_then(|kind| kind.most.as_ref()).map_or(i64::MAX, |most| most.of(pay, period))
    }

    /// The amounts that the pack takes before a type of that order.
    fn taken_before(&self, order: u8) -> i64 {
        self.by_pack.iter().filter(|(place, _)| *place < order).map(|(_, amount)| amount).sum()
    }
}

/// The amounts of the lines of these types.
fn of_types(lines: &[PayLine], types: &[String]) -> i64 {
    let is_one = |line: &&PayLine| line.kind.as_ref().is_some_and(|kind| types.contains(kind));
    lines.iter().filter(is_one).map(|line| line.amount).sum()
}

/// Takes the deductions from the pay, in their order. Returns the parts that later pays must take.
pub(super) fn fit(
    pack: &Pack,
    lines: &mut [PayLine],
    wages: &Wages,
    period: PayPeriod,
) -> Vec<PayLine> {
    let (earlier, pay) = (&wages.earlier, wages.pay.plus(wages.earlier.pay));
    // The remainder of this pay, and of all pay of the period.
    let mut own = wages.pay.disposable;
    let mut left = pay.disposable - pack.least_net_of(pay.gross);
    left -= earlier.by_pack + sum(&earlier.typed);
    let mut taken_by = BTreeMap::new();
    count(&earlier.typed, 1, &mut taken_by);
    let mut carried = Vec::new();
    for place in 0..lines.len() {
        let law = type_of(pack, &lines[place]);
        let short = law.map_or(Short::Drop, |kind| kind.short);
        let most = law.and_then(|kind| {
            let most = kind.most.as_ref()?;
            let less = of_types(lines, &most.less) + of_types(&earlier.typed, &most.less);
            let pay = PayForOrders { disposable: pay.disposable - less, ..pay };
            let in_region = wages.most_in_region(&kind.id, pay, period);
            let amount = most.of(pay, period).min(in_region);
            Some(amount - sum_of(&taken_by, &kind.id, &most.with))
        });
        let line = &mut lines[place];
        let before = wages.taken_before(law.map_or(u8::MAX, |kind| kind.order.max(1)));
        let room = own.min(left - line.protected.unwrap_or(0)) - before;
        let fits = line.amount.min(most.map_or(room, |most| most.min(room)).max(0));
        let taken = if short == Short::Refuse && fits < line.amount { 0 } else { fits };
        if short == Short::Carry && taken < line.amount {
            carried.push(PayLine { amount: line.amount - taken, ..line.clone() });
        }
        line.amount = taken;
        left -= taken;
        own -= taken;
        count(core::slice::from_ref(line), 1, &mut taken_by);
    }
    carried
}

/// Whether the sum of the deductions differs from `before`; updates `before`. Removes deductions of zero.
pub(super) fn was_cut(extras: &mut Extras, before: &mut i64) -> bool {
    extras.typed.retain(|line| line.amount != 0);
    let now = sum(&extras.typed);
    core::mem::replace(before, now) != now
}

/// Adds more carried deductions to those already carried, by id and type.
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

    /// A pay without bonuses.
    fn wages(gross: i64, disposable: i64) -> Wages {
        let pay = PayForOrders { gross, basic: gross, disposable };
        Wages { pay, by_pack: Vec::new(), region: None, earlier: EarlierWages::default() }
    }

    fn taken(pack: &str, mut lines: Vec<PayLine>, left: i64) -> (Vec<i64>, Vec<PayLine>) {
        let pack = library().pack(pack).expect("an embedded pack");
        in_legal_order(pack, &mut lines);
        let carried = fit(pack, &mut lines, &wages(left, left), PayPeriod::Monthly);
        (lines.iter().map(|line| line.amount).collect(), carried)
    }

    /// Labour Act (Nigeria) s. 5: a court order comes before a loan; the rest of the loan is carried.
    #[test]
    fn orders_come_before_loans_and_the_rest_is_carried() {
        let lines = vec![line("loan_repayment", 300), line("court_order", 200)];
        assert_eq!(taken("NG", lines, 350), (vec![200, 150], vec![line("loan_repayment", 150)]));
    }

    /// Magistrates' Courts Act (South Africa) s. 65J(1A): all orders together take at most a quarter of basic salary.
    #[test]
    fn an_emoluments_attachment_order_takes_at_most_a_quarter() {
        let mut lines = vec![line("garnishee", 150_000)];
        let pack = library().pack("ZA").expect("an embedded pack");
        let carried = fit(pack, &mut lines, &wages(400_000, 300_000), PayPeriod::Monthly);
        assert_eq!((lines[0].amount, carried[0].amount), (100_000, 50_000));
    }

    /// Section 65J(1A)(b): basic salary excludes overtime and allowances. A quarter of 20,000.00 is 5,000.00, also with a bonus of 40,000.00.
    #[test]
    fn a_bonus_adds_nothing_to_what_an_emoluments_attachment_order_takes() {
        let mut wages = wages(6_000_000, 4_500_000);
        wages.pay.basic = 2_000_000;
        let mut lines = vec![line("garnishee", 1_500_000)];
        let pack = library().pack("ZA").expect("an embedded pack");
        let carried = fit(pack, &mut lines, &wages, PayPeriod::Monthly);
        assert_eq!((lines[0].amount, carried[0].amount), (500_000, 1_000_000));
    }

    /// Wages Act (Ontario) s. 7(3): support orders take at most half of wages after deductions by law, both types together; s. 7(2): other
    /// creditors reach at most a fifth of them.
    #[test]
    fn support_orders_take_at_most_half_of_canadian_wages() {
        let amounts = |lines| taken("CA", lines, 400_000).0;
        assert_eq!(amounts(vec![line("support_deductible", 300_000)]), [200_000]);
        let both = vec![line("support_deductible", 150_000), line("support", 150_000)];
        assert_eq!(amounts(both), [150_000, 50_000]);
        let then = vec![line("support_deductible", 30_000), line("garnishment", 90_000)];
        assert_eq!(amounts(then), [30_000, 50_000]);
    }

    /// Orders of the pack come after child maintenance and orders of a court, and before agreed deductions.
    #[test]
    fn amounts_taken_by_the_pack_are_in_legal_order() {
        let mut wages = wages(200_000, 200_000);
        wages.by_pack = vec![(0, 10_000), (4, 30_000)];
        let pack = library().pack("GB").expect("an embedded pack");
        let mut lines = vec![line("court_order", 185_000), line("union_dues", 50_000)];
        in_legal_order(pack, &mut lines);
        fit(pack, &mut lines, &wages, PayPeriod::Monthly);
        assert_eq!([lines[0].amount, lines[1].amount], [185_000, 0]);
        lines = vec![line("court_order", 100_000), line("union_dues", 80_000)];
        fit(pack, &mut lines, &wages, PayPeriod::Monthly);
        assert_eq!([lines[0].amount, lines[1].amount], [100_000, 60_000]);
    }

    /// A salary sacrifice changes the contract pay: a part of it is not taken. A pension contribution that does not fit is not made up.
    #[test]
    fn a_pack_may_refuse_or_drop_what_does_not_fit() {
        let lines = vec![line("salary_sacrifice", 300), line("pension_net_pay", 200)];
        assert_eq!(taken("GB", lines, 250), (vec![0, 200], Vec::new()));
        assert_eq!(taken("GB", vec![line("pension_net_pay", 200)], 50), (vec![50], Vec::new()));
    }

    /// 15 USC 1673(a): the lesser of 25 % and what exceeds 30 times 7.25 a week; 29 CFR 870.11: support counts.
    #[test]
    fn ordinary_debts_take_a_part_of_disposable_pay_that_support_counts_towards() {
        let order = |left| taken("US", vec![line("garnishment", 1_000_000)], left).0;
        assert_eq!(order(94_250), [0]);
        assert_eq!(order(100_000), [5_750]);
        assert_eq!(order(125_666), [31_416]);
        assert_eq!(order(200_000), [50_000]);
        let both = vec![line("garnishment", 60_000), line("child_support", 40_000)];
        assert_eq!(taken("US", both, 200_000).0, [40_000, 10_000]);
        let support = taken("US", vec![line("child_support", 150_000)], 200_000);
        assert_eq!(support, (vec![100_000], vec![line("child_support", 50_000)]));
        let others = ["child_support_55", "child_support_60", "child_support_65"];
        let most = others.map(|kind| taken("US", vec![line(kind, 150_000)], 200_000).0[0]);
        assert_eq!(most, [110_000, 120_000, 130_000]);
        let two = vec![line("child_support", 90_000), line("child_support_60", 60_000)];
        assert_eq!(taken("US", two, 200_000).0, [90_000, 30_000]);
        let then = vec![line("child_support_65", 30_000), line("garnishment", 60_000)];
        assert_eq!(taken("US", then, 200_000).0, [30_000, 20_000]);
    }

    /// 15 USC 1677: a stricter law of the state applies. California CCP 706.050: 20 %, and 40 % of what exceeds 48 hours of the minimum wage a week;
    /// 208 hours of 16.90 are 3,515.20 a month. Texas Constitution art. XVI s. 28: no garnishment for ordinary debts.
    #[test]
    fn a_state_limits_garnishments_more_than_the_country() {
        let pack = library().pack("US").expect("an embedded pack");
        let taken = |state: &str, left: i64| {
            let wages = Wages { region: library().pack(state), ..wages(left, left) };
            let mut lines = vec![line("garnishment", 1_000_000)];
            fit(pack, &mut lines, &wages, PayPeriod::Monthly);
            lines[0].amount
        };
        assert_eq!(taken("US-CA", 351_520), 0);
        assert_eq!(taken("US-CA", 451_520), 40_000);
        assert_eq!(taken("US-CA", 1_000_000), 200_000);
        assert_eq!(taken("US-TX", 1_000_000), 0);
        assert_eq!(taken("US-NY", 1_000_000), 250_000);
    }

    /// 15 USC 1672(b): disposable earnings are less amounts required by law to be withheld, and a deferral is elective.
    #[test]
    fn a_garnishment_comes_before_elective_deductions() {
        for elective in ["401k", "403b", "roth_401k", "s125_health", "commuter", "pre_tax"] {
            let lines = vec![line(elective, 170_000), line("garnishment", 90_000)];
            assert_eq!(taken("US", lines, 200_000).0, [50_000, 150_000], "{elective}");
        }
    }

    /// The Child Support (Collection and Enforcement) Regulations 1992 (GB) reg. 11: 60 % of net earnings stay with the employee. An order of a court
    /// names its protected earnings.
    #[test]
    fn protected_earnings_stay_with_the_employee() {
        assert_eq!(taken("GB", vec![line("child_maintenance", 90_000)], 200_000).0, [80_000]);
        // Regulation 8(5): net earnings are less contributions to a pension. Order 1 and order 5 of the pack.
        for pension in ["pension_net_pay", "pension_relief_at_source", "salary_sacrifice"] {
            let lines = vec![line(pension, 50_000), line("child_maintenance", 200_000)];
            let (mut amounts, _) = taken("GB", lines, 198_384);
            amounts.sort_unstable();
            assert_eq!(amounts, [50_000, 59_353], "{pension}");
        }
        let order = PayLine { protected: Some(150_000), ..line("court_order", 90_000) };
        let rest = PayLine { amount: 40_000, ..order.clone() };
        assert_eq!(taken("GB", vec![order], 200_000), (vec![50_000], vec![rest]));
    }

    /// 26 USC 402(g): traditional and Roth deferrals share one limit, 24,500 in 2026.
    #[test]
    fn an_annual_limit_counts_all_types_that_share_it() {
        let pack = library().pack("US").expect("an embedded pack");
        let taken = BTreeMap::from([("401k".to_owned(), 2_000_000)]);
        let mut lines = vec![line("roth_401k", 300_000), line("401k", 300_000)];
        limit(pack, &mut lines, taken.clone());
        assert_eq!(lines, [line("roth_401k", 300_000), line("401k", 150_000)]);
        let own = PayLine { annual_limit: Some(2_100_000), ..line("401k", 300_000) };
        let mut lines = vec![own.clone()];
        limit(pack, &mut lines, taken);
        assert_eq!(lines, [PayLine { amount: 100_000, ..own }]);
    }

    #[test]
    fn carried_deductions_are_merged_by_id() {
        let mut carried = vec![line("court_order", 100)];
        merge(&mut carried, vec![line("court_order", 20), line("union_dues", 5)]);
        assert_eq!(carried, [line("court_order", 120), line("union_dues", 5)]);
    }
}
