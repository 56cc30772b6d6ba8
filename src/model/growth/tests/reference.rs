//! A second implementation of the check digits, from the published descriptions. It shares no code and no data with
//! the tables.

use core::str::FromStr;

/// Digits of a text, other characters left out.
fn digits(text: &str) -> Vec<i64> {
    text.chars().filter_map(|c| c.to_digit(10)).map(i64::from).collect()
}

fn dot(weights: &[i64], digits: &[i64]) -> i64 {
    weights.iter().zip(digits).map(|(weight, digit)| weight * digit).sum()
}

/// The number modulo 97, by long division of its decimal text.
fn mod97_of_text(text: &str) -> u128 {
    let mut rest = String::new();
    for c in text.chars() {
        rest.push(c);
        let value = u128::from_str(&rest).expect("digits");
        rest = (value % 97).to_string();
    }
    u128::from_str(&rest).expect("digits")
}

pub(super) fn iban(iban: &str) -> bool {
    let turned = format!("{}{}", &iban[4..], &iban[..4]);
    let spelled: String =
        turned.chars().map(|c| c.to_digit(36).expect("letter or digit").to_string()).collect();
    mod97_of_text(&spelled) == 1
}

pub(super) fn luhn(number: &str) -> bool {
    let mut sum = 0;
    for (place, digit) in digits(number).into_iter().rev().enumerate() {
        let twice = if digit > 4 { 2 * digit - 9 } else { 2 * digit };
        sum += if place % 2 == 1 { twice } else { digit };
    }
    sum % 10 == 0
}

pub(super) fn nuban(bank: &str, account: &str) -> bool {
    let all = digits(&format!("{bank}{account}"));
    let weights = [3, 7, 3, 3, 7, 3, 3, 7, 3, 3, 7, 3];
    all.len() == 13 && (dot(&weights, &all[..12]) + all[12]) % 10 == 0
}

pub(super) fn aba(routing: &str) -> bool {
    let d = digits(routing);
    d.len() == 9
        && (3 * (d[0] + d[3] + d[6]) + 7 * (d[1] + d[4] + d[7]) + (d[2] + d[5] + d[8])) % 10 == 0
}

pub(super) fn clabe(clabe: &str) -> bool {
    let d = digits(clabe);
    let sum: i64 = d[..17].iter().zip([3, 7, 1].iter().cycle()).map(|(d, w)| d * w % 10).sum();
    d.len() == 18 && (10 - sum % 10) % 10 == d[17]
}

/// French key: 97 − (89 × bank + 15 × branch + 3 × account) mod 97.
pub(super) fn rib(rib: &str, account_length: usize) -> bool {
    let spelled: String = rib
        .chars()
        .map(|c| match c {
            'A' | 'J' => '1',
            'B' | 'K' | 'S' => '2',
            'C' | 'L' | 'T' => '3',
            'D' | 'M' | 'U' => '4',
            'E' | 'N' | 'V' => '5',
            'F' | 'O' | 'W' => '6',
            'G' | 'P' | 'X' => '7',
            'H' | 'Q' | 'Y' => '8',
            'I' | 'R' | 'Z' => '9',
            digit => digit,
        })
        .collect();
    let number = |range: core::ops::Range<usize>| i64::from_str(&spelled[range]).expect("digits");
    let end = 10 + account_length;
    let (bank, branch, account, key) =
        (number(0..5), number(5..10), number(10..end), number(end..end + 2));
    let (branch_factor, bank_factor) = if account_length == 11 {
        (15, 89)
    } else {
        // Places shift by the account's extra digits: 100 × 10^length and × 10^5 of it, modulo 97.
        let branch = (0..account_length + 2).fold(1, |p, _| p * 10 % 97);
        (branch, (0..5).fold(branch, |p, _| p * 10 % 97))
    };
    97 - (bank_factor * bank + branch_factor * branch + 3 * account) % 97 == key
}

