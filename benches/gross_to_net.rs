//! Gross to net: nanoseconds for each employee-month, by pack. Target ≤ 500.
//!
//! Each round calculates 4,096 different salaries with one reused `Pay`; the figure is the median of the
//! rounds. This is wall-clock time on shared cores: compare packs of one run, not
//! figures of two runs.

#![allow(
    missing_docs,
    clippy::disallowed_methods,
    clippy::disallowed_types,
    reason = "a bench reads the clock"
)]

use std::hint::black_box;
use std::time::Instant;

use sandbox::model::payroll::{Component, Pack, Pay, PayInput, YearToDate, library};

const SALARIES: u32 = 4_096;
const ROUNDS: usize = 101;

fn main() {
    let start = Instant::now();
    let count = library().packs().count();
    println!("{count} packs read and checked in {} µs\n", start.elapsed().as_micros());
    println!("{:<8} {:>6} {:>16}", "pack", "lines", "ns/employee-month");
    for pack in library().packs() {
        println!("{:<8} {:>6} {:>16}", pack.code, pack.lines().len(), measure(pack));
    }
}

/// The median nanoseconds of one evaluation, in the middle of the year with totals to date.
fn measure(pack: &Pack) -> u128 {
    let mut ytd = YearToDate::start();
    let basic = pack.component("basic");
    let mut pay = Pay::default();
    for number in 1..=5 {
        evaluate(pack, basic, 400_000, number, &ytd, &mut pay);
        ytd.add(&pay).expect("small totals");
    }
    let mut rounds: Vec<u128> = (0..ROUNDS)
        .map(|_| {
            let start = Instant::now();
            for index in 0..SALARIES {
                let gross = 150_000 + i64::from(index) * 997;
                evaluate(pack, basic, black_box(gross), 6, &ytd, &mut pay);
                black_box(&pay);
            }
            start.elapsed().as_nanos() / u128::from(SALARIES)
        })
        .collect();
    rounds.sort_unstable();
    rounds[ROUNDS / 2]
}

fn evaluate(
    pack: &Pack,
    basic: Component,
    gross: i64,
    number: u32,
    ytd: &YearToDate,
    pay: &mut Pay,
) {
    let input = PayInput {
        period: pack.periods[0],
        number,
        attributes: pack.default_attributes(),
        inputs: &[],
        on: None,
        earnings: &[(basic, gross)],
        ytd,
    };
    pack.evaluate_into(&input, pay).expect("an ordinary pay");
}
