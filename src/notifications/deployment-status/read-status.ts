// Gathers the facts about the deployment: for `/healthz` only those that decide whether it works, for operators also the queues.
import type { SourceState } from "../../chains/sources/source-state.ts";
import type { Sleep } from "../../lib/sleep.ts";
import { parseJson } from "../../lib/typed-json.ts";
import { withinLimit } from "../../platform/db/retry.ts";
import { askD1 } from "../../platform/db/unanswered.ts";
import { NEVER_TESTED, type Queue, type Queues, type Vitals } from "./status.ts";
import {
  type CursorRow,
  type DeploymentRow,
  type Facts,
  type QueueRow,
  SELECT_CURSORS,
  SELECT_DELIVERIES,
  SELECT_DEPLOYMENT,
  SELECT_MAILS,
  SELECT_OLDEST_INVOICE,
  SELECT_RECEIPTS,
  SELECT_UNSETTLED,
} from "./store.ts";

const VITALS = [SELECT_CURSORS, SELECT_DEPLOYMENT, SELECT_UNSETTLED];
const QUEUES = [SELECT_OLDEST_INVOICE, SELECT_DELIVERIES, SELECT_RECEIPTS, SELECT_MAILS];

/** Makes one call, which reads about as many rows as there are networks. Undefined if storage does not answer; the status then says so. */
export async function readVitals(d1: D1Database, sleep: Sleep): Promise<Vitals | undefined> {
  try {
    const statements = VITALS.map((text) => d1.prepare(text));
    return vitalsOf(
      await withinLimit(
        sleep,
        askD1(d1, () => d1.batch<Facts<never>>(statements)),
      ),
    );
  } catch {
    return undefined;
  }
}

/** The vitals and the queues, in one call. Throws D1's error. */
export async function readStatus(d1: D1Database, nowMs: number): Promise<Vitals & Queues> {
  const vitals = VITALS.map((text) => d1.prepare(text));
  const queues = QUEUES.map((text) => d1.prepare(text).bind(nowMs));
  const answers = await askD1(d1, () => d1.batch<Facts<never>>([...vitals, ...queues]));
  const [invoice, deliveries, receipts, mails] = answers.slice(VITALS.length).map(queueOf);
  return {
    ...vitalsOf(answers),
    oldestDueInvoiceMs: invoice?.oldestDueAtMs ?? null,
    deliveries: deliveries ?? NOTHING_DUE,
    receipts: receipts ?? NOTHING_DUE,
    mails: mails ?? NOTHING_DUE,
  };
}

type Answer = D1Result<Facts<never>>;

const NOTHING_DUE: Queue = { due: 0, oldestDueAtMs: null };

function vitalsOf([cursors, deployment, unsettled]: readonly Answer[]): Vitals {
  const [known] = rowsOf<DeploymentRow>(deployment);
  return {
    cursors: rowsOf<CursorRow>(cursors).map((row) => ({
      ...row,
      isResting: row.isResting === 1,
      sources: parseJson<readonly SourceState[]>(row.sources ?? "[]"),
    })),
    cronRanAtMs: known?.cronRanAtMs ?? null,
    setUpAtMs: known?.setUpAtMs ?? null,
    alertProof: known ?? NEVER_TESTED,
    databaseBytes: cursors?.meta.size_after ?? 0,
    unsettledInvoices: queueOf(unsettled).due,
  };
}

function queueOf(answer: Answer | undefined): Queue {
  return rowsOf<QueueRow>(answer)[0] ?? NOTHING_DUE;
}

function rowsOf<Row>(answer: Answer | undefined): readonly Row[] {
  return parseJson<readonly Row[]>(answer?.results[0]?.facts ?? "[]");
}
