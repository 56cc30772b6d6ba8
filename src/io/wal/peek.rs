//! Reads the beginning of an entry without parsing the rest.
//!
//! Entries are written by this program, member after member in a fixed order. An entry in another order is parsed as a whole instead.

use crate::value::Timestamp;

/// The bytes that contain all members up to a usual path.
const HEAD_BYTES: usize = 512;

/// The beginning of an entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Peek {
    pub(crate) kind: Kind,
    /// The number of an input in the recording.
    pub(crate) seq: Option<u64>,
    pub(crate) world: u32,
    pub(crate) wall: Option<Timestamp>,
}

/// The kind of a world's entry, as far as the index needs it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// A request or a move of the clock.
    Input,
    /// A request that opens another world with a copy of this one.
    Fork,
    /// The counters of faults.
    Note,
    /// The key was used.
    Used,
    Endpoints,
    Delivered,
    Removed,
    /// An entry that a replay does not need.
    Other,
}

impl Kind {
    /// The kind of a request.
    pub(crate) fn of_path(path: &str) -> Self {
        let path = path.split('?').next().unwrap_or_default();
        let of_what = ["/_sandbox/snapshots/", "/_sandbox/events/"];
        let is_fork =
            of_what.iter().any(|begin| path.starts_with(begin)) && path.ends_with("/fork");
        if is_fork { Self::Fork } else { Self::Input }
    }
}

impl Peek {
    /// The beginning of an entry of a world; none if it is another entry, or in an unknown form.
    pub(crate) fn of(payload: &[u8]) -> Option<Self> {
        let head = &payload[..payload.len().min(HEAD_BYTES)];
        let valid = core::str::from_utf8(head)
            .or_else(|error| core::str::from_utf8(&head[..error.valid_up_to()]));
        let mut rest = valid.ok()?.strip_prefix("{\"")?;
        let (name, after) = rest.split_once("\":{")?;
        rest = after;
        let kind = match name {
            "input" | "clock" => Kind::Input,
            "mark" => Kind::Other,
            "spent" => Kind::Note,
            "endpoints" => Kind::Endpoints,
            "delivered" => Kind::Delivered,
            "removed" => Kind::Removed,
            _ => return None,
        };
        let mut seq = None;
        if kind == Kind::Input {
            let (found, after) = number(rest, "\"seq\":")?;
            seq = Some(found);
            rest = after.strip_prefix(',')?;
        }
        let (world, after) = number(rest, "\"world\":")?;
        let is_use = kind == Kind::Note && after.starts_with(",\"rows\":[]");
        let kind = if is_use { Kind::Used } else { kind };
        let peek = Self { kind, seq, world: u32::try_from(world).ok()?, wall: None };
        if kind != Kind::Input {
            return Some(peek);
        }
        let (wall, after) = match text(after, ",\"wall\":\"") {
            Some((wall, after)) => (Some(wall.parse().ok()?), after),
            None => (None, after),
        };
        if name == "clock" {
            return Some(Self { wall, ..peek });
        }
        let (_, after) = text(after, ",\"at\":\"")?;
        let (_, after) = text(after, ",\"method\":\"")?;
        let (path, _) = text(after, ",\"path\":\"")?;
        Some(Self { kind: Kind::of_path(path), wall, ..peek })
    }
}

fn number<'a>(text: &'a str, name: &str) -> Option<(u64, &'a str)> {
    let rest = text.strip_prefix(name)?;
    let end = rest.find(|c: char| !c.is_ascii_digit())?;
    Some((rest[..end].parse().ok()?, &rest[end..]))
}

fn text<'a>(text: &'a str, name: &str) -> Option<(&'a str, &'a str)> {
    let rest = text.strip_prefix(name)?;
    let end = rest.find(['"', '\\'])?;
    rest[end..].starts_with('"').then(|| (&rest[..end], &rest[end + 1..]))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::recording::{Entry, Named, Removed, Salt, Step};

    #[test]
    fn the_beginning_of_every_entry_is_as_it_is_written() {
        let step = |target: &str| Step {
            wall: Some(Timestamp::EPOCH),
            call: Some(crate::engine::recording::Call {
                method: "POST",
                target: target.to_owned(),
                ..crate::engine::recording::Call::default()
            }),
            tasks: None,
            at: Timestamp::EPOCH,
            now: Timestamp::EPOCH,
            version: 1,
            log: 1,
            events: Vec::new(),
        };
        let peek = |entry: &Entry| Peek::of(&serde_json::to_vec(entry).expect("it serialises"));
        let input = |target| step(target).into_entry(7, 3, Salt([0; 16]));
        for (target, kind) in [
            ("/v1/payroll/run", Kind::Input),
            ("/_sandbox/snapshots/snp_1/fork", Kind::Fork),
            ("/_sandbox/events/evt_1/fork", Kind::Fork),
            ("/_sandbox/events/evt_1/resend", Kind::Input),
        ] {
            let expected = Peek { kind, seq: Some(7), world: 3, wall: Some(Timestamp::EPOCH) };
            assert_eq!(peek(&input(target)), Some(expected), "{target}");
        }
        let clock = Step { call: None, ..step("") }.into_entry(8, 4, Salt([0; 16]));
        let expected =
            Peek { kind: Kind::Input, seq: Some(8), world: 4, wall: Some(Timestamp::EPOCH) };
        assert_eq!(peek(&clock), Some(expected));
        let removed = Entry::Removed(Removed { world: 5 });
        let expected = Peek { kind: Kind::Removed, seq: None, world: 5, wall: None };
        assert_eq!(peek(&removed), Some(expected));
        let used = Entry::Spent(crate::engine::recording::Spent { world: 6, rows: Vec::new() });
        let expected = Peek { kind: Kind::Used, seq: None, world: 6, wall: None };
        assert_eq!(peek(&used), Some(expected));
        let key = crate::engine::recording::KeyHash::of(Salt([0; 16]), "key");
        assert_eq!(peek(&Entry::World(Named { world: 1, key })), None);
    }
}
