// What a payer's page shows about a transaction that the payer named, compared with the invoice in the API (decisions 5, "The payer's claim"). The
// form, the rules that credit transfers, the redirect and the page are real; only the network's source is scripted.
import { eq } from "drizzle-orm";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { Transfer } from "../../../src/chains/sources/transfer.ts";
import { invoices } from "../../../src/platform/db/schema/invoices.ts";
import { payments } from "../../../src/platform/db/schema/payments.ts";
import { en } from "../../../src/platform/texts/en.ts";
import { api, leadsTo, page, sendForm } from "../../support/checkouts.ts";
import { triesOf } from "../../support/property-runs.ts";
import { randomHex } from "../../support/wallet-bodies.ts";
import { type TestMerchant, testDb } from "../../support/worker-merchant.ts";
import { blockAt, invoiceOf, look, shopAt, transferTo } from "./transfers-harness.ts";

const MINUTE_MS = 60_000;

/** A network whose source knows these transfers. */
function sourceOf(transfers: readonly Transfer[]): Partial<Env> {
  const seen = async (txHash: string) => {
    const known = transfers.filter((transfer) => transfer.txHash === txHash);
    return known.length > 0 && (await look(known)).ok ? "FOUND" : "NOT_FOUND";
  };
  const CHAIN_SOURCES = JSON.stringify({ ETH: [{ kind: "evm-rpc", url: "http://127.0.0.1:9" }] });
  return { NETWORK_WATCHER: { getByName: () => ({ look: seen }) }, CHAIN_SOURCES } as unknown as Partial<Env>;
}

/** Sends the transaction hash in the page's form; returns the query of the page that the form leads to. */
async function name(id: string, txHash: string, transfers: readonly Transfer[]): Promise<string> {
  const form = { network: "ETH", txHash };
  const to = leadsTo(await sendForm({ id }, "/claims", form, { changes: sourceOf(transfers) }));
  return to.slice(`/pay/${id}`.length);
}

/** The page's text about the claim, and its key; the whole page and the part that the script fetches must have the same text. */
async function said(id: string, query: string) {
  const [whole, part] = [await page({ id }, query), await page({ id }, `/state${query}`)];
  const [[html = "", isGood, inner = ""] = []] = [
    /<p class="note( good)?" data-part="claim">(.*?)<\/p>/.exec(whole.text) ?? [],
  ];
  expect(part.text).toContain(html);
  const text = inner.replaceAll(/<[^>]*>/g, "");
  const [sentence = "", ...asked] = text.split(` ${en.claimSentIt}`);
  const [key = "nothing"] = Object.entries(en).find(([, each]) => patternOf(each).test(sentence)) ?? [];
  expect(asked).toEqual(key === "claimDiffers" || key === "claimToDecide" ? [""] : []);
  return { key, text, html, isGood: isGood !== undefined };
}

function patternOf(text: string): RegExp {
  const parts = text.split(/\{\w+\}/).map((part) => part.replaceAll(/[.*+?^${}()|[\]\\]/g, "\\$&"));
  return new RegExp(`^${parts.join(".+")}$`);
}

interface Paid {
  readonly id: string;
  readonly txHash: string;
  readonly status: string;
  readonly isLate: boolean;
  readonly invoiceId: string | null;
  readonly toAddress: string;
}

const isSeen = ({ status }: Paid) => status === "DETECTED" || status === "CONFIRMED";

interface Shown {
  readonly status: string;
  readonly monitorUntil: string;
  readonly payments: readonly Paid[];
}

/** The transaction's payments as the payer's own API shows them. */
async function creditedTo(id: string, txHash: string): Promise<readonly Paid[]> {
  return paidBy(await shownTo(id), txHash);
}

const shownTo = async (id: string) => (await api({ id })).json as unknown as Shown;
const paidBy = ({ payments: paid }: Shown, txHash: string) => paid.filter((each) => each.txHash === txHash);

/** Whether the invoice is open, or payments to it are still watched for. */
function isWatched({ status, monitorUntil }: Shown): boolean {
  return status === "AWAITING_PAYMENT" || status === "PENDING_CONFIRMATION" || Date.parse(monitorUntil) >= Date.now();
}

