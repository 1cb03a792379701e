// How soon an address is read may depend on the number of merchants and on the other addresses of its own merchant, but not on those of other
// merchants. The watcher is recreated before each pass.
import { describe, expect, it } from "vitest";
import { type MerchantId, makeId } from "../../../src/lib/ids.ts";
import { Dice } from "../../support/dice.ts";
import { FakeChain, FakeSource } from "../../support/fake-chain.ts";
import { watchMethod } from "../../support/watched.ts";
import { TestWatcher } from "../../support/watcher.ts";
import { CAMPAIGN_LIMIT_MS, printWithTest } from "../engine/campaign.ts";
import { HOUR, POLL_MS, quietLab, START } from "./quiet-lab.ts";
import { instantSleep } from "./reorg-shop.ts";

const ASKS_A_PASS = 80;
const PLACES = 20;
const HISTORIES = process.env.DEEP ? 1_000 : 12;

const { lab, db, inLab } = quietLab();

interface Watched {
  readonly address: string;
  readonly merchantId: MerchantId;
  /** The addresses are activated before this pass. */
  readonly fromPass: number;
}

interface Plan {
  readonly watched: readonly Watched[];
  readonly merchants: number;
  readonly passes: number;
}

function planOf(dice: Dice): Plan {
  const [shops, flood] = dice.oneOf([
    [1, 900],
    [3, 700],
    [9, 800],
    [19, 900],
    [45, 900],
  ] as const);
  const ids = Array.from({ length: shops + 1 }, () =>
    makeId("mer", Array.from({ length: 26 }, () => dice.oneOf([..."0123456789ABCDEFGHJK"])).join("")),
  );
  const [flooding, ...honest] = ids;
  if (flooding === undefined) throw new Error("nobody floods");
  const passes = 60;
  const some = (merchantId: MerchantId, name: string, count: number, fromPass: () => number) =>
    Array.from({ length: count }, (_, n) => ({ merchantId, address: `${name}.${n}`, fromPass: fromPass() }));
  const isEarly = dice.chance(0.3);
  const watched = [
    ...honest.flatMap((id, n) =>
      some(id, `S${n}`, dice.oneOf([1, 1, 2, 4]), () => (dice.chance(0.7) ? 0 : dice.between(0, 20))),
    ),
    ...some(flooding, "F", flood, () => (isEarly ? 0 : dice.between(0, 25))),
  ];
  return { watched, merchants: shops + 1, passes };
}

async function watching() {
  const chain = new FakeChain({ startMs: START - 299 * 600_000, blockMs: 600_000, blocks: 300 });
  const source = new FakeSource(chain, { kind: "esplora", costsBy: "recipients" });
  const watcher = new TestWatcher(db, "BTC", [source], START, instantSleep);
  const watch = (address: string, merchantId: MerchantId, afterMs = 0) =>
    watchMethod(db, {
      network: "BTC",
      cryptocurrency: "BTC",
      expiresAtMs: START + 100 * HOUR,
      address,
      merchantId,
      nowMs: watcher.nowMs + afterMs,
    });
  const pass = async () => {
    watcher.nowMs += POLL_MS;
    expect((await watcher.pass()).kind).toBe("read");
  };
  return { source, watch, pass };
}

/** The addresses in the order in which they were read, and how many reads there had been when each was activated. */
async function run({ watched, passes }: Plan, beforePass: () => void) {
  const { source, watch, pass } = await watching();
  const activatedAt = new Map<string, number>();
  const asks = () =>
    source.calls.filter((call) => call.startsWith("history ")).map((call) => call.slice("history ".length));
  for (let n = 0; n < passes; n++) {
    const asked = asks().length;
    const fresh = watched.filter(({ fromPass }) => fromPass === n);
    for (const [afterMs, { address, merchantId }] of fresh.entries()) {
      await watch(address, merchantId, afterMs);
      activatedAt.set(address, asked);
    }
    beforePass();
    await pass();
  }
  return { asks: asks(), activatedAt };
}

/** The most reads of other addresses between two reads of an address, from its activation to the end. */
function longestGap(asks: readonly string[], address: string, from: number): number {
  const places = asks.flatMap((each, n) => (each === address && n >= from ? [n] : []));
  const ends = [from, ...places, asks.length];
  return Math.max(...ends.slice(1).map((end, n) => end - (ends[n] ?? 0)));
}

