// A database client that publishes the news of its batches: it wakes endpoints that have deliveries due and notifies open checkout pages. Both
// only save time: the cron finds due deliveries anyway, and pages poll. Before a batch that revokes something, it has a copy kept outside the
// database; without the copy nothing is revoked.

import { drizzle } from "drizzle-orm/d1";
import { chunksOf } from "../../lib/chunks.ts";
import { objectOf, standInOf } from "../../lib/object-of.ts";

import type { Revocation, RevocationsRpc } from "../revocations/revocation.ts";
import { type Meter, oneByOne } from "./meter.ts";
import type { RequestGroup } from "./request-group.ts";
import { callAdded } from "./retry.ts";

export type Db = ReturnType<typeof openDb>;

/**
 * The database client; after a commit, `batch` (batch.ts) calls the listeners with the news of its statements. `group`: the request takes part in
 * groups, in which `readTogether` and `sendChange` send its statements. `meter`: counts every call.
 */
export function openDb(d1: D1Database, listeners: Listeners = {}, group?: RequestGroup, meter?: Meter) {
  return Object.assign(drizzle(oneByOne(d1, meter)), {
    $client: d1,
    listeners,
    group,
    meter,
  });
}

/** The same client for a request that takes part in a group. `meter` counts what it sends outside the group in batches. */
export function withGroup(db: Db, group: RequestGroup, meter?: Meter): Db {
  return Object.assign(Object.create(db), { group, meter });
}

/** The same client, whose batches `meter` counts. */
export function withMeter(db: Db, meter: Meter): Db {
  return Object.assign(Object.create(db), { meter });
}

/** A queue message: this endpoint has deliveries due. */
export interface Wake {
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
 * Notifies the open pages of invoices, and the merchant's people of these and of other things, each given as `<merchantId> <id>`. Rejects if a
 * room does not respond; all of them poll anyway.
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

/** What must be woken or notified after a commit. It is attached to the statement, so that no caller can forget to publish it. */
export interface News {
  /** Ids of endpoints with deliveries due. */
  readonly wake?: readonly string[];
  /** Invoices whose open checkout pages are out of date, and what the merchant's people are told of, each as `<merchantId> <id>`. */
  readonly tell?: readonly string[];
}

/** Each but `keep` is called once per committed batch that has news of its kind; the ids are distinct. */
type Listeners = { readonly [Kind in keyof News]?: (ids: readonly string[]) => void } & {
  /** Called before a batch is sent; it is sent only if this resolves. */
  readonly keep?: (revocations: readonly Revocation[]) => Promise<void>;
};

const NEWS = Symbol("news");

interface Newsworthy {
  /** A method, because TypeScript compares the parameters of methods bivariantly: a statement's own result type fits `unknown`. */
  [NEWS](result: unknown): News;
}

/** Attaches news to a statement, published after its batch has committed. `newsOf` derives them from the statement's result. */
export function withNews<S extends PromiseLike<unknown>>(statement: S, newsOf: (result: Awaited<S>) => News): S {
  return Object.assign(statement, { [NEWS]: newsOf } satisfies Newsworthy);
}

/** Attaches the news of several statements to `joined`, which does the same as all of them. Derives each statement's news from the result of `joined`. */
export function withNewsOfAll<S extends PromiseLike<unknown>>(joined: S, statements: readonly object[]): S {
  const newsworthy = statements.filter(isNewsworthy);
  if (newsworthy.length === 0) return joined;
  return withNews(joined, (result) => {
    const news = newsworthy.map((statement) => statement[NEWS](result));
    return { wake: news.flatMap(({ wake = [] }) => wake), tell: news.flatMap(({ tell = [] }) => tell) };
  });
}

/** Calls the listeners with the news of a committed batch. `results`: the results of its statements, in order. */
export function publish(statements: readonly object[], results: readonly unknown[], { wake, tell }: Listeners): void {
  const news = statements.flatMap((statement, at) => (isNewsworthy(statement) ? [statement[NEWS](results[at])] : []));
  const endpoints = new Set(news.flatMap((each) => each.wake ?? []));
  const pages = new Set(news.flatMap((each) => each.tell ?? []));
  if (endpoints.size > 0) wake?.([...endpoints]);
  if (pages.size > 0) tell?.([...pages]);
}

const REVOCATIONS = Symbol("revocations");

interface Revoking {
  readonly [REVOCATIONS]: readonly Revocation[];
}

/** Says what a statement revokes, so that no caller can forget the copies. */
export function withRevocations<S extends object>(statement: S, revocations: readonly Revocation[]): S {
  return Object.assign(statement, { [REVOCATIONS]: revocations } satisfies Revoking);
}

/** Has the copies of what the statements revoke kept. Rejects if they are not. */
export async function keepCopies(statements: readonly object[], { keep }: Listeners): Promise<void> {
  const revocations = statements.flatMap((statement) => (isRevoking(statement) ? statement[REVOCATIONS] : []));
  if (revocations.length > 0) await keep?.(revocations);
}

/** One call of the object of each merchant or user. */
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

function isRevoking(statement: object): statement is Revoking {
  return REVOCATIONS in statement;
}

function isNewsworthy(statement: object): statement is Newsworthy {
  return NEWS in statement;
}
