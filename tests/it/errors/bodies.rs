//! Bodies that are not JSON, have the wrong shape, or are too large.

use serde_json::json;

use crate::harness::Caller;
use crate::harness::http::{exchange, pointers};

use super::{EMPLOYEES, RUN, employee, text, unchanged};

#[test]
fn a_body_that_is_not_json_is_malformed() {
    unchanged(|caller| {
        let deep = format!("{}1{}", "[".repeat(65), "]".repeat(65));
        let deeper = "[".repeat(100_000);
        let objects = format!("{}1{}", "{\"a\":".repeat(65), "}".repeat(65));
        let bodies: &[&[u8]] = &[
            b"",
            b" ",
            b"{",
            b"{\"company_id\":",
            b"{'company_id': 1}",
            b"{\"company_id\": 1,}",
            b"{} {}",
            b"company_id=1&period=2026-01",
            b"\xef\xbb\xbf{}",
            b"{\"name\": \"\xff\xfe\"}",
            b"{\"name\": \"a\0b\"}",
            b"{\"name\": \"a\nb\"}",
            b"{\"name\": \"\\ud800\"}",
            b"{\"name\": \"\\udc00\\ud800\"}",
            b"{\"name\": \"\\x\"}",
            b"{\"n\": 01}",
            b"{\"n\": NaN}",
            b"{\"n\": +1}",
            b"{\"a\": 1, \"a\": 1}",
            b"{\"a\": {\"b\": 1, \"\\u0062\": 2}}",
            deep.as_bytes(),
            deeper.as_bytes(),
            objects.as_bytes(),
        ];
        for body in bodies {
            let answer = text(caller, RUN, body);
            let shown = String::from_utf8_lossy(&body[..body.len().min(40)]).into_owned();
            assert_eq!(answer.status, 400, "{shown}: {}", answer.text());
            answer.refused(400, "malformed_json");
        }
    });
}

#[test]
fn nesting_within_the_limit_is_judged_by_its_shape() {
    unchanged(|caller| {
        let deep = format!("{}1{}", "[".repeat(64), "]".repeat(64));
        text(caller, RUN, deep.as_bytes()).refused(422, "validation_failed");
    });
}

#[test]
fn a_body_of_the_wrong_type_is_refused_where_it_is_wrong() {
    unchanged(|caller| {
        let company = caller.company(0);
        for body in ["null", "1", "\"text\"", "[]", "[{}]", "true"] {
            let problem = text(caller, RUN, body.as_bytes()).refused(422, "validation_failed");
            assert_eq!(pointers(&problem), [""], "{body}");
        }
        let people = caller.payable(&company);
        for (body, at) in [
            (json!({"company_id": 42, "period": "2026-01"}), vec!["/company_id"]),
            (json!({"company_id": null, "period": "2026-01"}), vec!["/company_id"]),
            (json!({"company_id": company, "period": 202_601}), vec!["/period"]),
            (json!({"company_id": company, "period": {"year": 2026}}), vec!["/period"]),
            (
                json!({"company_id": company, "period": "2026-01", "employees": people[0]}),
                vec!["/employees"],
            ),
            (
                json!({"company_id": company, "period": "2026-01", "employees": {}}),
                vec!["/employees"],
            ),
            (
                json!({"company_id": company, "period": "2026-01", "employees": [1, people[0], null]}),
                vec!["/employees/0", "/employees/2"],
            ),
        ] {
            let problem = caller.post(RUN, &body).refused(422, "validation_failed");
            assert_eq!(pointers(&problem), at, "{body}: {problem}");
        }
    });
}

#[test]
fn unknown_members_are_named() {
    unchanged(|caller| {
        let mut body = employee(&caller.company(0));
        body["colour"] = json!("red");
        body["status"] = json!("active");
        let problem = caller.post(EMPLOYEES, &body).refused(422, "validation_failed");
        assert_eq!(pointers(&problem), ["/colour", "/status"]);
        let mut body = employee(&caller.company(0));
        body["compensation"] =
            json!({"amount": 1, "currency": "NGN", "interval": "month", "bonus": 1});
        let problem = caller.post(EMPLOYEES, &body).refused(422, "validation_failed");
        assert_eq!(pointers(&problem), ["/compensation/bonus"]);
        let mut body = employee(&caller.company(0));
        body["a/b~c"] = json!(1);
        let problem = caller.post(EMPLOYEES, &body).refused(422, "validation_failed");
        assert_eq!(pointers(&problem), ["/a~1b~0c"], "pointers are escaped (RFC 6901)");
    });
}

