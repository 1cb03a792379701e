// Follows the amounts of a direct wallet from allocation to reuse. They are allocated with crashes and lost answers at every call, stored in D1 or
// not, cancelled, released by the cron, freed by the allocator's alarm, and allocated to later invoices.
import { checkAmounts } from "../../../src/commerce/amounts/check-amounts.ts";
import { releaseAmounts } from "../../../src/commerce/amounts/release-amounts.ts";
import { cancelInvoice } from "../../../src/commerce/invoices/cancel-invoice.ts";
import { readFile } from "../../../src/commerce/invoices/change-invoice.ts";
import type { NewInvoice } from "../../../src/commerce/invoices/create-invoice.ts";
import { expireInvoices } from "../../../src/commerce/invoices/expire-invoices.ts";
import { HOUR_MS, MINUTE_MS } from "../../../src/lib/time.ts";
import { faultKind } from "../../../src/platform/db/retry.ts";
import { insist, type Scenario } from "../engine/campaign.ts";
import type { Lab } from "../engine/lab.ts";
import type { Client, Verdict } from "../engine/world.ts";
import {
  amountsAt,
  amountsName,
  creating,
  DIRECT,
  DIRECT_PLACE,
  MERCHANT,
  type Outcome,
  type Shop,
  send,
  shopDependencies,
  XPUB,
} from "./shop.ts";

/** Two prices whose candidates overlap. The second order is cancelled long before it expires. */
const ORDERS: readonly NewInvoice[] = [
  { rawAmount: 10_000_000n, expiresInSeconds: 60 },
  { rawAmount: 10_000_000n, expiresInSeconds: 72_000 },
  { rawAmount: 9_990_000n, expiresInSeconds: 60 },
].map((terms) => ({ ...terms, name: "Order", currency: "USD", pairs: [DIRECT] }));
const CANCELLED = 1;
/** When each round of orders arrives; the first amounts are free again after a day and a minute. */
const ROUNDS_AT_HOURS: readonly number[] = [0, 12, 26, 52];
const JOBS_AT_HOURS: readonly number[] = [1, 13, 25, 27, 40, 53, 79];

/** How far a network may lag when jobs run. Each network keeps its lag or catches up, independently of the others. */
const LAGS_MS = [MINUTE_MS, MINUTE_MS, 20 * MINUTE_MS, 6 * HOUR_MS, 13 * HOUR_MS, 30 * HOUR_MS] as const;

/** How a deliberately broken variant differs from the real release of amounts. */
export interface AmountsVariant {
  readonly name: string;
  /** What the broken variant uses instead of the time up to which a network was read. */
  readonly passedMs?: (read: ReadonlyMap<string, number>, network: string, nowMs: number) => number;
}

interface Till extends Shop {
  readonly variant: AmountsVariant;
  /** The time up to which each network was read. */
  readonly read: Map<string, number>;
  /** While the source refuses the shared address: the time up to which it was read. Undefined otherwise. */
  stuckMs: number | undefined;
}

/** `tally` counts the schedules in which a released amount was allocated again. */
export function amountsScenario(
  lab: Lab,
  tally: { reused: number },
  variant: AmountsVariant = { name: "amounts given and released" },
): Scenario {
  return {
    name: variant.name,
    lab,
    faultChance: 0.12,
    maxSteps: 12_000,
    kinds: [
      "an end that is over and not read",
      "networks read up to different times",
      "a lag of more than a day",
      "the address is stuck",
    ],
    start(world) {
      const shop: Till = { lab, world, bugs: [], variant, read: new Map(), stuckMs: undefined };
      const outcomes = new Map<string, Outcome>();
      const problems: string[] = [];
      const at = (hours: number, work: () => void) =>
        void world
          .sleepOf(world.client(() => {}))(hours * HOUR_MS)
          .then(work);
      for (const hours of ROUNDS_AT_HOURS) at(hours, () => order(shop, hours, outcomes));
      for (const hours of JOBS_AT_HOURS) at(hours, () => job(shop, problems));
      // At the end the jobs run until each has succeeded, and again two hours later, after the alarm has found what the first run left. Weeks later,
      // the amounts are no longer needed to match late payments.
      let hasEnded = false;
      const weeksLater = () => forgotten(shop, { at, problems, onEnd: () => (hasEnded = true) });
      const end = () => {
        const problem = endProblem(lab, tally);
        if (problem !== undefined) problems.push(problem);
        weeksLater();
      };
      at(100, () => lastJob(shop, problems, () => at(2, () => lastJob(shop, problems, end))));
      return () => {
        const [problem] = problems;
        if (shop.bugs.length > 0) return `a bug: ${shop.bugs[0]}`;
        if (problem !== undefined) return problem;
        if (outcomes.size !== ROUNDS_AT_HOURS.length * ORDERS.length) return `${outcomes.size} orders came to an end`;
        return hasEnded ? undefined : "the last job did not come to an end";
      };
    },
  };
}

