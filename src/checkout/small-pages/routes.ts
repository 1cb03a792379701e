// The few pages that mails link to. No framework, no asset, no request to other origins: one document with its own style and script, under a
// policy that allows only these two by nonce.
import { base64urlnopad } from "@scure/base";
import { html, raw } from "hono/html";
import { configuredProviders } from "../../accounts/identities/providers.ts";
import type { MountedRoute } from "../../accounts/pipeline/routes-of.ts";
import { specOf } from "../../platform/http/route.ts";
import { DISABLE_WALLET_SCRIPT, INVITATION_SCRIPT, SIGN_IN_SCRIPT } from "./browser-script.ts";

const STYLE = `
:root{color-scheme:light dark}
body{font:1.05rem/1.6 system-ui,sans-serif;max-width:26rem;margin:12vh auto;padding:0 1rem}
form,main{display:grid;gap:.8rem}label{font-weight:600}
input,button,a{font:inherit;padding:.6rem .8rem;border-radius:.5rem;box-sizing:border-box;width:100%}
input{border:1px solid #8888}button{border:0;background:#2453d6;color:#fff;cursor:pointer}button:disabled{opacity:.5}
a{display:block;text-align:center;border:1px solid #8888;color:inherit;text-decoration:none}
[role=status]{min-height:1.6rem;color:#c0392b}`;

interface Page {
  readonly path: string;
  readonly operationId: string;
  readonly title: string;
  readonly summary: string;
  readonly script: string;
}

const PAGES: readonly Page[] = [
  {
    path: "/sign-in",
    operationId: "signInPage",
    title: "Sign in",
    summary: "Show the page for signing in",
    script: SIGN_IN_SCRIPT,
  },
  {
    path: "/invitations",
    operationId: "invitationPage",
    title: "Invitation to a team",
    summary: "Show the page that an invitation's mail links to; the token is in the fragment",
    script: INVITATION_SCRIPT,
  },
  {
    path: "/wallets/disable",
    operationId: "disableWalletPage",
    title: "Disable a wallet",
    summary: "Show the page that the mail about a wallet's change links to; the token is in the fragment",
    script: DISABLE_WALLET_SCRIPT,
  },
];

function mount(page: Page): MountedRoute {
  const { path, operationId, summary } = page;
  const answers = [{ status: 200, description: "A page", alsoAs: "text/html" }];
  return {
    spec: specOf({ method: "GET", path, operationId, tag: "Pages", summary, callers: "ANYBODY", answers }),
    handle: async (c) => {
      const nonce = base64urlnopad.encode(crypto.getRandomValues(new Uint8Array(18)));
      const providers = [...configuredProviders(c.env.SIGN_IN_PROVIDERS)].join(" ");
      return c.html(documentOf(page, { nonce, providers }), 200, { "content-security-policy": policyOf(nonce) });
    },
  };
}

function policyOf(nonce: string): string {
  const own = `script-src 'nonce-${nonce}'; style-src 'nonce-${nonce}'; connect-src 'self'`;
  return `default-src 'none'; ${own}; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`;
}

function documentOf({ title, script }: Page, of: { readonly nonce: string; readonly providers: string }) {
  return html`<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<meta name="robots" content="noindex"><title>${title}</title><style nonce="${of.nonce}">${raw(STYLE)}</style></head>
<body data-providers="${of.providers}"><h1>${title}</h1><main><noscript><p>This page needs JavaScript.</p></noscript></main>
<p role="status" aria-live="polite"></p><script nonce="${of.nonce}">${raw(script)}</script></body></html>`;
}

export const pageRoutes: readonly MountedRoute[] = PAGES.map(mount);
