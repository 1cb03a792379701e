// The page of the development mailbox, in the style of the console (dashboard/src/theme.ts). It shows an email's text, never its HTML.
import { base64urlnopad } from "@scure/base";
import { html, raw } from "hono/html";
import type { HtmlEscapedString } from "hono/utils/html";
import type { Reply } from "../../platform/http/reply.ts";
import type { KeptMail } from "../../platform/mail/dev-mailbox.ts";

type Html = HtmlEscapedString | Promise<HtmlEscapedString>;

const STYLE = `
:root { color-scheme: light dark; --ground: light-dark(#f6f7fb, #10141b); --card: light-dark(#fff, #161b24);
  --text: light-dark(#1a1f2b, #e6e9f0); --dim: light-dark(#596172, #a3abbc); --line: light-dark(#dfe3ec, #394152);
  --link: light-dark(#4338ca, #a5b4fc); --code: light-dark(#eef2ff, #2b3240); }
body { margin: 0; padding: 2rem 1rem; background: var(--ground); color: var(--text); font: 16px/1.55 system-ui, sans-serif; }
main { max-width: 42rem; margin: 0 auto; display: grid; gap: 1rem; }
h1 { font-size: 1.6rem; } h2 { font-size: 1.15rem; } h1, h2, p { margin: 0; line-height: 1.4; }
p { color: var(--dim); } a { color: var(--link); } h2, p, pre { overflow-wrap: anywhere; }
article { background: var(--card); border: 1px solid var(--line); border-radius: 1rem; padding: 1.25rem; display: grid; gap: .5rem; min-width: 0; }
pre { margin: .5rem 0 0; font: inherit; white-space: pre-wrap; }
b { font-size: 1.5rem; letter-spacing: .12em; padding: .15rem .6rem; border-radius: .5rem; background: var(--code); user-select: all; }
`;

/**
 * Shows new emails as they arrive. Replaces the list only when it has changed, so that a selection is not lost. Parses only the list, because the
 * new page's style has a different nonce.
 */
const SCRIPT = `
const listed = (page) => page.querySelector("main");
setInterval(async () => {
  const answer = await fetch(location.href, { headers: { accept: "text/html" } }).catch(() => undefined);
  if (!answer?.ok) return;
  const [, list] = (await answer.text()).split(/(<main>[^]*<\\/main>)/);
  const now = listed(new DOMParser().parseFromString(list, "text/html"));
  if (now.innerHTML !== listed(document).innerHTML) listed(document).replaceWith(now);
}, 2000);
`;

/** `to`: the address whose emails are listed; undefined for all. */
export async function mailboxPage(mails: readonly KeptMail[], to: string | undefined): Promise<Reply> {
  const nonce = base64urlnopad.encode(crypto.getRandomValues(new Uint8Array(18)));
  const body = await html`<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>Development mailbox</title><link rel="icon" href="data:,"><style nonce="${nonce}">${raw(STYLE)}</style></head>
<body><main><h1>Development mailbox</h1>
<p>What this server would have mailed${to === undefined ? "" : ` to ${to}`}, newest first. New mails appear by themselves.${to === undefined ? "" : html` <a href="/dev/mail">All mails</a>`}</p>
${mails.length === 0 ? html`<article><p>No mail yet. Ask for a code on the <a href="/sign-in">sign-in page</a>.</p></article>` : mails.map(mailSection)}
</main><script nonce="${nonce}">${raw(SCRIPT)}</script></body></html>`;
  const own = `script-src 'nonce-${nonce}'; style-src 'nonce-${nonce}'; img-src data:; connect-src 'self'`;
  const policy = `default-src 'none'; ${own}; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`;
  const headers = { "content-type": "text/html; charset=utf-8", "content-security-policy": policy };
  return { status: 200, body: String(body), headers };
}

function mailSection(mail: KeptMail): Html {
  return html`<article><h2>${mail.subject}</h2>
<p>To <a href="?to=${encodeURIComponent(mail.to)}">${mail.to}</a>, <time datetime="${mail.at}">${mail.at.slice(0, 19).replace("T", " ")} UTC</time></p>
<pre>${marked(mail.text)}</pre></article>`;
}

/** Turns URLs into links, and makes a code on a line of its own easy to copy; escapes everything. */
function marked(text: string): readonly (Html | string)[] {
  const parts = text.split(/(https?:\/\/\S+|^\d{8}$)/m);
  return parts.map((part, i) => {
    if (i % 2 === 0) return part;
    return part.startsWith("http") ? html`<a href="${part}">${part}</a>` : html`<b>${part}</b>`;
  });
}
