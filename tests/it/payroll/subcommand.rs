//! `sandbox gross-to-net`: tables, JSON, cases, refusals.

use std::io::Cursor;

use clap::Parser;
use sandbox::cli::gross_to_net::{Args, CasesOutcome, Error, run};
use serde_json::{Value, json};

use crate::harness::{command, finish};

#[derive(Parser)]
struct Command {
    #[command(flatten)]
    args: Args,
}

fn output(arguments: &[&str], input: &str) -> Result<(CasesOutcome, String), String> {
    let arguments = ["gross-to-net"].iter().chain(arguments);
    let Command { args } = Command::try_parse_from(arguments).map_err(|error| error.to_string())?;
    let mut output = Vec::new();
    match run(&args, Cursor::new(input.to_owned()), &mut output) {
        Ok(outcome) => Ok((outcome, String::from_utf8(output).unwrap())),
        Err(Error::Usage(message)) => Err(message),
        Err(Error::Io(error)) => panic!("{error}"),
    }
}

fn printed(arguments: &[&str]) -> String {
    output(arguments, "").unwrap().1
}

fn answers(arguments: &[&str], input: &str) -> (CasesOutcome, Vec<Value>) {
    let (outcome, text) = output(arguments, input).unwrap();
    (outcome, text.lines().map(|line| serde_json::from_str(line).unwrap()).collect())
}

#[test]
fn a_payslip_is_a_table_with_aligned_amounts() {
    let expected = "\
United Kingdom, 2026-27 (GB)
monthly pay, period 1, GBP

Earnings
  basic                          3000.00

Gross                            3000.00

Tax
  Income tax (PAYE)               390.20

Contributions
  National Insurance              156.16

Net                              2453.64

Employer's cost on top
  Employer's National Insurance   387.45
";
    assert_eq!(printed(&["--country", "GB", "--gross", "3000.00"]), expected);
}

#[test]
fn the_json_of_one_month_is_the_ytd_file_of_the_next() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("ytd.json");
    let common = ["--country", "GB", "--gross", "3000.00", "--json"];
    let first: Value = serde_json::from_str(&printed(&common)).unwrap();
    std::fs::write(&path, first["ytd"].to_string()).unwrap();
    let next = [common.as_slice(), &["--number", "2", "--ytd", path.to_str().unwrap()]].concat();
    let second: Value = serde_json::from_str(&printed(&next)).unwrap();
    assert_eq!(second["ytd"]["gross"], 600_000);
    assert_eq!(second["tax"], 39_040);
    assert_eq!(second["taxable"], 195_200);
}

#[test]
fn the_pay_date_chooses_the_tax_year_and_the_number() {
    let of = |date| -> Value {
        serde_json::from_str(&printed(&[
            "--country",
            "gb",
            "--gross",
            "1",
            "--date",
            date,
            "--json",
        ]))
        .unwrap()
    };
    assert_eq!(of("2026-04-05")["pack"], "GB-2025");
    assert_eq!((&of("2026-04-05")["k"], &of("2026-04-06")["k"]), (&json!(12), &json!(1)));
    assert_eq!(of("2026-06-30")["note"], Value::Null);
    assert!(of("2031-01-01")["note"].as_str().unwrap().starts_with("No pack is in force"));
}

#[test]
fn a_country_without_a_pack_gets_the_placeholder_and_a_note() {
    let table = printed(&["--country", "DE", "--gross", "1000"]);
    assert!(table.contains("There is no pack for this country"), "{table}");
    assert!(table.contains("850.00"), "{table}");
}

#[test]
fn components_attributes_and_inputs_reach_the_pack() {
    let arguments = [
        "--country",
        "NG",
        "--component",
        "basic=100000",
        "--component",
        "meal=5000.5",
        "--attr",
        "nhf=true",
        "--input",
        "annual_rent=60000000",
        "--json",
    ];
    let slip: Value = serde_json::from_str(&printed(&arguments)).unwrap();
    assert_eq!(slip["gross"], 10_500_050);
    assert_eq!(slip["lines"]["nhf"], 250_000);
    assert_eq!(slip["lines"]["pension"], 800_000);
}

