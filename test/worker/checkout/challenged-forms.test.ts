// The form on a product's page if the operator requires Turnstile tokens.
import fc from "fast-check";
import { describe, expect, inject, it } from "vitest";
import { type Answer, deploymentWith } from "../../support/access.ts";
import { OUTAGES, tokenOf as solved, type TokenFacts } from "../../support/turnstile-tokens.ts";
import { type Fields, FORM, invoicesOf, openShop, tokenOf } from "./storefront-harness.ts";

const ORIGIN = inject("turnstileOrigin");
const KEYS = { TURNSTILE_SITE_KEY: "0x4AAA-site", TURNSTILE_SECRET_KEY: "0x4AAA-secret", TURNSTILE_ORIGIN: ORIGIN };
const NEEDS_SCRIPT = "Switch JavaScript on";
const ASKS_AGAIN = "Wait until the check below has finished, then continue.";

/** A token like those of the page's own widget. */
const tokenOfPage = (facts: Partial<TokenFacts> = {}) => solved({ action: "buy", hostname: "localhost", ...facts });

async function open(env: Partial<Env> = KEYS as Partial<Env>) {
  const { shop, product } = await openShop({ askForName: true });
  const send = deploymentWith(env);
  const path = `/buy/${product.id}`;
  const show = () => send(path);
  const buy = (fields: Fields, ip?: string): Promise<Answer> => {
    const headers = ip === undefined ? FORM : { ...FORM, "cf-connecting-ip": ip };
    return send(path, { method: "POST", headers, body: new URLSearchParams(fields).toString() });
  };
  return { show, buy, count: () => invoicesOf(shop) };
}

const field = (challenge: string | undefined): Fields =>
  challenge === undefined ? {} : { "cf-turnstile-response": challenge };

describe("a product's page", () => {
  it("is identical except for random parts, unless both Turnstile keys are set", async () => {
    const { show } = await open({});
    const plain = (text: string, nonce = "") => text.replaceAll(/[0-9a-f-]{36}/g, "").replaceAll(nonce, "");
    const policy = (page: Answer) => page.headers.get("content-security-policy") ?? "";
    const nonceOf = (page: Answer) => /nonce-([^']+)/.exec(policy(page))?.[1] ?? "";
    const page = await show();
    expect(page.text).not.toMatch(/turnstile|challenge|noscript/i);
    expect(policy(page)).not.toMatch(/frame-src|challenges/);
    const shop = await openShop({ askForName: true });
    for (const keys of [{}, { ...KEYS, TURNSTILE_SECRET_KEY: "" }, { ...KEYS, TURNSTILE_SITE_KEY: "" }]) {
      const send = deploymentWith(keys as Partial<Env>);
      const [one, other] = [await deploymentWith({})(`/buy/${shop.product.id}`), await send(`/buy/${shop.product.id}`)];
      expect(plain(other.text, nonceOf(other))).toBe(plain(one.text, nonceOf(one)));
      expect(policy(other).replaceAll(nonceOf(other), "")).toBe(policy(one).replaceAll(nonceOf(one), ""));
    }
  });

  it("has the widget, its script with a nonce, and a text for browsers without scripts; no other page may load the widget", async () => {
    const { show } = await open();
    const page = await show();
    const policy = page.headers.get("content-security-policy") ?? "";
    const nonce = /script-src 'nonce-([^']+)'/.exec(policy)?.[1];
    expect(policy).toContain(`script-src 'nonce-${nonce}' ${ORIGIN};`);
    expect(policy).toContain(`frame-src ${ORIGIN};`);
    expect(policy).not.toMatch(/unsafe|\*/);
    expect(page.text).toContain(`<script src="${ORIGIN}/turnstile/v0/api.js" nonce="${nonce}"`);
    expect(page.text).toMatch(/class="cf-turnstile" data-sitekey="0x4AAA-site" data-action="buy"/);
    expect(page.text).toContain(NEEDS_SCRIPT);
    expect(page.text).not.toContain(ASKS_AGAIN);
    const missing = await deploymentWith(KEYS as Partial<Env>)("/buy/none");
    expect(missing.headers.get("content-security-policy")).not.toContain(ORIGIN);
  });
});

describe("the form on a product's page", () => {
  it("creates an invoice if its token passes; otherwise the form is shown again with the values that were entered", async () => {
    const { show, buy, count } = await open();
    const cases: readonly (readonly [string | undefined, number])[] = [
      [undefined, 403],
      ["x", 403],
      [tokenOfPage({ action: "invoice" }), 403],
      [tokenOfPage({ hostname: "shop.example" }), 403],
      [tokenOfPage({ state: "old" }), 403],
      ...OUTAGES.map((state) => [tokenOfPage({ state }), 503] as const),
    ];
    for (const [challenge, status] of cases) {
      const token = tokenOf((await show()).text);
      const page = await buy({ token, name: "Jane", ...field(challenge) });
      expect([challenge, page.status, tokenOf(page.text)]).toEqual([challenge, status, token]);
      for (const text of ['value="Jane"', ASKS_AGAIN, 'class="cf-turnstile"']) expect(page.text).toContain(text);
    }
    expect(await count()).toBe(0);
    const token = tokenOf((await show()).text);
    const done = await buy({ token, name: "Jane", ...field(tokenOfPage()) });
    expect([done.status, await count()]).toEqual([303, 1]);
  });

  it("creates at most one invoice per challenge token, however often the form is sent and whatever its fields are", async () => {
    const step = fc.record({ name: fc.constantFrom("Jane", "Ann"), challenge: fc.nat(1), page: fc.nat(1) });
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 2, maxLength: 6 }), async (steps) => {
        const { show, buy, count } = await open();
        const pages = [tokenOf((await show()).text), tokenOf((await show()).text)];
        const challenges = [tokenOfPage(), tokenOfPage()];
        const spent = new Map<number, string>();
        const made = new Set<string>();
        for (const { name, challenge, page } of steps) {
          const operation = `${page} ${name}`;
          const isPassed = (spent.get(challenge) ?? operation) === operation;
          if (isPassed) {
            spent.set(challenge, operation);
            made.add(operation);
          }
          const answer = await buy({ token: pages[page] ?? "", name, ...field(challenges[challenge]) });
          expect(answer.status).toBe(isPassed ? 303 : 403);
        }
        expect(await count()).toBe(made.size);
      }),
      { numRuns: 12 },
    );
  });

  it("creates one invoice when it is sent several times at once", async () => {
    const { show, buy, count } = await open();
    const sent = { token: tokenOf((await show()).text), name: "Jane", ...field(tokenOfPage()) };
    const answers = await Promise.all([buy(sent), buy(sent), buy(sent)]);
    expect(new Set(answers.map(({ headers }) => headers.get("location"))).size).toBe(1);
    expect([answers[0]?.status, await count()]).toEqual([303, 1]);
  });

  it("counts towards the rate limit before its token is checked", async () => {
    const { buy } = await open();
    const statuses = [];
    for (let n = 0; n < 12; n++) statuses.push((await buy({ name: "Jane" }, "192.0.2.99")).status);
    expect(statuses).toEqual([...Array.from({ length: 10 }, () => 403), 429, 429]);
  });
});
