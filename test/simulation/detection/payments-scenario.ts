// Several watchers, a claim, a reader, the sweep and a cancellation work on the same invoices at once, while storage and Workers fail. Then a payment
// leaves its block and is mined again. No matter who was first, each transfer must be credited once in the end, to the right invoice.

import { pairOf } from "../../../src/chains/registry/pair.ts";
import { type Transfer, transferKey } from "../../../src/chains/sources/transfer.ts";
import { cancelInvoice } from "../../../src/commerce/invoices/cancel-invoice.ts";
import { readFile } from "../../../src/commerce/invoices/change-invoice.ts";
import { expireInvoices } from "../../../src/commerce/invoices/expire-invoices.ts";
import { type RefreshDependencies, refreshInvoice } from "../../../src/commerce/invoices/refresh-invoice.ts";
import type { ChainObservation } from "../../../src/commerce/payments/chain-observation.ts";
import type { ApplyDependencies, Findings } from "../../../src/detection/matching/apply-transfers.ts";
import type { InvoiceId } from "../../../src/lib/ids.ts";
import { ok, type Result } from "../../../src/lib/result.ts";
import { SECOND_MS } from "../../../src/lib/time.ts";
import { SYSTEM_TRAIL } from "../../../src/platform/audit/entry.ts";
import { faultKind, readWithRetry } from "../../../src/platform/db/retry.ts";
import { payments } from "../../../src/platform/db/schema/payments.ts";
import type { Failure } from "../../../src/platform/failures.ts";
import { recountProblem, recountTables } from "../../support/report-recount.ts";
import { parseData, STORED_DATA } from "../../support/stored-data.ts";
import { insist, type Scenario } from "../engine/campaign.ts";
import type { Lab } from "../engine/lab.ts";
import type { Verdict, World } from "../engine/world.ts";
import {
  BRIEF,
  BTC,
  CANCELLED,
  EVM_ADDRESS,
  effectsOf,
  IN_PARTS,
  MERCHANT,
  NOW_MS,
  ORDERS,
  type Order,
  OWN,
  OWN_ADDRESS,
  UNPAID,
  USDC,
  USDT,
} from "./payments-till.ts";

interface Sent {
  readonly txHash: string;
  readonly pair: Order["pair"];
  readonly toAddress: string;
  readonly amountUnits: bigint;
  /** The invoice to which the transfer is credited in the end; null if none. */
  readonly of: Order | null;
}

const SENT: readonly Sent[] = [
  { txHash: "exact", pair: USDT, toAddress: EVM_ADDRESS, amountUnits: 100_000_000n, of: BRIEF },
  { txHash: "doubted", pair: USDT, toAddress: EVM_ADDRESS, amountUnits: 300_000_000n, of: CANCELLED },
  { txHash: "part", pair: USDC, toAddress: EVM_ADDRESS, amountUnits: 60_000_000n, of: IN_PARTS },
  { txHash: "rest", pair: USDC, toAddress: EVM_ADDRESS, amountUnits: 40_000_000n, of: IN_PARTS },
  { txHash: "own part", pair: BTC, toAddress: OWN_ADDRESS, amountUnits: 50_000n, of: OWN },
  { txHash: "own rest", pair: BTC, toAddress: OWN_ADDRESS, amountUnits: 150_000n, of: OWN },
  { txHash: "unmatched", pair: USDT, toAddress: EVM_ADDRESS, amountUnits: 7_000_000n, of: null },
  { txHash: "dust", pair: BTC, toAddress: OWN_ADDRESS, amountUnits: 100n, of: null },
];

export type Apply = (deps: ApplyDependencies, look: Findings) => Promise<Result<unknown, Failure>>;

/** `fork` distinguishes the blocks of one height. */
function transferIn(sent: Sent, height: number, fork = ""): Transfer {
  const { txHash, toAddress, amountUnits, pair } = sent;
  return {
    cryptocurrency: pair.cryptocurrency,
    txHash,
    outputIndex: "0",
    fromAddress: null,
    toAddress,
    amountUnits,
    spends: [],
    raw: "{}",
    block: { height, hash: `${pair.network} ${height}${fork}`, timeMs: NOW_MS - 20 * SECOND_MS },
  };
}

const lookAt = (pair: Order["pair"], tipHeight: number, transfers: readonly Transfer[]): Findings => ({
  network: pairOf(pair).network,
  heights: { tipHeight, finalizedHeight: null },
  transfers,
  seen: [],
});
const mined = (network: string, height: number, fork = "") =>
  SENT.filter(({ pair }) => pair.network === network).map((sent) => transferIn(sent, height, fork));
const named = (network: string, ...txHashes: readonly string[]) =>
  mined(network, 10).filter(({ txHash }) => txHashes.includes(txHash));

