// Data that a payer must never see (security.md 4): an altered address, customer data, a name that could break the page, and the shop's redirectUrl
// before payment.
import { env } from "cloudflare:workers";
import { base64urlnopad } from "@scure/base";
import { and, eq } from "drizzle-orm";
import { describe, expect, it } from "vitest";
import { returnText } from "../../../src/checkout/signed-redirect/return-url.ts";
import { INVOICE_STATUSES } from "../../../src/platform/column-values.ts";
import { paymentMethods } from "../../../src/platform/db/schema/invoices.ts";
import { merchants } from "../../../src/platform/db/schema/merchants.ts";
import { wallets } from "../../../src/platform/db/schema/wallets.ts";
import { en } from "../../../src/platform/texts/en.ts";
import { expectHeaders, expectRefusal, send } from "../../support/access.ts";
import {
  api,
  everyAnswer,
  freshOrder,
  leadsTo,
  type Order,
  page,
  put,
  putInStatus,
  putMerchant,
  sendForm,
} from "../../support/checkouts.ts";
import { seedPayment } from "../../support/payments.ts";
import { BTC, randomHex, USDT } from "../../support/wallet-bodies.ts";
import { freshId, testDb } from "../../support/worker-merchant.ts";

const methodRow = ({ id }: Order) =>
  and(eq(paymentMethods.invoiceId, id), eq(paymentMethods.cryptocurrency, USDT.cryptocurrency));

describe("an address that was altered in the database is shown nowhere", () => {
  const evil = `0x${"e71".repeat(13)}e`;

  async function expectHidden(order: Order, ...addresses: readonly string[]) {
    for (const [name, { text }] of Object.entries(await everyAnswer(order)))
      for (const address of addresses) {
        const part = address.slice(2, 38).toLowerCase();
        // The text is also searched without spaces and tags, because addresses are shown in groups and inside wallet calls.
        const flat = text.toLowerCase().replaceAll(/<[^>]*>|\s/g, "");
        expect([name, text.toLowerCase().includes(part), flat.includes(part)]).toEqual([name, false, false]);
      }
  }

  it.each([
    ["a change of the method's address", { address: evil }],
    ["a change of the method's HMAC", { mac: "0".repeat(64) }],
    ["a removed HMAC", { mac: null }],
    ["a change of the HMAC's key id", { macKeyId: "other" }],
    ["a change of the method's network", { network: "BNB" }],
  ] as const)("after %s", async (_, change) => {
    const order = await freshOrder({ paymentMethods: [USDT] });
    expect((await page(order)).text).toContain(order.address);
    await testDb.update(paymentMethods).set(change).where(methodRow(order));
    await expectHidden(order, order.address, evil);
    const { json } = await api(order);
    const hidden = { status: "UNAVAILABLE", reason: "INTEGRITY_CHECK_FAILED", address: null };
    expect(json?.paymentMethods).toContainEqual(expect.objectContaining(hidden));
  });

  it("after a method's address and HMAC were copied from another invoice", async () => {
    const [order, other] = [await freshOrder({ paymentMethods: [USDT] }), await freshOrder({ paymentMethods: [USDT] })];
    const [row] = await testDb.select().from(paymentMethods).where(methodRow(other));
    const { address, mac, macKeyId } = row ?? {};
    await testDb.update(paymentMethods).set({ address, mac, macKeyId }).where(methodRow(order));
    await expectHidden(order, order.address, other.address);
  });

  it("after the wallet's address was changed, before the method is picked", async () => {
    const order = await freshOrder();
    const [wallet] = await testDb.select().from(wallets).where(eq(wallets.merchantId, order.merchantId));
    await testDb.update(wallets).set({ address: evil, xpub: null }).where(eq(wallets.merchantId, order.merchantId));
    await expectHidden(order, evil, wallet?.address ?? "nowhere, certainly not here, in no case");
    expect((await page(order)).text).toContain('data-stage="unavailable"');
    await sendForm(order, "/methods", { method: "USDT_ETH" });
    await api(order, "/payment-methods", { method: "POST", body: USDT });
    await expectHidden(order, evil);
  });

  it("after its wallet was changed, and an invoice that was activated before the change keeps its own address", async () => {
    const order = await freshOrder({ paymentMethods: [USDT] });
    await testDb.update(wallets).set({ address: evil, xpub: null }).where(eq(wallets.merchantId, order.merchantId));
    await expectHidden(order, evil);
    expect((await page(order)).text).toContain(order.address);
  });
});

