//! Check digits: public rules that detect mistyped numbers.
//!
//! A rule gets a draft in which `*` marks the characters to calculate, and fills the next ones. Most national rules
//! are a weighted sum, so they are data (`weighted`). Each other rule has its own variant.

use serde::Deserialize;

/// One rule.
#[derive(Debug, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
pub(crate) enum Check {
    /// The weighted sum of the digits, or of the positions in `alphabet`, modulo `modulus`, is a position in `map`.
    Weighted {
        weights: Vec<u32>,
        modulus: u32,
        map: &'static str,
        #[serde(default)]
        alphabet: Option<&'static str>,
        #[serde(default)]
        skip: usize,
        #[serde(default)]
        add: u32,
    },
    /// ISO/IEC 7812 over the digits before the check digit.
    Luhn,
    /// ISO 7064 MOD 11,10 (German tax numbers).
    #[serde(rename = "mod11_10")]
    Mod11Minus10,
    /// Two digits: `from` − (number × 100 mod 97). Letters count as in the French account key.
    Mod97 { from: u64 },
    /// `width` digits: (number × `times` + `add`) mod `modulus`.
    Remainder {
        modulus: u64,
        width: usize,
        #[serde(default = "one")]
        times: u64,
        #[serde(default)]
        add: u64,
    },
    /// The Italian check letter of accounts and of the tax code.
    Cin,
    /// The Turkish tax number.
    Vkn,
    /// The two leading digits of the Australian business number.
    Abn,
    /// The Mexican taxpayer register.
    Rfc,
    /// The Indian goods and services tax number: Luhn in base 36.
    Gstin,
}

const DIGITS: &str = "0123456789";
const BASE_36: &str = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ";
const RFC: &str = "0123456789ABCDEFGHIJKLMN&OPQRSTUVWXYZ ";
const RFC_CHECK: &str = "0123456789A";
/// The values of `0`–`9` and `A`–`Z` at odd positions of the Italian rule; a digit counts as the letter of its number.
const CIN_ODD: [u64; 26] =
    [1, 0, 5, 7, 9, 13, 15, 17, 19, 21, 2, 4, 18, 20, 11, 3, 6, 8, 12, 14, 16, 10, 22, 25, 24, 23];

impl Check {
    /// Fills the next `*` of `draft`. Returns `false` if a number with these digits is never issued.
    pub(crate) fn fill(&self, draft: &mut [u8]) -> bool {
        match self {
            Self::Weighted { weights, modulus, map, alphabet, skip, add } => {
                let values = values(draft, alphabet.unwrap_or(DIGITS));
                let products =
                    values.skip(*skip).zip(weights).map(|(value, weight)| value * weight);
                let place = ((products.sum::<u32>() + add) % modulus) as usize;
                let character = map.as_bytes()[place];
                character != b'-' && put(draft, &[character])
            }
            Self::Luhn => {
                let digit = luhn(before_check(draft), DIGITS);
                put(draft, &digit)
            }
            Self::Gstin => {
                let character = luhn(before_check(draft), BASE_36);
                put(draft, &character)
            }
            Self::Mod11Minus10 => {
                let product = values(before_check(draft), DIGITS).fold(10, |product, digit| {
                    let sum = (product + digit) % 10;
                    (if sum == 0 { 10 } else { sum }) * 2 % 11
                });
                put_number(draft, u64::from((11 - product) % 10), 1)
            }
            Self::Mod97 { from } => {
                let digits = draft.iter().filter_map(|byte| french_digit(*byte));
                let remainder = remainder(digits, 97) * 100 % 97;
                put_number(draft, from - remainder, 2)
            }
            Self::Remainder { modulus, width, times, add } => {
                let digits = values(draft, DIGITS).map(u64::from);
                let remainder = remainder(digits, *modulus);
                put_number(draft, (remainder * times + add) % modulus, *width)
            }
            Self::Cin => {
                let letter = b'A' + cin(draft);
                put(draft, &[letter])
            }
            Self::Vkn => {
                let digit = vkn(draft);
                put_number(draft, digit, 1)
            }
            Self::Abn => {
                let digits = abn(draft);
                put_number(draft, digits, 2)
            }
            Self::Rfc => {
                let character = rfc(before_check(draft));
                put(draft, &[character])
            }
        }
    }
}

fn one() -> u64 {
    1
}