function order(shop: Shop, hours: number, outcomes: Map<string, Outcome>): void {
  for (const [n, invoice] of ORDERS.entries()) {
    const key = `order ${hours}.${n}`;
    send(shop, key, creating(invoice), (outcome) => {
      outcomes.set(key, outcome);
      if (outcome.kind === "answer" && n === CANCELLED) cancel(shop, JSON.parse(outcome.body).id);
    });
  }
}

/** A cancel shortens the time in which payments count, but the amount stays reserved for the invoice as long as before. */
function cancel({ lab, world, bugs }: Shop, id: string): void {
  insist<string>({
    world,
    attempt: async (client) => {
      const deps = shopDependencies(lab, world, client).operation;
      const file = await readFile(deps, MERCHANT, id);
      const answer = file.ok ? await cancelInvoice(deps, file.value) : file;
      const code = answer.ok ? "CANCELLED" : answer.error.code;
      if (code === "STORAGE_UNAVAILABLE" || code === "CONTENTION") return { kind: "again", afterMs: 1_000 };
      return { kind: "done", value: code };
    },
    onDone: () => {},
    onBug: (error) => bugs.push(error),
    isFault: (error) => faultKind(error) !== "other",
  });
}

/** Runs all jobs once; the run may crash anywhere. */
function job(shop: Till, problems: string[]): void {
  // The address is refused rarely and briefly, because its reserved amounts are not allocated again meanwhile.
  if (shop.stuckMs !== undefined && shop.world.pick([true, false])) readAddress(shop);
  else if (shop.stuckMs === undefined && shop.world.random() < 0.05) refuseAddress(shop);
  for (const network of NETWORKS) readOn(shop, network, shop.world.pick(LAGS_MS));
  const problem = heldProblem(shop);
  if (problem !== undefined) problems.push(problem);
  const client = shop.world.client(() => {});
  runAll(shop, client).catch((error: unknown) => {
    if (faultKind(error) === "other") shop.bugs.push(error);
  });
}

/** From now on the source refuses this one address. */
function refuseAddress(shop: Till): void {
  const { lab, world, read } = shop;
  const { network, address } = DIRECT_PLACE;
  shop.stuckMs = read.get(network) ?? 0;
  lab.rows(
    `insert into stuck_addresses (network, address, source, read_height, passed_ms, failures, since_ms, next_at_ms, reason)
      values (?, ?, 'a', 0, ?, 1, ?, ?, 'REFUSED')`,
    network,
    address,
    shop.stuckMs,
    world.nowMs,
    world.nowMs,
  );
  world.note("the address is stuck");
}

function readAddress(shop: Till): void {
  shop.stuckMs = undefined;
  shop.lab.rows("delete from stuck_addresses");
}

function lastJob(shop: Till, problems: string[], onDone: () => void): void {
  readAddress(shop);
  const problem = heldProblem(shop);
  if (problem !== undefined) problems.push(problem);
  insist<void>({
    world: shop.world,
    attempt: async (client) => {
      for (const network of NETWORKS) readOn(shop, network, MINUTE_MS);
      await runAll(shop, client);
      const left = shop.lab.rows("select 1 from method_amounts where released_at_ms is null");
      // If a call to an allocator gets no answer, the job repeats it after ten minutes.
      return left.length === 0 ? { kind: "done", value: undefined } : { kind: "again", afterMs: 11 * MINUTE_MS };
    },
    onDone,
    onBug: (error) => shop.bugs.push(error),
    isFault: (error) => faultKind(error) !== "other",
  });
}

/** The allocator remembers which invoice an amount belonged to until 40 days after the invoice stops holding it, for payments found late. */
function forgotten(
  shop: Till,
  of: {
    readonly at: (hours: number, work: () => void) => void;
    readonly problems: string[];
    readonly onEnd: () => void;
  },
): void {
  const { at, problems, onEnd } = of;
  const known = () => shop.lab.rows("select 1 from method_amounts").length;
  const asked = shop.lab.rows(
    "select 1 from payment_methods where status = 'ACTIVE' and wallet_type = 'DIRECT_WALLET'",
  );
  if (known() !== asked.length) problems.push(`of ${asked.length} amounts ${known()} are known`);
  const before = known();
  const lookAfter = (days: number, check: () => void) => at(days * 24, () => lastJob(shop, problems, check));
  lookAfter(33, () => {
    if (known() !== before) problems.push(`${before - known()} amounts are forgotten too early`);
    lookAfter(10, () => {
      if (known() > 0) problems.push(`${known()} amounts are never forgotten`);
      onEnd();
    });
  });
}