describe("the customer's data", () => {
  it("is in no response to a payer", async () => {
    const canaries = {
      customerEmail: "canary.email@customer.example",
      customerName: "Canary Payer",
      customerAddress: "1 Canarystreet",
      customerPhoneNumber: "+49 30 5550199",
      externalId: "canary-external-7",
      metadata: { canaryNote: "canary-metadata-8" },
    };
    const order = await freshOrder({ paymentMethods: [USDT], ...canaries });
    const { body } = await order.shop.get(`/invoices/${order.id}`);
    const fromAddress = `0x${randomHex(20)}`;
    const paid = { invoiceId: order.id, fromAddress, toAddress: order.address, fiatMicros: 10_000_000n } as const;
    await seedPayment(order.merchantId, { ...paid, status: "CONFIRMED", confirmations: 3 });
    for (const status of ["AWAITING_PAYMENT", "PAID"] as const) {
      if (status === "PAID") await putInStatus(order, status);
      for (const [name, { text }] of Object.entries(await everyAnswer(order))) {
        expect([name, /canary|5550199/i.test(text)]).toEqual([name, false]);
        for (const secret of [body.customerId, fromAddress, fromAddress.slice(2)])
          expect([name, text.includes(secret)]).toEqual([name, false]);
      }
    }
    const { json } = await api(order);
    expect(json).toMatchObject({ customer: null, customerId: null, externalId: null, metadata: null });
    expect(json?.payments).toMatchObject([{ fromAddress: null }]);
  });
});

describe("a hostile name", () => {
  const control = "\u0007\u202e\u2066\u200f\u001b[31m\u0085\u2028";
  const markup = `"><script>alert(1)</script><img src=x onerror=alert(1)>'"&{{7*7}}\${7*7}`;
  const hostile = `${control}${markup}${control}`;

  it("is escaped on every page and stripped of control and bidi characters", async () => {
    const order = await freshOrder({ name: hostile, description: hostile, paymentMethods: [USDT] });
    const brand = JSON.stringify({
      name: hostile,
      color: "#aa0000",
      supportUrl: "https://shop.example/help",
      logo: null,
    });
    await putMerchant(order, { name: hostile, brand });
    const { page: whole, json } = await everyAnswer(order);
    for (const status of INVOICE_STATUSES) {
      await putInStatus(order, status);
      const { json: _, ...pages } = await everyAnswer(order);
      for (const { text, headers } of Object.values(pages)) {
        expect(text).not.toMatch(/[\p{Bidi_Control}\u2028\u2029\u0085]|(?![\n\t\r])\p{Cc}/u);
        expect(text).not.toMatch(/<script>alert|<img src=x/);
        expect(headers.get("content-type")).toBe("text/html; charset=utf-8");
      }
    }
    expect(whole?.text).toContain("&lt;script&gt;alert(1)&lt;/script&gt;");
    // The JSON has the merchant's text unchanged: a page that shows the text must strip and escape it.
    expect(json?.json).toMatchObject({ name: hostile, description: hostile, merchant: { name: hostile } });
    expect(json?.headers.get("content-type")).toBe("application/json; charset=utf-8");
  });

  it("made only of control characters does not leave the page without a title, and the page shows the invoice's id", async () => {
    const order = await freshOrder({ name: control.replace("[31m", ""), paymentMethods: [USDT] });
    await putMerchant(order, { name: "\u202e" });
    const { text } = await page(order);
    expect(text).toMatch(/<title>[^<]*\w[^<]*<\/title>/);
    expect(text).toContain(order.id);
  });

  it("sent in a form or a query is not shown on the page that follows", async () => {
    const order = await freshOrder({ paymentMethods: [USDT] });
    const answers = [
      await sendForm(order, "/methods", { method: markup }),
      await sendForm(order, "/claims", { network: markup, txHash: markup }),
    ];
    for (const answer of answers) expect(leadsTo(answer)).toMatch(/^\/pay\/inv_\w{26}\?[\w=&-]*$/);
    const query = new URLSearchParams({ method: markup, note: markup, lang: markup });
    expect((await page(order, `?${query}`)).text).not.toContain("alert(1)");
  });
});