/// The positions in `alphabet` of the draft's characters. Others (separators, open checks) are skipped.
///
/// Every alphabet starts with the ten digits, so those need no search.
fn values<'a>(draft: &'a [u8], alphabet: &'a str) -> impl DoubleEndedIterator<Item = u32> + 'a {
    draft.iter().filter_map(|byte| {
        if byte.is_ascii_digit() {
            return Some(u32::from(byte - b'0'));
        }
        let place = alphabet.bytes().position(|symbol| symbol == *byte)?;
        u32::try_from(place).ok()
    })
}

fn before_check(draft: &[u8]) -> &[u8] {
    draft.split(|byte| *byte == b'*').next().unwrap_or(draft)
}

/// Sum of the values, every second one from the right doubled and its digits added.
fn luhn(number: &[u8], alphabet: &str) -> [u8; 1] {
    let base = u32::try_from(alphabet.len()).expect("an alphabet is short");
    let sum: u32 = (0_u32..)
        .zip(values(number, alphabet).rev())
        .map(|(position, value)| {
            let value = if position % 2 == 0 { value * 2 } else { value };
            value / base + value % base
        })
        .sum();
    [alphabet.as_bytes()[((base - sum % base) % base) as usize]]
}

fn remainder(digits: impl Iterator<Item = u64>, modulus: u64) -> u64 {
    digits.fold(0, |rest, digit| (rest * 10 + digit) % modulus)
}

/// A–I and J–R are 1–9, S–Z 2–9: the letters of French account numbers.
fn french_digit(byte: u8) -> Option<u64> {
    match byte {
        b'0'..=b'9' => Some(u64::from(byte - b'0')),
        b'A'..=b'R' => Some(u64::from((byte - b'A') % 9 + 1)),
        b'S'..=b'Z' => Some(u64::from(byte - b'S' + 2)),
        _ => None,
    }
}

fn cin(draft: &[u8]) -> u8 {
    let sum: u64 = (1_u64..)
        .zip(values(draft, BASE_36))
        .map(|(position, value)| {
            let place = if value < 10 { value } else { value - 10 };
            if position % 2 == 1 { CIN_ODD[place as usize] } else { u64::from(place) }
        })
        .sum();
    u8::try_from(sum % 26).expect("a remainder of 26 fits")
}

fn vkn(draft: &[u8]) -> u64 {
    let sum: u64 = values(draft, DIGITS)
        .zip((1..=9_u64).rev())
        .map(|(digit, weight)| {
            let shifted = (u64::from(digit) + weight) % 10;
            let value = (shifted << weight) % 9;
            if shifted != 0 && value == 0 { 9 } else { value }
        })
        .sum();
    (10 - sum % 10) % 10
}

/// The number minus 10 000 000 000, weighted, is a multiple of 89; its first digit is not 0.
fn abn(draft: &[u8]) -> u64 {
    let sum: u64 = values(draft, DIGITS)
        .zip((3..=19_u64).step_by(2))
        .map(|(digit, weight)| u64::from(digit) * weight)
        .sum();
    11 + (88 * (sum + 1)) % 89
}

/// Thirteen positions from the left; the first is blank for a company.
fn rfc(number: &[u8]) -> u8 {
    let blank = if number.len() == 11 { 37 } else { 0 };
    let first_weight = if number.len() == 11 { 12 } else { 13 };
    let sum: u32 = values(number, RFC)
        .zip((2..=first_weight).rev())
        .map(|(value, weight)| value * weight)
        .sum::<u32>()
        + blank * 13;
    match RFC_CHECK.as_bytes().get(((11 - sum % 11) % 11) as usize) {
        Some(character) => *character,
        None => unreachable!("a remainder of 11 is a place of its alphabet"),
    }
}

/// The number in `width` decimal digits.
fn put_number(draft: &mut [u8], mut number: u64, width: usize) -> bool {
    let mut digits = [b'0'; 3];
    for digit in digits[..width].iter_mut().rev() {
        *digit = DIGITS.as_bytes()[(number % 10) as usize];
        number /= 10;
    }
    put(draft, &digits[..width])
}

fn put(draft: &mut [u8], characters: &[u8]) -> bool {
    let start = draft.iter().position(|byte| *byte == b'*').expect("a rule has a place to fill");
    draft[start..start + characters.len()].copy_from_slice(characters);
    true
}