describe("one transaction named on the pages of three invoices", () => {
  const prices = [80, 123.45, 16.59];
  async function threeOf() {
    const { merchant, address } = await shopAt();
    const orders = [];
    for (const price of prices) orders.push(await invoiceOf(merchant, price));
    return { merchant, address, orders };
  }

  it("is shown as paying none of them and needing the shop's decision while it is credited to none", async () => {
    const { address, orders } = await threeOf();
    const transfer = transferTo(address, 40_000_000n);
    const answers = [];
    for (const { id } of orders) {
      const { text, isGood } = await said(id, await name(id, transfer.txHash, [transfer]));
      answers.push([text, isGood, await creditedTo(id, transfer.txHash)]);
    }
    const says = (asked: string) =>
      `This transaction brought 40 USDT, and this invoice asks for ${asked} USDT. Shop has to decide about it. If you sent it, do not send again.`;
    expect(answers).toEqual([
      [says("80"), false, []],
      [says("123.45"), false, []],
      [says("16.59"), false, []],
    ]);
  });

  it("is shown as paying only the invoice to which it is credited", async () => {
    const { address, orders } = await threeOf();
    const transfer = transferTo(address, orders[1]?.units ?? 0n);
    const keys = [];
    for (const { id } of orders) keys.push((await said(id, await name(id, transfer.txHash, [transfer]))).key);
    expect(keys).toEqual(["claimOtherOrder", "claimCredited", "claimOtherOrder"]);
  });

  it("is shown as paying the invoice that the shop chooses, even on pages that are already open", async () => {
    const { merchant, address, orders } = await threeOf();
    const transfer = transferTo(address, 40_000_000n);
    const pages: [string, string][] = [];
    for (const { id } of orders) pages.push([id, await name(id, transfer.txHash, [transfer])]);
    const keys = async () => {
      const found = [];
      for (const [id, query] of pages) found.push((await said(id, query)).key);
      return found;
    };
    const [payment] = (await merchant.get(`/payments?txHash=${transfer.txHash}`)).body.data;
    const decide = async (body: object) => {
      const { status, text } = await merchant.post(`/payments/${payment.id}/resolve`, { reason: "by hand", ...body });
      expect(status, text).toBe(200);
    };
    await decide({ action: "IGNORE" });
    expect(await keys()).toEqual(["claimNotThis", "claimNotThis", "claimNotThis"]);
    await decide({ action: "REOPEN" });
    expect(await keys()).toEqual(["claimDiffers", "claimDiffers", "claimDiffers"]);
    await decide({ action: "ASSIGN", invoiceId: orders[0]?.id });
    expect(await keys()).toEqual(["claimCredited", "claimOtherOrder", "claimOtherOrder"]);
    await testDb.update(payments).set({ status: "REORGED" }).where(eq(payments.txHash, transfer.txHash));
    expect(await keys()).toEqual(["claimReorged", "claimOtherOrder", "claimOtherOrder"]);
  });
});

interface World {
  readonly prices: readonly number[];
  /** `held`: the invoice's time is over, but a network outage keeps it open. */
  readonly states: readonly ("open" | "expired" | "cancelled" | "over" | "held")[];
  /** Each output: its recipient, the invoice, and the share of that invoice's amount. */
  readonly outputs: readonly {
    readonly to: "shop" | "rival" | "elsewhere";
    readonly of: number;
    readonly share: number;
  }[];
  readonly isLate: boolean;
  readonly depth: number;
  readonly isRead: boolean;
  readonly acts: readonly ("assign" | "ignore" | "reopen" | "reorg" | "drop" | "return")[];
}

const PLAIN = { isLate: false, depth: 5, isRead: true, acts: [] } as const;
/** All of an invoice's amount, the amount less an exchange's fee, a part, twice as much, and dust. */
const SHARES = [1, 1, 0.98, 0.5, 2, 0.000_001];

const worlds: fc.Arbitrary<World> = fc.record({
  prices: fc.array(fc.constantFrom(10, 16.59, 20, 80, 123.45), { minLength: 2, maxLength: 3 }),
  states: fc.array(fc.constantFrom("open", "open", "expired", "cancelled", "over", "held"), {
    minLength: 3,
    maxLength: 3,
  }),
  outputs: fc.array(
    fc.record({
      to: fc.constantFrom("shop", "shop", "shop", "rival", "elsewhere"),
      of: fc.nat(2),
      share: fc.constantFrom(...SHARES),
    }),
    { minLength: 1, maxLength: 3 },
  ),
  isLate: fc.boolean(),
  depth: fc.constantFrom(0, 5),
  isRead: fc.boolean(),
  acts: fc.array(fc.constantFrom("assign", "ignore", "reopen", "reorg", "drop", "return"), { maxLength: 3 }),
});

