// Browser scripts of our small pages: signing in, accepting an invitation, disabling a wallet. Plain JavaScript as text, because it is sent and
// not run here. It only writes text nodes, so input and responses never become markup. A token from a mail is in the fragment, which browsers
// do not send to servers, and is removed from the address bar at once.

const COMMON = `
const main = document.querySelector("main");
const status = document.querySelector("[role=status]");
const say = (text) => { status.textContent = text; };
const token = new URLSearchParams(location.hash.slice(1)).get("token");
if (token) history.replaceState(null, "", location.pathname);
async function call(method, path, body) {
  try {
    const response = await fetch("/api/v1" + path, {
      method,
      headers: body === undefined ? {} : { "content-type": "application/json" },
      body: body === undefined ? undefined : JSON.stringify(body),
    });
    const text = await response.text();
    const json = text === "" ? {} : JSON.parse(text);
    if (!response.ok) say(json.message || "Something went wrong; try again");
    return { ok: response.ok, status: response.status, json };
  } catch {
    say("The server cannot be reached; try again");
    return { ok: false, status: 0, json: {} };
  }
}
function element(name, properties, ...children) {
  const made = Object.assign(document.createElement(name), properties);
  made.append(...children);
  return made;
}
function show(...children) { main.replaceChildren(...children); main.querySelector("input, button, a")?.focus(); }
function paragraph(text) { return element("p", { textContent: text }); }
function button(text, act) {
  return element("button", { type: "button", textContent: text, onclick: async (event) => {
    event.target.disabled = true;
    say("");
    try { await act(); } finally { event.target.disabled = false; }
  } });
}
function form(label, input, text, act) {
  const field = element("input", { required: true, id: "field", ...input });
  return element("form", { onsubmit: async (event) => {
    event.preventDefault();
    say("");
    const send = event.target.querySelector("button");
    send.disabled = true;
    try { await act(field.value.trim()); } finally { send.disabled = false; }
  } }, element("label", { htmlFor: "field", textContent: label }), field, element("button", { textContent: text }));
}
`;

const SIGN_IN = `
const providers = document.body.dataset.providers.split(" ").filter(Boolean);
const PROVIDER_NAMES = { google: "Google", github: "GitHub" };
// Where a provider sent the browser back with a mailbox still to prove: whose the code went to.
const proof = new URLSearchParams(location.hash.slice(1)).get("proof");
if (proof) history.replaceState(null, "", location.pathname);
async function passkey(optionsPath, verify) {
  const options = await call("POST", optionsPath);
  if (!options.ok) return;
  const publicKey = PublicKeyCredential.parseRequestOptionsFromJSON(options.json.passkey ?? options.json);
  try {
    const credential = await navigator.credentials.get({ publicKey });
    await verify(credential.toJSON());
  } catch (error) { if (error.name !== "NotAllowedError") throw error; }
}
const hasPasskeys = "PublicKeyCredential" in window && "parseRequestOptionsFromJSON" in PublicKeyCredential;
function askForEmail(done) {
  const email = form("Your email address", { type: "email", autocomplete: "email" }, "Send me a code", async (address) => {
    const sent = await call("POST", "/auth/email/start", { email: address });
    if (sent.ok) askForCode(address, done);
  });
  const others = providers.map((name) => element("a", {
    href: "/api/v1/auth/" + name + "/start?returnTo=" + encodeURIComponent(location.pathname),
    textContent: "Sign in with " + PROVIDER_NAMES[name],
  }));
  const key = hasPasskeys ? [button("Sign in with a passkey", () => passkey("/auth/passkey/options", async (credential) => {
    const signedIn = await call("POST", "/auth/passkey/verify", { credential });
    if (signedIn.ok) await finish(signedIn.json, done);
  }))] : [];
  show(email, ...key, ...others);
}
function askForCode(address, done) {
  show(paragraph("We sent a code of 8 digits to " + address + "."),
    form("The code", { inputMode: "numeric", autocomplete: "one-time-code", pattern: "[0-9 ]{8,}" }, "Sign in", async (code) => {
      const signedIn = await call("POST", "/auth/email/verify", { email: address, code: code.replaceAll(" ", "") });
      if (signedIn.ok) await finish(signedIn.json, done);
    }),
    button("Another address", () => askForEmail(done)));
}
async function finish(answer, done) {
  if (answer.state === "active") return done();
  return askForSecondFactor(answer.factors, done);
}
async function askForSecondFactor(factors, done) {
  const verify = async (body) => {
    const given = await call("POST", "/auth/second-factor/verify", body);
    if (given.ok) await done();
  };
  if (factors.includes("email_code")) await call("POST", "/auth/second-factor/start");
  const key = hasPasskeys && factors.includes("passkey")
    ? [button("Use a passkey", () => passkey("/auth/second-factor/start", (credential) => verify({ method: "passkey", credential })))] : [];
  show(paragraph("Your account asks for a second factor."),
    form("Code of your authenticator app, of the mail, or a backup code", { autocomplete: "one-time-code" }, "Go on", (code) => verify({ code })),
    ...key);
}
async function whoAmI(done) {
  const me = await fetch("/api/v1/me");
  if (me.ok) return me.json();
  const refusal = await me.json();
  if (refusal.code === "SECOND_FACTOR_REQUIRED") await askForSecondFactor(refusal.factors, done);
  else if (proof) askForCode(proof, done);
  else askForEmail(done);
  return undefined;
}
`;

