// Previews while somebody writes. Each form is complete without this file.

function later(act, wait) {
  let timer;
  return () => {
    clearTimeout(timer);
    timer = setTimeout(act, wait);
  };
}

// The server renders and sanitises; what it answers is shown as it is. An answer that was overtaken is dropped.
function watch(field, address, place) {
  let latest = 0;
  const ask = async () => {
    const mine = ++latest;
    const body = new FormData();
    body.set(field.name, field.value);
    body.set("csrfmiddlewaretoken", field.form.elements.csrfmiddlewaretoken.value);
    try {
      const answer = await fetch(address, { method: "POST", body, headers: { Accept: "text/html" } });
      if (mine !== latest || !answer.ok) return;
      place.innerHTML = await answer.text();
      place.hidden = !place.innerHTML;
    } catch {
      // Offline: the buttons still say so.
    }
  };
  field.addEventListener("input", later(ask, 400));
}

for (const form of document.querySelectorAll("form[data-preview-url]")) {
  const field = form.querySelector("[data-preview]");
  const place = form.querySelector(`[data-preview-of="${field.dataset.preview}"]`);
  watch(field, form.dataset.previewUrl, place);
}

for (const form of document.querySelectorAll("form[data-check-url]")) {
  watch(form.querySelector("[data-check]"), form.dataset.checkUrl, document.getElementById("check"));
}
