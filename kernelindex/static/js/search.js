// Suggestions while a search is typed: a combobox with a list, after the ARIA Authoring Practices. The form works without.

const said = document.getElementById("said");
const DELAY = 120; // milliseconds after the last key

function enhance(input, number) {
  const list = document.createElement("ul");
  list.id = `suggestions-${number}`;
  list.className = "suggestions";
  list.setAttribute("role", "listbox");
  list.setAttribute("aria-label", "Suggestions");
  list.hidden = true;
  input.after(list);
  input.setAttribute("role", "combobox");
  input.setAttribute("aria-autocomplete", "list");
  input.setAttribute("aria-controls", list.id);
  input.setAttribute("aria-expanded", "false");

  let active = -1;
  let timer = 0;
  let request = null;

  function mark(place) {
    list.children[active]?.setAttribute("aria-selected", "false");
    active = place;
    const option = list.children[active];
    option?.setAttribute("aria-selected", "true");
    option?.scrollIntoView({ block: "nearest" });
    if (option) input.setAttribute("aria-activedescendant", option.id);
    else input.removeAttribute("aria-activedescendant");
  }

  function close() {
    clearTimeout(timer);
    request?.abort();
    mark(-1);
    list.hidden = true;
    input.setAttribute("aria-expanded", "false");
  }

  function take(option) {
    const text = option.dataset.text;
    // What still needs a value goes on being typed; anything else is followed by the next word.
    input.value = /[:=]$/.test(text) ? text : `${text} `;
    close();
    input.focus();
  }

  function show(suggestions) {
    mark(-1);
    list.replaceChildren(
      ...suggestions.map(({ text, label, kind }, place) => {
        const option = document.createElement("li");
        option.id = `${list.id}-${place}`;
        option.setAttribute("role", "option");
        option.setAttribute("aria-selected", "false");
        option.dataset.text = text;
        const note = document.createElement("span");
        note.className = "muted";
        note.textContent = kind;
        option.append(label, " ", note);
        return option;
      }),
    );
    list.hidden = !suggestions.length;
    input.setAttribute("aria-expanded", String(!list.hidden));
    if (suggestions.length) said.textContent = `${suggestions.length} suggestions`;
  }

  async function ask() {
    request?.abort();
    request = new AbortController();
    const { signal } = request;
    try {
      const response = await fetch(`${input.dataset.suggest}?q=${encodeURIComponent(input.value)}`, { signal });
      if (response.ok) {
        const { suggestions } = await response.json();
        if (!signal.aborted && document.activeElement === input) show(suggestions);
      }
    } catch {
      // A suggestion that does not come is none: the form is complete without.
    }
  }

  input.addEventListener("input", () => {
    close();
    if (input.value.trim()) timer = setTimeout(ask, DELAY);
  });

  input.addEventListener("keydown", (event) => {
    const count = list.hidden ? 0 : list.children.length;
    if (event.isComposing || !count) return;
    if (event.key === "ArrowDown") mark(active + 1 < count ? active + 1 : 0);
    else if (event.key === "ArrowUp") mark(active > 0 ? active - 1 : count - 1);
    else if (event.key === "Enter" && active >= 0) take(list.children[active]);
    else if (event.key === "Escape") close();
    else return;
    event.preventDefault();
  });

  input.addEventListener("blur", close);
  // Before the field loses the focus, which would close the list.
  list.addEventListener("pointerdown", (event) => event.preventDefault());
  list.addEventListener("click", (event) => {
    const option = event.target.closest("[role=option]");
    if (option) take(option);
  });
}

document.querySelectorAll("input[data-suggest]").forEach(enhance);
