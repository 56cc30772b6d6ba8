//! Writes camt.053 in version 08.

use core::fmt::Write as _;

use super::outgoing::{Outgoing, decimal, escaped, plain};
use crate::model::TransactionType;
use crate::model::payments::StatementLine;
use crate::model::prelude::*;

pub(super) fn write(statement: &Outgoing<'_>) -> String {
    let currency = statement.currency;
    let mut file = String::from(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n\
        <Document xmlns=\"urn:iso:std:iso:20022:tech:xsd:camt.053.001.08\">\n  <BkToCstmrStmt>\n",
    );
    let _ = write!(
        file,
        "    <GrpHdr><MsgId>{id}</MsgId><CreDtTm>{to}T23:59:59Z</CreDtTm></GrpHdr>\n    <Stmt>\n      \
        <Id>{id}</Id>\n      <Acct><Id><Othr><Id>{account}</Id></Othr></Id><Ccy>{currency}</Ccy></Acct>\n",
        id = escaped(statement.id),
        to = statement.to,
        account = escaped(statement.account),
    );
    for (code, day, minor) in
        [("OPBD", statement.from, statement.opening), ("CLBD", statement.to, statement.closing)]
    {
        let mark = if minor < 0 { "DBIT" } else { "CRDT" };
        let _ = writeln!(
            file,
            "      <Bal><Tp><CdOrPrtry><Cd>{code}</Cd></CdOrPrtry></Tp><Amt Ccy=\"{currency}\">{}</Amt>\
            <CdtDbtInd>{mark}</CdtDbtInd><Dt><Dt>{day}</Dt></Dt></Bal>",
            decimal(minor, currency, '.')
        );
    }
    for line in statement.lines {
        entry(&mut file, line, currency);
    }
    file.push_str("    </Stmt>\n  </BkToCstmrStmt>\n</Document>\n");
    file
}

fn entry(file: &mut String, line: &StatementLine, currency: Currency) {
    let mark = if line.direction == TransactionType::Debit { "DBIT" } else { "CRDT" };
    let _ = write!(
        file,
        "      <Ntry><Amt Ccy=\"{currency}\">{}</Amt><CdtDbtInd>{mark}</CdtDbtInd><Sts><Cd>BOOK</Cd></Sts>\
        <BookgDt><Dt>{}</Dt></BookgDt>",
        decimal(line.amount, currency, '.'),
        line.date
    );
    file.push_str("<NtryDtls><TxDtls>");
    let reference = plain(line.reference.as_ref());
    if !reference.is_empty() {
        let _ = write!(file, "<Refs><EndToEndId>{}</EndToEndId></Refs>", escaped(&reference));
    }
    let description = plain(line.description.as_ref());
    if !description.is_empty() {
        let _ = write!(file, "<RmtInf><Ustrd>{}</Ustrd></RmtInf>", escaped(&description));
    }
    file.push_str("</TxDtls></NtryDtls></Ntry>\n");
}