/// The pack of the state adds its lines. New York 2026: family leave 0.432 % and disability 0.5 %, at most 0.60 a week (2.60 a month).
#[test]
fn a_state_adds_its_lines_to_the_payslip() {
    let read = |arguments: &[&str]| -> Value {
        let all = [&["--gross", "5000", "--date", "2026-05-01", "--json"], arguments].concat();
        serde_json::from_str(&printed(&all)).unwrap()
    };
    let national = read(&["--country", "US"]);
    let alone = read(&["--pack", "US-NY"]);
    let both = read(&["--country", "US", "--attr", "state=NY"]);
    assert_eq!(both["regional_pack"], "US-NY");
    assert_eq!((&both["lines"]["pfl"], &both["lines"]["dbl"]), (&json!(2_160), &json!(260)));
    for (line, amount) in alone["lines"].as_object().unwrap() {
        assert_eq!(both["lines"][line], *amount, "{line}");
    }
    assert_eq!(both["lines"]["social_security"], 31_000);
    let number = |it: &Value, name: &str| it[name].as_i64().unwrap();
    let withheld = number(&alone, "gross") - number(&alone, "net");
    assert!(withheld > 2_420);
    assert_eq!(number(&both, "net"), number(&national, "net") - withheld);
    for sum in ["tax", "employee", "employer"] {
        assert_eq!(number(&both, sum), number(&national, sum) + number(&alone, sum), "{sum}");
    }
    let table = ["--country", "US", "--gross", "5000", "--date", "2026-05-01"];
    let table = printed(&[&table[..], &["--attr", "state=NY"]].concat());
    assert!(table.contains("(US-NY)") && table.contains(" 21.60\n"), "{table}");
    let own = ["--attr", "state=CA", "--attr", "state.filing_status=married"];
    let married = read(&[&["--country", "US"], &own[..]].concat());
    let other = read(&["--country", "US", "--attr", "state=CA"]);
    let tax = |it: &Value| it["lines"]["state_income_tax"].as_i64().unwrap();
    assert!(tax(&married) < tax(&other));
    let refused = output(&[&["--country", "US", "--gross", "1"], &own[2..]].concat(), "");
    assert!(refused.unwrap_err().contains("needs `state`"));
}

#[test]
fn invalid_arguments_are_refused_with_the_reason() {
    let rows: [(&[&str], &str); 11] = [
        (&["--country", "GB", "--gross", "1.234"], "more decimals than the currency"),
        (&["--country", "GB", "--gross", "1,000"], "is not an amount"),
        (&["--country", "GB", "--gross=-1"], "is not an amount"),
        (&["--country", "GB"], "give --gross"),
        (&["--gross", "1"], "give --country"),
        (&["--country", "England", "--gross", "1"], "is not a country"),
        (&["--pack", "GB-1999", "--gross", "1"], "no pack `GB-1999`"),
        (
            &["--country", "GB", "--gross", "1", "--attr", "colour=red"],
            "no attribute `colour` in this pack: it has tax_code",
        ),
        (
            &["--country", "GB", "--gross", "1", "--attr", "tax_code=X"],
            "`X` is not a value of `tax_code`: it has [S|C](BR|0T|D0|D1)",
        ),
        (
            &["--country", "NG", "--gross", "1", "--input", "annual_rent=1.5"],
            "must be a whole number",
        ),
        (&["--country", "GB", "--gross", "1", "--number", "13"], "numbered 1 to 12"),
    ];
    for (arguments, words) in rows {
        let message = output(arguments, "").unwrap_err();
        assert!(message.contains(words), "{arguments:?}: {message}");
    }
}

#[test]
fn a_file_that_cannot_be_read_is_a_failure_and_not_wrong_usage() {
    for arguments in [
        &["gross-to-net", "--cases", "no-such-file"][..],
        &["gross-to-net", "--country", "GB", "--gross", "1", "--ytd", "no-such-file"],
    ] {
        let ended = finish(&mut command(arguments));
        let err = String::from_utf8(ended.stderr).unwrap();
        assert_eq!(ended.status.code(), Some(1), "{arguments:?}: {err}");
        assert!(err.starts_with("error: no-such-file: "), "{arguments:?}: {err}");
    }
}

