//! Properties of every pack, with any figures.

use sandbox::model::payroll::{
    Attributes, Day, Due, Frequency, Match, Pack, Pay, PayError, PayInput, PayPeriod, Role,
    YearToDate, library,
};

/// Minor units: zero, one, everyday salaries around round figures, and far beyond.
const SALARIES: [i64; 12] = [
    0,
    1,
    99_999,
    100_000,
    104_801,
    300_000,
    416_667,
    1_234_567,
    7_000_000,
    7_000_001,
    123_456_789,
    10_000_000_000_000,
];

fn pay(
    pack: &Pack,
    period: PayPeriod,
    attributes: Attributes,
    number: u32,
    gross: i64,
    ytd: &YearToDate,
) -> Pay {
    let input = PayInput {
        period,
        number,
        attributes,
        inputs: &[],
        on: None,
        earnings: &[(pack.component("basic"), gross)],
        ytd,
    };
    pack.evaluate(&input).unwrap()
}

/// The defaults, every value of each attribute, and every pair of values of two attributes in a row.
fn all_attributes(pack: &Pack) -> Vec<Attributes> {
    let defaults = pack.default_attributes();
    let with = |start: Attributes, index: usize| {
        let attribute = &pack.attributes[index];
        let set = move |value: &String| pack.with_attribute(start, &attribute.name, value).unwrap();
        attribute.values.iter().map(set).collect::<Vec<_>>()
    };
    let mut all = vec![defaults];
    for index in 0..pack.attributes.len() {
        for one in with(defaults, index) {
            all.push(one);
            if index + 1 < pack.attributes.len() {
                all.extend(with(one, index + 1));
            }
        }
    }
    all.dedup();
    all
}

fn cases() -> impl Iterator<Item = (&'static Pack, PayPeriod, Attributes)> {
    library().packs().flat_map(|pack| {
        pack.periods.iter().flat_map(move |&period| {
            all_attributes(pack).into_iter().map(move |attributes| (pack, period, attributes))
        })
    })
}

#[test]
fn net_and_deductions_are_gross_in_every_case() {
    for (pack, period, attributes) in cases() {
        for number in [1, 2, period.last_number()] {
            for gross in SALARIES {
                let pay = pay(pack, period, attributes, number, gross, &YearToDate::start());
                let sum = |roles: &[Role]| {
                    let lines = pack.lines().iter().zip(&pay.amounts);
                    lines
                        .filter(|(line, _)| roles.contains(&line.role))
                        .map(|(_, amount)| amount)
                        .sum::<i64>()
                };
                assert_eq!(pay.gross, gross);
                assert_eq!(
                    pay.net + pay.tax + pay.employee + pay.withheld,
                    gross,
                    "{} {period} {gross}",
                    pack.code
                );
                assert_eq!(pay.tax, sum(&[Role::EmployeeTax]));
                assert_eq!(pay.employee, sum(&[Role::EmployeeSocial]));
                assert_eq!(pay.employer, sum(&[Role::EmployerTax, Role::EmployerSocial]));
            }
        }
    }
}

/// Except fixed charges: Kenya's SHIF has a minimum (not for zero pay), and its training levy is an amount
/// per employee.
#[test]
fn pay_of_zero_has_no_withholding() {
    for (pack, period, attributes) in cases() {
        let pay = pay(pack, period, attributes, 1, 0, &YearToDate::start());
        assert_eq!((pay.tax, pay.employee, pay.net), (0, 0, 0), "{} {period}", pack.code);
    }
}

/// Orders that take a part of the whole amount (`slab`) may take more than a raise: they are left out.
#[test]
fn net_does_not_fall_as_gross_rises_but_at_nigerias_exemption() {
    let minimum_wage = 7_000_000;
    // New York's method III taxes all of the highest pay at one rate, which is a cliff of that law.
    let new_york = |pack: &Pack| pack.region.as_deref() == Some("NY");
    for (pack, period, attributes) in cases().filter(|(pack, ..)| !new_york(pack)) {
        // A flat minimum (Kenya's SHIF of 300) takes more than all of the smallest pays.
        let start = if pack.country == "KE" { 40_000 } else { 0 };
        let before_orders = |pay: &Pay| pay.net + pay.withheld;
        let mut before = pay(pack, period, attributes, 1, start, &YearToDate::start());
        for step in 1..1_500 {
            let gross = start + step * 9_973;
            let now = pay(pack, period, attributes, 1, gross, &YearToDate::start());
            let crosses =
                pack.country == "NG" && before.gross <= minimum_wage && minimum_wage < gross;
            assert!(
                before_orders(&now) >= before_orders(&before) || crosses,
                "{} {period}: {} nets {}, {gross} nets {}",
                pack.code,
                before.gross,
                before.net,
                now.net
            );
            before = now;
        }
    }
}

