// Merchants take turns for a pass's requests, even if a source answers only a few in time: no merchant may get a second turn before every other had
// its first. A pass examines a fixed number of a merchant's activations, so an address's position determines when it is read.
import { expect, it } from "vitest";
import { asksInTurn, PLACES, placeInRing, type Queue } from "../../../src/detection/passes/turns/turn.ts";
import { type MerchantId, makeId } from "../../../src/lib/ids.ts";
import { Dice } from "../../support/dice.ts";
import { FakeChain, FakeSource } from "../../support/fake-chain.ts";
import { watchMethod } from "../../support/watched.ts";
import { TestWatcher } from "../../support/watcher.ts";
import { CAMPAIGN_LIMIT_MS, campaignSeeds, schedulesOf } from "../engine/campaign.ts";
import { BLOCK_MS, HOUR, POLL_MS, quietLab, START } from "./quiet-lab.ts";
import { instantSleep } from "./reorg-shop.ts";

const count = schedulesOf(300);
const PASSES = 60;
/** How many activations of a merchant a pass examines. */
const LOOKED_THROUGH = 100;

const { db, lab, inLab } = quietLab();

const merchantAt = (n: number): MerchantId => makeId("mer", String(n).padStart(26, "0"));

/** A problem with the turns of some merchants, each with more addresses than a pass requests; undefined if there is none. */
function unfair(seed: number): string | undefined {
  const dice = new Dice(seed);
  const merchants = Array.from({ length: dice.oneOf([1, 2, 3, 19, 20, 21, 22, 39, 40, 41, 45]) }, (_, n) =>
    merchantAt(n),
  );
  const turns = new Map(merchants.map((id) => [id, 0]));
  let after = "";
  for (let pass = 0; pass < PASSES; pass++) {
    const first = merchants.findIndex((id) => id > after);
    const ring = first < 0 ? merchants : [...merchants.slice(first), ...merchants.slice(0, first)];
    const queues = ring.slice(0, PLACES).map(
      (merchantId): Queue => ({
        merchantId,
        addresses: Array.from({ length: PLACES }, (_, n) => `${merchantId} ${n}`),
      }),
    );
    const asks = asksInTurn(queues);
    const answered = asks.slice(0, dice.oneOf([0, 0, 1, 2, 19, 20, dice.below(21)]));
    for (const { merchantId } of answered) turns.set(merchantId, (turns.get(merchantId) ?? 0) + 1);
    const settled = new Set(answered.map(({ address }) => address));
    after = placeInRing({ queues, asks, after }, (address) => settled.has(address));
    const most = Math.max(...turns.values());
    for (const [id, had] of turns)
      if (had < most - 1)
        return `at pass ${pass} ${id} had ${had} turns, and another of ${merchants.length} had ${most}`;
  }
  return undefined;
}

it(`no merchant gets a second turn before every merchant has had one: ${count} rings`, () => {
  for (const seed of campaignSeeds(count)) expect(unfair(seed), `seed ${seed}`).toBeUndefined();
});

it.each([200, 1, 99, 100, 101, 199, 201, 300])(
  "the %ith newest address is read as soon as a pass can reach it, even if all other invoices have ended",
  (place) =>
    inLab(async () => {
      const chain = new FakeChain({ startMs: START - 19 * BLOCK_MS, blockMs: BLOCK_MS, blocks: 20 });
      const source = new FakeSource(chain, { kind: "esplora", costsBy: "recipients" });
      const watcher = new TestWatcher(db, "BTC", [source], START, instantSleep);
      const of = { network: "BTC", cryptocurrency: "BTC", expiresAtMs: START + 100 * HOUR };
      // A round over all these addresses takes longer than any turn.
      for (let n = 0; n < 300; n++)
        await watchMethod(db, { ...of, address: `F${n}`, merchantId: merchantAt(1), nowMs: START - 3 * HOUR + n });
      for (let n = place - 1; n >= 0; n--)
        await watchMethod(db, { ...of, address: `A${n + 1}`, merchantId: merchantAt(2), nowMs: START - HOUR - n });
      const others = "merchant_id = ? and id not in (select invoice_id from payment_methods where address = ?)";
      lab.rows(
        `update invoices set status = 'EXPIRED', monitor_until_ms = 1 where ${others} returning 1`,
        merchantAt(2),
        `A${place}`,
      );
      let passes = 0;
      for (; passes < 9 && source.asked("history A") === 0; passes++) {
        watcher.nowMs += POLL_MS;
        await watcher.pass();
      }
      expect([passes, source.asked(`history A${place}`)]).toEqual([Math.ceil(place / LOOKED_THROUGH), 1]);
    }),
  CAMPAIGN_LIMIT_MS,
);