pub(super) fn morocco(rib: &str) -> bool {
    let spelled = format!("{}00", &rib[..22]);
    97 - mod97_of_text(&spelled) == u128::from_str(&rib[22..]).expect("digits")
}

pub(super) fn portugal_nib(nib: &str) -> bool {
    nib.len() == 21 && mod97_of_text(nib) == 1
}

pub(super) fn spain_ccc(ccc: &str) -> bool {
    fn control(ten: &[i64]) -> i64 {
        match 11 - dot(&[1, 2, 4, 8, 5, 10, 9, 7, 3, 6], ten) % 11 {
            10 => 1,
            11 => 0,
            digit => digit,
        }
    }
    let d = digits(ccc);
    let bank = [&[0, 0], &d[..8]].concat();
    d.len() == 20 && control(&bank) == d[8] && control(&d[10..]) == d[9]
}

/// The Italian letter rule: `ODD` gives the values of `A`–`Z`, and of `0`–`9` as `A`–`J`.
pub(super) fn italian_letter(text: &str) -> char {
    const ODD: &str = "BAKPLCQDREVOSFTGUHMINJWZYX";
    let sum: usize = text
        .chars()
        .enumerate()
        .map(|(place, c)| {
            let letter = if c.is_ascii_digit() { (b'A' + (c as u8 - b'0')) as char } else { c };
            if place % 2 == 0 {
                ODD.find(letter).expect("a letter")
            } else {
                usize::from(letter as u8 - b'A')
            }
        })
        .sum();
    (b'A' + u8::try_from(sum % 26).expect("small")) as char
}

pub(super) fn poland_sort_code(code: &str) -> bool {
    let d = digits(code);
    dot(&[3, 9, 7, 1, 3, 9, 7, 1], &d) % 10 == 0
}

pub(super) fn gb_utr(utr: &str) -> bool {
    let d = digits(utr);
    let rest = 11 - dot(&[6, 7, 8, 9, 10, 5, 4, 3, 2], &d[1..]) % 11;
    d[0] == if rest > 9 { rest - 9 } else { rest }
}

pub(super) fn iso7064_mod11_10(number: &str) -> bool {
    let mut product = 10;
    let d = digits(number);
    for digit in &d[..d.len() - 1] {
        let mut sum = (digit + product) % 10;
        if sum == 0 {
            sum = 10;
        }
        product = sum * 2 % 11;
    }
    let check = 11 - product;
    d[d.len() - 1] == if check == 10 { 0 } else { check }
}

pub(super) fn abn(abn: &str) -> bool {
    let mut d = digits(abn);
    d[0] -= 1;
    d.len() == 11 && dot(&[10, 1, 3, 5, 7, 9, 11, 13, 15, 17, 19], &d) % 89 == 0
}

pub(super) fn acn(acn: &str) -> bool {
    let d = digits(acn);
    (dot(&[8, 7, 6, 5, 4, 3, 2, 1], &d) + d[8]) % 10 == 0
}

pub(super) fn tfn(tfn: &str) -> bool {
    dot(&[1, 4, 3, 7, 5, 8, 6, 9, 10], &digits(tfn)) % 11 == 0
}

/// CNPJ and CPF: two digits, weights from the right 2, 3, …, at most `highest`.
pub(super) fn brazil(number: &str, highest: i64) -> bool {
    let d = digits(number);
    (d.len() - 2..d.len()).all(|place| {
        let sum: i64 = d[..place]
            .iter()
            .rev()
            .zip((2..=highest).cycle())
            .map(|(digit, weight)| digit * weight)
            .sum();
        let check = if sum % 11 < 2 { 0 } else { 11 - sum % 11 };
        d[place] == check
    })
}

