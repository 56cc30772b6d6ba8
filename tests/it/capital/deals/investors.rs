//! Answers of investors: in reply to a term sheet, and at any time.

use super::*;

#[test]
fn an_investor_replies_within_two_business_days_and_one_who_passes_ends_the_deal() {
    // The second day of 2026 is a Friday: two business days later is the Tuesday.
    let caller = Caller::manual();
    caller.advance(&json!({"to": "2026-01-02T09:00:00Z"}));
    verify(&caller, &caller.company(0));
    caller.advance(&json!({"by": "10m"}));
    let deals = [made(&caller, "equity"), made(&caller, "equity"), made(&caller, "equity")];
    let headers =
        ["investor.reply=interested", "investor.reply=passes", "investor.reply=passes;after=2h"];
    for (deal, header) in deals.iter().zip(headers) {
        let path = format!("{DEALS}/{}/advance", id(deal));
        let request = caller.request("POST", &path).header("Sandbox-Scenario", header);
        let at = caller.send(&request.json(&json!({}))).expect(200)["data"].take();
        assert_eq!((&at["investor"]["reply"], &at["status"]), (&Value::Null, &json!("open")));
    }
    let passed = ["deal.investor_replied", "deal.lost"];
    assert_eq!(caller.advance(&json!({"by": "3h"})), passed);
    let lost = read(&caller, &deals[2]);
    assert_eq!((&lost["status"], &lost["stage"]), (&json!("lost"), &json!("screening")));
    assert_eq!(lost["status_history"][1]["reason"], "Palm Ventures passes");
    assert_eq!(caller.advance(&json!({"to": "2026-01-05T23:00:00Z"})), [""; 0]);
    let happened = caller.advance(&json!({"by": "1d"}));
    assert_eq!(happened, [&passed[..1], &passed[..]].concat());
    let noted = read(&caller, &deals[0]);
    assert_eq!(
        (&noted["status"], &noted["investor"]["reply"]),
        (&json!("open"), &json!("interested"))
    );
    assert!(noted["investor"]["replied_at"].as_str().unwrap().starts_with("2026-01-06"));
    assert_eq!(read(&caller, &deals[1])["status"], "lost");
}

#[test]
fn an_investor_may_reply_at_any_time_while_the_deal_is_open() {
    let caller = Caller::manual();
    let path = "/_sandbox/inbound/investor_reply";
    let says = |deal: &Value, reply: &str| json!({"deal_id": id(deal), "reply": reply, "note": "The market turned"});
    let deal = made(&caller, "equity");
    let noted = caller.post(path, &says(&deal, "interested")).expect(200);
    assert_eq!(
        (&noted["data"]["status"], &noted["data"]["investor"]["reply"]),
        (&json!("open"), &json!("interested"))
    );
    // An interested investor is not asked again.
    moved(&caller, id(&deal), "screening").expect(200);
    assert_eq!(caller.advance(&json!({"by": "5d"})), [""; 0]);
    let lost = caller.post(path, &says(&deal, "passes")).expect(200);
    assert_eq!(lost["data"]["status"], "lost");
    assert_eq!(lost["data"]["status_history"][1]["reason"], "The market turned");
    let problem = caller.post(path, &says(&deal, "interested"));
    problem.refused(409, "invalid_state_transition");
    let mut alone = body(&caller.company(0), "equity");
    alone.as_object_mut().unwrap().remove("investor");
    let alone = caller.post(DEALS, &alone).expect(201)["data"].take();
    let problem = caller.post(path, &says(&alone, "passes")).refused(422, "validation_failed");
    assert_eq!(problem["errors"][0]["code"], "no_investor");
    // A deal without an investor sends no request, and a late reply changes nothing.
    moved(&caller, id(&alone), "screening").expect(200);
    let late = made(&caller, "equity");
    moved(&caller, id(&late), "screening").expect(200);
    close(&caller, &late, &json!({"outcome": "withdrawn"})).expect(200);
    assert_eq!(caller.advance(&json!({"by": "5d"})), [""; 0]);
    let unknown = json!({"deal_id": UNKNOWN, "reply": "passes"});
    caller.post(path, &unknown).refused(404, "resource_not_found");
}
