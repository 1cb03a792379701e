// Rotates the master key while the deployment serves requests. Nothing may be lost, and an old key can be removed once nothing uses it
// (docs/design/security.md, Rotation).
import { base64urlnopad } from "@scure/base";
import { sql } from "drizzle-orm";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { returnDependencies } from "../../../src/checkout/signed-redirect/dependencies.ts";
import { returnText } from "../../../src/checkout/signed-redirect/return-url.ts";
import { returnUrlFor } from "../../../src/checkout/signed-redirect/sign-return.ts";
import { DAY_MS } from "../../../src/lib/time.ts";
import { deliverDependencies } from "../../../src/notifications/deliveries/dependencies.ts";
import { backupCodes } from "../../../src/platform/db/schema/users.ts";
import { wallets } from "../../../src/platform/db/schema/wallets.ts";
import { webhookSecrets } from "../../../src/platform/db/schema/webhooks.ts";
import { type Browser, freshEmail, newBrowser, signIn } from "../../support/browser.ts";
import { appCode, begin, codesIn, passTime, SECOND_FACTOR, STEP_MS, stopClock, TOTP } from "../../support/factors.ts";
import {
  type Deployment,
  deploymentOf,
  newMasterKey,
  type RotatedShop,
  shopOf,
  verdictsOn,
} from "../../support/rotations.ts";
import { BTC, directWallet, USDT, xpubWallet } from "../../support/wallet-bodies.ts";
import { testDb } from "../../support/worker-merchant.ts";

const INVOICE = { name: "Order", rawAmount: 10, paymentMethods: [BTC, USDT] };

beforeEach(stopClock);
afterEach(() => {
  vi.useRealTimers();
  vi.restoreAllMocks();
});

interface Order {
  readonly id: string;
  readonly idempotencyKey: string;
  readonly text: string;
  readonly addresses: readonly unknown[];
}

interface Method {
  readonly status: string;
  readonly address: string | null;
}

const addressesIn = (json: Readonly<Record<string, unknown>> = {}) =>
  (json.paymentMethods as readonly Method[]).map(({ status, address }) => (status === "ACTIVE" ? address : status));

async function order(at: Deployment, shop: RotatedShop): Promise<Order> {
  const idempotencyKey = crypto.randomUUID();
  const made = await shop.post(at, "/invoices", INVOICE, { "idempotency-key": idempotencyKey });
  expect(made.status, made.text).toBe(201);
  const addresses = addressesIn(made.json);
  expect(addresses).toEqual([expect.stringMatching(/^bc1q/), expect.stringMatching(/^0x/)]);
  return { id: String(made.json?.id), idempotencyKey, text: made.text, addresses };
}

/** Checks that a repeated request still gets the same answer, and that the addresses are the same. */
async function expectKept(at: Deployment, shop: RotatedShop, { id, idempotencyKey, text, addresses }: Order) {
  const again = await shop.post(at, "/invoices", INVOICE, { "idempotency-key": idempotencyKey });
  expect([again.status, again.text]).toEqual([201, text]);
  expect(addressesIn((await shop.get(at, `/invoices/${id}`)).json)).toEqual(addresses);
}

async function expectSigned(at: Deployment, by: Deployment) {
  const of = { invoiceId: "inv_01M7ZZZZZZZZZZZZZZZZZZZZZZ", status: "PAID", nowMs: Date.now() } as const;
  const url = await returnUrlFor(returnDependencies(by.world), { ...of, redirectUrl: "https://shop.example/" });
  const { keyId = "", signature = "" } = Object.fromEntries(new URL(url).searchParams);
  expect(await isVerified(at, { keyId, signature, text: returnText(of) })).toBe(true);
  return { keyId, signature, text: returnText(of) };
}

async function isVerified(at: Deployment, of: { keyId: string; signature: string; text: string }): Promise<boolean> {
  const answer = await at.send("/.well-known/edgetill-keys.json");
  const keys = answer.json?.keys as readonly { readonly kid: string; readonly x: string }[];
  const x = keys.find(({ kid }) => kid === of.keyId)?.x;
  if (x === undefined) return false;
  const key = await crypto.subtle.importKey("raw", base64urlnopad.decode(x), "Ed25519", false, ["verify"]);
  return crypto.subtle.verify("Ed25519", key, base64urlnopad.decode(of.signature), new TextEncoder().encode(of.text));
}

interface Holder {
  readonly email: string;
  readonly secret: string;
  readonly codes: string[];
}

async function holderOf(at: Deployment): Promise<Holder> {
  const [email, browser] = [freshEmail(), newBrowser({}, at.send)];
  expect((await signIn(browser, email)).json).toMatchObject({ state: "active" });
  const secret = await begin(browser);
  const confirmed = await browser.post(`${TOTP}/confirm`, { code: appCode(secret, -1) });
  return { email, secret, codes: [...codesIn(confirmed)] };
}

