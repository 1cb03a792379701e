// The payer's pages over HTTP: what they cost, who gets them, in which language, and under which content security policy.
import { env } from "cloudflare:workers";
import { eq } from "drizzle-orm";
import { describe, expect, it } from "vitest";
import { checkouts } from "../../../src/platform/db/schema/checkouts.ts";
import { LANGUAGES } from "../../../src/platform/texts/languages.ts";
import { sendWith } from "../../support/access.ts";
import { UNKNOWN_ULID } from "../../support/access-attempt.ts";
import { freshOrder, leadsTo, type Order, orderOf, page, put, putMerchant, sendForm } from "../../support/checkouts.ts";
import { countingEnv } from "../../support/counting-env.ts";
import { extendedPrivateKey, randomHex, USDT, wif } from "../../support/wallet-bodies.ts";
import { testDb } from "../../support/worker-merchant.ts";

const GETS = ["", "/state", "/receipt", "/return"] as const;
const FORMS = ["/methods", "/claims"] as const;

/** The page without its rendering time. */
const atAnyTime = (html: string) => html.replaceAll(/ data-now="\d+"/g, "");

const languageOf = async ({ id }: Order) =>
  (await testDb.select().from(checkouts).where(eq(checkouts.invoiceId, id))).map(({ language }) => language);

describe("the storage cost of a page", () => {
  it("is one database read at each of its URLs if there is nothing to write", async () => {
    const order = await freshOrder({ paymentMethods: [USDT] });
    await page(order, "?lang=en");
    for (const rest of [...GETS, "?choose=1&lang=en"]) {
      const { bindings, calls } = countingEnv();
      expect((await page(order, rest, {}, bindings)).status).toBe(rest === "/return" ? 303 : 200);
      expect(calls).toEqual(["D1 read"]);
    }
  });

  it("includes a background write when it is first opened, or opened in a newly chosen language", async () => {
    const order = await freshOrder({ paymentMethods: [USDT] });
    const calls = async (rest: string, headers = {}) => {
      const { bindings, calls } = countingEnv();
      await page(order, rest, { headers }, bindings);
      return calls;
    };
    expect(await calls("/state?lang=tr")).toEqual(["D1 read"]);
    // A link preview sends no accept-language, and does not set the language.
    expect(await calls("")).toEqual(["D1 read"]);
    expect(await languageOf(order)).toEqual([]);
    expect(await calls("", { "accept-language": "de" })).toEqual(["D1 read", "D1 write"]);
    expect(await languageOf(order)).toEqual(["de"]);
    // Another visitor who has not chosen a language does not change the stored language.
    expect(await calls("", { "accept-language": "fr" })).toEqual(["D1 read"]);
    expect(await calls("?lang=ja")).toEqual(["D1 read", "D1 write"]);
    expect(await languageOf(order)).toEqual(["ja"]);
    expect(await calls("?lang=ja")).toEqual(["D1 read"]);
  });

  it("includes settling an invoice that has ended, so that the page shows its true status", async () => {
    const order = await freshOrder({ paymentMethods: [USDT] });
    await put(order, { expiresAtMs: Date.now() - 1_000 });
    const answer = await page(order, "/state");
    expect(answer.text).toContain('data-stage="expired"');
    expect((await order.shop.get(`/invoices/${order.id}`)).body.status).toBe("EXPIRED");
  });

  it("is one read for HEAD, which answers like GET but writes nothing", async () => {
    const order = await freshOrder({}, [{ walletType: "DIRECT_WALLET", ...USDT, address: `0x${randomHex(20)}` }]);
    const [only] = (await order.shop.get(`/invoices/${order.id}`)).body.paymentMethods;
    expect(only.status).toBe("ACTIVE");
    const { bindings, calls } = countingEnv();
    const answer = await page(order, "?lang=de", { method: "HEAD" }, bindings);
    expect([answer.status, answer.text]).toEqual([200, ""]);
    expect(answer.headers.get("content-type")).toBe("text/html; charset=utf-8");
    expect(calls).toEqual(["D1 read"]);
  });
});

