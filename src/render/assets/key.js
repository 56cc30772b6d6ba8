// Any key opens a world: with one filled in, "Try" works at once.
const reference = document.querySelector("rapi-doc");
reference.addEventListener("spec-loaded", () => reference.setApiKey("bearer", "sk_test_docs"), { once: true });
