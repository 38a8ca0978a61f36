// Copy buttons and the search key. Every page is complete without this file.

const said = document.getElementById("said");

async function copy(button) {
  const source = document.getElementById(button.dataset.copy);
  const name = button.textContent;
  let outcome = "Copied";
  try {
    await navigator.clipboard.writeText(source.dataset.value ?? source.textContent.trim());
  } catch {
    outcome = "Not copied";
  }
  button.textContent = outcome;
  said.textContent = `${outcome}: ${button.dataset.what}`;
  setTimeout(() => {
    button.textContent = name;
    said.textContent = "";
  }, 2000);
}

// The clipboard exists in secure contexts alone; elsewhere the buttons stay hidden.
if (navigator.clipboard) {
  for (const button of document.querySelectorAll("button[data-copy]")) {
    button.hidden = false;
    button.addEventListener("click", () => copy(button));
  }
}

function isTyping(target) {
  return target.isContentEditable || ["INPUT", "SELECT", "TEXTAREA"].includes(target.tagName);
}

document.addEventListener("keydown", (event) => {
  if (event.key !== "/" || event.ctrlKey || event.metaKey || event.altKey || isTyping(event.target)) return;
  const field = document.querySelector("input[type=search]");
  if (!field) return;
  event.preventDefault();
  field.focus();
  field.select();
});
