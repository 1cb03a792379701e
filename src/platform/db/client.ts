// The database client, and the listeners of its batches: endpoints that have deliveries due, and open checkout pages. Notifying them only saves time:
// the cron finds due deliveries anyway, and pages poll. Before a batch that revokes something, a copy of the revocation is stored outside the
// database; if that fails, nothing is revoked.

import { drizzle } from "drizzle-orm/d1";
import { chunksOf } from "../../lib/chunks.ts";
import { objectOf, standInOf } from "../../lib/object-of.ts";

import type { Revocation, RevocationsRpc } from "../revocations/revocation.ts";
import { type Meter, oneByOne } from "./meter.ts";
import type { RequestGroup } from "./request-group.ts";
import { callAdded } from "./retry.ts";
import type { News } from "./statement.ts";

export type Db = ReturnType<typeof openDb>;

/**
 * The database client. `commit` (batch.ts) calls the listeners. `group`: the request takes part in groups, in which `readTogether` and `sendChange`
 * send its statements. `meter` counts every call, except that for a request in a group it counts only batches.
 */
export function openDb(d1: D1Database, listeners: Listeners = {}, group?: RequestGroup, meter?: Meter) {
  // A grouped request's statements outside of batches are not counted: they run at the same time as its response, and may finish after it.
  const single = group === undefined ? meter : undefined;
  return Object.assign(drizzle(oneByOne(d1, single)), { $client: d1, listeners, group, meter } satisfies Client);
}

/** The parts of a client that a batch uses. */
export interface Sender {
  readonly $client: D1Database;
  readonly listeners: Listeners;
  /** Counts the calls of this client. */
  readonly meter: Meter | undefined;
}

interface Client extends Sender {
  readonly group: RequestGroup | undefined;
}

/** A queue message: this endpoint has deliveries due. */
interface Wake {
  readonly webhookId: string;
}

/** The most messages that a queue accepts in one call. */
const MESSAGES_A_CALL = 100;

export function openWakingDb(
  d1: D1Database,
  env: Pick<Env, "WEBHOOK_QUEUE" | "CHECKOUT_ROOM" | "MERCHANT_OBJECT" | "LOCATION_HINT">,
  background: (work: Promise<unknown>) => void,
  meter?: Meter,
): Db {
  const listeners = {
    keep: (revocations: readonly Revocation[]) => keepRevocations(env, revocations),
    wake: (webhookIds: readonly string[]) => background(wakeEndpoints(env, webhookIds)),
    tell: (invoices: readonly string[]) => background(tellRooms(env, invoices)),
  };
  return openDb(d1, listeners, undefined, meter);
}

/** Sends one queue message per endpoint. */
export async function wakeEndpoints(
  { WEBHOOK_QUEUE }: Pick<Env, "WEBHOOK_QUEUE">,
  webhookIds: readonly string[],
  delaySeconds = 0,
): Promise<void> {
  for (const chunk of chunksOf(webhookIds, MESSAGES_A_CALL)) {
    await WEBHOOK_QUEUE.sendBatch(
      chunk.map((webhookId) => ({ body: { webhookId } satisfies Wake })),
      { delaySeconds },
    );
  }
}

/**
 * Sends ids, each given as `<merchantId> <id>`, to the merchants' rooms, which notify these invoices' open pages and the team. Rejects if a room does
 * not respond; that does little harm, because pages and teams poll anyway.
 */
export async function tellRooms(
  env: Pick<Env, "CHECKOUT_ROOM" | "LOCATION_HINT">,
  invoices: readonly string[],
): Promise<void> {
  const byMerchant = Map.groupBy(
    invoices.map((invoice) => invoice.split(" ")),
    ([merchantId]) => merchantId ?? "",
  );
  await Promise.all(
    [...byMerchant].map(async ([merchantId, pages]) => {
      const room: { tell(invoiceIds: readonly string[]): Promise<void> } = objectOf(env, env.CHECKOUT_ROOM, merchantId);
      await room.tell(pages.flatMap(([, invoiceId = ""]) => invoiceId));
    }),
  );
}

/** All except `keep` are called at most once for a committed batch, with distinct ids. */
type Listeners = { readonly [Kind in keyof News]?: (ids: readonly string[]) => void } & {
  /** Called before a batch that revokes something; the batch is sent only if this resolves. */
  readonly keep?: (revocations: readonly Revocation[]) => Promise<void>;
};

/** Stores the copies, with one call to the object of each owner (a merchant or a user). */
async function keepRevocations(
  env: Pick<Env, "MERCHANT_OBJECT" | "LOCATION_HINT">,
  revocations: readonly Revocation[],
): Promise<void> {
  const byOwner = Map.groupBy(revocations, ({ owner }) => owner);
  const nowMs = Date.now();
  await Promise.all(
    [...byOwner].map(async ([owner, own]) => {
      const copies = own.map(({ kind, target, columns }) => ({ kind, target, columns }));
      const keepIn = (name: string) => {
        const object: Pick<RevocationsRpc, "keepRevocations"> = objectOf(env, env.MERCHANT_OBJECT, name);
        return object.keepRevocations(copies, nowMs);
      };
      await callAdded(
        () => keepIn(owner),
        () => keepIn(standInOf(owner)),
      );
    }),
  );
}
