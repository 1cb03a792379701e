// Compares the delivery log of an endpoint with the merchant's events and with the receiver's record. Each event that the endpoint is owed must have
// one delivery with its attempts, in the state that the receiver's answers require.
import * as z from "zod";
import type { Shop } from "./book.ts";
import type { Twin } from "./deployment.ts";
import type { Receiver } from "./internet.ts";
import { jsonIn } from "./json.ts";
import { readGood } from "./read-good.ts";

/** After this many failures in a row an endpoint is only probed, so deliveries may still wait (docs/design/webhooks.md). */
const PROBED_FROM_FAILURES = 20;
/** How long requests may still arrive after an endpoint was switched off, from workers that had already leased deliveries. */
const LAST_POST_WITHIN_MS = 20_000;
const PAGE = 100;

const ATTEMPT = z.object({ number: z.number(), statusCode: z.number().nullable(), error: z.string().nullable() });
const DELIVERY = z.object({
  id: z.string(),
  eventId: z.string(),
  status: z.enum(["PENDING", "SUCCEEDED", "FAILED"]),
  attempts: z.number(),
  lastAttempt: ATTEMPT.nullable(),
});
const DELIVERIES = z.object({ data: z.array(DELIVERY), nextCursor: z.string().nullable() });
const FILE = z.object({ attemptLog: z.array(ATTEMPT) });
const EVENTS = z.object({
  data: z.array(z.object({ id: z.string(), type: z.string() })),
  nextCursor: z.string().nullable(),
});
const WEBHOOK = z.object({
  id: z.string(),
  events: z.array(z.string()),
  isActive: z.boolean(),
  retryCount: z.number(),
  disabledReason: z.string().nullable(),
  disabledAt: z.string().nullable(),
  failuresInRow: z.number(),
});
const WEBHOOKS = z.array(WEBHOOK.extend({ url: z.string() }));

type Attempt = z.infer<typeof ATTEMPT>;
export type LoggedDelivery = z.infer<typeof DELIVERY>;
export type Webhook = Omit<z.infer<typeof WEBHOOK>, "id">;
type Event = z.infer<typeof EVENTS>["data"][number];

export interface LoggedEndpoint {
  readonly shop: Shop;
  readonly receiver: Receiver;
  readonly webhookId: string;
  /** Events from before the endpoint was registered, which it is not owed. */
  readonly before: ReadonlySet<string>;
}

/** An endpoint as the deployment reports it. */
export interface EndpointLog {
  readonly webhook: Webhook;
  readonly deliveries: readonly LoggedDelivery[];
  /** Ids of the events that the endpoint is owed. */
  readonly owed: readonly string[];
}

/** How many deliveries of an endpoint are in each state, for the report. */
export interface EndpointTally {
  readonly manner: Receiver["manner"];
  readonly succeeded: number;
  readonly failed: number;
  readonly waiting: number;
  readonly attempts: number;
  /** Why the endpoint was switched off; null if it was not. */
  readonly disabledReason: string | null;
}

/** The endpoint of a shop at the receiver's URL. Must be called just after it was registered. */
export async function loggedEndpoint(ask: Twin["ask"], shop: Shop, receiver: Receiver): Promise<LoggedEndpoint> {
  const webhooks = jsonIn(WEBHOOKS, await read(ask, shop, "/webhooks"));
  const webhook = webhooks.find(({ url }) => url === receiver.url);
  if (webhook === undefined) throw new Error(`${shop.merchantId} has no endpoint at ${receiver.url}`);
  const before = new Set((await eventsOf(ask, shop)).map(({ id }) => id));
  return { shop, receiver, webhookId: webhook.id, before };
}