export function paymentsScenario(lab: Lab, name: string, apply: Apply): Scenario {
  return {
    name,
    lab,
    faultChance: 0.1,
    maxSteps: 6_000,
    start(world) {
      const bugs: unknown[] = [];
      const problems: string[] = [];
      let phase = 0;
      const actors = actorsOf(lab, world, apply, bugs);
      const phases = [
        [
          actors.look(lookAt(USDT, 10, named("ETH", "exact", "unmatched", "part"))),
          actors.look(lookAt(USDT, 11, mined("ETH", 10))),
          actors.look(lookAt(USDT, 11, named("ETH", "exact"))),
          actors.look(lookAt(BTC, 11, mined("BTC", 10))),
          actors.look(lookAt(BTC, 10, named("BTC", "own rest", "dust"))),
          actors.refresh(BRIEF),
          actors.sweep(),
          actors.cancel(),
        ],
        [actors.gone("exact", USDT), actors.gone("own rest", BTC), actors.gone("unmatched", USDT)],
        [
          actors.look(lookAt(USDT, 14, mined("ETH", 12, "b"))),
          actors.look(lookAt(USDT, 14, mined("ETH", 12, "b"))),
          actors.look(lookAt(BTC, 14, mined("BTC", 12, "b"))),
        ],
      ];
      const begin = (): void => {
        const actorsNow = phases[phase++];
        if (actorsNow === undefined) return;
        let left = actorsNow.length;
        for (const act of actorsNow) {
          act(() => {
            if (--left > 0) return;
            const problem = ledgerProblem(lab);
            if (problem !== undefined) problems.push(`after phase ${phase}: ${problem}`);
            begin();
          });
        }
      };
      begin();
      return () => {
        if (bugs.length > 0) return `a bug: ${bugs[0]}`;
        if (problems.length > 0) return problems[0];
        return phase <= phases.length ? `phase ${phase} did not come to an end` : endProblem(lab);
      };
    },
  };
}

type Act = (onDone: () => void) => void;

function actorsOf(lab: Lab, world: World, apply: Apply, bugs: unknown[]) {
  /** A client that repeats its work until it succeeds. */
  const insisting =
    (work: (deps: RefreshDependencies & ApplyDependencies) => Promise<Result<unknown, Failure>>): Act =>
    (onDone) =>
      insist({
        world,
        attempt: async (client) => {
          const answer = await work(effectsOf(lab, world, client));
          const isMended = !answer.ok && ["STORAGE_UNAVAILABLE", "CONTENTION"].includes(answer.error.code);
          return isMended ? { kind: "again", afterMs: SECOND_MS } : { kind: "done", value: answer };
        },
        onDone,
        onBug: (error) => bugs.push(error),
        isFault: (error) => faultKind(error) !== "other",
      });
  const withFile = (id: InvoiceId, work: FileWork) =>
    insisting(async (deps) => {
      const file = await readFile(deps, MERCHANT, id);
      if (!file.ok || file.value === undefined) return file;
      return work(deps, file.value);
    });
  return {
    look: (look: Findings) => insisting((deps) => apply(deps, look)),
    /** A payment that is read and then leaves its block. */
    gone: (txHash: string, pair: Order["pair"]) =>
      insisting(async (deps) => {
        const rows = await readWithRetry(deps.sleep, async () => deps.db.select().from(payments));
        if (!rows.ok) return rows;
        const observation: ChainObservation = { kind: "unknown" };
        const seen = rows.value.filter((row) => row.txHash === txHash).map((payment) => ({ payment, observation }));
        return apply(deps, { ...lookAt(pair, 12, []), seen });
      }),
    refresh: ({ id }: Order) => withFile(id, refreshInvoice),
    cancel: () => withFile(CANCELLED.id, (deps, file) => cancelInvoice({ ...deps, trail: SYSTEM_TRAIL }, file)),
    sweep: () => insisting(async (deps) => ok(await expireInvoices(deps))),
  };
}

type FileWork = (
  deps: RefreshDependencies,
  file: Parameters<typeof refreshInvoice>[1],
) => Promise<Result<unknown, Failure>>;