/// The control run of the test above: the exemption is a cliff in the pack that has it.
#[test]
fn a_kobo_over_the_minimum_wage_costs_the_exemption() {
    let pack = library().pack("NG").unwrap();
    // A pension contribution would lower the minimum wage below the first taxed naira, and remove the cliff.
    let attributes = pack.with_attribute(pack.default_attributes(), "pension", "false").unwrap();
    let net = |gross| pay(pack, PayPeriod::Monthly, attributes, 1, gross, &YearToDate::start()).net;
    assert_eq!((net(7_000_000), net(7_000_001)), (7_000_000, 6_950_001));
}

/// Pay in the last month of a cumulative year brings the tax to the tax of the whole year.
#[test]
fn a_cumulative_year_is_the_sum_of_its_months() {
    let pack = library().pack("GB").unwrap();
    let attributes = pack.default_attributes();
    for salaries in [[300_000; 12], [0, 0, 0, 0, 0, 0, 900_000, 1, 50_000, 3_000_000, 104_826, 7]] {
        let (mut ytd, mut taxes) = (YearToDate::start(), 0);
        for (number, gross) in (1..).zip(salaries) {
            let pay = pay(pack, PayPeriod::Monthly, attributes, number, gross, &ytd);
            ytd.add(&pay).unwrap();
            taxes += pay.tax;
        }
        let names = ytd.to_names(pack);
        assert_eq!(names["income_tax"], taxes);
        assert_eq!(names["gross"], salaries.iter().sum::<i64>());
        // The whole year in its last month, without earlier pay: the same totals in one step.
        let total = salaries.iter().sum();
        let at_once = pay(pack, PayPeriod::Monthly, attributes, 12, total, &YearToDate::start());
        assert_eq!(at_once.tax, taxes);
        assert_eq!(Some(at_once.taxable), Some(ytd.taxable()));
    }
}

#[test]
fn a_refund_is_a_negative_amount() {
    let pack = library().pack("GB").unwrap();
    let attributes = pack.default_attributes();
    let mut ytd = YearToDate::start();
    ytd.add(&pay(pack, PayPeriod::Monthly, attributes, 1, 500_000, &ytd)).unwrap();
    let second = pay(pack, PayPeriod::Monthly, attributes, 2, 0, &ytd);
    assert!(second.tax < 0 && second.net == -second.tax, "{second:?}");
}

#[test]
fn a_yearly_cap_holds_over_the_year() {
    for (code, line, cap) in [("CA", "cpp", 423_045), ("CA", "ei", 112_307), ("US", "futa", 4_200)]
    {
        let pack = library().pack(code).unwrap();
        let mut ytd = YearToDate::start();
        for number in 1..=12 {
            ytd.add(&pay(
                pack,
                PayPeriod::Monthly,
                pack.default_attributes(),
                number,
                2_000_000,
                &ytd,
            ))
            .unwrap();
        }
        assert_eq!(ytd.to_names(pack)[line], cap, "{code} {line}");
    }
}

#[test]
fn taxable_pay_is_what_the_pack_names_or_its_bands_are_charged_on() {
    let rows = [
        ("US", 500_000, 500_000),
        ("GB", 300_000, 195_100),
        ("KE", 5_000_000, 4_487_500),
        ("ZA", 3_000_000, 3_000_000),
        ("NG", 50_000_000, 46_000_000),
        ("XX", 100_000, 100_000),
    ];
    for (code, gross, taxable) in rows {
        let pack = library().pack(code).unwrap();
        let pay =
            pay(pack, pack.periods[0], pack.default_attributes(), 1, gross, &YearToDate::start());
        assert_eq!(pay.taxable, Some(taxable), "{code}");
    }
}

