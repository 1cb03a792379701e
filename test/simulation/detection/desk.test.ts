// Transactions that payers claim, and that merchants look up and set aside, with rows in any state. Each answer must match the interface, no invoice
// may get more claims than its limit, and nothing may be looked up needlessly.
import { describe, expect, it } from "vitest";
import type { Payment } from "../../../src/commerce/payments/payment.ts";
import { CLAIM_STANDINGS } from "../../../src/detection/claims/standing.ts";
import { formatUnits } from "../../../src/lib/money.ts";
import { CAMPAIGN_LIMIT_MS, campaignSeeds, eachSeed, schedulesOf } from "../engine/campaign.ts";
import { World } from "../engine/world.ts";
import { ASSIGNED, assigns } from "./desk-assign.ts";
import { expectedStanding, isKnownOf, repeatsOf, waitOf } from "./desk-oracle.ts";
import { Desk, type Script } from "./desk-system.ts";
import { MERCHANT, ORDERS, type Order } from "./payments-till.ts";

const HISTORIES = 120;
const STEPS = 30;
const FEWEST = 5;
const count = schedulesOf(HISTORIES);
const noted = new Map<string, number>();
/** Situations that must have occurred often enough. */
const KINDS = [
  ...["FOUND", "NOT_FOUND", "UNAVAILABLE", "repeated", "with a fault"].map((what) => `claim: ${what}`),
  "claim: too many of the invoice",
  "claim: too many of the caller",
  "claim: of a closed shop",
  ...CLAIM_STANDINGS.map((standing) => `standing: ${standing}`),
  ...["listed", "VALIDATION_FAILED", "NETWORK_NOT_WATCHED", "RATE_LIMITED"].map((code) => `look up: ${code}`),
  ...ASSIGNED.map((what) => `assign: ${what}`),
  "set aside: IGNORE",
  "set aside: REOPEN",
  "set aside: refused",
];
const note = (what: string) => void noted.set(what, (noted.get(what) ?? 0) + 1);

async function history(desk: Desk, seed: number): Promise<void> {
  desk.begin(seed);
  const world = new World({ seed, faultChance: 0, isTraced: false, onEviction: () => {} });
  await desk.lab.schedule(world, async () => {
    const order = desk.pick(ORDERS);
    for (let step = 0; step < STEPS; step++) {
      desk.timePasses();
      const act = desk.pick([
        "row",
        "row",
        "claim",
        "claim",
        "claim",
        "look up",
        "set aside",
        "set aside",
        "assign",
        "assign",
        "end",
      ] as const);
      if (act === "end") desk.end(order);
      if (act === "row") await desk.store(desk.newRow());
      if (act === "claim") await claims(desk, desk.chance(0.8) ? order : desk.pick(ORDERS));
      if (act === "look up") await looksUp(desk, order);
      if (act === "set aside") await setsAside(desk);
      if (act === "assign") await assigns(desk, note);
      await standings(desk);
    }
    if (desk.chance(0.3)) await claimsOfClosedShop(desk, order);
  });
}

/** A closed shop is not notified of claims, and nothing is looked up for it. */
async function claimsOfClosedShop(desk: Desk, order: Order): Promise<void> {
  note("claim: of a closed shop");
  desk.lab.rows("update merchants set deleted_at_ms = ?", desk.nowMs);
  const [made, lostBefore, script] = [(await desk.claims()).length, desk.lost, desk.script()];
  const answer = await desk.claim(order, desk.hashFor(order), script);
  if (desk.lost === lostBefore) expect(answer).toMatchObject({ ok: false, error: { code: "INVOICE_NOT_FOUND" } });
  expect([(await desk.claims()).length, script.looked, script.counted]).toEqual([made, [], []]);
}