/** `/sign-in`: signs in and shows the signed-in user. */
export const SIGN_IN_SCRIPT = `${COMMON}${SIGN_IN}
async function start() {
  const me = await whoAmI(start);
  if (me === undefined) return;
  const mine = await call("GET", "/merchants");
  const shops = (mine.json.data ?? []).map((shop) => element("li", { textContent: shop.name + " (" + shop.role + ") " + shop.id }));
  show(paragraph("Signed in as " + me.email + "."), element("ul", {}, ...shops), button("Sign out", async () => {
    const gone = await call("POST", "/auth/sign-out");
    if (gone.ok) await start();
  }));
}
start();`;

/** `/invitations#token=...`: signs in if needed, then accepts. Without a token: lists the user's pending invitations. */
export const INVITATION_SCRIPT = `${COMMON}${SIGN_IN}
async function accepted(answer) {
  if (!answer.ok) return;
  show(paragraph("You are now a member of the team, with the role " + answer.json.role + "."));
}
async function start() {
  const me = await whoAmI(start);
  if (me === undefined) return;
  if (token) {
    show(paragraph("Signed in as " + me.email + "."),
      button("Accept the invitation", async () => accepted(await call("POST", "/team/invitations/accept", { token }))),
      button("Use another account", async () => { await call("POST", "/auth/sign-out"); await start(); }));
    return;
  }
  const waiting = await call("GET", "/team/invitations");
  const rows = (waiting.json.data ?? []).map((each) => element("p", {}, each.merchantName + ", as " + each.role + " ",
    button("Accept", async () => accepted(await call("POST", "/team/invitations/" + each.id + "/accept-by-id")))));
  show(paragraph("Signed in as " + me.email + "."), ...(rows.length > 0 ? rows : [paragraph("No invitation is waiting for you.")]));
}
start();`;

/** `/wallets/disable#token=...`: requires a click, because mail scanners open links. */
export const DISABLE_WALLET_SCRIPT = `${COMMON}
if (!token) show(paragraph("This link is not complete: open it again from the mail."));
else show(paragraph("If you did not expect this change of the wallet, disable the wallet: then no new invoice uses it."),
  button("Disable the wallet", async () => {
    const done = await call("POST", "/wallets/disable", { token });
    if (done.ok) show(paragraph("The wallet " + done.json.walletId + " is disabled. Sign in and check who changed it."));
  }));`;