#[test]
fn invalid_pay_input_is_refused() {
    let pack = library().pack("GB").unwrap();
    let evaluate = |period, number, amounts: &[i64]| {
        let earnings: Vec<_> =
            amounts.iter().map(|amount| (pack.component("basic"), *amount)).collect();
        pack.evaluate(&PayInput {
            period,
            number,
            attributes: pack.default_attributes(),
            inputs: &[],
            on: None,
            earnings: &earnings,
            ytd: &YearToDate::start(),
        })
        .unwrap_err()
    };
    assert_eq!(evaluate(PayPeriod::Monthly, 1, &[-1]), PayError::NegativeEarnings(-1));
    assert_eq!(
        evaluate(PayPeriod::Monthly, 1, &[i64::MAX, 1]),
        PayError::Overflow { at: "gross".to_owned() }
    );
    assert_eq!(
        evaluate(PayPeriod::Monthly, 0, &[1]),
        PayError::PeriodNumber { number: 0, last: 12 }
    );
    assert!(matches!(
        evaluate(PayPeriod::Semimonthly, 1, &[1]),
        PayError::UnsupportedPeriod { .. }
    ));
}

/// Very large numbers cause neither a panic nor an overflow: they are calculated, or refused with the name
/// of the value.
#[test]
fn absurd_amounts_are_computed_or_refused() {
    for (pack, period, attributes) in cases() {
        let totals = pack.lines().iter().map(|line| (line.id.clone(), i64::MIN)).collect();
        let ytd = YearToDate::from_names(pack, &totals).unwrap();
        let input = PayInput {
            period,
            number: period.last_number(),
            attributes,
            inputs: &vec![i64::MAX; pack.inputs.len()],
            on: None,
            earnings: &[(pack.component("basic"), i64::MAX)],
            ytd: &ytd,
        };
        match pack.evaluate(&input) {
            Ok(pay) => assert_eq!(pay.net, pay.gross - pay.tax - pay.employee - pay.withheld),
            Err(error) => assert!(matches!(error, PayError::Overflow { .. }), "{error}"),
        }
    }
}

#[test]
fn totals_survive_names_and_serde() {
    let pack = library().pack("CA").unwrap();
    let mut ytd = YearToDate::start();
    ytd.add(&pay(pack, PayPeriod::Weekly, pack.default_attributes(), 1, 123_456, &ytd)).unwrap();
    assert_eq!(YearToDate::from_names(pack, &ytd.to_names(pack)), Ok(ytd.clone()));
    let json = serde_json::to_string(&ytd).unwrap();
    assert_eq!(serde_json::from_str::<YearToDate>(&json).unwrap(), ytd);
}

#[test]
fn a_line_is_owed_to_the_authority_of_its_first_filing() {
    let authority = |code: &str, id: &str| {
        let lines = library().pack(code).unwrap().lines();
        lines.iter().find(|line| line.id == id).unwrap().authority.as_deref()
    };
    assert_eq!(authority("KE", "nssf_tier_1"), Some("NSSF"));
    assert_eq!(authority("GB", "income_tax"), Some("HMRC"));
    assert_eq!(authority("NG", "itf"), Some("ITF"));
}

#[test]
fn due_dates_are_kept_whole() {
    let due = |code: &str, form: &str| {
        let filings = &library().pack(code).unwrap().filings;
        filings.iter().find(|filing| filing.form == form).unwrap().due
    };
    assert_eq!(due("KE", "P9A"), Due::MonthsAfter { months: 2, day: Day::Last });
    assert_eq!(due("GB", "FPS"), Due::OnPayDate);
    assert_eq!(due("GB", "EPS"), Due::DayAfterTaxMonth(19));
    assert_eq!(due("GB", "P60"), Due::DayOfYear { month: 5, day: Day::Number(31) });
    assert_eq!(due("NG", "Pension schedule"), Due::BusinessDaysAfterPay(7));
    let deposit = library().pack("US").unwrap().filings[0].deposit.clone().unwrap();
    assert_eq!((deposit.schedule, deposit.day), (Frequency::Monthly, Day::Number(15)));
}

#[test]
fn the_placeholder_pack_is_marked_as_one() {
    let found = library().in_force("FR", jiff::civil::date(2026, 5, 1));
    assert_eq!(found.fit, Match::Placeholder);
    assert!(found.pack.name.contains("Placeholder"));
    let pay = pay(
        found.pack,
        PayPeriod::Weekly,
        found.pack.default_attributes(),
        1,
        100_000,
        &YearToDate::start(),
    );
    assert_eq!((pay.tax, pay.employee, pay.employer), (10_000, 5_000, 5_000));
}
