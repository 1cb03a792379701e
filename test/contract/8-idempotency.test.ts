// Interface 8 and decisions 6: a request sent twice is performed once, and the second answer equals the first byte for byte.
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import {
  type Answer,
  type Api,
  atOnce,
  createInvoice,
  expectOk,
  expectRefusal,
  registerWallet,
  removeWallets,
  shop,
  stranger,
  unique,
} from "./client.ts";
import { extendedKey, freshDirectWallet, xpubWallet } from "./key-material.ts";
import type { Invoice, Page, Wallet } from "./shapes.ts";

beforeAll(() => removeWallets(shop));
afterAll(() => removeWallets(shop));

const ORDER = { name: "Order", rawAmount: 10 };
const create = (key: string, body: unknown = ORDER, api: Api = shop) =>
  api.post<Invoice>("/invoices", body, { "idempotency-key": key });
const createRaw = (key: string, raw: string) => shop.postRaw<Invoice>("/invoices", raw, { "idempotency-key": key });

function expectReplay(again: Answer<unknown>, first: Answer<unknown>): void {
  expect(again.status).toBe(first.status);
  expect(again.text).toBe(first.text);
  expect(again.headers.get("content-type")).toBe(first.headers.get("content-type"));
  expect(again.headers.get("idempotent-replayed")).toBe("true");
}

function expectConflict(answer: Answer<unknown>): void {
  const refusal = expectRefusal(answer, 409);
  expect(refusal.message).toBe("Idempotency-Key was previously used with a different request body");
  expect(refusal.error).toBe("Conflict");
}

describe("the same key and body", () => {
  test("return the first status and bytes again, marked as a replay, and create no second invoice", async () => {
    const [key, name] = [unique(), unique("name")];
    const first = await create(key, { ...ORDER, name });
    expectOk(first, 201);
    expect(first.headers.has("idempotent-replayed")).toBe(false);
    for (let count = 0; count < 3; count += 1) expectReplay(await create(key, { ...ORDER, name }), first);
    expect(expectOk(await shop.get<Page<Invoice>>(`/invoices?search=${name}`), 200).data).toHaveLength(1);
  });

  test("return the first bytes even after the invoice has changed", async () => {
    const key = unique();
    const first = await create(key);
    expectOk(await shop.post(`/invoices/${first.body.id}/cancel`), 200);
    expectReplay(await create(key), first);
  });

  test.each([
    ["the order of fields", '{"name":"Order","rawAmount":10}', '{"rawAmount":10,"name":"Order"}'],
    ["white space", '{"name":"Order","rawAmount":10}', '{ "name" : "Order",\n\t"rawAmount" : 10 }\r\n'],
    ["a number's fraction", '{"name":"Order","rawAmount":10}', '{"name":"Order","rawAmount":10.0}'],
    ["a number's exponent", '{"name":"Order","rawAmount":10}', '{"name":"Order","rawAmount":1e1}'],
    ["the sign of a zero", '{"name":"Order","rawAmount":0}', '{"name":"Order","rawAmount":-0}'],
    ["escapes", '{"name":"Order","rawAmount":10}', '{"n\\u0061me":"\\u004frder","rawAmount":10}'],
    [
      "the order of fields in a nested object",
      '{"name":"O","rawAmount":1,"metadata":{"a":"1","b":"2"}}',
      '{"name":"O","rawAmount":1,"metadata":{"b":"2","a":"1"}}',
    ],
  ])("match even if the JSON is written differently: %s", async (_, one, other) => {
    const key = unique();
    const first = await createRaw(key, one);
    expectOk(first, 201);
    expectReplay(await createRaw(key, other), first);
  });

  test("sent 200 times at once create one invoice with one address and return 200 identical answers", async () => {
    const account = extendedKey();
    const wallet = await registerWallet(shop, xpubWallet(account));
    const [key, name] = [unique(), unique("name")];
    const answers = await atOnce(200, () => create(key, { ...ORDER, name }));
    expect(new Set(answers.map((answer) => answer.status))).toEqual(new Set([201]));
    expect(new Set(answers.map((answer) => answer.text)).size).toBe(1);
    const firsts = answers.filter((answer) => answer.headers.get("idempotent-replayed") !== "true");
    expect(firsts).toHaveLength(1);
    expect(answers[0]?.body.paymentMethods[0]?.address).toBe(account.address(0));
    expect(expectOk(await shop.get<Page<Invoice>>(`/invoices?search=${name}`), 200).data).toHaveLength(1);
    expect(expectOk(await shop.get<Wallet>(`/wallets/${wallet.id}`), 200).nextIndex).toBe(1);
    await removeWallets(shop);
  });

  test("sent while the first request is running wait for its answer", async () => {
    await registerWallet(shop, xpubWallet(extendedKey()));
    for (let round = 0; round < 10; round += 1) {
      const key = unique();
      const [first, second] = await Promise.all([create(key), create(key)]);
      expect([first.status, second.status]).toEqual([201, 201]);
      expect(second.text).toBe(first.text);
    }
    await removeWallets(shop);
  });
});