/** Checks invariants once every request has been answered. */
function ledgerProblem(lab: Lab): Verdict {
  const [facts] = lab.rows(`select
    (select count(*) from assertions) as assertions,
    (select count(*) from (select 1 from payments where invoice_id is not null group by network, tx_hash, output_index having count(*) > 1)) as doubled,
    (select count(*) from (select 1 from payments group by merchant_id, network, tx_hash, output_index having count(*) > 1)) as repeated,
    (select count(*) from invoices invoice where event_sequence <> (select count(*) from events where invoice_id = invoice.id)
      or event_sequence <> (select coalesce(max(sequence), 0) from events where invoice_id = invoice.id)) as gappy,
    (select count(*) from invoices invoice where timeline_position <> (select count(*) from timeline_items where invoice_id = invoice.id)
      or status <> (select payment_status from timeline_items where invoice_id = invoice.id order by position desc limit 1)) as untimely,
    (select active_invoices from merchants) as counted,
    (select count(*) from invoices where status in ('AWAITING_PAYMENT', 'PENDING_CONFIRMATION')) as active,
    (select gap from wallets where wallet_type = 'XPUB_WALLET') as gap,
    (select case when exists (select 1 from payments where to_address = '${OWN_ADDRESS}' and status in ('DETECTED', 'CONFIRMED')) then 1 else 2 end) as unused,
    (select count(*) from (select invoice_id from events where invoice_id is not null group by invoice_id having count(distinct created_at_ms)
      > (select count(*) from audit_events where target = events.invoice_id))) as unaudited`);
  const faults = Object.entries(facts ?? {}).filter(([key, n]) => n !== 0 && !NOT_FAULTS.includes(key));
  if (faults.length > 0) return faults.map(([key, n]) => `${n} ${key}`).join(", ");
  if (facts?.counted !== facts?.active) return `${facts?.active} active invoices are counted as ${facts?.counted}`;
  if (facts?.gap !== facts?.unused) return `a gap of ${facts?.gap} with ${facts?.unused} unused addresses`;
  // The test inserted the invoices, so the service counted none of them as created.
  const miscounted = recountProblem(
    recountTables((sql) => lab.rows(sql)),
    () => false,
  );
  return miscounted ?? toldProblem(lab);
}

/** There must be one event for each time a payment was seen, and for each unmatched payment. */
function toldProblem(lab: Lab): Verdict {
  const told = new Map<string, number>();
  const seenPayments = lab.rows(`select type, ${STORED_DATA} as data from events where type like 'payment.%'`);
  for (const { type, data } of seenPayments) {
    const id = parseData<{ readonly payment?: { readonly id: string } }>(data).payment?.id;
    told.set(`${type} ${id}`, (told.get(`${type} ${id}`) ?? 0) + 1);
  }
  const times = (type: string, id: string | number | null | undefined) => told.get(`${type} ${id}`) ?? 0;
  for (const { id, tx_hash, status, invoice_id } of lab.rows("select id, tx_hash, status, invoice_id from payments")) {
    const isSeen = status === "DETECTED" || status === "CONFIRMED";
    const seen = times("payment.reorged", id) + (isSeen ? 1 : 0);
    if (invoice_id !== null && times("payment.detected", id) !== seen)
      return `${tx_hash} was seen ${seen} times and told ${times("payment.detected", id)}`;
    if (status === "UNMATCHED" && times("payment.unmatched", id) !== 1)
      return `${tx_hash} was told ${times("payment.unmatched", id)} times to be nobody's`;
  }
  return undefined;
}

const NOT_FAULTS = ["counted", "active", "gap", "unused"];

/** What is wrong after the final observations, no matter what happened before. */
function endProblem(lab: Lab): Verdict {
  const rows = lab.rows("select tx_hash, output_index, invoice_id, status, block_hash from payments");
  for (const { txHash, pair, of } of SENT) {
    const key = transferKey({ txHash, outputIndex: "0" });
    const row = rows.find((each) => `${each.tx_hash}:${each.output_index}` === key);
    if (row === undefined) return `${txHash} was lost`;
    const unmatched = txHash === "dust" ? "IGNORED" : "UNMATCHED";
    const status = of === null ? unmatched : "CONFIRMED";
    if (row.invoice_id !== (of?.id ?? null)) return `${txHash} is credited to ${row.invoice_id}`;
    if (row.status !== status) return `${txHash} is ${row.status}`;
    if (row.block_hash !== `${pair.network} 12b`) return `${txHash} is in ${row.block_hash}`;
  }
  if (rows.length !== SENT.length) return `${rows.length} rows for ${SENT.length} transfers`;
  const invoices = lab.rows("select id, status, received_micros, is_late, needs_review, cancelled_at_ms from invoices");
  for (const { id, expectedMicros } of ORDERS) {
    const row = invoices.find((each) => each.id === id);
    const isLate = row?.is_late === 1 && row.needs_review === 1;
    const isCancelled = row?.cancelled_at_ms !== null;
    if (id === UNPAID.id) {
      if (row?.status !== "AWAITING_PAYMENT") return `the unpaid invoice is ${row?.status}`;
    } else if (isCancelled) {
      if (row?.status !== "CANCELLED" || !isLate)
        return `a cancelled invoice with money is ${row?.status}, late ${isLate}`;
    } else if (row?.status !== "PAID" || BigInt(row.received_micros ?? 0) !== expectedMicros) {
      return `${id} is ${row?.status} with ${row?.received_micros}`;
    } else if (row.needs_review !== 0) return `${id} needs a review`;
  }
  return undefined;
}
