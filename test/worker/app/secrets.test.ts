// Anything that looks like a private key is refused on every route with a body, anywhere in the body, and never shown (decisions
// 3).
import { env } from "cloudflare:workers";
import { beforeAll, describe, expect, it } from "vitest";
import { SECRET_KEY_PERMISSIONS } from "../../../src/accounts/roles/permissions.ts";
import { SPECS } from "../../../src/app/app.ts";
import type { RouteSpec } from "../../../src/platform/http/route.ts";
import { textsOf } from "../../../src/platform/texts/texts.ts";
import { type Answer, type Ask, expectRefusal, type Shop, seedShop, send, sendWith } from "../../support/access.ts";
import { pathOf } from "../../support/access-attempt.ts";
import { seedMember, seedUser, type TestUser } from "../../support/people.ts";
import { BTC, directWallet, extendedPrivateKey, randomHex, wif } from "../../support/wallet-bodies.ts";

const PHRASE = "legal winner thank year wave sausage worth useful legal winner thank yellow";
/** The example on the Bitcoin Wiki's page "Mini private key format". */
const MINI_KEY = "S6c56bnXQiBjk9mqSYE7ykVQ7NzrRy";
/** The short form of Casascius coins, from the same page. */
const SHORT_MINI_KEY = "SzavMBLoXU6kDrqtUVmffv";

const CHANGING = SPECS.filter((spec) => spec.method !== "GET");

/** The places in a page's form that can contain a secret. */
const FORM_PLACES: readonly (readonly [string, (secret: string) => Record<string, string>])[] = [
  ["as the name of a field", (secret) => ({ [secret]: "1" })],
  ["as a field", (secret) => ({ email: secret })],
  ["within a field", (secret) => ({ txHash: `paid from ${secret}!` })],
];

/** The places in a body that can contain a secret: names and values of members, lists, or the whole body. */
const PLACES: readonly (readonly [string, (secret: string) => unknown])[] = [
  ["as the name of a member", (secret) => ({ [secret]: 1 })],
  ["as a value", (secret) => ({ note: secret })],
  ["as a deeply nested name", (secret) => ({ note: [{ deep: [[{ [`key ${secret}`]: null }]] }] })],
  ["as a deeply nested value", (secret) => ({ note: { deep: [{ deeper: [1, `key ${secret}!`] }] } })],
  ["as an item of a list", (secret) => [[secret]]],
  ["as the whole body", (secret) => JSON.stringify(secret)],
];

let shop: Shop;
let owner: TestUser;
let walletId: string;
let invoiceId: string;

const at = (rest: string) => `/api/v1/merchants/merchant/${shop.merchantId}${rest}`;
const post = (rest: string, body: unknown) => send(at(rest), { method: "POST", key: shop.secretKey, body });
const patch = (rest: string, body: unknown) => send(at(rest), { method: "PATCH", key: shop.secretKey, body });

/** Credentials that may call the route: a key where keys may, otherwise the session of the owner, who is also an operator. */
function callerOf(spec: RouteSpec): Pick<Ask, "key" | "headers"> {
  if (spec.callers === "ANYBODY") return {};
  const isForKeys = SECRET_KEY_PERMISSIONS.some((each) => spec.permission?.split(" or ").includes(each));
  return spec.callers === "KEY" || (spec.callers === "MEMBER_OR_KEY" && isForKeys)
    ? { key: shop.secretKey }
    : { headers: owner.headers };
}

function expectRefusedUnseen(answer: Answer, secret: string): void {
  expectRefusal(answer, 400, "PRIVATE_KEY_REFUSED");
  expect(`${JSON.stringify([...answer.headers])}${answer.text}`).not.toContain(secret);
}

/** Every row that belongs to the merchant, as text. */
async function stored(): Promise<string> {
  const tables = await env.DB.prepare(
    "select name from sqlite_master where type = 'table' and sql like '%`merchant_id` text%'",
  ).all<{ name: string }>();
  const rows = await env.DB.batch(
    tables.results.map(({ name }) =>
      env.DB.prepare(`select * from "${name}" where merchant_id = ?`).bind(shop.merchantId),
    ),
  );
  expect(rows.length).toBeGreaterThan(20);
  return JSON.stringify(rows.map(({ results }) => results));
}

beforeAll(async () => {
  shop = await seedShop();
  owner = await seedUser({ operatorSinceMs: Date.now() });
  await seedMember(shop.merchantId, owner.userId, "OWNER");
  walletId = String((await post("/wallets", directWallet())).json?.id);
  invoiceId = String((await post("/invoices", { name: "Order", rawAmount: 10, paymentMethods: [] })).json?.id);
  expect([walletId, invoiceId]).toEqual([expect.stringMatching(/^wal_/), expect.stringMatching(/^inv_/)]);
});

