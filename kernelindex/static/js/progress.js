// Asks how far a rerun is, and shows it; when it has ended, loads the page with its result. The page is complete without.

const section = document.querySelector("[data-progress]");
const said = document.getElementById("said");
const INTERVAL = 4000; // milliseconds between two questions
const MOST_FAILURES = 10;
let etag = "";
let failures = 0;

function term(name, value) {
  const row = document.createElement("div");
  const [label, content] = [document.createElement("dt"), document.createElement("dd")];
  label.textContent = name;
  content.textContent = value;
  row.append(label, content);
  return row;
}

function show(page) {
  const state = section.querySelector("[data-field=state]");
  if (state.textContent.trim() !== page.row.state) said.textContent = `State: ${page.row.state}`;
  state.textContent = page.row.state;
  if (!page.progress.length) return;
  const list = document.createElement("dl");
  list.className = "facts mono";
  list.append(...page.progress.map(({ name, value }) => term(name, value)));
  section.querySelector("[data-field=progress]").replaceChildren(list);
}

async function ask() {
  if (document.hidden) return true;
  const response = await fetch(section.dataset.progress, {
    cache: "no-store",
    headers: etag ? { "If-None-Match": etag } : {},
  });
  if (response.status === 304) return true;
  if (!response.ok) throw new Error(String(response.status));
  etag = response.headers.get("ETag") ?? "";
  const page = await response.json();
  if (!page.open) {
    location.reload();
    return false;
  }
  if (String(page.row.version) !== section.dataset.version) show(page);
  return true;
}

async function follow() {
  try {
    if (!(await ask())) return;
    failures = 0;
  } catch {
    failures += 1;
  }
  if (failures < MOST_FAILURES) setTimeout(follow, INTERVAL * (failures + 1));
}

if (section) setTimeout(follow, INTERVAL);
