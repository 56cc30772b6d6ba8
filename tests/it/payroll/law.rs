//! One test for each rule of the law that the packs state, with its source.

use std::collections::BTreeMap;

use sandbox::model::payroll::{Pack, Pay, PayInput, PayPeriod, YearToDate, library};

/// A pay of one month or another period.
struct Question<'a> {
    pack: &'a str,
    period: PayPeriod,
    number: u32,
    attributes: &'a [(&'a str, &'a str)],
    inputs: &'a [(&'a str, i64)],
    earnings: &'a [(&'a str, i64)],
    ytd: &'a [(&'a str, i64)],
    on: Option<jiff::civil::Date>,
}

const MONTH: Question<'static> = Question {
    pack: "XX",
    period: PayPeriod::Monthly,
    number: 1,
    attributes: &[],
    inputs: &[],
    earnings: &[],
    ytd: &[],
    on: None,
};

impl Question<'_> {
    fn pay(&self) -> (&'static Pack, Pay) {
        let pack = library().pack(self.pack).unwrap();
        let mut profile = pack.profile(self.attributes.iter().copied()).unwrap();
        for (name, value) in self.inputs {
            profile.inputs[pack.input(name).unwrap()] = *value;
        }
        let earnings: Vec<_> =
            self.earnings.iter().map(|(name, amount)| (pack.component(name), *amount)).collect();
        let totals: BTreeMap<String, i64> =
            self.ytd.iter().map(|(name, total)| ((*name).to_owned(), *total)).collect();
        let pay = pack.evaluate(&PayInput {
            period: self.period,
            number: self.number,
            attributes: profile.attributes,
            inputs: &profile.inputs,
            on: self.on,
            earnings: &earnings,
            ytd: &YearToDate::from_names(pack, &totals).unwrap(),
        });
        (pack, pay.unwrap())
    }

    fn line(&self, id: &str) -> i64 {
        let (pack, pay) = self.pay();
        pay.amounts[pack.lines().iter().position(|line| line.id == id).unwrap()]
    }
}

/// 26 USC 3121(v)(1): a 401(k) deferral is wages for Social Security and Medicare; 26 USC 402(e)(3): not for income tax.
#[test]
fn a_401k_deferral_lowers_income_tax_only() {
    let earnings = [("basic", 500_000)];
    let with = Question {
        pack: "US",
        inputs: &[("deduction.401k", 50_000)],
        earnings: &earnings,
        ..MONTH
    };
    assert_eq!(with.line("social_security"), 31_000);
    assert_eq!(with.line("medicare"), 7_250);
    assert_eq!(with.line("federal_income_tax"), 35_833);
}

/// 26 USC 125 and 3121(a)(5)(G): a cafeteria plan lowers both.
#[test]
fn a_cafeteria_plan_lowers_social_security_too() {
    let with = Question {
        pack: "US",
        inputs: &[("deduction.s125_health", 50_000)],
        earnings: &[("basic", 500_000)],
        ..MONTH
    };
    assert_eq!(with.line("social_security"), 27_900);
}

/// T4127 ch. 4 (F lowers A) and ch. 6 (CPP, EI on the whole pay).
#[test]
fn a_registered_pension_leaves_cpp_and_ei() {
    let with = Question {
        pack: "CA",
        inputs: &[("deduction.rpp", 60_000)],
        earnings: &[("basic", 600_000)],
        ..MONTH
    };
    assert_eq!((with.line("cpp"), with.line("ei")), (33_965, 9_780));
    let without = Question { inputs: &[], ..with };
    assert_eq!((without.line("cpp"), without.line("ei")), (33_965, 9_780));
}

/// SHIF regulations and Affordable Housing Act 2024: 2.75 % and 1.5 % of gross.
#[test]
fn a_kenyan_pension_leaves_shif_and_the_housing_levy() {
    let with = Question {
        pack: "KE",
        inputs: &[("deduction.pension", 500_000)],
        earnings: &[("basic", 10_000_000)],
        ..MONTH
    };
    assert_eq!((with.line("shif"), with.line("housing_levy")), (275_000, 150_000));
}

/// Finance Act 2004 s. 193 (net pay) lowers income tax; SI 2001/1004: NI is on the whole pay.
#[test]
fn a_net_pay_pension_leaves_national_insurance() {
    let with = Question {
        pack: "GB",
        inputs: &[("deduction.pension_net_pay", 30_000)],
        earnings: &[("basic", 300_000)],
        ..MONTH
    };
    assert_eq!(with.line("national_insurance"), 15_616);
    assert_eq!(with.line("income_tax"), 33_020);
}

