// The requests as work for `runOnce`, which is the same in the merchant's object, with its groups, and at the edge.
import { type InvoiceId, makeId } from "../../../src/lib/ids.ts";
import type { Result } from "../../../src/lib/result.ts";
import type { Sleep } from "../../../src/lib/sleep.ts";
import { readFurther, readTogether } from "../../../src/platform/db/batch.ts";
import type { Db } from "../../../src/platform/db/client.ts";
import { throwUnlessContention } from "../../../src/platform/db/conflict.ts";
import { readWithRetry } from "../../../src/platform/db/retry.ts";
import type { Failure, FailureCode } from "../../../src/platform/failures.ts";
import type { OnceAnswer, Prepared, Work } from "../../../src/platform/idempotency/run-once.ts";
import type { Attempt } from "../engine/campaign.ts";
import type { World } from "../engine/world.ts";
import {
  changeOf,
  createOf,
  createRefusal,
  credentialPlace,
  eventOfChange,
  type Facts,
  type Made,
  namedPlace,
  type Order,
  selectFacts,
  selectRoom,
} from "./groups-acts.ts";

export interface Request {
  readonly order: Order;
  /** The fingerprint of the request's body. */
  readonly print: string;
  /** The invoice that the request changes, if it is a change. */
  readonly invoiceId: string | undefined;
  /** Called if the request reaches the object more than once. */
  onRepeat(): void;
}

/** What a client receives; "unknown" if it is unclear whether its request was carried out. */
export type Answer =
  | { readonly kind: "success"; readonly body: string }
  | { readonly kind: "refused"; readonly code: string }
  | { readonly kind: "unknown" };

/** What a request needs to be carried out, in the object or at the edge. */
export interface Doer {
  readonly world: World;
  readonly db: Db;
  readonly sleep: Sleep;
  /** Allocates the address index of an invoice, or of a picked method. */
  allocate(name: string): Promise<number>;
  made(made: Made, order: Order): Made;
}

type Read = Result<Facts, Failure>;

export async function readFacts(
  { db, sleep }: Doer,
  { order, invoiceId = "" }: Pick<Request, "order" | "invoiceId">,
): Promise<Read> {
  const { email, externalId, credential } = order;
  const asked = { email, named: namedPlace(externalId), credential: credentialPlace(credential), invoiceId };
  const read = await readWithRetry(sleep, () => readTogether(db, [selectFacts(db, asked)]));
  if (!read.ok) return read;
  const [[facts]] = read.value;
  if (facts === undefined) throw new Error("a lookup without a row");
  return { ok: true, value: facts };
}

/** `first`: the facts that were read before the key was reserved. */
export function workOf(doer: Doer, request: Request, first: Facts): Work {
  return async (operationId, conflict, tries) => {
    throwUnlessContention("a request", conflict);
    if (conflict !== undefined) doer.world.note(`a change is decided again after ${conflict.kind}`);
    const read: Read = tries === 0 ? { ok: true, value: first } : await readFacts(doer, request);
    if (!read.ok) return { kind: "refused", failure: read.error };
    const of = { operationId, facts: read.value, tries };
    return request.order.act === "create" ? create(doer, request, of) : change(doer, request, of);
  };
}

interface Deciding {
  readonly operationId: string;
  readonly facts: Facts;
  readonly tries: number;
}

async function create(
  doer: Doer,
  { order, print }: Request,
  { operationId, facts, tries }: Deciding,
): Promise<Prepared> {
  const own: InvoiceId = makeId("inv", operationId);
  const refusal = createRefusal(order, facts, { own, open: await openOf(doer, order, tries) });
  if (refusal !== undefined) return refused(refusal);
  const index = await doer.allocate(own);
  const made = doer.made(createOf(doer.db, order, { operationId, print, index, facts }), order);
  return { ...made, status: 201, kind: "ready" };
}

/**
 * For a browser's request the limit is checked before the decision. A server's request relies on the assertion in the batch until that has failed
 * once.
 */
async function openOf({ db, sleep }: Doer, { isPublic, room }: Order, tries: number): Promise<number> {
  if (room === undefined) return 0;
  if (isPublic) return (await readFurther(db, selectRoom(db)))[0]?.open ?? 0;
  if (tries === 0) return 0;
  const read = await readWithRetry(sleep, () => readTogether(db, [selectRoom(db)]));
  return read.ok ? (read.value[0][0]?.open ?? 0) : 0;
}

async function change(doer: Doer, { order, print, invoiceId = "" }: Request, of: Deciding): Promise<Prepared> {
  const { act } = order;
  if (act === "create" || act === "revoke") throw new Error("no change of an invoice");
  const history = of.facts.history?.split(",") ?? [];
  const verdict = changeOf(act, history);
  if (verdict !== "due" && verdict !== "done") return refused(verdict);
  const index = act === "pick" ? await doer.allocate(`${invoiceId} pick`) : null;
  const made = eventOfChange(doer.db, order, { operationId: of.operationId, print, invoiceId, history, index });
  const whole = doer.made(verdict === "done" ? { ...made, statements: [] } : made, order);
  return { ...whole, status: 200, kind: "ready" };
}

function refused(code: FailureCode): Prepared {
  return { kind: "refused", failure: { code } as Failure };
}

const AGAIN: readonly FailureCode[] = ["STORAGE_UNAVAILABLE", "OPERATION_IN_PROGRESS", "CONTENTION"];

/** What the client of a request does with the result of `runOnce`. */
export function attemptOf(world: World, { isKeyless }: Order, answer: OnceAnswer): Attempt<Answer> {
  if (answer.kind === "answer") {
    if (answer.isReplay) world.note("an answer is replayed");
    return { kind: "done", value: { kind: "success", body: answer.body } };
  }
  const { failure } = answer;
  world.note(`a request is refused: ${failure.code}`);
  if (!AGAIN.includes(failure.code)) return { kind: "done", value: { kind: "refused", code: failure.code } };
  if (isKeyless) return { kind: "done", value: { kind: "unknown" } };
  return {
    kind: "again",
    afterMs: failure.code === "OPERATION_IN_PROGRESS" ? failure.retryAfterSeconds * 1_000 : 1_000,
  };
}