#[test]
fn a_bad_case_answers_for_itself_and_stops_no_other() {
    let input = [
        r#"{"pack":"GB","period":"monthly","k":1,"attrs":{"tax_code":"1257L"},"inputs":{},"gross":300000,"ytd":{}}"#,
        "not json",
        "",
        r#"{"pack":"GB","gross":-1}"#,
        r#"{"pack":"GB","gross":1,"colour":"red"}"#,
        r#"{"pack":"GB","gross":1.5}"#,
        r#"{"pack":"QQ","gross":1}"#,
        r#"{"pack":"US","gross":500000}"#,
        r#"{"pack":"GB","gross":9007199254740992}"#,
    ]
    .join("\n");
    let (outcome, answers) = answers(&["--cases", "-"], &input);
    assert_eq!(outcome, CasesOutcome::SomeRefused);
    let expected = json!({
        "gross": 300_000,
        "lines": {
            "income_tax": 39_020, "national_insurance": 15_616, "national_insurance_employer": 38_745,
            "student_loan": 0, "postgraduate_loan": 0, "direct_earnings_attachment": 0, "council_tax_order": 0,
        },
        "tax": 39_020,
        "employee": 15_616,
        "employer": 38_745,
        "withheld": 0,
        "net": 245_364
    });
    assert_eq!(answers[0], expected);
    let refused: Vec<i64> = answers.iter().filter_map(|answer| answer["line"].as_i64()).collect();
    assert_eq!(refused, [2, 4, 5, 6, 7, 9]);
    assert_eq!(answers[6]["lines"]["social_security"], 31_000);
}

#[test]
fn json_and_cell_forms_of_a_case_answer_alike() {
    let rows = [
        r#"{"pack":"NG","k":2,"attrs":{"nhf":true,"pension":false},"inputs":{"annual_rent":60000000},"gross":{"basic":9000000,"housing":500000},"ytd":{"gross":10}}"#,
        r#"{"pack":"NG","k":"2","attrs":"nhf=true;pension=false","inputs":"annual_rent=60000000","gross":"{\"basic\":9000000,\"housing\":500000}","ytd":"{\"gross\":10}"}"#,
    ];
    let (outcome, answers) = answers(&["--cases", "-"], &rows.join("\n"));
    assert_eq!(outcome, CasesOutcome::Computed);
    assert_eq!(answers[0], answers[1]);
    assert_eq!(answers[0]["lines"]["nhf"], 225_000);
}

#[test]
fn cases_may_leave_the_pack_to_the_command_line() {
    let (outcome, answers) = answers(&["--pack", "ZA", "--cases", "-"], r#"{"gross":3000000}"#);
    assert_eq!(outcome, CasesOutcome::Computed);
    assert_eq!(answers[0]["lines"]["uif"], 17_712);
}

/// 26 USC 402(e)(3): a deferral from a bonus is no wage, so 22 % is charged on the rest. Regular wages cover a deferral first.
#[test]
fn a_deferral_from_a_bonus_alone_lowers_its_flat_tax() {
    let rows = [
        r#"{"pack":"US","period":"biweekly","inputs":{"earning.bonus":100000,"deduction.401k":50000},"gross":0}"#,
        r#"{"pack":"US","period":"biweekly","inputs":{"earning.bonus":100000,"deduction.401k":50000},"gross":200000}"#,
    ];
    let (outcome, answers) = answers(&["--cases", "-"], &rows.join("\n"));
    assert_eq!(outcome, CasesOutcome::Computed);
    let flat = answers.iter().map(|answer| &answer["lines"]["federal_income_tax_supplemental"]);
    assert_eq!(flat.collect::<Vec<_>>(), [11_000, 22_000]);
}

/// The engine's payslip of the same pay has 100.00 less than without the pension.
#[test]
fn deductions_of_the_inputs_are_taken_from_net_pay() {
    let case = r#"{"pack":"GB","gross":300000,"inputs":{"deduction.pension_net_pay":10000}}"#;
    let answer = answers(&["--cases", "-"], case).1.remove(0);
    assert_eq!(answer["deductions"], json!({"pension_net_pay": 10_000}));
    let withheld = ["tax", "employee"].map(|sum| answer[sum].as_i64().unwrap());
    assert_eq!(answer["net"], 300_000 - withheld.iter().sum::<i64>() - 10_000);
    let table =
        ["--country", "GB", "--gross", "3000", "--input", "deduction.pension_net_pay=10000"];
    let text = printed(&table);
    assert!(text.contains("Pension, net pay arrangement"), "{text}");
    assert!(text.contains("2373.64"), "{text}");
    let bonus = ["--country", "GB", "--gross", "3000", "--input", "earning.bonus=50000"];
    assert!(printed(&bonus).contains("3500.00"));
    for (gross, input) in [("1000", "deduction.401k=2450001"), ("1000", "deduction.401k=99999")] {
        let args = ["--country", "US", "--gross", gross, "--input", input];
        assert!(output(&args, "").unwrap_err().contains("at most"), "{input}");
    }
}