/// Pension Reform Act 2014 s. 4: 8 % of basic, housing and transport. Deductions do not change it.
#[test]
fn the_nigerian_pension_base_is_fixed() {
    let with = Question {
        pack: "NG",
        inputs: &[
            ("deduction.voluntary_pension", 5_000_000),
            ("deduction.loan_repayment", 900_000),
        ],
        earnings: &[("basic", 30_000_000), ("housing", 10_000_000), ("transport", 10_000_000)],
        ..MONTH
    };
    assert_eq!(with.line("pension"), 4_000_000);
}

/// Unemployment Insurance Contributions Act s. 6: remuneration before the deduction of s. 11F.
#[test]
fn a_retirement_annuity_leaves_uif() {
    let with = Question {
        pack: "ZA",
        inputs: &[("deduction.retirement_annuity", 200_000)],
        earnings: &[("basic", 1_500_000)],
        ..MONTH
    };
    assert_eq!(with.line("uif"), 15_000);
}

/// SARS PAYE-GEN-01-G18: tax on the annual equivalent / 12, and the increase of the year's tax by the payment.
#[test]
fn a_south_african_bonus_is_an_annual_payment() {
    let earnings = [("basic", 3_000_000), ("bonus", 3_000_000)];
    let of = |pack| Question { pack, earnings: &earnings, ..MONTH }.line("paye");
    assert_eq!((of("ZA-2025"), of("ZA")), (1_355_808, 1_282_600));
}

/// CRA T4127 ch. 4 step 3, with K2 on the contributions of the bonus.
#[test]
fn a_canadian_bonus_is_taxed_by_the_bonus_method() {
    let question =
        Question { pack: "CA", earnings: &[("basic", 600_000), ("bonus", 600_000)], ..MONTH };
    assert_eq!(question.line("federal_tax"), 183_888);
    assert_eq!(question.line("ontario_tax"), 102_297);
}

/// CRA T4127 ch. 4 step 1: A of regular pay is P x (I - F - F2 - F5A - U1) - HD - F1. B1, the earlier payments of the year, is only in the tax of
/// a bonus (step 3). So regular pay after a bonus bears the tax of regular pay.
#[test]
fn a_canadian_bonus_is_not_taxed_again_by_later_pays() {
    let salary = [("basic", 600_000)];
    let january = Question { pack: "CA", earnings: &salary, ..MONTH };
    let later = [("gross", 1_200_000), ("irregular", 600_000), ("cpp", 69_665), ("ei", 19_560)];
    let february = Question { number: 2, ytd: &later, ..january };
    for month in [&january, &february] {
        assert_eq!((month.line("federal_tax"), month.line("ontario_tax")), (63_918, 33_595));
    }
    let bonus = [("basic", 600_000), ("bonus", 600_000)];
    let again = Question { earnings: &bonus, ..february };
    // 638.89 of regular pay, whose F5A is lower in such a month, and 20.5 % of 6,000 - F5B: K2 is at its maximum.
    assert_eq!(again.line("federal_tax"), 63_889 + 121_800);
}

/// NTA 2025 s. 58 and fourth schedule: the bands are of the year, so a bonus is not multiplied by twelve.
#[test]
fn a_nigerian_bonus_counts_once_in_the_year() {
    let question = Question {
        pack: "NG",
        earnings: &[("basic", 50_000_000), ("bonus", 400_000_000)],
        ..MONTH
    };
    assert_eq!(question.line("paye"), 78_530_000);
}

/// 26 CFR 31.3402(g)-1: 22 %, 37 % above one million, or the aggregate method, as the employer chooses for each payment.
#[test]
fn the_method_of_a_supplement_is_chosen_for_each_payment() {
    let tax = |component: &str, ytd: &[(&str, i64)]| {
        let earnings = [("basic", 500_000), (component, 1_000_000)];
        let question = Question { pack: "US", earnings: &earnings, ytd, ..MONTH };
        question.pay().1.tax - 41_833
    };
    assert_eq!(tax("bonus", &[]), 220_000);
    assert_eq!(tax("bonus.aggregate", &[]), 224_284);
    assert_eq!(tax("bonus", &[("supplemental", 100_000_000)]), 370_000);
    let pack = library().pack("US").unwrap();
    let bonus = pack.earning_type("bonus").unwrap();
    assert_eq!(bonus.component(Some("aggregate")).as_deref(), Some("bonus.aggregate"));
    assert_eq!(bonus.component(Some("daily")), None);
}