describe("the same key with a different request", () => {
  test.each([
    { name: "Other", rawAmount: 10 },
    { name: "Order", rawAmount: 10.000001 },
    { name: "Order", rawAmount: 10, currency: "USD" },
    { name: "Order", rawAmount: 10, description: "x" },
  ])("is a conflict: %j", async (body) => {
    const key = unique();
    const first = await create(key);
    expectConflict(await create(key, body));
    expectReplay(await create(key), first);
  });

  test("is a conflict whatever happened to the first invoice", async () => {
    const key = unique();
    const first = await create(key);
    expectOk(await shop.post(`/invoices/${first.body.id}/cancel`), 200);
    expectConflict(await create(key, { ...ORDER, name: "Other" }));
  });

  test("is a conflict if sent to a different path", async () => {
    const headers = { "idempotency-key": unique() };
    const wallet = freshDirectWallet("ETH", "ETH");
    const first = await shop.post("/wallets", wallet, headers);
    expectOk(first, 201);
    expectConflict(await shop.post("/invoices", ORDER, headers));
    expectReplay(await shop.post("/wallets", wallet, headers), first);
    await removeWallets(shop);
  });

  test("sent at the same time creates one invoice and causes one conflict", async () => {
    const key = unique();
    const answers = await Promise.all([create(key), create(key, { ...ORDER, name: "Other" })]);
    expect(answers.map((answer) => answer.status).sort()).toEqual([201, 409]);
  });
});

describe("an idempotency key", () => {
  test("of one merchant does not affect another", async () => {
    const key = unique();
    const mine = expectOk(await create(key), 201);
    const theirs = await create(key, { ...ORDER, name: "Other" }, stranger);
    expect(expectOk(theirs, 201).id).not.toBe(mine.id);
    expect(theirs.headers.has("idempotent-replayed")).toBe(false);
  });

  test("is opaque: a difference in case, inner space or last character makes a different key", async () => {
    const key = `${unique("K")}a b`;
    const spellings = [key, key.toLowerCase(), key.replace(" ", "  "), key.replace(/b$/, "c")];
    const answers: Answer<Invoice>[] = [];
    for (const spelling of spellings) answers.push(await create(spelling));
    expect(new Set(answers.map((answer) => expectOk(answer, 201).id)).size).toBe(spellings.length);
  });

  test("that is empty is ignored: two requests create two invoices", async () => {
    const [first, second] = [await create(""), await create("")];
    expect(expectOk(first, 201).id).not.toBe(expectOk(second, 201).id);
    const [third, fourth] = [await createInvoice(shop), await createInvoice(shop)];
    expect(third.id).not.toBe(fourth.id);
  });

  test("replays the first response to a cancellation, and is a conflict if used to cancel another invoice", async () => {
    const [one, other] = [await createInvoice(shop), await createInvoice(shop)];
    const headers = { "idempotency-key": unique() };
    const first = await shop.post(`/invoices/${one.id}/cancel`, undefined, headers);
    expectOk(first, 200);
    expectReplay(await shop.post(`/invoices/${one.id}/cancel`, undefined, headers), first);
    expectConflict(await shop.post(`/invoices/${other.id}/cancel`, undefined, headers));
    expectRefusal(await shop.post(`/invoices/${one.id}/cancel`), 422, "INVOICE_NOT_CANCELLABLE");
  });

  test("of one merchant does not give another merchant the stored response", async () => {
    const key = unique();
    const first = await create(key);
    expectOk(first, 201);
    const path = `/invoices`;
    const foreign = { ...stranger, merchantId: shop.merchantId };
    expect(foreign.key).not.toBe(shop.key);
    expect((await stranger.post(path, ORDER, { "idempotency-key": key })).text).not.toBe(first.text);
  });
});

describe("a refusal is not stored", () => {
  test("a request that failed validation does not reserve its key", async () => {
    const key = unique();
    expectRefusal(await create(key, { name: "Order", rawAmount: -1 }), 400);
    expectRefusal(await createRaw(key, "{"), 400);
    expectOk(await create(key), 201);
  });

  test("an invalid body under a used key gets a 400, and the stored response is kept", async () => {
    const key = unique();
    const first = await create(key);
    expectRefusal(await create(key, { name: "Order" }), 400);
    expectReplay(await create(key), first);
  });

  test("a request refused because there was no wallet succeeds under its key once there is one", async () => {
    const key = unique();
    const body = { ...ORDER, paymentMethods: [{ cryptocurrency: "TRX", network: "TRX" }] };
    expectRefusal(await create(key, body), 422, "NO_ENABLED_WALLET");
    expectConflict(await create(key, ORDER));
    await registerWallet(shop, freshDirectWallet("TRX", "TRX"));
    const made = await create(key, body);
    expect(expectOk(made, 201).paymentMethods[0]).toMatchObject({ status: "ACTIVE" });
    expect(made.headers.has("idempotent-replayed")).toBe(false);
    expectReplay(await create(key, body), made);
    await removeWallets(shop);
  });

  test("a wallet refused because its pair was taken can be registered under the same key once the pair is free", async () => {
    const taken = await registerWallet(shop, freshDirectWallet("TRX", "TRX"));
    const headers = { "idempotency-key": unique() };
    const body = freshDirectWallet("TRX", "TRX");
    expectRefusal(await shop.post("/wallets", body, headers), 409, "WALLET_EXISTS");
    expectOk(await shop.delete(`/wallets/${taken.id}`), 200);
    const made = await shop.post("/wallets", body, headers);
    expectOk(made, 201);
    expectReplay(await shop.post("/wallets", body, headers), made);
    await removeWallets(shop);
  });
});
