// Passkeys and security keys. A form with data-passkey asks the browser for a credential before it is sent:
// "create" and "get" have their options beside the form, "login" fetches them. Without this file the form stays hidden.

const decode = (text) => {
  const plain = text.replaceAll("-", "+").replaceAll("_", "/");
  return Uint8Array.from(atob(plain), (letter) => letter.charCodeAt(0)).buffer;
};

const encode = (buffer) => {
  const plain = btoa(String.fromCharCode(...new Uint8Array(buffer)));
  return plain.replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
};

const withIds = (list) => (list ?? []).map((entry) => ({ ...entry, id: decode(entry.id) }));

function plain(credential) {
  const response = {};
  for (const name of ["clientDataJSON", "attestationObject", "authenticatorData", "signature", "userHandle"]) {
    if (credential.response[name]) response[name] = encode(credential.response[name]);
  }
  return {
    id: credential.id,
    rawId: encode(credential.rawId),
    type: credential.type,
    response,
    clientExtensionResults: credential.getClientExtensionResults(),
  };
}

async function create({ publicKey }, passwordless) {
  const options = {
    ...publicKey,
    challenge: decode(publicKey.challenge),
    user: { ...publicKey.user, id: decode(publicKey.user.id) },
    excludeCredentials: withIds(publicKey.excludeCredentials),
    authenticatorSelection: {
      ...publicKey.authenticatorSelection,
      residentKey: passwordless ? "required" : "discouraged",
      requireResidentKey: passwordless,
      ...(passwordless ? { userVerification: "required" } : {}),
    },
  };
  return plain(await navigator.credentials.create({ publicKey: options }));
}

async function get({ publicKey }) {
  const options = {
    ...publicKey,
    challenge: decode(publicKey.challenge),
    allowCredentials: withIds(publicKey.allowCredentials),
  };
  return plain(await navigator.credentials.get({ publicKey: options }));
}

async function credentialFor(form) {
  if (form.dataset.passkey === "login") {
    const answer = await fetch(form.action, { headers: { Accept: "application/json" } });
    return get((await answer.json()).request_options);
  }
  const options = JSON.parse(document.getElementById("passkey-options").textContent);
  if (form.dataset.passkey === "get") return get(options.request_options);
  return create(options.creation_options, form.elements.passwordless?.checked ?? false);
}

async function send(event) {
  event.preventDefault();
  const form = event.currentTarget;
  const wrong = form.querySelector("p.wrong");
  wrong.hidden = true;
  try {
    form.elements.credential.value = JSON.stringify(await credentialFor(form));
    form.submit();
  } catch (error) {
    wrong.hidden = false;
    wrong.textContent =
      error.name === "InvalidStateError"
        ? "This key is already in your account."
        : "The browser gave no passkey: it was cancelled, it took too long, or there is none for this site.";
  }
}

if (window.PublicKeyCredential) {
  for (const form of document.querySelectorAll("form[data-passkey]")) {
    form.hidden = false;
    form.addEventListener("submit", send);
  }
}
