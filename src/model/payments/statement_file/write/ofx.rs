//! Writes OFX 2.2.

use core::fmt::Write as _;

use super::outgoing::{Outgoing, compact, decimal, escaped, plain, with_sign};
use crate::model::TransactionType;

pub(super) fn write(statement: &Outgoing<'_>) -> String {
    let currency = statement.currency;
    let mut file = String::from(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<?OFX OFXHEADER=\"200\" VERSION=\"220\" \
        SECURITY=\"NONE\" OLDFILEUID=\"NONE\" NEWFILEUID=\"NONE\"?>\n<OFX>\n",
    );
    let status = "<STATUS><CODE>0</CODE><SEVERITY>INFO</SEVERITY></STATUS>";
    let (from, to) = (compact(statement.from), compact(statement.to));
    let _ = write!(
        file,
        "<SIGNONMSGSRSV1><SONRS>{status}<DTSERVER>{to}</DTSERVER><LANGUAGE>ENG</LANGUAGE></SONRS></SIGNONMSGSRSV1>\n\
        <BANKMSGSRSV1><STMTTRNRS><TRNUID>{id}</TRNUID>{status}\n<STMTRS><CURDEF>{currency}</CURDEF>\
        <BANKACCTFROM><BANKID>SANDBOX</BANKID><ACCTID>{account}</ACCTID><ACCTTYPE>CHECKING</ACCTTYPE></BANKACCTFROM>\n\
        <BANKTRANLIST><DTSTART>{from}</DTSTART><DTEND>{to}</DTEND>\n",
        id = escaped(statement.id),
        account = escaped(statement.account),
    );
    for line in statement.lines {
        let kind = if line.direction == TransactionType::Debit { "DEBIT" } else { "CREDIT" };
        let _ = write!(
            file,
            "<STMTTRN><TRNTYPE>{kind}</TRNTYPE><DTPOSTED>{}</DTPOSTED><TRNAMT>{}</TRNAMT><FITID>{}</FITID>",
            compact(line.date),
            with_sign(line, currency),
            line.id,
        );
        for (name, text) in [("REFNUM", &line.reference), ("MEMO", &line.description)] {
            let text = plain(text.as_ref());
            if !text.is_empty() {
                let _ = write!(file, "<{name}>{}</{name}>", escaped(&text));
            }
        }
        file.push_str("</STMTTRN>\n");
    }
    let sign = if statement.closing < 0 { "-" } else { "" };
    let _ = write!(
        file,
        "</BANKTRANLIST>\n<LEDGERBAL><BALAMT>{sign}{}</BALAMT><DTASOF>{to}</DTASOF></LEDGERBAL></STMTRS>\n\
        </STMTTRNRS></BANKMSGSRSV1>\n</OFX>\n",
        decimal(statement.closing, currency, '.')
    );
    file
}