/** Keys of the texts that the KNOWN cases together must show. */
const SENTENCES = [
  "claimCredited",
  "claimLate",
  "claimDiffers",
  "claimOtherOrder",
  "claimTooLittle",
  "claimReorged",
  "claimNotThis",
  "claimNotFound",
];
const KNOWN = [
  known({ outputs: [{ to: "shop", of: 1, share: 1 }], acts: ["reorg", "return"] }),
  known({ outputs: [{ to: "shop", of: 0, share: 0.5 }], acts: ["ignore", "reopen", "assign"] }),
  known({ states: ["expired", "open", "over"], outputs: [{ to: "shop", of: 0, share: 1 }], isLate: true }),
  known({ states: ["cancelled", "over", "open"], outputs: [{ to: "shop", of: 0, share: 0.000_001 }], acts: ["drop"] }),
  known({ outputs: [{ to: "shop", of: 0, share: 1 }], acts: ["drop"] }),
  known({ states: ["held", "over", "held"], outputs: [{ to: "elsewhere", of: 0, share: 1 }] }),
  known({ states: ["over", "over", "over"], outputs: [{ to: "elsewhere", of: 0, share: 1 }] }),
];

function known(of: Partial<World>): World {
  return { prices: [80, 16.59], states: ["open", "open", "open"], outputs: [], ...PLAIN, ...of };
}

/** Two shops at one address, and a third at another; all have invoices, and one transaction pays some of them. */
async function worldOf(world: World) {
  const { merchant, address } = await shopAt();
  const { merchant: rival } = await shopAt(address);
  const { merchant: stranger, address: elsewhere } = await shopAt();
  const orders: (Awaited<ReturnType<typeof invoiceOf>> & { readonly of: TestMerchant; readonly address: string })[] =
    [];
  for (const price of world.prices) orders.push({ of: merchant, address, ...(await invoiceOf(merchant, price)) });
  for (const of of [rival, stranger])
    orders.push({ of, address: of === rival ? address : elsewhere, ...(await invoiceOf(of, 20)) });
  const nowMs = Date.now();
  for (const [n, { id }] of orders.entries()) await put(id, world.states[n] ?? "open", nowMs);
  const txHash = `0x${randomHex(32)}`;
  const rivals = { shop: 0, rival: world.prices.length, elsewhere: world.prices.length + 1 };
  const transfers = world.outputs.map(({ to, of, share }, n) => {
    const order = orders[rivals[to] + (to === "shop" ? of % world.prices.length : 0)];
    const units = BigInt(Math.max(1, Math.round(Number(order?.units ?? 0n) * share)));
    const block = blockAt(100, world.isLate ? nowMs : nowMs - 2_000);
    return transferTo(order?.address ?? "", units, { txHash, outputIndex: String(n), block });
  });
  return { orders, txHash, transfers, shops: [merchant, rival, stranger] };
}

async function put(id: string, state: World["states"][number], nowMs: number): Promise<void> {
  const ended = { expiresAtMs: nowMs - 1_000 };
  const changes = {
    open: {},
    expired: ended,
    cancelled: { cancelledAtMs: nowMs - 1_000, status: "CANCELLED" as const },
    over: { ...ended, monitorUntilMs: nowMs - 1_000, status: "EXPIRED" as const, closedAtMs: nowMs },
    held: { ...ended, monitorUntilMs: nowMs - 1_000 },
  }[state];
  if (state !== "open")
    await testDb
      .update(invoices)
      .set(changes)
      .where(eq(invoices.id, id as `inv_${string}`));
}

async function happen(act: World["acts"][number], txHash: string, shop: TestMerchant, invoiceId: string) {
  const rows = await testDb.select().from(payments).where(eq(payments.txHash, txHash));
  const [row] = rows.filter(({ merchantId }) => merchantId === shop.merchantId);
  const resolve = (body: object) => shop.post(`/payments/${row?.id}/resolve`, { reason: "by hand", ...body });
  switch (act) {
    case "assign":
      return resolve({ action: "ASSIGN", invoiceId });
    case "ignore":
      return resolve({ action: "IGNORE" });
    case "reopen":
      return resolve({ action: "REOPEN" });
    case "reorg":
    case "drop": {
      const kind = act === "reorg" ? ("unknown" as const) : ("replaced" as const);
      return look([], { seen: rows.map((payment) => ({ payment, observation: { kind } })) });
    }
    case "return": {
      const block = blockAt(101, Date.now(), "b");
      return look([], {
        tip: 101,
        seen: rows.map((payment) => ({ payment, observation: { kind: "mined" as const, block } })),
      });
    }
  }
}

