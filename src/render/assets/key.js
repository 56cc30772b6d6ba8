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
#made { position: fixed; z-index: 10; bottom: 0; left: 0; right: 0; margin: 0; padding: 12px 16px; background: #10201d; color: #fff; font: 14px system-ui, sans-serif; overflow-wrap: anywhere }
#made:empty { display: none }
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

// A new world has none of some resources. Where "Try" finds none, the page makes the calls that the document names for this, and then reads again.
const made = document.querySelector("#made");
const send = window.fetch.bind(window);
let spec;
reference.addEventListener("before-render", (event) => { spec = event.detail.spec; });

const resolved = (part) => (part?.$ref ? part.$ref.slice(2).split("/").reduce((at, name) => at[name.replaceAll("~1", "/").replaceAll("~0", "~")], spec) : part);
const inside = (value, expression) => expression.split("#/")[1].split("/").reduce((at, name) => at?.[name], value);
const filled = (path, values) => path.replace(/\{(\w+)\}/g, (whole, name) => (name in values ? encodeURIComponent(values[name]) : whole));

// The operation whose example this address is. Other ids and filters are the reader's own, and their answer is what it is.
const operationAt = (address, base) => {
  for (const [path, { get }] of Object.entries(spec.paths)) {
    if (!get?.["x-first-calls"]) continue;
    const values = {}, query = {};
    for (const parameter of get.parameters.map(resolved)) {
      const example = parameter.example ?? parameter.schema?.examples?.[0];
      if (example !== undefined && parameter.in !== "header") (parameter.in === "path" ? values : query)[parameter.name] = String(example);
    }
    const isExample = [...address.searchParams].every(([name, value]) => value === "" || query[name] === value);
    if (base + filled(path, values) === address.origin + address.pathname && isExample) return { path, calls: get["x-first-calls"] };
  }
  return null;
};

const isEmpty = async (answer) => {
  if (answer.status === 404) return true;
  if (answer.status !== 200 || !answer.headers.get("content-type")?.includes("json")) return false;
  const { data } = await answer.clone().json();
  return Array.isArray(data) && data.length === 0;
};

window.fetch = async (request, options) => {
  const answer = await send(request, options);
  if (!(request instanceof Request) || request.method !== "GET" || !spec) return answer;
  made.textContent = "";
  const address = new URL(request.url), base = spec.servers[0].url.replace(/\/$/, "");
  const operation = operationAt(address, base);
  if (!operation || !(await isEmpty(answer))) return answer;
  const values = {}, said = [];
  for (const call of operation.calls) {
    const headers = new Headers({ "Content-Type": "application/json" });
    for (const name of ["Authorization", "Sandbox-Admin-Token"]) if (request.headers.has(name)) headers.set(name, request.headers.get(name));
    const path = filled(call.path, values), body = call.body && JSON.stringify(call.body);
    const reply = await send(base + path, { method: call.method, headers, body });
    if (!reply.ok) return answer;
    const result = await reply.json();
    for (const [name, expression] of Object.entries(call.parameters ?? {})) values[name] = inside(result, expression);
    said.push([call.method, path, body].filter(Boolean).join(" "));
  }
  made.textContent = `A new world has none, so this page first sent: ${said.join(", then ")}. The answer shows what this made.`;
  return send(new Request(base + filled(operation.path, values) + address.search, request), options);
};