describe("an unknown invoice", () => {
  const unknown = [`inv_${UNKNOWN_ULID}`, "inv_1", `mer_${UNKNOWN_ULID}`, "x", "%00", "..%2f"];

  it("gets a 404 page in the payer's language", async () => {
    for (const id of unknown) {
      for (const rest of GETS) {
        const answer = await page({ id }, rest, { headers: { "accept-language": "tr-TR,tr;q=0.9" } });
        expect([answer.status, answer.headers.get("content-type")]).toEqual([404, "text/html; charset=utf-8"]);
        expect(answer.text).toContain('<html lang="tr"');
      }
    }
    expect((await page({ id: "x" }, "?lang=ar")).text).toContain('<html lang="ar" dir="rtl"');
  });

  it("gets a 404 page in response to a form", async () => {
    for (const rest of FORMS) {
      const answer = await sendForm({ id: unknown[0] ?? "" }, rest, { method: "BTC_BTC" });
      expect([answer.status, answer.text.includes("<html")]).toEqual([404, true]);
    }
  });

  it("gets the same response as any invoice of a deleted merchant", async () => {
    const order = await freshOrder({ paymentMethods: [USDT] });
    expect((await page(order)).status).toBe(200);
    await putMerchant(order, { deletedAtMs: Date.now() });
    for (const rest of GETS) expect((await page(order, rest)).status).toBe(404);
    for (const rest of FORMS) expect((await sendForm(order, rest, { method: "BTC_BTC" })).status).toBe(404);
    for (const rest of GETS) expect((await page(order, rest)).text).not.toContain(order.address);
  });
});

describe("the language of a page", () => {
  it.each([
    ["", "", "en", "ltr"],
    ["", "pt-BR,pt;q=0.9,en;q=0.8", "pt", "ltr"],
    ["", "nl,ar;q=0.5,en;q=0.4", "ar", "rtl"],
    ["?lang=zh", "fr", "zh", "ltr"],
    ["?lang=xx", "fr", "fr", "ltr"],
    ["?lang=__proto__", "", "en", "ltr"],
  ])("with query %j and Accept-Language %j is %s", async (query, accept, language, direction) => {
    const order = await freshOrder();
    const headers = accept === "" ? {} : { "accept-language": accept };
    for (const rest of ["", "/receipt"]) {
      const answer = await page(order, `${rest}${query}`, { headers });
      expect(answer.text).toContain(`<html lang="${language}" dir="${direction}"`);
      expect(answer.headers.get("vary")).toBe("accept-language");
    }
  });

  it("is kept in every link and redirect when the URL names it", async () => {
    const order = await freshOrder();
    const picked = await sendForm(order, "/methods?lang=de", { method: "USDT_ETH" });
    expect(leadsTo(picked)).toBe(`/pay/${order.id}?method=USDT_ETH&lang=de`);
    expect(leadsTo(await sendForm(order, "/claims?lang=de", {}))).toBe(`/pay/${order.id}?note=claim-invalid&lang=de`);
    expect(leadsTo(await page(order, "/return?lang=de"))).toBe(`/pay/${order.id}?lang=de`);
  });

  it("can be any of ten, and every page renders in each of them", async () => {
    const order = await freshOrder({ paymentMethods: [USDT] });
    for (const language of Object.keys(LANGUAGES))
      for (const rest of ["", "/state", "/receipt"])
        expect((await page(order, `${rest}?lang=${language}`)).status).toBe(200);
    expect(Object.keys(LANGUAGES)).toHaveLength(10);
  });
});

describe("an unknown URL parameter", () => {
  it("is ignored: the page never fails because of it", async () => {
    const order = await freshOrder({ paymentMethods: [USDT] });
    const plain = atAnyTime((await page(order, "/state")).text);
    for (const query of [
      "method=DOGE_DOGE",
      `method=${"x".repeat(2_000)}`,
      "note=hacked",
      "utm_source=x",
      "lang=%00",
    ]) {
      expect((await page(order, `?${query}`)).status).toBe(200);
      expect(atAnyTime((await page(order, `/state?${query}`)).text) === plain, query).toBe(true);
    }
  });

  it("does not appear in the page", async () => {
    const order = await freshOrder();
    const query = new URLSearchParams({ method: "canary-a", note: "canary-b", choose: "canary-c", lang: "canary-d" });
    expect((await page(order, `?${query}`)).text).not.toContain("canary");
  });
});

const scripts = (html: string) => [...html.matchAll(/<script\b([^>]*)>/g)].map(([, attributes = ""]) => attributes);
const styles = (html: string) => [...html.matchAll(/<style\b([^>]*)>/g)].map(([, attributes = ""]) => attributes);

