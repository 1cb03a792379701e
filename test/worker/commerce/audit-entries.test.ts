// Audit entries about changes to wallets and invoices: one in the batch of each change, none after a refusal, and no personal or secret data in them
// (decisions 10, security.md 4).
import { env } from "cloudflare:workers";
import { eq } from "drizzle-orm";
import { describe, expect, it } from "vitest";
import { sha256Hex } from "../../../src/lib/bytes.ts";
import type { InvoiceId, WalletId } from "../../../src/lib/ids.ts";
import { apiKeys } from "../../../src/platform/db/schema/api-keys.ts";
import { invoices, paymentMethods } from "../../../src/platform/db/schema/invoices.ts";
import { wallets } from "../../../src/platform/db/schema/wallets.ts";
import { runJobs } from "../../support/run-jobs.ts";
import { expectStatus } from "../../support/shared-place.ts";
import { callerWith, freshTeam } from "../../support/teams.ts";
import { BTC, directWallet, randomHex, USDT, xpubWallet } from "../../support/wallet-bodies.ts";
import { type Answer, freshMerchant, type TestMerchant, testDb } from "../../support/worker-merchant.ts";
import { added, created, entriesOf, wallet } from "./audit-harness.ts";

const IP = "203.0.113.9";

const CUSTOMER = {
  customerEmail: "Ada.Canary@example.com",
  customerName: "Ada Canary-Name",
  customerAddress: "1 Canary Street",
  customerPhoneNumber: "+1 555 CANARY",
};

const ULID = /^[0-9A-HJKMNP-TV-Z]{26}$/;

async function keyIdOf({ merchantId }: TestMerchant) {
  const [key] = await testDb.select({ id: apiKeys.id }).from(apiKeys).where(eq(apiKeys.merchantId, merchantId));
  return key?.id;
}

const fingerprint = (text: string) => sha256Hex(text).slice(0, 16);
const age = (id: InvoiceId) =>
  testDb
    .update(invoices)
    .set({ expiresAtMs: Date.now() - 1_000 })
    .where(eq(invoices.id, id));

interface Step {
  readonly name: string;
  /** Creates the object that the step changes; returns its id, and a function that runs the step. */
  readonly arrange: (shop: TestMerchant) => Promise<{ readonly target?: string; act(): Promise<Answer> }>;
  readonly status: number;
  readonly action: string;
  readonly before: object | null;
  readonly after: object | null;
}

const ADDRESS = `0x${randomHex(20)}`;
const direct = () => ({ ...directWallet(), address: ADDRESS });