/// T4127 ch. 4 step 2, note: K2 uses the maximum of the year once it is reached. CPP2: at most 416 in the year.
#[test]
fn canadian_credits_stay_at_the_maximum() {
    let ytd = [("gross", 9_000_000), ("cpp", 423_045), ("cpp2", 41_600), ("ei", 112_307)];
    let question =
        Question { pack: "CA", number: 7, earnings: &[("basic", 1_500_000)], ytd: &ytd, ..MONTH };
    assert_eq!(question.line("federal_tax"), 278_297);
    let ytd = [("gross", 8_450_000), ("cpp", 423_045), ("cpp2", 41_500), ("ei", 112_307)];
    assert_eq!(Question { ytd: &ytd, ..question }.line("cpp2"), 100);
}

/// T4127 ch. 6: C2 is the lesser of 416 less D2, and 4 % of the pay beyond the greater of 74,600 and the earnings to
/// date. So later pays make up for contributions missing from an earlier pay, such as one under an election.
#[test]
fn second_contributions_have_no_limit_but_their_own_maximum() {
    let ytd = [("gross", 8_200_000), ("cpp", 423_045), ("cpp2", 8_600), ("ei", 112_307)];
    let question =
        Question { pack: "CA", number: 10, earnings: &[("basic", 600_000)], ytd: &ytd, ..MONTH };
    assert_eq!(question.line("cpp2"), 24_000);
    assert_eq!(Question { earnings: &[("basic", 900_000)], ..question }.line("cpp2"), 33_000);
}

/// Publication 15-T (2026), section 1: a row of the tables begins "at least" at its first amount. The printed tax of the single checkbox
/// schedule jumps at 108,938 and 328,350: 20,512.00 and 96,489.63 are due there.
#[test]
fn an_amount_at_the_start_of_a_printed_row_is_in_that_row() {
    let tax = |pay, other_income| {
        let question = Question {
            pack: "US",
            attributes: &[("multiple_jobs", "true")],
            inputs: &[("other_income", other_income)],
            earnings: &[("basic", pay)],
            ..MONTH
        };
        question.line("federal_income_tax")
    };
    assert_eq!((tax(907_800, 200), tax(907_800, 199)), (170_933, 170_934));
    assert_eq!((tax(2_736_250, 0), tax(2_736_249, 0)), (804_080, 804_078));
}

/// Income Tax Act (Kenya) s. 2: the year of income is the calendar year; NSSF Act, third schedule: its limits change in February.
#[test]
fn kenyas_january_is_in_the_year_with_its_own_limits() {
    let of = |month, day| {
        let on = Some(jiff::civil::date(2026, month, day));
        let earnings = [("basic", 10_000_000)];
        let question = Question { pack: "KE", earnings: &earnings, on, ..MONTH };
        question.line("nssf_tier_1") + question.line("nssf_tier_2")
    };
    assert_eq!((of(1, 30), of(2, 27), of(12, 31)), (432_000, 600_000, 600_000));
    let pack = |day| library().in_force("KE", day).pack;
    let (january, february) = (jiff::civil::date(2026, 1, 30), jiff::civil::date(2026, 2, 27));
    assert_eq!(pack(january).code, pack(february).code);
    assert_eq!(pack(january).effective_from, jiff::civil::date(2026, 1, 1));
}

/// PAYE regulations: a code is a form with a number; HMRC specification s. 4.5: at most half of the pay.
#[test]
fn any_number_of_a_tax_code_is_read() {
    let tax = |code: &str| {
        let attributes = [("tax_code", code)];
        let question = Question {
            pack: "GB",
            attributes: &attributes,
            earnings: &[("basic", 300_000)],
            ..MONTH
        };
        question.line("income_tax")
    };
    assert_eq!(tax("1257L"), 39_020);
    assert_eq!(tax("C1257L"), 39_020);
    assert_eq!(tax("1100T"), tax("1100L"));
    assert_eq!(tax("BR"), 60_000);
    assert_eq!(tax("NT"), 0);
    assert_eq!(tax("K9000"), 150_000);
    let pack = library().pack("GB").unwrap();
    for code in ["", "1257", "l257L", "01257L", "1257LL", "K0", "D2", "SNT", "BR1", "1000000L"] {
        assert!(pack.profile([("tax_code", code)]).is_err(), "{code}");
    }
}

