// The pages of a payer as answers: what they cost, who gets them, in which language, under which policy.
import { env } from "cloudflare:workers";
import { eq } from "drizzle-orm";
import { describe, expect, it } from "vitest";
import { checkouts } from "../../../src/platform/db/schema/checkouts.ts";
import { LANGUAGES } from "../../../src/platform/texts/languages.ts";
import { UNKNOWN_ULID } from "../../support/access-knock.ts";
import { freshOrder, leadsTo, type Order, orderOf, page, put, putMerchant, sendForm } from "../../support/checkouts.ts";
import { countingEnv } from "../../support/counting-env.ts";
import { extendedPrivateKey, randomHex, USDT, wif } from "../../support/wallet-bodies.ts";
import { testDb } from "../../support/worker-merchant.ts";

const GETS = ["", "/state", "/receipt", "/return"] as const;
const FORMS = ["/methods", "/claims"] as const;

/** Without the moment at which it was drawn. */
const atAnyTime = (html: string) => html.replaceAll(/ data-now="\d+"/g, "");

const languageOf = async ({ id }: Order) =>
  (await testDb.select().from(checkouts).where(eq(checkouts.invoiceId, id))).map(({ language }) => language);

describe("what a page costs", () => {
  it("is one request to the database where nothing is due, whatever its status", async () => {
    const order = await freshOrder({ paymentMethods: [USDT] });
    await page(order, "?lang=en");
    for (const rest of [...GETS, "?choose=1&lang=en"]) {
      const { bindings, calls } = countingEnv();
      expect((await page(order, rest, {}, bindings)).status).toBe(rest === "/return" ? 303 : 200);
      expect(calls).toEqual(["D1 read"]);
    }
  });

  it("is a write in the background where it is opened first, or in another language", async () => {
    const order = await freshOrder({ paymentMethods: [USDT] });
    const calls = async (rest: string, headers = {}) => {
      const { bindings, calls } = countingEnv();
      await page(order, rest, { headers }, bindings);
      return calls;
    };
    expect(await calls("/state?lang=tr")).toEqual(["D1 read"]);
    // What previews links in a chat reads nothing and says so.
    expect(await calls("")).toEqual(["D1 read"]);
    expect(await languageOf(order)).toEqual([]);
    expect(await calls("", { "accept-language": "de" })).toEqual(["D1 read", "D1 write"]);
    expect(await languageOf(order)).toEqual(["de"]);
    // Whoever else opens it without a choice of theirs changes nothing.
    expect(await calls("", { "accept-language": "fr" })).toEqual(["D1 read"]);
    expect(await calls("?lang=ja")).toEqual(["D1 read", "D1 write"]);
    expect(await languageOf(order)).toEqual(["ja"]);
    expect(await calls("?lang=ja")).toEqual(["D1 read"]);
  });

  it("is a settlement where its time is over: the page shows what is true", async () => {
    const order = await freshOrder({ paymentMethods: [USDT] });
    await put(order, { expiresAtMs: Date.now() - 1_000 });
    const answer = await page(order, "/state");
    expect(answer.text).toContain('data-stage="expired"');
    expect((await order.shop.get(`/invoices/${order.id}`)).body.status).toBe("EXPIRED");
  });

  it("HEAD is answered as GET, and does nothing", async () => {
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

describe("an invoice that is not there", () => {
  const unknown = [`inv_${UNKNOWN_ULID}`, "inv_1", `mer_${UNKNOWN_ULID}`, "x", "%00", "..%2f"];

  it("is a page that says so, in the payer's language", async () => {
    for (const id of unknown) {
      for (const rest of GETS) {
        const answer = await page({ id }, rest, { headers: { "accept-language": "tr-TR,tr;q=0.9" } });
        expect([answer.status, answer.headers.get("content-type")]).toEqual([404, "text/html; charset=utf-8"]);
        expect(answer.text).toContain('<html lang="tr"');
      }
    }
    expect((await page({ id: "x" }, "?lang=ar")).text).toContain('<html lang="ar" dir="rtl"');
  });

  it("is one to forms too", async () => {
    for (const rest of FORMS) {
      const answer = await sendForm({ id: unknown[0] ?? "" }, rest, { method: "BTC_BTC" });
      expect([answer.status, answer.text.includes("<html")]).toEqual([404, true]);
    }
  });

  it("is also that of a deleted merchant", async () => {
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
  ])("%s for a browser of %s is %s", async (query, accept, language, direction) => {
    const order = await freshOrder();
    const headers = accept === "" ? {} : { "accept-language": accept };
    for (const rest of ["", "/receipt"]) {
      const answer = await page(order, `${rest}${query}`, { headers });
      expect(answer.text).toContain(`<html lang="${language}" dir="${direction}"`);
      expect(answer.headers.get("vary")).toBe("accept-language");
    }
  });

  it("is kept by every link and redirect where the address names it", async () => {
    const order = await freshOrder();
    const picked = await sendForm(order, "/methods?lang=de", { method: "USDT_ETH" });
    expect(leadsTo(picked)).toBe(`/pay/${order.id}?method=USDT_ETH&lang=de`);
    expect(leadsTo(await sendForm(order, "/claims?lang=de", {}))).toBe(`/pay/${order.id}?note=claim-invalid&lang=de`);
    expect(leadsTo(await page(order, "/return?lang=de"))).toBe(`/pay/${order.id}?lang=de`);
  });

  it("is one of ten, each of which draws every page", async () => {
    const order = await freshOrder({ paymentMethods: [USDT] });
    for (const language of Object.keys(LANGUAGES))
      for (const rest of ["", "/state", "/receipt"])
        expect((await page(order, `${rest}?lang=${language}`)).status).toBe(200);
    expect(Object.keys(LANGUAGES)).toHaveLength(10);
  });
});

describe("what an address says that is not ours", () => {
  it("is ignored: a page is never refused for it", async () => {
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

  it("nor is any of it in the page", async () => {
    const order = await freshOrder();
    const query = new URLSearchParams({ method: "canary-a", note: "canary-b", choose: "canary-c", lang: "canary-d" });
    expect((await page(order, `?${query}`)).text).not.toContain("canary");
  });
});

const scripts = (html: string) => [...html.matchAll(/<script\b([^>]*)>/g)].map(([, attributes = ""]) => attributes);
const styles = (html: string) => [...html.matchAll(/<style\b([^>]*)>/g)].map(([, attributes = ""]) => attributes);

describe("the headers of a page", () => {
  it("are a policy of its own, whose nonce is new every time and is the one of its script and style", async () => {
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

  it("are those of every answer beside it", async () => {
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

  it("let the merchant's origins frame it, and nobody else; a page of no merchant nobody at all", async () => {
    const order = await freshOrder();
    const frameAncestors = ["https://shop.example", "https://www.shop.example:8443"];
    expect((await order.shop.patch("/settings", { frameAncestors })).status).toBe(200);
    for (const rest of ["", "/state", "/receipt"]) {
      const { headers } = await page(order, rest);
      expect(headers.get("content-security-policy")).toMatch(
        /; frame-ancestors https:\/\/shop\.example https:\/\/www\.shop\.example:8443$/,
      );
      expect(headers.get("x-frame-options")).toBeNull();
    }
    expect((await page({ id: "x" })).headers.get("x-frame-options")).toBe("DENY");
    expect((await page(await freshOrder())).headers.get("x-frame-options")).toBe("DENY");
  });

  it("stop no redirect inside a frame", async () => {
    const answer = await page(await freshOrder(), "/return");
    expect([answer.status, answer.headers.get("x-frame-options")]).toEqual([303, null]);
  });
});

describe("the part of a page that changes", () => {
  it("is only its <main>, the same as on the page", async () => {
    const order = await freshOrder({ paymentMethods: [USDT] });
    for (const query of ["?lang=de", "?lang=de&choose=1", "?lang=de&note=rate"]) {
      const [whole, part] = [await page(order, query), await page(order, `/state${query}`)];
      expect(part.text).toMatch(/^<main\b.*<\/main>$/s);
      expect(atAnyTime(whole.text).includes(atAnyTime(part.text))).toBe(true);
    }
  });

  it("is not sent again where it is as the page has it, and is where anything changed", async () => {
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

  it("is no part of the whole page: that is sent every time", async () => {
    const order = await freshOrder();
    expect((await page(order)).headers.get("etag")).toBeNull();
  });
});

describe("a form that is none", () => {
  const form = { "content-type": "application/x-www-form-urlencoded" };
  it.each([
    ["of another type", "{}", { "content-type": "application/json" }, 415],
    ["of more than 64 KiB", `method=${"x".repeat(65_536)}`, form, 413],
    ["with a character that is none", "method=%00", form, 400],
  ])("%s is refused with a page", async (_, body, headers, status) => {
    const order = await freshOrder();
    for (const rest of FORMS) {
      const answer = await page(order, rest, { method: "POST", body, headers });
      expect([answer.status, answer.text.includes("<html")]).toEqual([status, true]);
    }
  });

  it("with a private key in it is refused, which is shown nowhere", async () => {
    const order = await freshOrder();
    for (const secret of [wif(), extendedPrivateKey()])
      for (const rest of FORMS) {
        const answer = await sendForm(order, rest, { method: secret, txHash: secret, network: "BTC" });
        expect([answer.status, answer.text.includes(secret)]).toEqual([400, false]);
      }
  });
});

describe("a page that fails", () => {
  it("is a page, without what failed", async () => {
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

  it("is told apart from one that asked too much: it says when to come again", async () => {
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
