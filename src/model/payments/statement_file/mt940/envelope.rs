//! Splits a file into messages, and a message into fields.
//!
//! Between two messages, banks write envelopes (`{1:…}{2:…}{4:`), their own header lines (`ABNANL2A`, `:940:`) and
//! empty lines.

use crate::model::payments::statement_file::entries::Wrong;

/// One line of the file, without its line end.
#[derive(Clone, Copy)]
pub(super) struct Mt940Line<'a> {
    pub(super) text: &'a str,
    pub(super) place: usize,
}

/// One field: a tag such as `:61:` and its contents, up to the next field.
pub(super) struct Field<'a> {
    pub(super) tag: &'a str,
    /// Position of the tag.
    pub(super) place: usize,
    /// The text after the tag.
    pub(super) value: Mt940Line<'a>,
    /// The following lines.
    pub(super) more: Vec<Mt940Line<'a>>,
}

/// One message: a statement, or a page of one.
pub(super) struct Message<'a> {
    pub(super) fields: Vec<Field<'a>>,
    /// Where it ends.
    pub(super) end: usize,
}

/// All messages of the file.
pub(super) fn messages(text: &str) -> Result<Vec<Message<'_>>, Wrong> {
    let mut splitter = Splitter::default();
    let mut place = 0;
    for whole in text.split_inclusive('\n') {
        let line = Mt940Line { text: whole.trim_end_matches(['\n', '\r']), place };
        splitter.line(line)?;
        place += whole.len();
    }
    splitter.finish(text.len())
}

#[derive(Default)]
struct Splitter<'a> {
    done: Vec<Message<'a>>,
    /// The fields of the open message; empty between two messages.
    fields: Vec<Field<'a>>,
    /// Whether `{4:` was read and `-}` must follow.
    in_envelope: bool,
    /// The first line outside a message, if no message has followed yet.
    stray: Option<usize>,
}

impl<'a> Splitter<'a> {
    fn line(&mut self, line: Mt940Line<'a>) -> Result<(), Wrong> {
        if let Some(trailer) = line.text.strip_prefix("-}") {
            self.close(line.place);
            self.in_envelope = false;
            return self.head(Mt940Line { text: trailer, place: line.place + 2 });
        }
        if self.fields.is_empty() { self.between(line) } else { self.within(line) }
    }

    /// An envelope's head: the first field may follow `{4:` on the same line.
    fn head(&mut self, line: Mt940Line<'a>) -> Result<(), Wrong> {
        let Some(at) = line.text.find("{4:") else { return Ok(()) };
        if self.in_envelope {
            return Err(Wrong::at(line.place, "expected the end of the message, -}"));
        }
        self.in_envelope = true;
        let rest = Mt940Line { text: &line.text[at + 3..], place: line.place + at + 3 };
        self.between(rest)
    }

    fn between(&mut self, line: Mt940Line<'a>) -> Result<(), Wrong> {
        if line.text.trim().is_empty() || line.text.trim_end() == "-" && !self.done.is_empty() {
            return Ok(());
        }
        if line.text.starts_with('{') {
            self.stray.get_or_insert(line.place);
            return self.head(line);
        }
        match tag(line) {
            Some(field) if field.tag == "20" => {
                self.stray = None;
                self.fields.push(field);
                Ok(())
            }
            Some(field) => {
                let tag = field.tag;
                let detail = format!("expected the statement's reference, :20:, but found :{tag}:");
                Err(Wrong::at(line.place, detail))
            }
            None => {
                self.stray.get_or_insert(line.place);
                Ok(())
            }
        }
    }

    fn within(&mut self, line: Mt940Line<'a>) -> Result<(), Wrong> {
        let mark = line.text.trim_end();
        if !self.in_envelope && (mark == "-" || self.is_closed() && mark.starts_with('-')) {
            self.close(line.place);
            return Ok(());
        }
        match tag(line) {
            Some(field) if field.tag == "20" => {
                if self.in_envelope {
                    return Err(Wrong::at(line.place, "expected the end of the message, -}"));
                }
                self.close(line.place);
                self.fields.push(field);
            }
            // A time of day that a bank breaks before its minutes.
            Some(field) if !is_known(field.tag) && self.takes_more() => self.continued(line)?,
            Some(field) => self.fields.push(field),
            None if mark.is_empty() => {}
            None => self.continued(line)?,
        }
        Ok(())
    }

    /// A line without a tag belongs to the field before it, or to the head of the next message.
    fn continued(&mut self, line: Mt940Line<'a>) -> Result<(), Wrong> {
        if self.takes_more()
            && let Some(field) = self.fields.last_mut()
        {
            field.more.push(line);
            return Ok(());
        }
        if self.is_closed() && !self.in_envelope {
            self.close(line.place);
            return self.between(line);
        }
        Err(Wrong::at(line.place, "expected a field such as :61:"))
    }

    /// Whether the last field can have further lines.
    fn takes_more(&self) -> bool {
        self.fields.last().is_some_and(|field| match field.tag {
            "61" | "86" | "NS" => true,
            "25P" => field.more.is_empty(), // the BIC of the account's bank
            _ => false,
        })
    }

    /// Whether the open message has its closing balance.
    fn is_closed(&self) -> bool {
        self.fields.iter().any(|field| matches!(field.tag, "62F" | "62M"))
    }

    fn close(&mut self, end: usize) {
        if !self.fields.is_empty() {
            self.done.push(Message { fields: core::mem::take(&mut self.fields), end });
        }
    }

    fn finish(mut self, end: usize) -> Result<Vec<Message<'a>>, Wrong> {
        if self.in_envelope {
            return Err(Wrong::at(
                end,
                "expected a field such as :61:, or the end of the message, -}",
            ));
        }
        self.close(end);
        if let Some(place) = self.stray {
            let detail = "expected a statement, which starts with :20:, after this line";
            return Err(Wrong::at(place, detail));
        }
        if self.done.is_empty() {
            return Err(Wrong::at(end, "expected the statement's reference, :20:"));
        }
        Ok(self.done)
    }
}

/// Whether a number is a tag of the format. A tag with a letter always counts as one, so that a wrong tag is
/// reported.
fn is_known(tag: &str) -> bool {
    let numbers = ["13", "20", "21", "25", "28", "60", "61", "62", "64", "65", "86"];
    numbers.contains(&tag) || !tag.bytes().all(|byte| byte.is_ascii_digit())
}

/// The field that starts on that line, if any.
fn tag(line: Mt940Line<'_>) -> Option<Field<'_>> {
    let (tag, value) = line.text.strip_prefix(':')?.split_once(':')?;
    let numbered = matches!(tag.len(), 2 | 3)
        && tag.bytes().take(2).all(|byte| byte.is_ascii_digit())
        && tag.bytes().skip(2).all(|byte| byte.is_ascii_uppercase());
    (numbered || tag == "NS").then(|| Field {
        tag,
        place: line.place,
        value: Mt940Line { text: value, place: line.place + tag.len() + 2 },
        more: Vec::new(),
    })
}