const PAIR = { network: "ETH", cryptocurrency: "USDT", walletType: "DIRECT_WALLET" };
const STEPS: readonly Step[] = [
  {
    name: "registering a wallet",
    arrange: async (shop) => ({ act: () => shop.post("/wallets", { ...direct(), requiredConfirmations: 12 }) }),
    status: 201,
    action: "wallet.created",
    before: null,
    after: { ...PAIR, isEnabled: true, requiredConfirmations: 12, previousFingerprint: null },
  },
  {
    name: "changing a wallet",
    arrange: async (shop) => {
      const { id } = await wallet(shop, direct());
      return { target: id, act: () => shop.patch(`/wallets/${id}`, { isEnabled: false, requiredConfirmations: 3 }) };
    },
    status: 200,
    action: "wallet.updated",
    before: { ...PAIR, isEnabled: true, requiredConfirmations: 1 },
    after: { ...PAIR, isEnabled: false, requiredConfirmations: 3 },
  },
  {
    name: "deleting a wallet",
    arrange: async (shop) => {
      const { id } = await wallet(shop, direct());
      return { target: id, act: () => shop.delete(`/wallets/${id}`) };
    },
    status: 200,
    action: "wallet.deleted",
    before: { ...PAIR, isEnabled: true, requiredConfirmations: 1 },
    after: null,
  },
  {
    name: "creating an invoice",
    arrange: async (shop) => {
      await wallet(shop);
      return { act: () => shop.post("/invoices", { name: "Order", rawAmount: 10, paymentMethods: [USDT] }) };
    },
    status: 201,
    action: "invoice.created",
    before: null,
    after: {
      status: "AWAITING_PAYMENT",
      rawAmount: "10.000000",
      currency: "USD",
      origin: "API",
      productId: null,
      paymentMethods: ["USDT_ETH"],
      "USDT_ETH.amount": "10",
      "USDT_ETH.rate": "1",
    },
  },
  {
    name: "picking a payment method",
    arrange: async (shop) => {
      await wallet(shop);
      const { id } = await created(shop);
      return { target: id, act: () => shop.post(`/invoices/${id}/payment-methods`, USDT) };
    },
    status: 201,
    action: "invoice.payment_method_activated",
    before: null,
    after: { ...USDT, walletId: expect.stringMatching(/^wal_/), amount: "10", rate: "1" },
  },
  {
    name: "changing the fields of an invoice",
    arrange: async (shop) => {
      const { id } = await created(shop);
      const update = { name: "Canary-Name", description: null, metadata: { note: "Canary-Name" } };
      return { target: id, act: () => shop.patch(`/invoices/${id}`, update) };
    },
    status: 200,
    action: "invoice.updated",
    before: null,
    after: { fields: ["name", "metadata"] },
  },
  {
    name: "cancelling an invoice",
    arrange: async (shop) => {
      const { id } = await created(shop);
      return { target: id, act: () => shop.post(`/invoices/${id}/cancel`) };
    },
    status: 200,
    action: "invoice.cancelled",
    before: { status: "AWAITING_PAYMENT" },
    after: { status: "CANCELLED" },
  },
];

describe.each(STEPS)("$name", ({ arrange, status, action, before, after }) => {
  it("writes one entry with the key as actor and the id of the request", async () => {
    const shop = await freshMerchant();
    const { target, act } = await arrange(shop);
    const { result, entries } = await added(shop, act);
    const answer = result as Answer;
    expect([answer.status, entries.length], answer.text).toEqual([status, 1]);
    const [{ createdAtMs, id, ...entry } = expect.fail()] = entries;
    expect(id.slice(4)).toMatch(ULID);
    const wantedFingerprint = action.startsWith("wallet.") ? { fingerprint: fingerprint(addressIn(answer.body)) } : {};
    expect(entry).toEqual({
      merchantId: shop.merchantId,
      actorKind: "API_KEY",
      actorId: await keyIdOf(shop),
      action,
      target: target ?? answer.body.id,
      before: before === null ? null : { ...before, ...wantedFingerprint },
      after: after === null ? null : { ...after, ...wantedFingerprint },
      ip: null,
      requestId: answer.headers.get("x-request-id"),
    });
    expect(createdAtMs).toBeLessThanOrEqual(Date.now());
  });
});

/** EVM addresses are stored with their checksum. */
const addressIn = (body: { readonly address: string }) => body.address;

describe("a change by a member", () => {
  it("names the user and the IP address in each entry", async () => {
    const { team, owner } = await freshTeam();
    const as = callerWith({ ...owner.headers, "cf-connecting-ip": IP });
    const { id } = await expectStatus(as.post(`${team.merchant}/wallets`, directWallet()), 201);
    await expectStatus(as.patch(`${team.merchant}/wallets/${id}`, { requiredConfirmations: 9 }), 200);
    const order = { name: "Order", rawAmount: 10, paymentMethods: [] };
    const invoice = await expectStatus(as.post(`${team.merchant}/invoices`, order), 201);
    await expectStatus(as.post(`${team.merchant}/invoices/${invoice.id}/payment-methods`, USDT), 201);
    await expectStatus(as.patch(`${team.merchant}/invoices/${invoice.id}`, { name: "Another" }), 200);
    await expectStatus(as.post(`${team.merchant}/invoices/${invoice.id}/cancel`), 200);
    await expectStatus(as.delete(`${team.merchant}/wallets/${id}`), 200);
    const entries = await entriesOf(team);
    expect(entries.map(({ action }) => action)).toEqual([
      "wallet.created",
      "wallet.updated",
      "invoice.created",
      "invoice.payment_method_activated",
      "invoice.updated",
      "invoice.cancelled",
      "wallet.deleted",
    ]);
    for (const { actorKind, actorId, ip, requestId } of entries) {
      expect([actorKind, actorId, ip, requestId?.slice(4)]).toEqual([
        "USER",
        owner.userId,
        IP,
        expect.stringMatching(ULID),
      ]);
    }
  });
});

