//! Amounts in major units with a decimal point.

/// The most minor units. The tables use this number as a threshold that no pay reaches.
pub(super) const MOST: i64 = 9_007_199_254_740_991;

/// Minor units of `"3000.00"`. Refuses signs, separators, exponents and more decimals than the currency has.
pub(super) fn parse(text: &str, minor_digits: u8) -> Result<i64, String> {
    let (whole, decimals) = text.split_once('.').unwrap_or((text, ""));
    let only_digits = |part: &str| part.bytes().all(|byte| byte.is_ascii_digit());
    let has_bare_point = decimals.is_empty() && text.contains('.');
    if whole.is_empty() || has_bare_point || !only_digits(whole) || !only_digits(decimals) {
        return Err(format!(
            "`{text}` is not an amount: give a decimal number from 0, such as 3000.00"
        ));
    }
    let places = usize::from(minor_digits);
    if decimals.len() > places {
        return Err(format!(
            "`{text}` has more decimals than the currency, which has {minor_digits}"
        ));
    }
    let minor = format!("{whole}{decimals:0<places$}").parse().ok();
    minor
        .filter(|minor| *minor <= MOST)
        .ok_or_else(|| too_large(&format!("`{text}`"), minor_digits))
}

/// The message for an amount above the limit.
pub(super) fn too_large(what: &str, minor_digits: u8) -> String {
    format!("{what} is too large: the maximum is {}", format(MOST, minor_digits))
}

/// Minor units as major ones: `-1234` is `-12.34`.
pub(super) fn format(amount: i64, minor_digits: u8) -> String {
    let places = usize::from(minor_digits);
    let digits = format!("{:0>width$}", amount.unsigned_abs(), width = places + 1);
    let (whole, decimals) = digits.split_at(digits.len() - places);
    let sign = if amount < 0 { "-" } else { "" };
    let point = if places == 0 { "" } else { "." };
    format!("{sign}{whole}{point}{decimals}")
}

#[cfg(test)]
mod tests {
    use super::{format, parse};

    #[test]
    fn amounts_are_read_in_major_units() {
        let rows = [("3000.00", 300_000), ("3000", 300_000), ("0.5", 50), ("0", 0), ("0.01", 1)];
        for (text, minor) in rows {
            assert_eq!(parse(text, 2), Ok(minor), "{text}");
        }
        assert_eq!(parse("12", 0), Ok(12));
    }

    #[test]
    fn text_that_is_no_amount_is_refused() {
        for text in ["", "-1", "+1", "1.", ".5", "1,000", "1e3", "1.234", "x", "1.2.3", "£1"] {
            assert!(parse(text, 2).is_err(), "{text}");
        }
        assert!(parse("1.5", 0).is_err());
        assert_eq!(parse("90071992547409.91", 2), Ok(super::MOST));
        for text in ["90071992547409.92", "92233720368547758.07", "99999999999999999999"] {
            let most = "the maximum is 90071992547409.91";
            assert_eq!(parse(text, 2), Err(format!("`{text}` is too large: {most}")));
        }
    }

    #[test]
    fn amounts_are_written_with_all_decimals() {
        assert_eq!(format(-1234, 2), "-12.34");
        assert_eq!(format(5, 2), "0.05");
        assert_eq!(format(0, 2), "0.00");
        assert_eq!(format(i64::MIN, 0), i64::MIN.to_string());
    }
}