/** What is wrong with the log of an endpoint; empty if it is correct. */
export async function logDifferences(ask: Twin["ask"], endpoint: LoggedEndpoint): Promise<readonly string[]> {
  const { receiver, shop, webhookId } = endpoint;
  const log = await logOf(ask, endpoint);
  const wrong = wrongInLog(receiver, log);
  if (wrong.length > 0 || isLively(receiver)) return wrong;
  const attempted = log.deliveries.filter(({ attempts }) => attempts > 0);
  const files = await Promise.all(
    attempted.map(async (delivery) => {
      const { attemptLog } = jsonIn(FILE, await read(ask, shop, `/webhooks/${webhookId}/deliveries/${delivery.id}`));
      return wrongInAttempts(receiver, delivery, attemptLog);
    }),
  );
  return files.flat();
}

export async function tallyOf(ask: Twin["ask"], endpoint: LoggedEndpoint): Promise<EndpointTally> {
  const { webhook, deliveries } = await logOf(ask, endpoint);
  const count = (status: LoggedDelivery["status"]) => deliveries.filter((each) => each.status === status).length;
  return {
    manner: endpoint.receiver.manner,
    succeeded: count("SUCCEEDED"),
    failed: count("FAILED"),
    waiting: count("PENDING"),
    attempts: deliveries.reduce((sum, { attempts }) => sum + attempts, 0),
    disabledReason: webhook.disabledReason,
  };
}

type Observed = Pick<Receiver, "manner" | "posts" | "lastPostMs">;

/** The logged result of each attempt, for a receiver that accepts nothing; null for one that accepts events at some time. */
const RESULTS: Readonly<Record<Receiver["manner"], string | null>> = {
  good: null,
  slow: null,
  failing: null,
  silent: "TIMEOUT",
  refusing: "403",
  gone: "410",
};
const isLively = ({ manner }: Pick<Receiver, "manner">) => RESULTS[manner] === null;

/** Checks that the log has each event that the endpoint is owed exactly once, in the right state, and no other event. */
export function wrongInLog(receiver: Observed, log: EndpointLog): readonly string[] {
  const { webhook, deliveries, owed } = log;
  const of = `(${receiver.manner} receiver)`;
  const times = new Map<string, number>();
  for (const { eventId } of deliveries) times.set(eventId, (times.get(eventId) ?? 0) + 1);
  const missing = owed.filter((id) => !times.has(id)).map((id) => `${id}: is not in the delivery log ${of}`);
  const doubled = [...times].filter(([, count]) => count > 1);
  const known = new Set(owed);
  const foreign = [...times.keys()].filter((id) => !known.has(id));
  return [
    ...missing,
    ...doubled.map(([id, count]) => `${id}: is ${count} times in the delivery log ${of}`),
    ...foreign.map((id) => `${id}: is in the delivery log and not owed ${of}`),
    ...deliveries.flatMap((delivery) => wrongInDelivery(receiver, webhook, delivery)),
    ...wrongInWebhook(receiver, webhook, deliveries),
  ];
}

function wrongInDelivery(receiver: Observed, webhook: Webhook, delivery: LoggedDelivery): readonly string[] {
  const { id, status, attempts } = delivery;
  const posts = receiver.posts.get(id) ?? 0;
  const wrong = (what: string) => [`${id}: ${what} (${receiver.manner} receiver)`];
  if (attempts > posts) return wrong(`${attempts} attempts are logged, and ${posts} requests came`);
  if (isLively(receiver)) {
    const isAccepted = status === "SUCCEEDED" && isSuccess(delivery.lastAttempt);
    return isAccepted ? [] : wrong(`is ${status} after ${attempts} attempts, and not SUCCEEDED`);
  }
  if (status === "SUCCEEDED") return wrong("is SUCCEEDED, although nothing was accepted");
  if (receiver.manner === "gone") return status === "PENDING" ? [] : wrong(`is ${status}, and must wait`);
  const isOver = attempts === webhook.retryCount + 1;
  if (isOver) return status === "FAILED" ? [] : wrong(`is ${status} after its last attempt`);
  const mayWait = webhook.failuresInRow >= PROBED_FROM_FAILURES && attempts < webhook.retryCount + 1;
  return mayWait && status === "PENDING" ? [] : wrong(`is ${status} after ${attempts} attempts`);
}