async function signInWith(at: Deployment, email: string, factor: object): Promise<Browser> {
  const browser = newBrowser({}, at.send);
  expect((await signIn(browser, email)).json).toMatchObject({ state: "pending_2fa" });
  const verified = await browser.post(`${SECOND_FACTOR}/verify`, factor);
  expect(verified.status, verified.text).toBe(200);
  return browser;
}

async function endpointOf(at: Deployment, shop: RotatedShop) {
  const made = await shop.post(at, "/webhooks", { url: "http://127.0.0.1:9/hook", events: ["invoice.paid"] });
  expect(made.status, made.text).toBe(201);
  return { id: String(made.json?.id), secret: String(made.json?.secret) };
}

/** The secrets that a delivery would be signed with. */
async function signingSecrets(at: Deployment, webhookId: string) {
  const rows = await testDb.select().from(webhookSecrets).where(sql`webhook_id = ${webhookId}`);
  return deliverDependencies(at.world, () => {}).open(rows);
}

describe("two rotations while the deployment serves requests", () => {
  it("lose no response and freeze no wallet, and the older keys can be removed", async () => {
    const [k1, k2, k3] = [newMasterKey(), newMasterKey(), newMasterKey()];
    const only = deploymentOf([k1]);
    const shop = await shopOf(only);
    for (const body of [xpubWallet(), directWallet()]) {
      const made = await shop.post(only, "/wallets", body);
      expect(made.status, made.text).toBe(201);
    }
    const endpoint = await endpointOf(only, shop);
    const holder = await holderOf(only);
    const orders = [await order(only, shop)];
    const signed = await expectSigned(only, only);

    /** Activity during the job, in isolates with the old keys and with the new ones. */
    const serveAt = async (before: Deployment, now: Deployment) => {
      passTime(STEP_MS);
      const code = { code: appCode(holder.secret) };
      const backup = { code: holder.codes.pop() };
      const kept = [...orders];
      const made = await Promise.all([
        ...[before, now, before, now].map((at) => order(at, shop)),
        ...[before, now].flatMap((at) => kept.map((each) => expectKept(at, shop, each))),
        signInWith(now, holder.email, code).then(() => signInWith(before, holder.email, backup)),
        expectSigned(now, before).then(() => expectSigned(before, now)),
        signingSecrets(before, endpoint.id).then((open) => expect(open).toEqual([endpoint.secret])),
        now.rotate().then((reports) => expect(reports).toEqual([])),
      ]);
      orders.push(...made.slice(0, 4).filter((each): each is Order => each !== undefined && "addresses" in each));
      expect(await signingSecrets(now, endpoint.id)).toEqual([endpoint.secret]);
      for (const each of orders) await expectKept(now, shop, each);
    };

    // A new key is appended first, so that every isolate can verify with it before any isolate signs with it.
    const stages = [[k1], [k1, k2], [k2, k1], [k2, k1, k3], [k3, k2, k1]].map((keys) => deploymentOf(keys));
    for (const [at, now] of stages.slice(1).entries()) await serveAt(stages[at] ?? now, now);
    const last = stages.at(-1) ?? only;
    await last.rotate();
    const uses = await last.keyUses();
    expect(uses.map(({ setting, keyId, isNewest }) => [setting, keyId, isNewest])).toEqual([
      ["MASTER_KEY", k3.id, true],
      ["MASTER_KEY", k2.id, false],
      ["MASTER_KEY", k1.id, false],
    ]);
    expect(uses[2]?.left).toEqual({
      wallets: 0,
      methods: 0,
      signingKeys: 0,
      webhookSecrets: 0,
      totpSecrets: 0,
      peppers: 0,
    });
    expect(uses[0]?.left).toMatchObject({ wallets: 2, methods: 2 * orders.length, webhookSecrets: 1, totpSecrets: 1 });
    expect(Date.parse(uses[2]?.retirableAt ?? "never") - Date.now()).toBeLessThanOrEqual(DAY_MS);

    // Both older keys are removed, and every old row still verifies. Stored answers are kept for a day, so the following orders are new.
    passTime(DAY_MS);
    const without = deploymentOf([k3]);
    const verdicts = await verdictsOn(without, shop, endpoint.id);
    expect(new Set(verdicts)).toEqual(
      new Set(["wallet", "method", "secret"].map((kind) => `${kind} verifies under ${k3.id}`)),
    );
    expect([orders.length, verdicts.length]).toEqual([17, 2 + 2 * 17 + 1]);
    orders.length = 0;
    await serveAt(deploymentOf([k3, k2]), without);
    expect(orders.length).toBe(4);
    // Shops can still verify what was signed under k1.
    expect(await isVerified(without, signed)).toBe(true);
    const frozen = await testDb
      .select({ id: wallets.id })
      .from(wallets)
      .where(sql`merchant_id = ${shop.merchantId} and frozen_at_ms is not null`);
    expect(frozen).toEqual([]);
    // No user has created new backup codes, so the codes are still those under k1.
    const codes = await testDb.select().from(backupCodes).where(sql`mac_key_id = ${k1.id}`);
    expect(codes.length).toBe(10);
  });
});