async function claims(desk: Desk, order: Order): Promise<void> {
  const asked = { network: order.pair.network, txHash: desk.hashFor(order) };
  const script = desk.script();
  const [rows, all] = [await desk.rows(), await desk.claims()];
  const made = all.filter(({ invoiceId }) => invoiceId === order.id);
  const lostBefore = desk.lost;
  const answer = await desk.claim(order, asked.txHash.toUpperCase().replace("0X", "0x"), script);
  const after = (await desk.claims()).filter(({ invoiceId }) => invoiceId === order.id);
  expect(waitOf(after.slice(0, -1), desk.nowMs) > 0 && after.length > made.length, "claimed beyond the limit").toBe(
    false,
  );
  if (desk.lost > lostBefore) {
    note("claim: with a fault");
    return;
  }
  const repeats = repeatsOf(made, asked, desk.nowMs);
  if (repeats.length > 0) {
    note("claim: repeated");
    expect(answer).toMatchObject({ ok: true, value: { ...asked, invoiceId: order.id } });
    expect(repeats).toContainEqual(answer.ok ? answer.value : answer);
    expect([after.length, script.looked, script.counted]).toEqual([made.length, [], []]);
    return;
  }
  const ofInvoice = waitOf(made, desk.nowMs);
  const waitSeconds = ofInvoice || script.waitSeconds;
  expect(script.counted).toEqual(ofInvoice > 0 ? [] : ["192.0.2.1"]);
  if (waitSeconds > 0) {
    note(ofInvoice > 0 ? "claim: too many of the invoice" : "claim: too many of the caller");
    expect(answer).toEqual({ ok: false, error: { code: "RATE_LIMITED", retryAfterSeconds: waitSeconds } });
    expect([after.length, script.looked]).toEqual([made.length, []]);
    return;
  }
  const outcome = outcomeOf(rows, script, order, asked);
  note(`claim: ${outcome}`);
  const isKnown = isKnownOf(rows, asked, order);
  expect(script.looked).toEqual(isKnown ? [] : [`${asked.network} ${asked.txHash}`]);
  expect(answer).toMatchObject({
    ok: true,
    value: { ...asked, outcome, merchantId: MERCHANT, createdAtMs: desk.nowMs },
  });
  expect(after.find(({ id }) => answer.ok && id === answer.value.id)).toMatchObject({ ...asked, outcome });
}

/** Whatever the lookup returns, the outcome depends only on whether it left a row that pays the invoice. */
function outcomeOf(rows: readonly Payment[], script: Script, order: Order, asked: Parameters<typeof isKnownOf>[1]) {
  if (isKnownOf(rows, asked, order)) return "FOUND";
  if (script.stores !== undefined && isKnownOf([script.stores], asked, order)) return "FOUND";
  return script.outcome === "FOUND" ? "NOT_FOUND" : script.outcome;
}

async function standings(desk: Desk): Promise<void> {
  const rows = await desk.rows();
  for (const claim of (await desk.claims()).slice(-4)) {
    const order = ORDERS.find(({ id }) => id === claim.invoiceId);
    if (order === undefined) throw new Error(`a claim of ${claim.invoiceId}`);
    const { standing, units } = expectedStanding(claim, {
      order,
      merchantId: MERCHANT,
      rows,
      nowMs: desk.nowMs,
      isOver: desk.isOver(order),
    });
    note(`standing: ${standing}`);
    const read = await desk.standing(claim);
    const amounts = Object.entries(units).map(([cryptocurrency, of]) => ({
      cryptocurrency,
      amount: formatUnits(of, cryptocurrency === "BTC" ? 8 : 6),
    }));
    expect(read).toEqual({ ok: true, value: { standing, amounts: expect.arrayContaining(amounts) } });
    expect(read.ok && read.value.amounts.length).toBe(amounts.length);
  }
}

const LOOKED = {
  NOT_FOUND: "TRANSACTION_NOT_FOUND",
  UNAVAILABLE: "CHAIN_UNAVAILABLE",
  NOT_STORED: "STORAGE_UNAVAILABLE",
};