pub(super) fn gstin(gstin: &str) -> bool {
    let values: Vec<u32> = gstin.chars().filter_map(|c| c.to_digit(36)).collect();
    let sum: u32 = values[..14]
        .iter()
        .enumerate()
        .map(|(place, value)| {
            let product = value * if place % 2 == 0 { 1 } else { 2 };
            product / 36 + product % 36
        })
        .sum();
    values.len() == 15 && (36 - sum % 36) % 36 == values[14]
}

pub(super) fn uscc(code: &str) -> bool {
    const SYMBOLS: &str = "0123456789ABCDEFGHJKLMNPQRTUWXY";
    let sum: usize = code
        .chars()
        .take(17)
        .zip(core::iter::successors(Some(1), |weight| Some(weight * 3 % 31)))
        .map(|(c, weight)| SYMBOLS.find(c).expect("a symbol") * weight)
        .sum();
    SYMBOLS.chars().nth((31 - sum % 31) % 31) == code.chars().last()
}

/// The Chinese organisation code inside it, and the resident number: ISO 7064 MOD 11-2 in the second.
pub(super) fn china_resident(number: &str) -> bool {
    let sum = number.chars().enumerate().fold(0, |sum, (place, c)| {
        let value = if c == 'X' { 10 } else { c.to_digit(10).expect("a digit") };
        let weight = (0..17 - place).fold(1, |power, _| power * 2 % 11);
        (sum + value * weight) % 11
    });
    number.len() == 18 && sum == 1
}

pub(super) fn ean13(number: &str) -> bool {
    let d = digits(number);
    let sum: i64 = d.iter().enumerate().map(|(i, d)| if i % 2 == 0 { *d } else { 3 * d }).sum();
    d.len() == 13 && sum % 10 == 0
}

pub(super) fn swiss_uid(uid: &str) -> bool {
    let d = digits(uid);
    let rest = dot(&[5, 4, 3, 2, 7, 6, 5, 4], &d) % 11;
    d[8] == (11 - rest) % 11
}

/// Nine digits, weights 9 to 2, the last subtracted: a multiple of 11 (BSN, RSIN).
pub(super) fn eleven_test(number: &str) -> bool {
    let d = digits(number);
    d.len() == 9 && (dot(&[9, 8, 7, 6, 5, 4, 3, 2], &d) - d[8]) % 11 == 0
}

pub(super) fn portugal_nif(nif: &str) -> bool {
    let d = digits(nif);
    let rest = dot(&[9, 8, 7, 6, 5, 4, 3, 2], &d) % 11;
    d[8] == if rest < 2 { 0 } else { 11 - rest }
}

pub(super) fn poland_nip(nip: &str) -> bool {
    let d = digits(nip);
    dot(&[6, 5, 7, 2, 3, 4, 5, 6, 7], &d) % 11 == d[9]
}

pub(super) fn pesel(pesel: &str) -> bool {
    dot(&[1, 3, 7, 9, 1, 3, 7, 9, 1, 3, 1], &digits(pesel)) % 10 == 0
}

pub(super) fn spain_dni(dni: &str) -> bool {
    let number = usize::from_str(&dni[..8]).expect("digits");
    dni.chars().last() == "TRWAGMYFPDXBNJZSQVHLCKE".chars().nth(number % 23)
}

/// Control digit of a Spanish company: even places as they are, odd ones doubled.
pub(super) fn spain_cif(cif: &str) -> bool {
    let d = digits(cif);
    let odd: i64 = [0, 2, 4, 6].iter().map(|i| 2 * d[*i]).map(|n| n / 10 + n % 10).sum();
    let even = d[1] + d[3] + d[5];
    (10 - (odd + even) % 10) % 10 == d[7]
}

pub(super) fn ireland(number: &str) -> bool {
    let d = digits(number);
    let suffix = number.chars().nth(8).map_or(0, |c| i64::from(c as u8 - b'A') + 1);
    let sum = dot(&[8, 7, 6, 5, 4, 3, 2], &d) + 9 * suffix;
    let letter = "WABCDEFGHIJKLMNOPQRSTUV".chars().nth(usize::try_from(sum % 23).expect("small"));
    number.chars().nth(7) == letter
}

