// Any key opens a world: with one filled in, "Try" works at once. The examples name resources of this world.
const reference = document.querySelector("rapi-doc");
const menu = document.querySelector("#menu");
const [search, list] = [menu.querySelector("input"), menu.querySelector("ul")];

const style = document.createElement("style");
style.textContent = `
#menu { display: none }
@media (max-width: 767px) {
  #menu { display: block; position: fixed; z-index: 10; top: 0; left: 0; right: 0; background: #10201d; color: #fff; font: 16px system-ui, sans-serif }
  #menu summary { padding: 12px 16px; cursor: pointer }
  #menu input { box-sizing: border-box; width: calc(100% - 32px); margin: 0 16px 8px; padding: 10px; font: inherit }
  #menu ul { margin: 0; padding: 0 0 16px; list-style: none; max-height: 70vh; overflow: auto }
  #menu button { display: block; width: 100%; padding: 8px 16px; border: 0; background: none; color: inherit; font: inherit; text-align: left }
  #menu small { display: block; color: #c9d6d3; overflow-wrap: anywhere }
  rapi-doc { margin-top: 48px }
}
`;
document.head.append(style);

// The viewer hides its menu and its search on a narrow screen, so the page has its own there.
const fill = (spec) => {
  const rows = [];
  for (const tag of spec.tags ?? []) {
    for (const operation of tag.paths ?? []) {
      const row = document.createElement("li");
      const link = document.createElement("button");
      link.type = "button";
      link.textContent = operation.summary;
      const path = document.createElement("small");
      path.textContent = `${operation.method.toUpperCase()} ${operation.path}`;
      link.append(path);
      link.addEventListener("click", () => {
        menu.open = false;
        reference.scrollToPath(operation.elementId);
      });
      row.append(link);
      row.dataset.words = `${tag.name} ${operation.summary} ${operation.path} ${operation.operationId}`.toLowerCase();
      rows.push(row);
    }
  }
  list.replaceChildren(...rows);
};

search.addEventListener("input", () => {
  const words = search.value.toLowerCase().split(/\s+/).filter(Boolean);
  for (const row of list.children) {
    row.hidden = !words.every((word) => row.dataset.words.includes(word));
  }
});

reference.addEventListener("spec-loaded", (event) => {
  reference.setApiKey("bearer", "test_key");
  fill(event.detail);
}, { once: true });