/** Whether a page may show this text, given only what the merchant's and the payer's API show about the transaction. */
function mayBeSaid(
  key: string,
  facts: {
    readonly own: readonly Paid[];
    /** The shop's own payments. */
    readonly rows: readonly Paid[];
    /** The payments of other shops. */
    readonly others: readonly Paid[];
    readonly address: string;
    readonly isWatched: boolean;
  },
): boolean {
  const { own, rows, others, address } = facts;
  const free = rows.filter(({ invoiceId }) => invoiceId === null);
  const counted = own.some((paid) => isSeen(paid) && !paid.isLate);
  if (key === "claimCredited") return counted;
  if (counted) return false;
  const late = own.some(isSeen);
  if (key === "claimLate") return late;
  if (late) return false;
  const toDecide = free.some(({ status }) => status === "UNMATCHED");
  if (key === "claimDiffers" || key === "claimToDecide") return toDecide;
  if (toDecide) return false;
  // The page never shows what happens to another order's payment, only that the transaction pays another order.
  const isElsewhere = (paid: Paid) => paid.invoiceId !== null && paid.toAddress === address;
  const ours = new Set(own.map(({ id }) => id));
  const taken = own.length === 0 && rows.some((paid) => !ours.has(paid.id) && isElsewhere(paid));
  if (key === "claimOtherOrder") return taken;
  if (taken) return false;
  const known = [...own, ...free];
  const has = (status: string) => known.some((paid) => paid.status === status);
  if (key === "claimTooLittle") return has("IGNORED");
  if (key === "claimReorged") return has("REORGED") || has("DROPPED");
  const isRivals = others.some(isElsewhere);
  if (key === "claimNotThis") return has("IGNORED") || (known.length === 0 && (isRivals || !facts.isWatched));
  return (key === "claimNotFound" || key === "claimUnavailable") && known.length === 0 && !isRivals && facts.isWatched;
}

describe("the page of any invoice, whatever a transaction pays and whatever happens to it afterwards", () => {
  it(
    "shows a claimed transaction as credited if and only if the API lists it as the invoice's payment, and never shows more than the API",
    async () => {
      const heard = new Set<string>();
      const check = async (world: World) => {
        const { orders, txHash, transfers, shops } = await worldOf(world);
        if (world.isRead) expect((await look(transfers, { tip: 100 + world.depth })).ok).toBe(true);
        const pages = [];
        for (const order of orders) pages.push({ ...order, query: await name(order.id, txHash, transfers) });
        for (const act of [undefined, ...world.acts]) {
          const [shop, target] = [shops[0], orders[0]];
          if (act !== undefined && shop !== undefined) await happen(act, txHash, shop, target?.id ?? "");
          for (const { id, of, address, query } of pages) {
            const { key, text, html, isGood } = await said(id, query);
            const rowsOf = async (each: TestMerchant) => (await each.get(`/payments?txHash=${txHash}`)).body.data;
            const rows = await rowsOf(of);
            const others = (await Promise.all(shops.filter((each) => each !== of).map(rowsOf))).flat();
            const shown = await shownTo(id);
            const own = paidBy(shown, txHash);
            const facts = { own, rows, others, address, isWatched: isWatched(shown) };
            expect([key, mayBeSaid(key, facts), facts]).toEqual([key, true, facts]);
            expect(isGood).toBe(key === "claimCredited");
            heard.add(key);
            // Nothing about another order or shop may appear: the page names no other invoice, and no amount credited to another invoice.
            for (const other of orders) if (other.id !== id) expect(html).not.toContain(other.id);
            if (key === "claimOtherOrder" || key === "claimNotThis") expect(text).not.toMatch(/\d/);
            const again = { method: "POST", body: { network: "ETH", txHash } } as const;
            const { json } = await api({ id }, "/claims", again, sourceOf(transfers));
            expect([json?.standing, json?.standing === "CREDITED"]).toEqual([
              expect.any(String),
              key === "claimCredited",
            ]);
          }
        }
      };
      for (const world of KNOWN) await check(world);
      expect([...heard]).toEqual(expect.arrayContaining(SENTENCES));
      const numRuns = triesOf({ usual: 8, deep: 500 });
      await fc.assert(fc.asyncProperty(worlds, check), { numRuns, endOnFailure: true });
    },
    10 * MINUTE_MS,
  );
});
