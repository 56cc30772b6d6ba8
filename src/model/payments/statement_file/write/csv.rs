//! Writes CSV with the heads `date`, `amount`, `description` and `reference`.

use core::fmt::Write as _;

use super::outgoing::{Outgoing, plain, with_sign};

pub(super) fn write(statement: &Outgoing<'_>) -> String {
    let mut file = String::from("date,amount,description,reference\r\n");
    let quoted = |text: String| format!("\"{}\"", text.replace('"', "\"\""));
    for line in statement.lines {
        let _ = write!(
            file,
            "{},{},{},{}\r\n",
            line.date,
            with_sign(line, statement.currency),
            quoted(plain(line.description.as_ref())),
            quoted(plain(line.reference.as_ref()))
        );
    }
    file
}