describe("a change caused by time passing", () => {
  const NO_ACTOR = { actorKind: "SYSTEM", actorId: null, ip: null, requestId: null };
  const EXPIRED = {
    ...NO_ACTOR,
    action: "invoice.status_changed",
    before: { status: "AWAITING_PAYMENT" },
    after: { status: "EXPIRED" },
  };

  it("has no actor when the sweep makes it", async () => {
    const shop = await freshMerchant();
    const { id } = await created(shop);
    const { entries } = await added(shop, async () => {
      await age(id);
      await runJobs();
      await runJobs();
    });
    expect(entries).toMatchObject([{ ...EXPIRED, target: id }]);
  });

  it("has no actor when any caller's read makes it, or when it causes another request to fail", async () => {
    const shop = await freshMerchant();
    await wallet(shop);
    const [read, cancelled, picked] = [await created(shop), await created(shop), await created(shop)];
    const { entries } = await added(shop, async () => {
      for (const { id } of [read, cancelled, picked]) await age(id);
      await expectStatus(shop.get(`/invoices/${read.id}`), 200);
      await expectStatus(shop.post(`/invoices/${cancelled.id}/cancel`), 422);
      await expectStatus(shop.post(`/invoices/${picked.id}/payment-methods`, USDT), 422);
    });
    expect(entries).toMatchObject([
      { ...EXPIRED, target: read.id },
      { ...EXPIRED, target: cancelled.id },
      { ...EXPIRED, target: picked.id },
    ]);
  });

  it("has no actor when a quote is renewed, and records the amount and rate before and after", async () => {
    const shop = await freshMerchant();
    await wallet(shop);
    const { id } = await created(shop, { paymentMethods: [USDT] });
    // The rate has changed since it was locked.
    const old = { rate: "2", amountUnits: 5_000_000n, quotedAtMs: 0, lockedUntilMs: 0 };
    await testDb.update(paymentMethods).set(old).where(eq(paymentMethods.invoiceId, id));
    const { entries } = await added(shop, () => expectStatus(shop.get(`/invoices/${id}`), 200));
    expect(entries).toMatchObject([
      {
        ...NO_ACTOR,
        action: "invoice.requoted",
        target: id,
        before: { "USDT_ETH.amount": "5", "USDT_ETH.rate": "2" },
        after: { "USDT_ETH.amount": "10", "USDT_ETH.rate": "1" },
      },
    ]);
  });
});

describe("a wallet that was altered in the database", () => {
  const FROZEN = { action: "wallet.frozen", actorKind: "SYSTEM", actorId: null, before: null };
  const alter = (id: WalletId, address: string) => testDb.update(wallets).set({ address }).where(eq(wallets.id, id));

  it.each<[string, (shop: TestMerchant, id: string, invoiceId: string) => Promise<Answer>, number]>([
    [
      "an invoice create",
      (shop) => shop.post("/invoices", { name: "Order", rawAmount: 1, paymentMethods: [USDT] }),
      201,
    ],
    ["a payment method pick", (shop, _, invoiceId) => shop.post(`/invoices/${invoiceId}/payment-methods`, USDT), 409],
    ["a wallet read", (shop, id) => shop.get(`/wallets/${id}`), 200],
  ])(
    "is recorded as frozen once, by %s that detects it, with the fingerprint of the altered address",
    async (_, find, status) => {
      const shop = await freshMerchant();
      const { id } = await wallet(shop);
      const invoice = await created(shop);
      const found = `0x${randomHex(20)}`;
      await alter(id, found);
      const { entries } = await added(shop, async () => {
        await Promise.all(Array.from({ length: 6 }, () => expectStatus(find(shop, id, invoice.id), status)));
        await expectStatus(find(shop, id, invoice.id), status);
        await expect
          .poll(async () => (await entriesOf(shop)).some(({ action }) => action === "wallet.frozen"))
          .toBe(true);
      });
      expect(entries.filter(({ action }) => action === "wallet.frozen")).toMatchObject([
        { ...FROZEN, target: id, after: { fingerprint: fingerprint(found), isFrozen: true } },
      ]);
    },
  );
});

