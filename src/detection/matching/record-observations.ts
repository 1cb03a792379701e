// Updates only the rows of observed payments: those without an invoice, and those whose invoice cannot be changed. One transfer has a row for each
// merchant at its address, so many rows are written in one batch of few statements.

import type { Network } from "../../chains/registry/networks.ts";
import { type ChainHeights, paymentAfter, paymentEvents } from "../../commerce/payments/chain-observation.ts";
import type { Payment } from "../../commerce/payments/payment.ts";
import { paymentBodyOf } from "../../commerce/payments/payment-body.ts";
import { assertPaymentsAsRead, putPayment, selectPaymentVersion } from "../../commerce/payments/store.ts";
import { entriesOfPaymentChange } from "../../commerce/reports/invoice-entries.ts";
import { addEntries } from "../../commerce/reports/store.ts";
import { chunksOf } from "../../lib/chunks.ts";
import { derivedId } from "../../lib/ids.ts";
import { err, ok, type Result } from "../../lib/result.ts";
import type { CommitDependencies } from "../../platform/changes/change.ts";
import { commitBatch, type Marker } from "../../platform/db/commit-batch.ts";
import { throwUnlessContention } from "../../platform/db/conflict.ts";
import { joinStatements } from "../../platform/db/joined-statements.ts";
import type { Write } from "../../platform/db/statement.ts";
import type { EventType, OutboxEvent } from "../../platform/events/event.ts";
import { recordOutbox } from "../../platform/events/store.ts";
import type { Failure } from "../../platform/failures.ts";
import { comingIn, countOnce } from "../growth/read-growth.ts";
import type { Progress, Seen } from "./look-progress.ts";

/** The most rows in one batch. */
const ROWS_AT_ONCE = 100;

interface ObservationContext {
  readonly network: Network;
  readonly heights: ChainHeights;
  /** If true, no event is emitted. */
  readonly isSilent?: boolean;
}

/** CONTENTION if another writer has changed one of the rows first. */
export async function recordObservations(
  deps: CommitDependencies,
  seen: readonly Seen[],
  { network, heights, isSilent = false }: ObservationContext,
  progress: Progress,
): Promise<Result<true, Failure>> {
  const distinct = new Map(seen.map((each) => [each.payment.id, each]));
  const changes = [...distinct.values()].flatMap((each) => {
    const { payment, observation, mayConfirm = true } = each;
    const after = paymentAfter(payment, observation, { network, heights, nowMs: deps.nowMs, mayConfirm });
    return after === payment ? [] : [{ ...each, after: laterThan(payment, after) }];
  });
  for (const some of chunksOf(changes, ROWS_AT_ONCE)) {
    if (!progress.mayBegin()) {
      progress.leaveSeen(some);
      continue;
    }
    const [first] = some;
    if (first === undefined) continue;
    const lists = some.map(({ payment, after }) =>
      changeStatements(deps, payment, after, isSilent ? [] : paymentEvents(payment, after)),
    );
    const done = await commitUnmatched(deps, () => selectPaymentVersion(deps.db, first.after), [
      assertPaymentsAsRead(
        deps.db,
        some.map(({ payment }) => payment),
      ),
      ...countOnce(deps.db, network, comingIn(some.map((each) => ({ ...each, before: each.payment }))), []),
      ...joinStatements(lists),
    ]);
    if (!done.ok) return done;
  }
  return ok(true);
}

/** Removes a row without an invoice, because another payment in the same batch covers the same money. */
export function dropStatements(
  deps: Pick<CommitDependencies, "db" | "nowMs" | "newOperationId">,
  payment: Payment,
  { network, heights }: Pick<ObservationContext, "network" | "heights">,
): readonly Write[] {
  const after = laterThan(
    payment,
    paymentAfter(payment, { kind: "replaced" }, { network, heights, nowMs: deps.nowMs }),
  );
  const statements = changeStatements(deps, payment, after, paymentEvents(payment, after));
  return [assertPaymentsAsRead(deps.db, [payment]), ...statements];
}

/**
 * Makes each update later than the one before: two states written within one millisecond would have the same time, so that a lost write would
 * look committed and a repeated write would find the row as it was read.
 */
function laterThan(before: Payment, after: Payment): Payment {
  return after === before ? after : { ...after, updatedAtMs: Math.max(after.updatedAtMs, before.updatedAtMs + 1) };
}

function changeStatements(
  deps: Pick<CommitDependencies, "db" | "nowMs" | "newOperationId">,
  payment: Payment,
  after: Payment,
  eventTypes: readonly EventType[],
): readonly Write[] {
  const operationId = deps.newOperationId();
  const eventsToRecord = eventTypes.map((type, n) => eventOf(deps, after, type, derivedId("evt", operationId, n)));
  const outbox = eventsToRecord.length === 0 ? [] : recordOutbox(deps.db, eventsToRecord);
  const counted = addEntries(deps.db, entriesOfPaymentChange(payment, after));
  return [putPayment(deps.db, after), ...counted, ...outbox];
}

function eventOf(
  deps: Pick<CommitDependencies, "nowMs">,
  payment: Payment,
  type: EventType,
  id: `evt_${string}`,
): OutboxEvent {
  return {
    id,
    merchantId: payment.merchantId,
    type,
    invoiceId: null,
    sequence: null,
    data: JSON.stringify({ payment: paymentBodyOf(payment, []) }),
    createdAtMs: deps.nowMs,
  };
}

/** Sends the batch of rows without an invoice. */
export async function commitUnmatched(
  deps: CommitDependencies,
  marker: Marker,
  statements: readonly Write[],
): Promise<Result<true, Failure>> {
  const sent = await commitBatch(deps, marker, statements);
  if (sent.kind === "committed") return ok(true);
  if (sent.kind === "unknown") return err({ code: "STORAGE_UNAVAILABLE" });
  throwUnlessContention("an unmatched transfer", sent.conflict);
  return err({ code: "CONTENTION" });
}