describe("the headers of a page", () => {
  it("include a content security policy with a fresh nonce, which its scripts and styles carry", async () => {
    const order = await freshOrder({ paymentMethods: [USDT] });
    const nonces = new Set<string>();
    for (const rest of ["", "?choose=1", "/receipt", "/state", ""]) {
      const { headers, text } = await page(order, rest);
      const policy = headers.get("content-security-policy") ?? "";
      const [, nonce = ""] = /'nonce-([\w-]{24})'/.exec(policy) ?? [];
      const live = env.PUBLIC_URL.replace(/^http/, "ws");
      expect(policy).toBe(
        `default-src 'none'; script-src 'nonce-${nonce}'; style-src 'nonce-${nonce}'; img-src 'self' data:; connect-src 'self' ${live}; base-uri 'none'; form-action 'self'; frame-ancestors 'none'`,
      );
      nonces.add(nonce);
      for (const attributes of [...scripts(text), ...styles(text)]) expect(attributes).toContain(`nonce="${nonce}"`);
      expect(text).not.toMatch(/\son\w+=|\sstyle=|javascript:/i);
    }
    expect(nonces.size).toBe(5);
  });

  it("are the same security headers on every page, even on a 404 page", async () => {
    const order = await freshOrder();
    const answers = [
      await page(order),
      await page(order, "/state"),
      await page(order, "/receipt"),
      await page({ id: "x" }),
    ];
    for (const { headers } of answers) {
      expect(Object.fromEntries(headers)).toMatchObject({
        "content-type": "text/html; charset=utf-8",
        "cache-control": "no-store",
        "referrer-policy": "no-referrer",
        "x-content-type-options": "nosniff",
        "x-frame-options": "DENY",
        "strict-transport-security": expect.stringMatching(/^max-age=/),
        "x-request-id": expect.stringMatching(/^req_/),
      });
      expect(headers.get("set-cookie")).toBeNull();
      expect(headers.get("access-control-allow-origin")).toBeNull();
    }
  });

  it("allow framing by the merchant's origins only, and by no one if the merchant is unknown or has set none", async () => {
    const order = await freshOrder();
    const frameAncestors = ["https://shop.example", "https://www.shop.example:8443"];
    expect((await order.shop.patch("/settings", { frameAncestors })).status).toBe(200);
    for (const rest of ["", "/state", "/receipt", "?view=modal"]) {
      const { headers } = await page(order, rest);
      expect(headers.get("content-security-policy")).toMatch(
        /; frame-ancestors https:\/\/shop\.example https:\/\/www\.shop\.example:8443$/,
      );
      expect(headers.get("x-frame-options")).toBeNull();
    }
    expect((await page({ id: "x" })).headers.get("x-frame-options")).toBe("DENY");
    for (const rest of ["", "?view=modal"])
      expect((await page(await freshOrder(), rest)).headers.get("x-frame-options")).toBe("DENY");
  });

  it("do not forbid framing on a redirect", async () => {
    const answer = await page(await freshOrder(), "/return");
    expect([answer.status, answer.headers.get("x-frame-options")]).toEqual([303, null]);
  });
});

describe("the URLs of BTCPay Server's pages", () => {
  it("redirect to the invoice's page without a database read, and keep the modal view and the language", async () => {
    const { id } = await freshOrder();
    const asked = { [`/i/${id}`]: "", [`/i/${id}?view=modal`]: "?view=modal", [`/invoice?id=${id}`]: "" };
    const framed = { [`/invoice?id=${id}&view=modal&lang=de`]: "?view=modal&lang=de" };
    for (const [path, query] of Object.entries({ ...asked, ...framed })) {
      const { bindings, calls } = countingEnv();
      const answer = await sendWith(bindings, path);
      expect([leadsTo(answer), answer.headers.get("x-frame-options"), calls]).toEqual([`/pay/${id}${query}`, null, []]);
    }
    const answer = await page({ id }, "?view=modal");
    expect(answer.text).toMatch(/ data-close[^>]*>Close</);
    const { headers } = await sendForm({ id }, "/methods?view=modal", { method: "nothing" });
    expect(headers.get("location")).toMatch(/\?(.*&)?view=modal$/);
  });

  it("of an unknown invoice show a 404 page that nobody may frame", async () => {
    const unknown = `inv_${UNKNOWN_ULID}`;
    const ids = ["", "x", "inv_1", "..%2F..%2Fconsole", "https:%2F%2Fevil.example", unknown.toLowerCase()];
    const paths = ids.flatMap((id) => [`/invoice?id=${id}&view=modal`, ...(id === "" ? [] : [`/i/${id}`])]);
    for (const path of ["/invoice", ...paths]) {
      const answer = await sendWith({}, path);
      expect([path, answer.status, answer.headers.get("x-frame-options")]).toEqual([path, 404, "DENY"]);
      expect(answer.headers.get("content-security-policy")).toContain("frame-ancestors 'none'");
      expect(answer.text).toContain("<h1>");
    }
    const end = await sendWith({}, leadsTo(await sendWith({}, `/i/${unknown}`)));
    expect([end.status, end.headers.get("x-frame-options")]).toEqual([404, "DENY"]);
  });
});