describe("the redirectUrl", () => {
  const redirectUrl = "https://shop.example/thanks?order=canary-redirect";

  it.each(INVOICE_STATUSES)("is revealed only once the invoice is paid: %s", async (status) => {
    const order = await freshOrder({ redirectUrl, paymentMethods: [USDT] });
    await putInStatus(order, status);
    const isPaid = status === "PAID" || status === "OVERPAID";
    const answers = await everyAnswer(order);
    if (!isPaid)
      for (const [name, { text }] of Object.entries(answers))
        expect([name, text.includes("canary-redirect")]).toEqual([name, false]);
    const location = leadsTo(await page(order, "/return"));
    expect(location.startsWith(isPaid ? redirectUrl : `/pay/${order.id}`)).toBe(true);
    expect(answers.json?.json?.redirectUrl).toEqual(isPaid ? expect.stringContaining(redirectUrl) : null);
  });

  it("is signed with a published key", async () => {
    const order = await freshOrder({ redirectUrl });
    await putInStatus(order, "PAID");
    const { json } = await api(order);
    const keys = (await send("/.well-known/edgetill-keys.json")).json?.keys as { kid: string; x: string }[];
    for (const url of [leadsTo(await page(order, "/return")), String(json?.redirectUrl)]) {
      const said = Object.fromEntries(new URL(url).searchParams);
      expect(said).toMatchObject({ order: "canary-redirect", invoiceId: order.id, status: "PAID" });
      const jwk = keys.find(({ kid }) => kid === said.keyId);
      const raw = base64urlnopad.decode(jwk?.x ?? "");
      const key = await crypto.subtle.importKey("raw", raw, "Ed25519", false, ["verify"]);
      const signedAtMs = Date.parse(said.timestamp ?? "");
      expect(Math.abs(Date.now() - signedAtMs)).toBeLessThan(60_000);
      const text = returnText({ invoiceId: order.id, status: "PAID", nowMs: signedAtMs });
      const signature = base64urlnopad.decode(said.signature ?? "");
      expect(await crypto.subtle.verify("Ed25519", key, signature, new TextEncoder().encode(text))).toBe(true);
    }
  });

  it("is absent when the merchant has set none: the return leads to the checkout", async () => {
    const order = await freshOrder();
    await putInStatus(order, "PAID");
    expect(leadsTo(await page(order, "/return"))).toBe(`/pay/${order.id}`);
    expect((await api(order)).json?.redirectUrl).toBeNull();
  });
});

