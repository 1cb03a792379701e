// The database whose batches pass their news on: endpoints with something due are woken, open pages of customers are notified. This only makes
// both faster: the cron finds what is due, and pages poll by themselves.
import { drizzle } from "drizzle-orm/d1";
import { chunksOf } from "../../lib/chunks.ts";

export type Db = ReturnType<typeof openDb>;

/** The database; `batch` (batch.ts) passes the news of what it commits to the listeners. */
export function openDb(d1: D1Database, listeners: Listeners = {}) {
  return Object.assign(drizzle(d1), { listeners });
}

/** A message of the queue: this endpoint has something due. */
export interface Wake {
  readonly webhookId: string;
}

/** The platform's limit for one call. */
const MESSAGES_A_CALL = 100;

export function openWakingDb(
  env: Pick<Env, "DB" | "WEBHOOK_QUEUE" | "CHECKOUT_ROOM">,
  background: (work: Promise<unknown>) => void,
): Db {
  return openDb(env.DB, {
    wake: (webhookIds) => background(wakeEndpoints(env, webhookIds)),
    tell: (invoices) => background(tellRooms(env, invoices)),
  });
}

/** One message for each. */
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

/** `invoices`: each as `<merchantId> <invoiceId>`. Rejects where a room did not answer; its pages ask again by themselves. */
export async function tellRooms(
  { CHECKOUT_ROOM }: Pick<Env, "CHECKOUT_ROOM">,
  invoices: readonly string[],
): Promise<void> {
  const byMerchant = Map.groupBy(
    invoices.map((invoice) => invoice.split(" ")),
    ([merchantId]) => merchantId ?? "",
  );
  await Promise.all(
    [...byMerchant].map(async ([merchantId, pages]) => {
      const room: { tell(invoiceIds: readonly string[]): Promise<void> } = CHECKOUT_ROOM.getByName(merchantId);
      await room.tell(pages.flatMap(([, invoiceId = ""]) => invoiceId));
    }),
  );
}

/** What a committed batch leaves for others to do at once. A statement says what it is, so that no caller can forget to pass it on. */
export interface News {
  /** Ids of endpoints for which something is due. */
  readonly wake?: readonly string[];
  /** Invoices whose open checkout pages are out of date, each as `<merchantId> <invoiceId>`. */
  readonly tell?: readonly string[];
}

/** Called once for each committed batch that has such news, with each id once. */
type Listeners = { readonly [Kind in keyof News]?: (ids: readonly string[]) => void };

const NEWS = Symbol("news");

interface Newsworthy {
  /** A method, whose parameter TypeScript compares both ways: each statement is given the result of its own type. */
  [NEWS](result: unknown): News;
}

/** The same statement, whose batch publishes its news once it has committed. `newsOf` reads them from what the statement returns. */
export function withNews<S extends PromiseLike<unknown>>(statement: S, newsOf: (result: Awaited<S>) => News): S {
  return Object.assign(statement, { [NEWS]: newsOf } satisfies Newsworthy);
}

/** `joined`, which does what the statements do, with the news of each; a statement's news are read from what the joined one returns. */
export function withNewsOfAll<S extends PromiseLike<unknown>>(joined: S, statements: readonly object[]): S {
  const newsworthy = statements.filter(isNewsworthy);
  if (newsworthy.length === 0) return joined;
  return withNews(joined, (result) => {
    const news = newsworthy.map((statement) => statement[NEWS](result));
    return { wake: news.flatMap(({ wake = [] }) => wake), tell: news.flatMap(({ tell = [] }) => tell) };
  });
}

/** Calls the listeners with the news of the statements of a committed batch; `results`: what each returned, in order. */
export function publish(statements: readonly object[], results: readonly unknown[], { wake, tell }: Listeners): void {
  const news = statements.flatMap((statement, at) => (isNewsworthy(statement) ? [statement[NEWS](results[at])] : []));
  const endpoints = new Set(news.flatMap((each) => each.wake ?? []));
  const pages = new Set(news.flatMap((each) => each.tell ?? []));
  if (endpoints.size > 0) wake?.([...endpoints]);
  if (pages.size > 0) tell?.([...pages]);
}

function isNewsworthy(statement: object): statement is Newsworthy {
  return NEWS in statement;
}