const NETWORKS = [DIRECT.network, XPUB.network];

/** Moves the time up to which a network was read forward, never back. */
function readOn({ world, read }: Till, network: string, lagMs: number): void {
  read.set(network, Math.max(read.get(network) ?? 0, world.nowMs - lagMs));
  const [one, other] = NETWORKS.map((each) => read.get(each));
  if (one !== other) world.note("networks read up to different times");
  if (world.nowMs - (read.get(network) ?? 0) > 24 * HOUR_MS) world.note("a lag of more than a day");
}

function writeCursors({ lab, world, read }: Till, passedMs: (network: string) => number | undefined): void {
  for (const network of read.keys()) {
    const at = [passedMs(network) ?? 0, world.nowMs, world.nowMs, network];
    lab.rows(
      "update network_cursors set passed_ms = ?, last_moved_at_ms = ?, ticked_at_ms = ? where network = ?",
      ...at,
    );
  }
}

async function runAll(shop: Till, client: Client): Promise<void> {
  const { lab, world, variant, read } = shop;
  writeCursors(shop, (network) => read.get(network));
  const deps = shopDependencies(lab, world, client).operation;
  const effect = world.effectOf(client);
  await expireInvoices(deps);
  const { passedMs } = variant;
  if (passedMs !== undefined) writeCursors(shop, (network) => passedMs(read, network, world.nowMs));
  await releaseAmounts({
    ...deps,
    releaseAmounts: (place, amounts, nowMs) =>
      effect("release amounts", () => amountsAt(lab, place).release(amounts, nowMs)),
  });
  await checkAmounts(deps, DIRECT_PLACE, amountsAt(lab, DIRECT_PLACE));
}

const givenAt = (lab: Lab) => amountRows(lab).map((row) => `${row.invoice_id} ${BigInt(String(row.units))}`);
const amountRows = (lab: Lab) => lab.storageOf(amountsName(DIRECT_PLACE)).sql.exec("select * from amounts").toArray();

/** When monitoring ends, according to the terms of the invoice for which the amount was allocated. */
const END = "of_it.expires_at_ms + of_it.monitor_seconds * 1000";

/** Until an amount's hold has ended and its network has been read to that time, the allocator keeps the amount for its invoice. */
function heldProblem({ lab, world, read, stuckMs }: Till): Verdict {
  const given = new Set(givenAt(lab));
  const readMs = Math.min(read.get(DIRECT.network) ?? 0, world.nowMs, stuckMs ?? world.nowMs);
  const rows = lab.rows(
    `select held.invoice_id, held.units, ${END} as end_ms from method_amounts held
      join invoices of_it on of_it.id = held.invoice_id where end_ms >= ?`,
    readMs,
  );
  const lost = rows.filter((row) => !given.has(`${row.invoice_id} ${row.units}`));
  if (rows.some((row) => Number(row.end_ms) < world.nowMs)) world.note("an end that is over and not read");
  const [first] = lost;
  if (first === undefined) return undefined;
  return Number(first.end_ms) >= world.nowMs
    ? `${lost.length} amounts were freed before their end`
    : `${lost.length} amounts were freed before their network was read`;
}

function endProblem(lab: Lab, tally: { reused: number }): Verdict {
  const [clash] =
    lab.rows(`select one.units, one.invoice_id as first, other.invoice_id as second from method_amounts one
    join invoices of_it on of_it.id = one.invoice_id
    join method_amounts other on other.units = one.units and other.invoice_id <> one.invoice_id
    where other.created_at_ms between one.created_at_ms and ${END}`);
  if (clash !== undefined) return `${clash.first} and ${clash.second} ask for ${clash.units} at once`;
  const held = lab.rows("select 1 from method_amounts where released_at_ms is null").length;
  if (held > 0) return `${held} amounts are never released`;
  const kept = amountRows(lab).length;
  if (kept > 0) return `${kept} amounts are kept by the allocator for ever`;
  const [{ reused } = {}] = lab.rows("select count(*) - count(distinct units) as reused from method_amounts");
  if (Number(reused) > 0) tally.reused++;
  return undefined;
}