describe("customer data on an invoice", () => {
  it("is in no audit entry; a separate entry names the customer's changed fields", async () => {
    const shop = await freshMerchant();
    const order = { name: "Canary-Name", description: "Canary-Name", metadata: { canary: "Canary-Name" } };
    const { entries: made } = await added(shop, () => created(shop, { ...order, ...CUSTOMER }));
    expect(made).toMatchObject([
      { action: "customer.created", after: { fields: ["email", "name", "address", "phoneNumber"] } },
      { action: "invoice.created" },
    ]);
    const known = { customerEmail: CUSTOMER.customerEmail, customerName: "Canary-Name the second" };
    const { entries: changed } = await added(shop, () => created(shop, known));
    expect(changed).toMatchObject([
      { action: "customer.updated", after: { fields: ["name"] } },
      { action: "invoice.created" },
    ]);
    const { result, entries: same } = await added(shop, () => created(shop, known));
    expect(same).toMatchObject([{ action: "invoice.created" }]);
    const { entries: patched } = await added(shop, async () =>
      expectStatus(shop.patch(`/invoices/${(result as Answer["body"]).id}`, { customerAddress: "Canary" }), 200),
    );
    expect(patched.map(({ action }) => action).sort()).toEqual(["customer.updated", "invoice.updated"]);
    // Another customer of the merchant, who does not change.
    const other = await created(shop, { customerEmail: "other.canary@example.com" });
    const { entries: linked } = await added(shop, async () =>
      expectStatus(shop.patch(`/invoices/${other.id}`, { customerEmail: CUSTOMER.customerEmail }), 200),
    );
    expect(linked).toMatchObject([{ action: "invoice.updated", after: { fields: ["customerId"] } }]);
    expect(JSON.stringify(await entriesOf(shop))).not.toMatch(/canary/i);
  });
});

describe("an extended key", () => {
  it("is in no audit entry; only its fingerprint is", async () => {
    const shop = await freshMerchant();
    const body = xpubWallet();
    const { id } = await wallet(shop, body);
    await created(shop, { paymentMethods: [BTC] });
    await expectStatus(shop.patch(`/wallets/${id}`, { isEnabled: false }), 200);
    const text = JSON.stringify(await entriesOf(shop));
    expect(text).toContain(fingerprint(body.xpub));
    expect(text).not.toContain(body.xpub.slice(4, 40));
  });
});

describe("a wallet that replaces another", () => {
  it("has the previous wallet's fingerprint in its entry and in its event", async () => {
    const shop = await freshMerchant();
    const first = await wallet(shop);
    await expectStatus(shop.delete(`/wallets/${first.id}`), 200);
    const { result, entries } = await added(shop, () => wallet(shop));
    const second = result as Answer["body"];
    const [old, next] = [first, second].map(({ address }) => fingerprint(address));
    expect(entries).toMatchObject([{ after: { fingerprint: next, previousFingerprint: old } }]);
    const { results } = await env.DB.prepare(
      "select type, json_extract(data, '$.fingerprint') as now, json_extract(data, '$.previousFingerprint') as before from events where merchant_id = ? order by created_at_ms, rowid",
    )
      .bind(shop.merchantId)
      .all();
    expect(results).toEqual([
      { type: "wallet.created", now: old, before: null },
      { type: "wallet.deleted", now: null, before: old },
      { type: "wallet.created", now: next, before: old },
    ]);
  });
});