/** The addresses that waited longer than their bound, and how many bounds were far below the length of the history. */
async function compare(beforePass: () => void, histories: number, mostProblems: number) {
  const problems: string[] = [];
  let tight = 0;
  for (let seed = 1; seed <= histories && problems.length < mostProblems; seed++) {
    const { watched, merchants, passes } = planOf(new Dice(seed));
    const { asks, activatedAt } = await inLab(() => run({ watched, merchants, passes }, beforePass), seed);
    // Half of a pass's slots are for merchants with new addresses.
    const passesATurn = Math.ceil(merchants / (PLACES / 2)) + 1;
    for (const { address, merchantId } of watched) {
      const own = watched.filter((each) => each.merchantId === merchantId).length;
      const most = (own + 1) * passesATurn * ASKS_A_PASS;
      const gap = longestGap(asks, address, activatedAt.get(address) ?? 0);
      if (most < asks.length / 3) tight++;
      if (gap > most) problems.push(`seed ${seed}: ${address}, one of ${own}, among ${merchants}: ${gap} > ${most}`);
    }
  }
  return { problems, tight };
}

describe("the number of reads of other addresses between two reads of an address", () => {
  it(
    `is bounded by the numbers of merchants and of addresses of the same merchant: ${HISTORIES} histories`,
    async () => {
      const { problems, tight } = await compare(() => {}, HISTORIES, 5);
      expect(problems).toEqual([]);
      expect(tight).toBeGreaterThan(HISTORIES);
    },
    CAMPAIGN_LIMIT_MS,
  );

  it.each([
    ["the next merchant", "update network_cursors set progress = json_remove(progress, '$.lapAfter') returning 1"],
    ["the positions of laps", "update watch_turns set before_ms = 9e15, before_position = 9e15 returning 1"],
  ])(
    "is found to be too high, within 40 histories, if a watcher keeps %s in memory",
    async (_, forgetting) => {
      const { problems } = await compare(() => void lab.rows(forgetting), 40, 1);
      printWithTest(`broken: ${forgetting.slice(7, 20)}: caught at ${problems[0]}`);
      expect(problems.length).toBeGreaterThan(0);
    },
    CAMPAIGN_LIMIT_MS,
  );
});

const merchant = (letter: string) => makeId("mer", letter.repeat(26));

describe("a merchant's new address", () => {
  it("is read at each pass, whatever another merchant activates", () =>
    inLab(async () => {
      const { source, watch, pass } = await watching();
      await watch("MINE", merchant("M"));
      for (let n = 0; n < 20; n++) {
        for (let flood = 0; flood < 70; flood++) await watch(`F${n}.${flood}`, merchant("F"), flood);
        await pass();
        expect(source.asked("history MINE")).toBe(n + 1);
      }
    }));
});

describe("the turns of a merchant", () => {
  const turns = () => lab.rows("select merchant_id from watch_turns").map(({ merchant_id }) => merchant_id);

  it("end when its last address is no longer watched, and start again when it activates an address", () =>
    inLab(async () => {
      const { source, watch, pass } = await watching();
      for (let n = 0; n < 250; n++) await watch(`OLD${n}`, merchant("M"), n);
      await watch("OTHER", merchant("A"));
      lab.rows(
        "update invoices set status = 'EXPIRED', monitor_until_ms = 1 where merchant_id = ? returning 1",
        merchant("M"),
      );
      lab.rows("update payment_methods set activated_at_ms = activated_at_ms - 7200000 returning 1");
      lab.rows("update watch_turns set activated_at_ms = activated_at_ms - 7200000 returning 1");
      for (let n = 0; n < 8; n++) await pass();
      expect(turns()).toEqual([merchant("A")]);
      expect(source.asked("history OLD")).toBe(0);
      await watch("NEW", merchant("M"));
      await pass();
      expect(turns().toSorted()).toEqual([merchant("A"), merchant("M")]);
      expect(source.asked("history NEW")).toBe(1);
    }));

  it("do not end while its addresses are read separately after a refusal", () =>
    inLab(async () => {
      const { source, watch, pass } = await watching();
      await watch("POISON", merchant("M"));
      lab.rows("update payment_methods set activated_at_ms = activated_at_ms - 7200000 returning 1");
      lab.rows("update watch_turns set activated_at_ms = activated_at_ms - 7200000 returning 1");
      source.faults.set("POISON", "BAD_STATUS");
      for (let n = 0; n < 8; n++) await pass();
      expect(turns()).toEqual([merchant("M")]);
    }));
});