function wrongInWebhook(
  { manner, lastPostMs }: Observed,
  { isActive, disabledReason, disabledAt }: Webhook,
  deliveries: readonly LoggedDelivery[],
): readonly string[] {
  const mustBeOff = manner === "gone" && deliveries.length > 0;
  if (!mustBeOff) return isActive ? [] : [`the endpoint is off: ${disabledReason} (${manner} receiver)`];
  if (isActive || disabledReason !== "GONE") return [`the endpoint answered 410 and is not off (${manner} receiver)`];
  const lateMs = Date.parse(disabledAt ?? "") + LAST_POST_WITHIN_MS;
  return lastPostMs <= lateMs ? [] : [`the endpoint is off, and still got requests (${manner} receiver)`];
}

const isSuccess = (attempt: Attempt | null) =>
  attempt?.statusCode != null && attempt.statusCode >= 200 && attempt.statusCode < 300;

/** Checks that all attempts of a delivery are logged, numbered in order, each with the result that the receiver caused. */
export function wrongInAttempts(
  { manner }: Pick<Receiver, "manner">,
  { id, attempts }: Pick<LoggedDelivery, "id" | "attempts">,
  log: readonly Attempt[],
): readonly string[] {
  const numbers = log.map(({ number }) => number).toSorted((a, b) => a - b);
  const isWhole = numbers.length === attempts && numbers.every((number, at) => number === at + 1);
  const { [manner]: expected } = RESULTS;
  const others = log.map(({ error, statusCode }) => error ?? String(statusCode)).filter((each) => each !== expected);
  return [
    ...(isWhole ? [] : [`${id}: has ${attempts} attempts, and the log has ${numbers} (${manner} receiver)`]),
    ...others.map((result) => `${id}: an attempt ended with ${result}, and not ${expected} (${manner} receiver)`),
  ];
}

async function logOf(ask: Twin["ask"], { shop, webhookId, before }: LoggedEndpoint): Promise<EndpointLog> {
  const webhook = jsonIn(WEBHOOK, await read(ask, shop, `/webhooks/${webhookId}`));
  const events = await eventsOf(ask, shop);
  const deliveries: LoggedDelivery[] = [];
  for (let cursor: string | null = ""; cursor !== null; ) {
    const query = new URLSearchParams({ limit: String(PAGE), cursor });
    const page: z.infer<typeof DELIVERIES> = jsonIn(
      DELIVERIES,
      await read(ask, shop, `/webhooks/${webhookId}/deliveries?${query}`),
    );
    deliveries.push(...page.data);
    cursor = page.nextCursor;
  }
  const owed = events.filter((event) => !before.has(event.id) && isOwed(event, webhook)).map(({ id }) => id);
  return { webhook, deliveries, owed };
}

/** Whether an endpoint is owed an event. The event about a switched-off endpoint is sent only to the merchant's other endpoints. */
export function isOwed({ type }: Event, { events, isActive }: Pick<Webhook, "events" | "isActive">): boolean {
  if (type === "webhook.endpoint_disabled" && !isActive) return false;
  return events.some(
    (each) => each === "*" || each === type || (each.endsWith(".*") && type.startsWith(each.slice(0, -1))),
  );
}

/** All events of a merchant, in commit order. */
async function eventsOf(ask: Twin["ask"], shop: Shop): Promise<readonly Event[]> {
  const events: Event[] = [];
  for (let after = "0"; ; ) {
    const { data, nextCursor } = jsonIn(EVENTS, await read(ask, shop, `/events?limit=${PAGE}&after=${after}`));
    events.push(...data);
    if (nextCursor === null || data.length < PAGE) return events;
    after = nextCursor;
  }
}

const read = (ask: Twin["ask"], { merchantId, headers }: Shop, path: string) =>
  readGood(ask, `/api/v1/merchants/merchant/${merchantId}${path}`, headers);