#[test]
fn every_violation_of_a_body_is_named_at_once() {
    unchanged(|caller| {
        let body = json!({"company_id": 7, "name": "", "role": "a\u{0}b", "start_date": "2026-02-30", "email": "nobody",
            "employment_type": "seasonal", "compensation": {"amount": -1, "currency": "XXX", "interval": "fortnight"},
            "metadata": {"a": 1}, "colour": "red"});
        let problem = caller.post(EMPLOYEES, &body).refused(422, "validation_failed");
        let mut at = pointers(&problem);
        at.sort_unstable();
        at.dedup();
        let expected = [
            "/colour",
            "/company_id",
            "/compensation/amount",
            "/compensation/currency",
            "/compensation/interval",
            "/department",
            "/email",
            "/employment_type",
            "/metadata/a",
            "/name",
            "/role",
            "/start_date",
        ];
        assert_eq!(at, expected, "{problem:#}");
        for error in problem["errors"].as_array().unwrap() {
            assert!(!error["code"].as_str().unwrap().is_empty());
            assert!(!error["detail"].as_str().unwrap().ends_with('.'));
        }
    });
}

#[test]
fn control_characters_and_overlong_texts_are_refused() {
    unchanged(|caller| {
        let company = caller.company(0);
        let long = "x".repeat(201);
        for name in
            ["\u{0}", "a\u{0}b", "tab\there", "line\nfeed", "\u{7f}", "\u{85}", "", long.as_str()]
        {
            let mut body = employee(&company);
            body["name"] = json!(name);
            let problem = caller.post(EMPLOYEES, &body).refused(422, "validation_failed");
            // A text may break several rules in one place.
            let mut at = pointers(&problem);
            at.dedup();
            assert_eq!(at, ["/name"], "{name:?}");
        }
    });
}

#[test]
fn any_other_text_is_stored_as_sent() {
    let caller = Caller::instant();
    let company = caller.company(0);
    let longest = "🧁".repeat(200);
    for name in [
        "Zoë Ünal",
        "名前",
        "a\"b\\c/d",
        "<script>alert(1)</script>",
        "𝔘𝔫𝔦",
        "e\u{301}",
        "\u{202e}abc",
        longest.as_str(),
    ] {
        let mut body = employee(&company);
        body["name"] = json!(name);
        assert_eq!(caller.post(EMPLOYEES, &body).expect(201)["data"]["name"], name);
        let rows = caller.all(&format!("{EMPLOYEES}?company_id={company}"));
        assert_eq!(rows.last().unwrap()["name"], name);
    }
}

#[test]
fn money_is_a_whole_number_of_minor_units() {
    unchanged(|caller| {
        let company = caller.company(0);
        for amount in
            ["1.5", "1e-3", "\"100\"", "-1", "99999999999999999999", "1e300", "null", "true"]
        {
            let body = employee(&company).to_string();
            let body = body.replacen('{', &format!("{{\"compensation\":{{\"amount\":{amount},\"currency\":\"NGN\",\"interval\":\"month\"}},"), 1);
            let problem =
                text(caller, EMPLOYEES, body.as_bytes()).refused(422, "validation_failed");
            assert_eq!(pointers(&problem), ["/compensation/amount"], "{amount}");
        }
        let mut body = employee(&company);
        body["compensation"] = json!({"amount": 100, "currency": "KES", "interval": "month"});
        let problem = caller.post(EMPLOYEES, &body).refused(422, "currency_mismatch");
        assert_eq!(pointers(&problem), ["/compensation/currency"]);
    });
}

#[test]
fn a_body_beyond_one_mebibyte_is_too_large() {
    unchanged(|caller| {
        let body = json!({"company_id": "x".repeat(2 << 20), "period": "2026-01"}).to_string();
        text(caller, RUN, body.as_bytes()).refused(413, "payload_too_large");
        let just = format!("{{\"company_id\":\"{}\"}}", "x".repeat((1 << 20) - 17));
        assert_eq!(just.len(), 1 << 20);
        text(caller, RUN, just.as_bytes()).refused(422, "validation_failed");
        text(caller, RUN, format!("{just} ").as_bytes()).refused(413, "payload_too_large");
    });
}

#[test]
fn a_chunked_body_beyond_one_mebibyte_is_too_large() {
    unchanged(|caller| {
        let mut request = b"POST /v1/payroll/run HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer test_chunks\r\n\
            Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n"
            .to_vec();
        for _ in 0..32 {
            request.extend_from_slice(b"10000\r\n");
            request.extend_from_slice(&vec![b' '; 1 << 16]);
            request.extend_from_slice(b"\r\n");
        }
        request.extend_from_slice(b"0\r\n\r\n");
        exchange(caller.port(), &request, false).unwrap().refused(413, "payload_too_large");
    });
}

#[test]
fn only_json_with_its_content_type_is_accepted() {
    unchanged(|caller| {
        let body = json!({"company_id": caller.company(0), "period": "2026-01"}).to_string();
        let sent = |content_type: Option<&str>| {
            let request = caller.request("POST", RUN);
            let request =
                content_type.map_or(request.clone(), |value| request.header("Content-Type", value));
            caller.send(&request.bytes(body.as_bytes()))
        };
        for wrong in [
            "text/plain",
            "text/json",
            "application/x-www-form-urlencoded",
            "application/jsonx",
            "application/json; charset=latin1",
            "",
            "json",
        ] {
            sent(Some(wrong)).refused(415, "unsupported_media_type");
        }
        sent(None).refused(415, "unsupported_media_type");
    });
}

