//! Counts with nouns in messages, such as `2 events`.

/// `1 call`, `2 calls`.
pub(super) fn counted(number: u64, one: &str, many: &str) -> String {
    format!("{number} {}", if number == 1 { one } else { many })
}