describe("the JSON of a checkout", () => {
  it("contains the public part of the invoice and the methods that can be picked, and any origin may read it", async () => {
    const order = await freshOrder({ paymentMethods: [USDT], description: "Two coffees" });
    await order.shop.patch("/settings", { brand: { name: "Coffee House", color: "#aa3300" } });
    const answer = await api(order, "", { headers: { origin: "https://shop.example" } });
    expectHeaders(answer);
    expect(answer.headers.get("access-control-allow-origin")).toBe("*");
    expect(answer.headers.get("access-control-expose-headers")?.split(", ")).toContain("retry-after");
    const { body } = await order.shop.get(`/invoices/${order.id}`);
    const { amountConfirmed, isLate, lateGraceUntil, needsReview, origin, resolution, warnings, ...shown } = body;
    expect(answer.json).toStrictEqual({
      ...shown,
      undecided: [],
      customer: null,
      customerId: null,
      metadata: null,
      externalId: null,
      redirectUrl: null,
      paymentMethods: [
        {
          ...shown.paymentMethods[0],
          coinName: "Tether USD",
          networkName: "Ethereum",
          standard: "ERC-20",
          isTest: false,
          estimatedAmount: null,
          confirmationMinutes: 1,
          usualFee: "VARIES",
          isAddressShared: true,
          isWatched: false,
          validUntil: shown.expiresAt,
        },
        expect.objectContaining({
          ...BTC,
          status: "AVAILABLE",
          address: null,
          reason: null,
          coinName: "Bitcoin",
          networkName: "Bitcoin",
          standard: null,
          isTest: false,
          estimatedAmount: expect.stringMatching(/^0\.000\d{1,6}$/),
          confirmationMinutes: 10,
          usualFee: "VARIES",
          isAddressShared: null,
          isWatched: false,
          validUntil: null,
        }),
      ],
      merchant: { name: "Coffee House", color: "#aa3300", logo: null, supportUrl: null },
      now: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/),
    });
  });

  it("has the merchant's own name if no brand is set, and its logo as an absolute URL", async () => {
    const order = await freshOrder();
    expect((await api(order)).json?.merchant).toEqual({ name: "Shop", color: null, logo: null, supportUrl: null });
    const logo = "a".repeat(64);
    await testDb
      .update(merchants)
      .set({ brand: JSON.stringify({ logo }) })
      .where(eq(merchants.id, order.merchantId));
    const { merchant } = (await api(order)).json as { merchant: { logo: string } };
    expect(merchant.logo).toBe(`${env.PUBLIC_URL}/images/${order.merchantId}/${logo}`);
    // The URL is relative on pages, because they may be open under another host name of ours.
    expect((await page(order)).text).toContain(`"/images/${order.merchantId}/${logo}"`);
  });

  it("says which networks are watched, and the page warns if the method's network is not watched", async () => {
    const order = await freshOrder({ paymentMethods: [USDT] });
    const source = JSON.stringify({ ETH: [{ kind: "evm-rpc", url: "http://127.0.0.1:9" }] });
    for (const [CHAIN_SOURCES, isWatched] of [
      ["{}", false],
      [source, true],
    ] as const) {
      const { json } = await api(order, "", {}, { CHAIN_SOURCES });
      const methods = json?.paymentMethods as { network: string; isWatched: boolean }[];
      expect(methods.map((method) => method.isWatched)).toEqual(
        methods.map(({ network }) => isWatched && network === "ETH"),
      );
      const { text } = await page(order, "", {}, { CHAIN_SOURCES });
      expect(text.includes("does not watch")).toBe(!isWatched);
    }
  });

  it("has the time until which an amount is valid, which is earlier than the expiry when the rate lock is shorter", async () => {
    const order = await freshOrder();
    await put(order, { rateLockSeconds: 60 });
    await api(order, "/payment-methods", { method: "POST", body: USDT });
    const { json } = await api(order);
    const methods = json?.paymentMethods as { quotedAt: string | null; validUntil: string | null }[];
    // A page's countdowns start from `now`.
    expect(Math.abs(Date.parse(String(json?.now)) - Date.now())).toBeLessThan(60_000);
    const [quoted] = methods.filter(({ quotedAt }) => quotedAt !== null);
    expect(Date.parse(quoted?.validUntil ?? "") - Date.parse(quoted?.quotedAt ?? "")).toBe(60_000);
  });

  it("reports an invoice past its expiry as EXPIRED", async () => {
    const order = await freshOrder({ paymentMethods: [USDT] });
    await put(order, { expiresAtMs: Date.now() - 1_000 });
    expect((await api(order)).json).toMatchObject({ status: "EXPIRED" });
  });

  it("is 404 for an unknown invoice and for a deleted merchant's", async () => {
    for (const id of ["inv_1", "x"]) expectRefusal(await api({ id }), 404, "INVOICE_NOT_FOUND");
    const order = await freshOrder();
    await putMerchant(order, { deletedAtMs: Date.now() });
    expectRefusal(await api(order), 404, "INVOICE_NOT_FOUND");
    expectRefusal(await api(order, "/payment-methods", { method: "POST", body: USDT }), 404, "INVOICE_NOT_FOUND");
  });
});

