// Random histories of creates, activations and revocations, with a restore at the end. Every address and amount that payers were shown must exist
// again, each of them once, and nothing that was revoked may work.
import { env } from "cloudflare:workers";
import { and, eq, isNotNull } from "drizzle-orm";
import { expect, it } from "vitest";
import { updateApiKey } from "../../../src/accounts/api-keys/store.ts";
import type { ApiKeyId } from "../../../src/lib/ids.ts";
import { commit } from "../../../src/platform/db/batch.ts";
import { openWakingDb } from "../../../src/platform/db/client.ts";
import { apiKeys } from "../../../src/platform/db/schema/api-keys.ts";
import { copyDatabase } from "../../support/copy-database.ts";
import { Dice } from "../../support/dice.ts";
import { importLost, restoredEnv } from "../../support/restores.ts";
import { expectStatus } from "../../support/shared-place.ts";
import { BTC, directWallet, USDT, xpubWallet } from "../../support/wallet-bodies.ts";
import { freshId, freshMerchant, type TestMerchant, testDb } from "../../support/worker-merchant.ts";

const OFFERS = [[], [USDT], [BTC], [USDT, BTC]];
const STEPS = 14;

interface History {
  readonly shop: TestMerchant;
  /** The addresses and amounts that payers were last shown, by invoice. */
  readonly shown: Map<string, readonly string[]>;
  /** Ids of keys that existed before the history. */
  readonly live: ApiKeyId[];
  readonly revoked: string[];
}

const placesOf = (methods: readonly Record<string, string>[]) =>
  methods.map(({ network, status, address, amount }) => `${network} ${status} ${address} ${amount}`).toSorted();

async function addKey(shop: TestMerchant) {
  const id = freshId("key");
  const row = { id, merchantId: shop.merchantId, kind: "SECRET", name: "Key", hash: id, display: "sk_…" } as const;
  await testDb.insert(apiKeys).values({ ...row, permissions: "[]", createdAtMs: Date.now() });
  return id;
}

async function create({ shop, shown }: History, dice: Dice): Promise<void> {
  const body = { name: "Order", rawAmount: dice.between(1, 3), paymentMethods: dice.oneOf(OFFERS) };
  const { id, paymentMethods } = await expectStatus(shop.post("/invoices", body), 201);
  shown.set(id, placesOf(paymentMethods));
}

/** A payer picks a payment method of a random invoice. */
async function activate({ shop, shown }: History, dice: Dice): Promise<void> {
  const known = [...shown.keys()];
  if (known.length === 0) return;
  const id = dice.oneOf(known);
  await shop.post(`/invoices/${id}/payment-methods`, dice.oneOf([USDT, BTC]));
  const { paymentMethods } = await expectStatus(shop.get(`/invoices/${id}`), 200);
  shown.set(id, placesOf(paymentMethods));
}

async function revoke({ live, revoked }: History): Promise<void> {
  const id = live.pop();
  if (id === undefined) return;
  const [key] = await testDb.select().from(apiKeys).where(eq(apiKeys.id, id));
  if (key === undefined) throw new Error("no key");
  const db = openWakingDb(env.DB, env, (work) => void work.catch(() => undefined));
  await commit(db, [updateApiKey(testDb, key, { revokedAtMs: Date.now() })]);
  revoked.push(id);
}

it.each([1, 2, 3, 4, 5, 6])(
  "a restore in history %i loses no revocation and nothing that payers were shown, and no address or amount is given twice",
  async (seed) => {
    const dice = new Dice(seed);
    const shop = await freshMerchant();
    await expectStatus(shop.post("/wallets", directWallet()), 201);
    await expectStatus(shop.post("/wallets", xpubWallet()), 201);
    const live = [await addKey(shop), await addKey(shop), await addKey(shop)];
    const history: History = { shop, shown: new Map(), live, revoked: [] };
    const lostFrom = dice.below(STEPS);
    let putBack = async () => {};
    let restoredToMs = 0;
    for (let step = 0; step < STEPS; step++) {
      if (step === lostFrom) {
        putBack = await copyDatabase();
        restoredToMs = Date.now();
      }
      const roll = dice.below(10);
      if (roll < 6) await create(history, dice);
      else if (roll < 9) await activate(history, dice);
      else await revoke(history);
    }
    await putBack();
    await importLost(restoredEnv(restoredToMs));
    const places = new Map<string, string>();
    for (const [id, shown] of history.shown) {
      const answer = await shop.get(`/invoices/${id}`);
      // An invoice that showed payers nothing is not recovered.
      if (shown.length === 0 && answer.status === 404) continue;
      expect(placesOf(answer.body.paymentMethods)).toEqual(shown);
      for (const place of shown) expect(places.get(place) ?? id).toBe(id);
      for (const place of shown) places.set(place, id);
    }
    for (let n = 0; n < 5; n++) {
      const body = { name: "New", rawAmount: 2, paymentMethods: [USDT, BTC] };
      const { paymentMethods } = await expectStatus(shop.post("/invoices", body), 201);
      for (const place of placesOf(paymentMethods)) expect(places.has(place)).toBe(false);
    }
    const ended = await testDb
      .select({ id: apiKeys.id })
      .from(apiKeys)
      .where(and(eq(apiKeys.merchantId, shop.merchantId), isNotNull(apiKeys.revokedAtMs)));
    expect(new Set(ended.map(({ id }) => id))).toEqual(new Set(history.revoked));
  },
);