/// HMRC starter checklist; CWG2: without a declaration 0T, month 1.
#[test]
fn a_starter_declaration_stands_for_a_code() {
    let pack = library().pack("GB").unwrap();
    let of = |pairs: &[(&'static str, &'static str)]| pack.profile(pairs.iter().copied()).unwrap();
    let same = |declaration, code, basis| {
        let by_code = of(&[("tax_code", code), ("tax_basis", basis)]);
        assert_eq!(of(&[("starter_declaration", declaration)]), by_code, "{declaration}");
    };
    same("A", "1257L", "cumulative");
    same("B", "1257L", "w1m1");
    same("C", "BR", "cumulative");
    same("none", "0T", "w1m1");
    let code = of(&[("starter_declaration", "C"), ("tax_code", "900L")]);
    assert_eq!(code, of(&[("tax_code", "900L")]));
    assert!(pack.profile([("starter_declaration", "D")]).is_err());
}

/// States without an income tax, and with one, beside the federal pack.
#[test]
fn a_state_has_a_pack_of_its_own() {
    let day = jiff::civil::date(2026, 6, 30);
    let taxes = |state| {
        let found = library().of_region("US", state, day).unwrap();
        let lines = found.pack.lines().iter();
        lines.filter(|line| line.id == "state_income_tax").count()
    };
    assert_eq!(["CA", "NY", "IL", "TX", "FL"].map(taxes), [1, 1, 1, 0, 0]);
    assert!(library().of_region("US", "WY", day).is_none());
    assert_eq!(library().in_force("US", day).pack.code, "US");
}

/// Income Tax Act (South Africa), Fourth Schedule par. 2(4), s. 11F and 18A: a directive's percentage is of the balance of remuneration, which
/// contributions lower by at most 27.5 % and donations by at most 5 %.
#[test]
fn a_directive_is_of_the_balance_that_the_limits_leave() {
    fn question<'a>(
        pack: &'a str,
        earnings: &'a [(&'a str, i64)],
        inputs: &'a [(&'a str, i64)],
    ) -> Question<'a> {
        Question { pack, inputs, earnings, ..MONTH }
    }
    for pack in ["ZA", "ZA-2025"] {
        let attributes = [("directive", "percentage")];
        let inputs = [("deduction.retirement_annuity", 1_500_000), ("directive_rate", 2_500)];
        let earnings = [("basic", 3_000_000)];
        let percentage = Question { attributes: &attributes, ..question(pack, &earnings, &inputs) };
        assert_eq!(percentage.line("paye"), 543_750);
        let inputs = [("deduction.donation", 200_000), ("directive_rate", 2_500)];
        let percentage = Question { attributes: &attributes, ..question(pack, &earnings, &inputs) };
        assert_eq!(percentage.line("paye"), 712_500, "25 % of 30,000 less 5 %");
        let taxable = |pay, contribution| {
            let (earnings, inputs) =
                ([("basic", pay)], [("deduction.retirement_annuity", contribution)]);
            question(pack, &earnings, &inputs).pay().1.taxable
        };
        assert_eq!(taxable(2_000_000, 800_000), Some(1_450_000));
        let most = if pack == "ZA" { 3_583_333 } else { 2_916_667 };
        assert_eq!(taxable(20_000_000, 5_000_000), Some(20_000_000 - most));
    }
}

/// T4127 ch. 4: TC and TCP are the total claim amounts of forms TD1 and TD1ON. An amount in dollars replaces the claim code.
#[test]
fn a_claim_in_dollars_replaces_the_claim_code() {
    let earnings = [("basic", 600_000)];
    let taxes = |attributes: &[(&str, &str)], inputs: &[(&str, i64)]| {
        let question = Question { pack: "CA", attributes, inputs, earnings: &earnings, ..MONTH };
        (question.line("federal_tax"), question.line("ontario_tax"))
    };
    let same = [("federal_claim", 1_645_200), ("ontario_claim", 1_298_900)];
    assert_eq!(taxes(&[], &same), taxes(&[], &[]), "the amounts of code 1");
    let more = [("federal_claim", 2_645_200), ("ontario_claim", 2_298_900)];
    let (federal, ontario) = taxes(&[], &more);
    assert_eq!((63_918 - federal, 33_595 - ontario), (11_666, 4_208), "14 % and 5.05 % of 10,000");
    for code in ["0", "5"] {
        let codes = [("federal_claim_code", code), ("ontario_claim_code", code)];
        assert_eq!(taxes(&codes, &more), (federal, ontario), "code {code}");
    }
    let exempt = [("federal_claim_code", "E")];
    assert_eq!(taxes(&exempt, &more).0, 0);
}