describe("a claim on the page", () => {
  const look = (outcome: () => Promise<string> | string) =>
    ({
      NETWORK_WATCHER: { getByName: () => ({ look: async () => outcome() }) },
      CHAIN_SOURCES: JSON.stringify({ ETH: [{ kind: "evm-rpc", url: "http://127.0.0.1:9" }] }),
    }) as unknown as Partial<Env>;
  const claim = async (order: Order, fields: Readonly<Record<string, string>>, changes: Partial<Env> = {}) =>
    leadsTo(await sendForm(order, "/claims", { network: "ETH", ...fields }, { changes }));
  const hash = () => `0x${randomHex(32)}`;

  it("leads back to the page, which shows how the transaction relates to the invoice", async () => {
    const order = await freshOrder({ paymentMethods: [USDT] });
    const said = async (fields: Readonly<Record<string, string>>, changes: Partial<Env>) => {
      const to = await claim(order, fields, changes);
      expect(to).toMatch(new RegExp(`^/pay/${order.id}\\?claim=clm_`));
      return (await page(order, to.slice(`/pay/${order.id}`.length))).text;
    };
    const unknown = look(() => "NOT_FOUND");
    expect(await said({ txHash: hash() }, unknown)).toContain(en.claimNotFound);
    const broken = look(() => Promise.reject(new Error("gone")));
    expect(await said({ txHash: hash() }, broken)).toContain(en.claimUnavailable);
    const txHash = hash();
    const found = look(async () => {
      await seedPayment(order.merchantId, { txHash, toAddress: order.address, amountUnits: 4_000_000n });
      return "FOUND";
    });
    const shown = await said({ txHash: ` ${txHash}\n` }, found);
    expect(shown.replaceAll(/<[^>]*>/g, "")).toContain(
      "This transaction brought 4 USDT, and this invoice asks for 10 USDT.",
    );
    for (const note of ["found", "not-found", "unavailable", "invalid", "too-many"])
      expect((await page(order, `?note=claim-${note}`)).status).toBe(200);
  });

  it("is shown only on the page of its own invoice; any other claim or note named in the URL is ignored", async () => {
    const [order, other] = [await freshOrder({ paymentMethods: [USDT] }), await freshOrder({ paymentMethods: [USDT] })];
    const unknown = look(() => "NOT_FOUND");
    const query = (await claim(order, { txHash: hash() }, unknown)).slice(`/pay/${order.id}`.length);
    expect((await page(order, query)).text).toContain('data-part="claim"');
    for (const wrong of [query, "?claim=", "?claim=x", `?claim=${freshId("clm")}`, "?note=claim-found"])
      expect((await page(other, wrong)).text).not.toMatch(/data-part="claim"|class="note/);
  });

  it("is invalid if the hash is not valid on the network, or if the invoice does not offer the network", async () => {
    const order = await freshOrder({ paymentMethods: [USDT] });
    const bad = [
      {},
      { txHash: "0x1" },
      { txHash: hash(), network: "BTC" },
      { txHash: "x".repeat(9_000) },
      { txHash: hash(), network: "" },
    ];
    for (const fields of bad)
      expect(
        await claim(
          order,
          fields as Readonly<Record<string, string>>,
          look(() => "FOUND"),
        ),
      ).toBe(`/pay/${order.id}?note=claim-invalid`);
  });

  it("is refused after six claims in an hour", async () => {
    const order = await freshOrder({ paymentMethods: [USDT] });
    const unknown = look(() => "NOT_FOUND");
    const ways: string[] = [];
    for (let n = 0; n < 7; n++) ways.push(await claim(order, { txHash: hash() }, unknown));
    expect(ways.map((each) => each.replace(/^.*[?]/, "").replace(/clm_.*/, ""))).toEqual([
      ...new Array(6).fill("claim="),
      "note=claim-too-many",
    ]);
  });
});
