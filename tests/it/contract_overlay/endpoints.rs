//! Webhook endpoints as operations of the product.

use serde_json::json;

use super::Under;
use crate::harness::Request;

#[test]
fn webhook_endpoints_can_be_operations_of_the_product() {
    let under = Under::text(
        "[webhooks]\nendpoints = \"/api/webhooks\"\n[errors]\nformat = \"envelope\"\n\
         [headers]\nrequest_id = \"X-Request-Id\"\n",
    );
    let made = under.post("/api/webhooks", &json!({"url": "http://127.0.0.1:9/hook"}));
    let made = made.expect(201)["data"].clone();
    assert!(made["secret"].as_str().unwrap().starts_with("whsec_"));
    let id = made["endpoint"]["id"].as_str().unwrap().to_owned();
    let one = format!("/api/webhooks/{id}");
    let list = under.get("/api/webhooks");
    assert_eq!(list.expect(200)["data"][0]["id"], id.as_str());
    assert!(list.header("x-request-id").is_some(), "it has the headers of the product");
    assert_eq!(under.get(&one).data()["url"], "http://127.0.0.1:9/hook");
    let wrong = under.post("/api/webhooks", &json!({"url": 1})).expect(422);
    assert_eq!(wrong["error"]["code"], "validation_failed", "it refuses like the product");
    let control = Request::new("GET", "/_sandbox/webhook-endpoints").key("test_key");
    assert_eq!(control.send(under.port()).data()[0]["id"], id.as_str());
    let delete = Request::new("DELETE", &one).key("test_key");
    assert!((200..300).contains(&under.send(&delete).status));
    assert_eq!(under.get(&one).expect(404)["error"]["code"], "resource_not_found");

    let served = &under.document["paths"];
    for (path, methods) in [
        ("/api/webhooks", &["get", "post"][..]),
        ("/api/webhooks/{endpoint_id}", &["get", "patch", "delete"]),
        ("/api/webhooks/{endpoint_id}/rotate-secret", &["post"]),
    ] {
        let own: Vec<&String> = served[path].as_object().unwrap().keys().collect();
        assert_eq!(own.len(), methods.len(), "{own:?}");
        assert!(methods.iter().all(|method| served[path][method]["x-contract"] == "assumed"));
    }
    let text = under.document.to_string();
    for reference in text.split("\"$ref\":\"#").skip(1) {
        let pointer = reference.split('"').next().unwrap();
        assert!(under.document.pointer(pointer).is_some(), "{pointer}");
    }
}

#[test]
fn without_the_key_the_product_has_no_webhook_endpoints() {
    let under = Under::text("");
    under.get("/api/webhooks").refused(404, "route_not_found");
    assert!(!under.document.to_string().contains("createWebhookEndpoint"));
}

#[test]
fn an_admin_token_is_not_needed_for_operations_of_the_product() {
    let file = super::file("[webhooks]\nendpoints = \"/hooks\"\n");
    let name = file.path().to_str().unwrap();
    let server = crate::harness::Server::start(&["--contract", name, "--admin-token", "s3cret"]);
    let get = |path: &str| Request::new("GET", path).key("test_key").send(server.port());
    get("/hooks").expect(200);
    get("/_sandbox/webhook-endpoints").refused(401, "missing_credentials");
}