async function looksUp(desk: Desk, order: Order): Promise<void> {
  const txHash = desk.hashFor(order);
  const network = desk.pick([order.pair.network, order.pair.network, "LTC", "NONE"]);
  const outcome = desk.pick(["FOUND", "NOT_FOUND", "UNAVAILABLE", "NOT_STORED"] as const);
  const waitSeconds = desk.pick([0, 0, 0, 9]);
  const lostBefore = desk.lost;
  const answer = await desk.lookUp(network, txHash, outcome, waitSeconds);
  if (desk.lost > lostBefore) return;
  const code = answer.ok ? "listed" : answer.error.code;
  note(`look up: ${code}`);
  const refusal = outcome === "FOUND" ? "listed" : LOOKED[outcome];
  if (network === "NONE") expect(code).toBe("VALIDATION_FAILED");
  else if (network === "LTC") expect(answer).toEqual({ ok: false, error: { code: "NETWORK_NOT_WATCHED", network } });
  else if (waitSeconds > 0) expect(answer).toMatchObject({ error: { code: "RATE_LIMITED", retryAfterSeconds: 9 } });
  else expect(code).toBe(refusal);
  if (!answer.ok) return;
  const own = (await desk.rows()).filter(
    (row) => row.txHash === txHash && row.network === network && row.merchantId === MERCHANT,
  );
  const { data } = answer.value as { readonly data: readonly { readonly id: string }[] };
  expect(data.map(({ id }) => id).toSorted()).toEqual(own.map(({ id }) => id).toSorted());
}

async function setsAside(desk: Desk): Promise<void> {
  const own = (await desk.rows()).filter(({ merchantId }) => merchantId === MERCHANT);
  if (own.length === 0) return;
  const before = desk.pick([...own.filter(({ invoiceId }) => invoiceId === null), ...own]);
  const action = desk.pick(["IGNORE", "REOPEN"] as const);
  const lostBefore = desk.lost;
  const answer = await desk.setAside(before.id, action);
  const after = (await desk.rows()).find(({ id }) => id === before.id);
  const isFree = before.invoiceId === null;
  const isAllowed =
    action === "IGNORE"
      ? isFree && before.status === "UNMATCHED"
      : isFree && before.status === "IGNORED" && byUser(before);
  if (!isAllowed) {
    note("set aside: refused");
    if (desk.lost === lostBefore)
      expect(answer).toMatchObject({ ok: false, error: { code: "PAYMENT_NOT_RESOLVABLE" } });
    expect(after).toEqual(before);
    return;
  }
  if (desk.lost > lostBefore) return;
  note(`set aside: ${action}`);
  const resolution = {
    action,
    reason: "seen in person",
    actor: "usr_00000000000000000000000001",
    at: new Date(desk.nowMs).toISOString(),
  };
  expect(JSON.parse(after?.resolution ?? "null")).toEqual(resolution);
  expect(after).toMatchObject({
    status: action === "IGNORE" ? "IGNORED" : "UNMATCHED",
    updatedAtMs: desk.nowMs,
    invoiceId: null,
  });
  const told = desk.lab.rows("select action, target, actor_id from audit_events where target = ?", before.id);
  expect(told.at(-1)).toEqual({ action: "payment.resolved", target: before.id, actor_id: resolution.actor });
}

const byUser = ({ resolution }: Payment) => resolution !== null && JSON.parse(resolution).action === "IGNORE";

describe("claims", () => {
  it(
    `are answered as documented, no matter which rows exist: ${count} histories`,
    async () => {
      const desk = await Desk.open();
      await eachSeed(campaignSeeds(count), (seed) => history(desk, seed));
      expect(KINDS.filter((kind) => (noted.get(kind) ?? 0) < FEWEST)).toEqual([]);
    },
    CAMPAIGN_LIMIT_MS,
  );
});