#[test]
fn json_in_utf_8_may_be_said_in_several_ways() {
    for good in [
        "application/json",
        "application/json; charset=utf-8",
        "Application/JSON;charset=UTF-8",
        "application/json;",
    ] {
        let caller = Caller::instant();
        let body = json!({"company_id": caller.company(0), "period": "2026-01"}).to_string();
        let request =
            caller.request("POST", RUN).header("Content-Type", good).bytes(body.as_bytes());
        assert_eq!(caller.send(&request).status, 201, "{good}");
    }
}

#[test]
fn null_clears_a_member_of_a_change_and_is_refused_where_nothing_can_be_cleared() {
    let caller = Caller::instant();
    let company = format!("/api/business/companies/{}", caller.company(0));
    let changed = |path: &str, body| caller.patch(path, &body).data();
    let given = json!({"metadata": {"tier": "gold"}, "contact": {"phone": "+234", "website": "https://a.example"}});
    changed(&company, given);
    let cleared = changed(&company, json!({"metadata": null, "contact": {"phone": null}}));
    assert_eq!(cleared["metadata"], json!({}));
    assert_eq!(cleared["contact"].get("phone"), None);
    assert_eq!(cleared["contact"]["website"], "https://a.example");
    let employee = format!("{EMPLOYEES}/{}", caller.payable(&caller.company(0))[0]);
    assert_eq!(changed(&employee, json!({"tax_id": "T1"}))["tax_id"], "T1");
    assert_eq!(changed(&employee, json!({"tax_id": null}))["tax_id"], json!(null));
    let body =
        json!({"type": "business", "legal_name": "Obi Ltd", "country": "NG", "phone": "+234"});
    let made = caller.post("/api/identity/subjects", &body).made();
    let subject = format!("/api/identity/subjects/{}", made["id"].as_str().unwrap());
    assert_eq!(changed(&subject, json!({"phone": null}))["phone"], json!(null));
    for (path, body, pointer) in [
        (&company, json!({"payroll_settings": null}), "/payroll_settings"),
        (
            &company,
            json!({"payment_settings": {"low_balance": null}}),
            "/payment_settings/low_balance",
        ),
        (&employee, json!({"name": null}), "/name"),
        (&subject, json!({"id_numbers": null}), "/id_numbers"),
    ] {
        let refused = caller.patch(path, &body).refused(422, "validation_failed");
        assert_eq!(pointers(&refused), [pointer]);
    }
}

#[test]
fn an_unknown_id_in_a_body_is_named_by_its_pointer() {
    unchanged(|caller| {
        let company = caller.company(0);
        let asked = json!({"company_id": company, "amount": 1, "currency": "NGN", "method": "card", "reference": "R"});
        let with = |member: &str, id: &str| {
            let mut body = asked.clone();
            body[member] = json!(id);
            body
        };
        let line = |direction: &str| json!({"account": "rent", "direction": direction, "amount": 1, "currency": "NGN"});
        let days = json!({"from": "2025-12-01", "to": "2025-12-31"});
        let statement = |company: &str, wallet: &str| {
            let mut body = days.clone();
            body["company_id"] = json!(company);
            body["wallet_id"] = json!(wallet);
            body
        };
        for (path, body, pointer) in [
            ("/api/payments/collections", with("invoice_id", "inv_none"), "/invoice_id"),
            ("/api/payments/collections", with("mandate_id", "mdt_none"), "/mandate_id"),
            (
                "/api/business/journal-entries",
                json!({"company_id": "com_none", "effective_on": "2026-01-01", "lines": [line("debit"), line("credit")]}),
                "/company_id",
            ),
            (
                "/api/business/leave-requests",
                json!({"employee_id": "emp_none", "type": "annual", "start_date": "2026-02-02", "end_date": "2026-02-03"}),
                "/employee_id",
            ),
            (
                "/api/payments/fx-transfers",
                json!({"quote_id": "fxq_none", "source_wallet_id": "wal_none"}),
                "/quote_id",
            ),
            ("/api/payments/bank-statements", statement("com_none", "wal_none"), "/company_id"),
            ("/api/payments/bank-statements", statement(&company, "wal_none"), "/wallet_id"),
            (
                "/_sandbox/inbound/bank_transfer",
                json!({"company_id": "com_none", "amount": 1}),
                "/company_id",
            ),
            (
                "/_sandbox/inbound/statement_line",
                json!({"wallet_id": "wal_none", "amount": 1, "direction": "credit"}),
                "/wallet_id",
            ),
            (
                "/_sandbox/inbound/investor_reply",
                json!({"deal_id": "dea_none", "reply": "interested"}),
                "/deal_id",
            ),
            (
                "/_sandbox/inbound/watchlist_hit",
                json!({"list": "pep", "subject_id": "sub_none"}),
                "/subject_id",
            ),
        ] {
            let refused = caller.post(path, &body).refused(404, "resource_not_found");
            assert_eq!(pointers(&refused), [pointer], "{path}");
        }
    });
}
