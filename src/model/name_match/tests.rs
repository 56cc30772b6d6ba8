//! Both policies, pair by pair.

use super::*;

fn of(one: &str, other: &str) -> (u32, MatchType) {
    let (one, other) = (Name::read(one), Name::read(other));
    let (there, back) = (one.compare(&other), other.compare(&one));
    assert_eq!(there, back, "a comparison has no direction");
    there
}

fn score_of(name: &str, other: &str) -> u8 {
    let (one, back) = (compare_holders(name, other), compare_holders(other, name));
    assert_eq!(one, back, "a comparison has no direction: {name}, {other}");
    one.1
}

#[test]
fn each_match_type_has_its_score() {
    assert_eq!(of("Vorrik Taldane", "vorrik taldane"), (100, MatchType::Exact));
    assert_eq!(of("Taldane, Vorrik", "Vorrik Taldane"), (98, MatchType::Reordered));
    assert_eq!(of("Vórrik Taldane", "Vorrik Taldane"), (99, MatchType::Transliterated));
    assert_eq!(of("Worick Thaldaine", "Vorrik Taldaine").1, MatchType::Transliterated);
    assert_eq!(of("Mohammed Saleh", "Muhamad Salih").1, MatchType::Near);
    let (score, kind) = of("Vorrik Taldane", "Vorrik Taldanes");
    assert_eq!(kind, MatchType::Near);
    assert!((85..100).contains(&score), "{score}");
}

#[test]
fn other_people_stay_below_every_threshold() {
    for (one, other) in [
        ("Ada Okafor", "Vorrik Taldane"),
        ("Ada Okafor", "Ada Taldane"),
        ("Ann Li", "Ian Lu"),
        ("", "Ada Okafor"),
    ] {
        assert!(of(one, other).0 < 60, "{one}, {other}");
    }
}

#[test]
fn half_a_name_is_no_match_at_the_usual_threshold() {
    assert_eq!(of("Taldane", "Vorrik Taldane").0, 70);
    assert!(of("V. Taldane", "Vorrik Taldane").0 < 85);
}

#[test]
fn the_same_name_in_another_order_case_or_dress_matches_wholly() {
    for (name, other) in [
        ("Ada Okafor", "OKAFOR, ADA"),
        ("Ada Okafor", "Mrs. Ada Okafor"),
        ("Zoë Müller-Łukasz", "ZOE MULLER LUKASZ"),
        ("Séan O'Brien", "Sean OBrien"),
        ("Adéọlá Ògúnbándé", "ADEOLA OGUNBANDE"),
        ("Acme Trading Ltd", "ACME TRADING LIMITED"),
    ] {
        assert_eq!(score_of(name, other), 100, "{name}, {other}");
    }
}

#[test]
fn slips_and_middle_names_still_match() {
    for (name, other) in [
        ("Ada Okafor", "Ada Okofor"),
        ("Ada Okafor", "Ada Okafro"),
        ("Ada Okafor", "Ada Ngozi Okafor"),
        ("Jonathan Smith", "Jonathn Smith"),
    ] {
        let (result, score) = compare_holders(name, other);
        assert_eq!(result, MatchResult::Match, "{name}, {other}: {score}");
        assert!(score < 100, "{name}, {other}");
    }
}

#[test]
fn initials_and_single_names_match_in_part() {
    for (name, other) in [
        ("A. Okafor", "Ada Okafor"),
        ("Okafor", "Ada Okafor"),
        ("A. N. Okafor", "Ada Ngozi Okafor"),
        ("Ada O.", "Ada Okafor"),
    ] {
        let (result, score) = compare_holders(name, other);
        assert_eq!(result, MatchResult::PartialMatch, "{name}, {other}: {score}");
    }
}

#[test]
fn different_people_do_not_match() {
    for (name, other) in [
        ("Ada Okafor", "Chidi Okafor"),
        ("Ada Okafor", "Ada Balogun"),
        ("Ada Okafor", "Grace Wanjiru"),
        ("A. B.", "Ada Okafor"),
        ("Ann Li", "Anna Lu"),
        ("—", "Ada Okafor"),
        ("Acme Trading Ltd", "Apex Holdings Ltd"),
    ] {
        let (result, score) = compare_holders(name, other);
        assert_eq!(result, MatchResult::NoMatch, "{name}, {other}: {score}");
    }
}