pub(super) fn turkey_tckn(number: &str) -> bool {
    let d = digits(number);
    let odd = d[0] + d[2] + d[4] + d[6] + d[8];
    let even = d[1] + d[3] + d[5] + d[7];
    d.len() == 11
        && (odd * 7 - even).rem_euclid(10) == d[9]
        && d[..10].iter().sum::<i64>() % 10 == d[10]
}

pub(super) fn turkey_vkn(number: &str) -> bool {
    let d = digits(number);
    let mut sum = 0;
    for i in 0..9_u32 {
        let v1 = (d[i as usize] + i64::from(9 - i)) % 10;
        let v2 = v1 * 2_i64.pow(9 - i) % 9;
        sum += if v1 != 0 && v2 == 0 { 9 } else { v2 };
    }
    d.len() == 10 && (10 - sum % 10) % 10 == d[9]
}

pub(super) fn japan_corporate(number: &str) -> bool {
    let d = digits(number);
    let sum: i64 = d[1..].iter().rev().zip([1, 2].iter().cycle()).map(|(d, w)| d * w).sum();
    d.len() == 13 && 9 - sum % 9 == d[0]
}

pub(super) fn japan_my_number(number: &str) -> bool {
    let d = digits(number);
    let factor = |n: i64| if n <= 6 { n + 1 } else { n - 5 };
    let sum: i64 = d.iter().take(11).rev().zip(1..).map(|(digit, n)| digit * factor(n)).sum();
    let check = if sum % 11 <= 1 { 0 } else { 11 - sum % 11 };
    d.len() == 12 && d[11] == check
}

pub(super) fn singapore_uen(uen: &str) -> bool {
    let sum = dot(&[10, 8, 6, 4, 9, 7, 5, 3, 1], &digits(uen));
    uen.chars().last() == "ZKCMDNERGWH".chars().nth(usize::try_from(sum % 11).expect("small"))
}

pub(super) fn singapore_nric(nric: &str) -> bool {
    let sum = dot(&[2, 7, 6, 5, 4, 3, 2], &digits(nric));
    nric.chars().last() == "JZIHGFEDCBA".chars().nth(usize::try_from(sum % 11).expect("small"))
}

pub(super) fn ghana_tin(tin: &str) -> bool {
    let sum: i64 = digits(&tin[1..10]).iter().zip(1..).map(|(d, w)| d * w).sum();
    let check = tin.chars().last().map(|c| if c == 'X' { 10 } else { i64::from(c as u8 - b'0') });
    check == Some(sum % 11)
}

pub(super) fn mexico_rfc(rfc: &str) -> bool {
    const SYMBOLS: &str = "0123456789ABCDEFGHIJKLMN&OPQRSTUVWXYZ ";
    let padded = format!("{rfc:>13}");
    let sum: usize = padded
        .chars()
        .take(12)
        .enumerate()
        .map(|(place, c)| SYMBOLS.find(c).expect("a symbol") * (13 - place))
        .sum();
    let check = match 11 - sum % 11 {
        11 => '0',
        10 => 'A',
        digit => char::from_digit(u32::try_from(digit).expect("small"), 10).expect("a digit"),
    };
    padded.ends_with(check)
}

pub(super) fn morocco_ice(ice: &str) -> bool {
    ice.len() == 15 && mod97_of_text(ice) == 0
}

pub(super) fn french_vat(vat: &str) -> bool {
    let siren = u64::from_str(&vat[4..]).expect("digits");
    vat.starts_with("FR")
        && luhn(&vat[4..])
        && vat[2..4] == format!("{:02}", (12 + 3 * (siren % 97)) % 97)
}

pub(super) fn french_spi(number: &str) -> bool {
    let value = u64::from_str(&number[..10]).expect("digits");
    number[10..] == format!("{:03}", value % 511)
}