describe("the part of a page that is refreshed", () => {
  it("is its <main>, identical to that of the whole page", async () => {
    const order = await freshOrder({ paymentMethods: [USDT] });
    for (const query of ["?lang=de", "?lang=de&choose=1", "?lang=de&note=rate"]) {
      const [whole, part] = [await page(order, query), await page(order, `/state${query}`)];
      expect(part.text).toMatch(/^<main\b.*<\/main>$/s);
      expect(atAnyTime(whole.text).includes(atAnyTime(part.text))).toBe(true);
    }
  });

  it("is a 304 while it is unchanged, and is sent again after any change", async () => {
    const order = await freshOrder({ paymentMethods: [USDT] });
    const first = await page(order, "/state");
    const etag = first.headers.get("etag") ?? "";
    expect(etag).toMatch(/^W\/"[0-9a-f]{32}"$/);
    const again = await page(order, "/state", { headers: { "if-none-match": etag } });
    expect([again.status, again.text, again.headers.get("etag")]).toEqual([304, "", etag]);
    expect(again.headers.get("content-security-policy")).toMatch(/^default-src 'none'; script-src 'nonce-/);
    await put(order, { status: "CANCELLED" });
    const changed = await page(order, "/state", { headers: { "if-none-match": etag } });
    expect([changed.status, changed.headers.get("etag") === etag]).toEqual([200, false]);
    expect((await page(order, "/state?lang=ru", { headers: { "if-none-match": etag } })).status).toBe(200);
  });

  it("has an etag, but the whole page has none", async () => {
    const order = await freshOrder();
    expect((await page(order)).headers.get("etag")).toBeNull();
  });
});

describe("an invalid form", () => {
  const form = { "content-type": "application/x-www-form-urlencoded" };
  it.each([
    ["of another content type", "{}", { "content-type": "application/json" }, 415],
    ["of more than 64 KiB", `method=${"x".repeat(65_536)}`, form, 413],
    ["with a NUL character", "method=%00", form, 400],
  ])("%s is refused with a page", async (_, body, headers, status) => {
    const order = await freshOrder();
    for (const rest of FORMS) {
      const answer = await page(order, rest, { method: "POST", body, headers });
      expect([answer.status, answer.text.includes("<html")]).toEqual([status, true]);
    }
  });

  it("with a private key in it is refused, and the response does not show the key", async () => {
    const order = await freshOrder();
    for (const secret of [wif(), extendedPrivateKey()])
      for (const rest of FORMS) {
        const answer = await sendForm(order, rest, { method: secret, txHash: secret, network: "BTC" });
        expect([answer.status, answer.text.includes(secret)]).toEqual([400, false]);
      }
  });
});

describe("a page that fails", () => {
  it("answers 500 with a page that does not show the error", async () => {
    const order = await freshOrder();
    const DB = {
      prepare: () => {
        throw new Error("canary of a bug");
      },
    } as unknown as D1Database;
    const answer = await page(order, "", {}, { DB });
    expect([answer.status, answer.headers.get("content-type")]).toEqual([500, "text/html; charset=utf-8"]);
    expect(answer.text).toContain("<html");
    expect(answer.text).not.toContain("canary");
  });

  it("because of the rate limit answers 429 with a page and Retry-After", async () => {
    const ip = "203.0.113.201";
    const order = await orderOf((await freshOrder()).shop);
    const ask = { headers: { "cf-connecting-ip": ip } };
    const changes = { RATE_LIMIT_PER_MINUTE: "2" };
    const statuses: number[] = [];
    for (let n = 0; n < 3; n++) statuses.push((await page(order, "/state", ask, changes)).status);
    expect(statuses).toEqual([200, 200, 429]);
    const refused = await page(order, "", ask, changes);
    expect([refused.status, Number(refused.headers.get("retry-after")) > 0]).toEqual([429, true]);
    expect(refused.text).toContain("<html");
  });
});
