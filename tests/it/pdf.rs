//! A payslip as a page to print: the choice of the form, and the separation of the forms.

use serde_json::json;

use crate::harness::Caller;
use crate::harness::contract;
use crate::harness::http::Answer;
use crate::harness::world::id;

const PDF: &str = "application/pdf";

fn payslip(caller: &Caller) -> String {
    let payslips = caller.get("/api/business/payslips?per_page=1").expect(200);
    format!("/api/business/payslips/{}", id(&payslips["data"][0]))
}

fn asked(caller: &Caller, method: &str, path: &str, accept: &str) -> Answer {
    let request = caller.request(method, path).header("Accept", accept);
    request.send(caller.port())
}

fn is_pdf(answer: &Answer) -> bool {
    answer.header("content-type") == Some(PDF) && answer.body.starts_with(b"%PDF-")
}

#[test]
fn a_payslip_is_a_page_to_print_on_request() {
    let caller = Caller::instant();
    let path = payslip(&caller);
    let page = asked(&caller, "GET", &path, PDF);
    assert_eq!(page.status, 200);
    assert!(is_pdf(&page));
    assert_eq!(page.header("vary"), Some("Accept"));
    let file = page.header("content-disposition").expect("a file name");
    assert!(file.starts_with("inline; filename=\"payslip-2025-"), "{file}");
    assert!(page.body.trim_ascii_end().ends_with(b"%%EOF"));
    let head = asked(&caller, "HEAD", &path, PDF);
    assert!(head.body.is_empty());
    for header in ["content-type", "content-length", "etag", "vary"] {
        assert_eq!(head.header(header), page.header(header), "{header}");
    }
    for accept in ["*/*", "application/json", "text/html,*/*;q=0.8", "application/pdf;q=0, */*"] {
        let shown = asked(&caller, "GET", &path, accept);
        assert_eq!(shown.header("content-type"), Some("application/json"), "{accept}");
        assert_eq!(shown.header("vary"), Some("Accept"), "{accept}");
        assert_eq!(shown.data()["object"], "payslip");
    }
}

#[test]
fn the_forms_of_a_payslip_are_never_confused() {
    let caller = Caller::instant();
    let path = payslip(&caller);
    // Several times, because an answer is cached from the third time on.
    let mut tags = Vec::new();
    for _ in 0..4 {
        let (page, shown) =
            (asked(&caller, "GET", &path, PDF), asked(&caller, "GET", &path, "application/json"));
        assert!(is_pdf(&page) && !is_pdf(&shown));
        let tag = |answer: &Answer| answer.header("etag").expect("a tag").to_owned();
        assert_ne!(tag(&page), tag(&shown));
        assert_ne!(page.header("request-id"), shown.header("request-id"));
        tags.push((tag(&page), tag(&shown)));
    }
    tags.dedup();
    let [(page, shown)] = &tags[..] else {
        panic!("a form has one tag: {tags:?}");
    };
    for (accept, tag, status) in
        [(PDF, page, 304), (PDF, shown, 200), ("*/*", shown, 304), ("*/*", page, 200)]
    {
        let request = caller.request("GET", &path).header("Accept", accept);
        let answer = request.header("If-None-Match", tag).send(caller.port());
        assert_eq!(answer.status, status, "{accept} {tag}");
    }
}

#[test]
fn the_same_seed_prints_the_same_bytes() {
    let (one, other) = (Caller::instant(), Caller::manual());
    let path = payslip(&one);
    let (one, other) = (asked(&one, "GET", &path, PDF), asked(&other, "GET", &path, PDF));
    assert!(is_pdf(&one));
    assert_eq!(one.body, other.body);
}

#[test]
fn a_name_of_any_script_is_printed() {
    let caller = Caller::instant();
    let company = caller.company(0);
    let employee = caller.payable(&company).remove(0);
    let path = format!("/api/business/employees/{employee}");
    caller.patch(&path, &json!({"name": "Ọláyínká Łukasz Şükrü 漢字 🎉"})).expect(200);
    let run = json!({"company_id": company, "period": "2026-01", "employees": [employee]});
    caller.post("/v1/payroll/run", &run).expect(201);
    let target = format!("/api/business/payslips?employee_id={employee}&period=2026-01");
    let payslip = caller.get(&target).expect(200)["data"][0].take();
    assert_eq!(payslip["employee_name"], "Ọláyínká Łukasz Şükrü 漢字 🎉");
    let page = asked(&caller, "GET", &format!("/api/business/payslips/{}", id(&payslip)), PDF);
    assert!(is_pdf(&page));
}

#[test]
fn refusals_and_other_resources_stay_json() {
    let caller = Caller::instant();
    let missing = asked(&caller, "GET", "/api/business/payslips/psl_0000000000000", PDF);
    missing.refused(404, "resource_not_found");
    assert_eq!(missing.header("content-type"), Some("application/problem+json"));
    let list = asked(&caller, "GET", "/api/business/payslips", PDF);
    list.refused(406, "not_acceptable");
    let documented =
        contract::operation(contract::product(), "GET", "/api/business/payslips/{payslip_id}");
    let content = &documented.expect("a row")["responses"]["200"]["content"];
    assert!(content.get(PDF).is_some() && content.get("application/json").is_some());
}

#[test]
fn a_path_of_its_own_returns_the_same_pdf() {
    let caller = Caller::instant();
    let path = payslip(&caller);
    let page = asked(&caller, "GET", &path, PDF);
    for accept in ["*/*", "application/json, */*;q=0.1", PDF] {
        let own = asked(&caller, "GET", &format!("{path}/pdf"), accept);
        assert!(is_pdf(&own), "{accept}");
        assert_eq!(own.body, page.body, "{accept}");
        assert_eq!(own.header("etag"), page.header("etag"));
        assert_eq!((own.status, own.header("vary")), (200, None));
    }
    let json = asked(&caller, "GET", &format!("{path}/pdf"), "application/json");
    assert_eq!(json.status, 406);
    caller.get("/api/business/payslips/psl_0000000000000/pdf").refused(404, "resource_not_found");
    let company = caller.company(0);
    let form = format!("/api/business/tax-documents/P60/pdf?company_id={company}&period=2025");
    let unknown = caller.get(&form);
    assert_eq!(unknown.header("content-type"), Some("application/problem+json"));
    let client = contract::printed(&["openapi", "--client"]);
    for (name, methods) in client["paths"].as_object().unwrap() {
        let content = &methods["get"]["responses"]["200"]["content"];
        let expected = if name.ends_with("/pdf") { PDF } else { "application/json" };
        for media in content.as_object().into_iter().flatten().map(|(media, _)| media) {
            assert_eq!(media, expected, "{name}");
        }
    }
}
