// A stand-in for https://challenges.cloudflare.com on loopback: the service that verifies tokens, with all faults that it may have, and a widget for
// pages.
import { createServer, type ServerResponse } from "node:http";
import { json } from "node:stream/consumers";
import { type Listening, listen } from "./listen.ts";
import { ASKED, type Asked, TOKEN_FACTS, type TokenFacts } from "./turnstile-tokens.ts";

export const SECRET_KEY = "0x4AAA-secret";

/** A widget in a frame of the service's own origin, like the real one, solved once its frame has loaded. */
const WIDGET = `(() => {
  const origin = new URL(document.currentScript.src).origin;
  const show = () => document.querySelectorAll(".cf-turnstile").forEach((place) => {
    const frame = document.createElement("iframe");
    frame.src = origin + "/frame";
    frame.title = "Widget containing a challenge";
    frame.style.cssText = "display:block;width:100%;height:65px;border:none;color-scheme:auto";
    const field = Object.assign(document.createElement("input"), { type: "hidden", name: "cf-turnstile-response" });
    const { action, state = "solved" } = place.dataset;
    frame.addEventListener("load", () => {
      const facts = { state, action, hostname: location.hostname, nonce: Math.random() };
      field.setAttribute("value", btoa(JSON.stringify(facts)));
    });
    place.append(frame, field);
  });
  document.readyState === "loading" ? addEventListener("DOMContentLoaded", show) : show();
})()`;
const FRAME = `<!doctype html><title>Challenge</title><style>:root{color-scheme:light dark}body{margin:0;font:14px sans-serif;display:flex;
  align-items:center;height:63px;padding:0 12px;border:1px solid GrayText;box-sizing:border-box}</style><body>Success!`;

export async function startTurnstile(): Promise<Listening> {
  const log: Asked[] = [];
  /** The request for which each token was used: its idempotency key, or a unique symbol for a request that cannot be repeated. */
  const spent = new Map<string, string | symbol>();
  return listen(
    createServer((request, response) => {
      const { pathname, searchParams } = new URL(request.url ?? "/", "http://stand-in");
      if (pathname === "/turnstile/v0/api.js")
        return void response.setHeader("content-type", "text/javascript").end(WIDGET);
      if (pathname === "/frame") return void response.setHeader("content-type", "text/html").end(FRAME);
      if (pathname === "/asked")
        return void response.end(JSON.stringify(log.filter((each) => each.response === searchParams.get("token"))));
      void json(request).then((body) => {
        const asked = ASKED.parse(body);
        log.push(asked);
        answer(response, asked, spent);
      });
    }),
  );
}

function answer(response: ServerResponse, asked: Asked, spent: Map<string, string | symbol>): void {
  const { secret, response: token = "", idempotency_key: onceId } = asked;
  const refuse = (...codes: readonly string[]) =>
    response.end(JSON.stringify({ success: false, "error-codes": codes, messages: [] }));
  const { state, action, hostname } = factsOf(token);
  if (secret !== SECRET_KEY || state === "our-secret") return void refuse("invalid-input-secret");
  switch (state) {
    case "solved": {
      const before = spent.get(token);
      if (before !== undefined && before !== onceId) return void refuse("timeout-or-duplicate");
      spent.set(token, onceId ?? Symbol("without a key"));
      const challenge_ts = new Date().toISOString();
      const facts = { action, hostname, cdata: "", metadata: { interactive: false } };
      return void response.end(JSON.stringify({ success: true, "error-codes": [], challenge_ts, ...facts }));
    }
    case "wrong":
      return void refuse("invalid-input-response");
    case "old":
      return void refuse("timeout-or-duplicate");
    case "fault":
      return void refuse("internal-error");
    case "page":
      return void response.end("<!doctype html><title>Just a moment...</title>");
    case "shape":
      return void response.end('{"success":"true"}');
    case "endless":
      endless(response);
      return;
    case "cut":
      response.writeHead(200, { "content-length": "1000" }).write('{"success":true,');
      return void setTimeout(() => response.destroy(), 20);
    case "redirect":
      return void response.writeHead(302, { location: "/turnstile/v0/siteverify" }).end();
    case "busy":
      return void response.writeHead(429, { "retry-after": "60" }).end();
    case "silent":
      return;
  }
}

/** Begins an answer like a success, and never ends it. */
function endless(response: ServerResponse): void {
  response.write('{"success":true,"padding":"');
  const more = () => {
    while (!response.destroyed && response.write("x".repeat(65_536)));
    response.once("drain", more);
  };
  more();
}

function factsOf(token: string): TokenFacts {
  try {
    return TOKEN_FACTS.parse(JSON.parse(atob(token)));
  } catch {
    return { state: "wrong", action: "", hostname: "" };
  }
}
