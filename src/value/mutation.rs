//! Damages files for the fuzz tests of parsers.

use proptest::collection::vec;
use proptest::prelude::{Strategy, any};
use proptest::sample::Index;

/// One damage to a file.
#[derive(Clone, Debug)]
pub(crate) enum Edit {
    Replace(Index, u8),
    Insert(Index, Vec<u8>),
    /// Removes the bytes between two places.
    Remove(Index, Index),
    /// Repeats the bytes between two places at a third.
    Repeat(Index, Index, Index),
}

/// Up to eight edits.
pub(crate) fn edits() -> impl Strategy<Value = Vec<Edit>> {
    let place = any::<Index>;
    let edit = proptest::prop_oneof![
        (place(), any::<u8>()).prop_map(|(at, byte)| Edit::Replace(at, byte)),
        (place(), vec(any::<u8>(), 1..9)).prop_map(|(at, bytes)| Edit::Insert(at, bytes)),
        (place(), place()).prop_map(|(from, to)| Edit::Remove(from, to)),
        (place(), place(), place()).prop_map(|(from, to, at)| Edit::Repeat(from, to, at)),
    ];
    vec(edit, 1..9)
}

/// The file with all edits.
pub(crate) fn damaged(file: &[u8], edits: &[Edit]) -> Vec<u8> {
    let mut file = file.to_vec();
    for edit in edits {
        let place = |index: &Index| index.index(file.len() + 1);
        let range = |from: &Index, to: &Index| {
            let (from, to) = (place(from), place(to));
            from.min(to)..from.max(to)
        };
        match edit {
            Edit::Replace(at, byte) => {
                let at = place(at);
                if let Some(old) = file.get_mut(at) {
                    *old = *byte;
                }
            }
            Edit::Insert(at, bytes) => {
                let at = place(at);
                file.splice(at..at, bytes.iter().copied());
            }
            Edit::Remove(from, to) => {
                let range = range(from, to);
                file.drain(range);
            }
            Edit::Repeat(from, to, at) => {
                let (range, at) = (range(from, to), place(at));
                let again = file[range].to_vec();
                file.splice(at..at, again);
            }
        }
    }
    file
}