describe("a body with a private key", () => {
  it("is sent with every method that changes data", () => {
    expect(CHANGING.length).toBeGreaterThanOrEqual(7);
    expect(new Set(CHANGING.map(({ method }) => method))).toEqual(new Set(["POST", "PATCH", "DELETE"]));
  });

  it.each(CHANGING.filter(({ isPage }) => isPage).map((spec) => [spec.operationId, spec] as const))(
    "is refused by the page %s, wherever the key is in the form, and the key is neither shown nor stored",
    async (_, spec) => {
      const before = await stored();
      for (const secret of [extendedPrivateKey(), wif()]) {
        for (const [place, formWith] of FORM_PLACES) {
          const answer = await send(pathOf(spec, { invoiceId }), {
            method: spec.method,
            body: new URLSearchParams(formWith(secret)).toString(),
            headers: { "content-type": "application/x-www-form-urlencoded" },
          });
          expect([place, answer.status], answer.text).toEqual([place, 400]);
          expect(answer.text).toContain(textsOf("en").fieldInvalid);
          expect(`${JSON.stringify([...answer.headers])}${answer.text}`).not.toContain(secret);
        }
      }
      expect(await stored()).toBe(before);
    },
  );

  it.each(CHANGING.filter(({ isPage }) => !isPage).map((spec) => [spec.operationId, spec] as const))(
    "is refused by %s, wherever the key is in the body, and the key is neither shown nor stored",
    async (_, spec) => {
      const before = await stored();
      for (const secret of [extendedPrivateKey(), wif()]) {
        for (const [place, bodyWith] of PLACES) {
          const { key, headers } = callerOf(spec);
          const ask = { method: spec.method, key, body: bodyWith(secret) };
          // The owner sends more requests than the rate limit allows.
          const answer = await sendWith(
            { RATE_LIMIT_PER_MINUTE: "0" } as Partial<Env>,
            pathOf(spec, { merchantId: shop.merchantId, walletId, invoiceId }),
            { ...ask, headers: { ...headers, "idempotency-key": crypto.randomUUID() } },
          );
          expect([place, answer.status], answer.text).toEqual([place, 400]);
          expectRefusedUnseen(answer, secret);
        }
      }
      expect(await stored()).toBe(before);
    },
  );

  it("that creates or changes an invoice is refused no matter which text field has the key, even when sent with a public API key", async () => {
    for (const secret of [extendedPrivateKey(), wif()]) {
      const sentence = `paid from ${secret}`;
      const texts = [
        { name: sentence },
        { description: sentence },
        { customerName: sentence },
        { customerAddress: sentence },
        { metadata: { note: sentence } },
        { metadata: { [sentence]: "note" } },
        { redirectUrl: `https://shop.example/?key=${secret}` },
      ];
      for (const text of texts) {
        const body = { name: "Order", rawAmount: 10, ...text };
        expectRefusedUnseen(await post("/invoices", body), secret);
        expectRefusedUnseen(await patch(`/invoices/${invoiceId}`, text), secret);
        expectRefusedUnseen(await send(at("/invoices"), { method: "POST", key: shop.publicKey, body }), secret);
      }
    }
  });

  it.each([
    ["a mini key", MINI_KEY],
    ["a short mini key", SHORT_MINI_KEY],
    ["64 hexadecimal digits", randomHex(32)],
    ["twelve words", PHRASE],
  ])("that picks a payment method is refused no matter which field has the key: %s", async (_, secret) => {
    const rest = `/invoices/${invoiceId}/payment-methods`;
    expectRefusedUnseen(await post(rest, { ...BTC, network: secret }), secret);
    expectRefusedUnseen(await post(rest, { ...BTC, cryptocurrency: secret }), secret);
    expectRefusedUnseen(await post(rest, { ...BTC, [secret]: "BTC" }), secret);
  });
});

describe("free text on an invoice", () => {
  it("is refused if it contains a recovery phrase, or 64 digits described as a private key", async () => {
    for (const text of [`Order, ${PHRASE.toUpperCase()}.`, `private key: ${randomHex(32)}`]) {
      expectRefusedUnseen(await post("/invoices", { name: "Order", rawAmount: 10, description: text }), text);
      expectRefusedUnseen(await patch(`/invoices/${invoiceId}`, { metadata: { note: text } }), text);
    }
  });

  it.each([
    ["the hash of a transaction", randomHex(32)],
    ["a sentence of twelve words", PHRASE.replace("yellow", "above")],
  ])("may be %s, both in a new invoice and in a change", async (_, text) => {
    const texts = {
      name: text,
      description: text,
      customerName: text,
      customerAddress: text,
      metadata: { note: text, [text]: "1" },
    };
    const made = await post("/invoices", { ...texts, rawAmount: 10, externalId: text });
    expect([made.status, made.json?.name, made.json?.metadata], made.text).toEqual([201, text, texts.metadata]);
    const changed = await patch(`/invoices/${invoiceId}`, texts);
    expect([changed.status, changed.json?.description], changed.text).toEqual([200, text]);
  });
});
