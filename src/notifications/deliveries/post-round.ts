// The POSTs of one round, a few at a time. After a POST without an answer, or with a 410, no further POST starts, so that an endpoint that hangs
// costs one or two time limits instead of one for each due delivery.

import { webhookHeaders, webhookText } from "../../commerce/greenfield/webhook-message.ts";
import { SECOND_MS } from "../../lib/time.ts";
import { eventText } from "../../platform/events/event.ts";
import type { Resolution } from "../../platform/resolver/host-resolver-client.ts";
import { type EndpointRules, parseEndpointUrl } from "../webhooks/endpoint-url.ts";
import type { ReceiverAnswer, ReceiverRequest } from "../webhooks/receiver-client.ts";
import { signedHeaders } from "../webhooks/signature.ts";
import type { Webhook } from "../webhooks/webhook.ts";
import {
  type Attempt,
  type AttemptError,
  type Claimed,
  endsRound,
  mayBegin,
  POSTS_AT_ONCE,
  type Round,
} from "./round.ts";

export interface PostDependencies {
  readonly nowMs: () => number;
  readonly rules: EndpointRules;
  readonly resolve: (host: string) => Promise<Resolution>;
  readonly post: (request: ReceiverRequest) => Promise<ReceiverAnswer>;
}

export interface Posted {
  /** In the order in which they ended. */
  readonly attempts: readonly Attempt[];
  readonly untried: readonly Claimed[];
}

/**
 * Makes a round's POSTs, signed with `secrets`. If the URL is refused or its host cannot be resolved, only the first delivery fails: the others
 * would fail for the same reason, and each has a limited number of attempts.
 */
export async function postRound(deps: PostDependencies, round: Round, secrets: readonly string[]): Promise<Posted> {
  const { webhook, deliveries } = round;
  const target = await targetOf(deps, webhook);
  const [first, ...others] = deliveries;
  if (typeof target === "string" && first !== undefined)
    return { attempts: [unsent(deps.nowMs(), first, target)], untried: others };
  const beganMs = deps.nowMs();
  const attempts: Attempt[] = [];
  const waiting = [...deliveries];
  const lane = async (): Promise<void> => {
    while (!attempts.some(endsRound) && mayBegin(round, { beganMs, nowMs: deps.nowMs() })) {
      const delivery = waiting.shift();
      if (delivery === undefined) return;
      attempts.push(await attemptOf(deps, webhook, delivery, secrets));
    }
  };
  await Promise.all(Array.from({ length: POSTS_AT_ONCE }, lane));
  return { attempts, untried: waiting };
}

/**
 * Checks the URL before every round, because the rules or the host's addresses may have changed since the endpoint was created. Returns undefined if
 * the URL is allowed.
 */
async function targetOf(deps: PostDependencies, { url }: Webhook): Promise<AttemptError | undefined> {
  const parsed = parseEndpointUrl(url, deps.rules);
  if (!parsed.ok) return "URL_REFUSED";
  if (parsed.value.isLoopback) return undefined;
  const { kind } = await deps.resolve(parsed.value.host);
  switch (kind) {
    case "public":
      return undefined;
    case "refused":
      return "URL_REFUSED";
    case "unknown":
      return "RESOLVE_FAILED";
  }
}

function unsent(nowMs: number, delivery: Claimed, error: AttemptError): Attempt {
  const answer = { statusCode: null, error, latencyMs: 0, response: null, retryAfter: null };
  return { delivery, atMs: nowMs, endedMs: nowMs, requestHeaders: {}, answer };
}

async function attemptOf(
  deps: PostDependencies,
  webhook: Webhook,
  delivery: Claimed,
  secrets: readonly string[],
): Promise<Attempt> {
  const { url, timeoutMs } = webhook;
  const atMs = deps.nowMs();
  const { body, requestHeaders } = await messageOf(webhook, delivery, { atMs, secrets });
  const answer = await deps.post({ url, headers: requestHeaders, body, timeoutMs });
  return { delivery, atMs, endedMs: deps.nowMs(), requestHeaders, answer };
}

/** The message to send, in the endpoint's format. */
async function messageOf(
  { id: webhookId, format }: Webhook,
  { id: deliveryId, event, attempts }: Claimed,
  { atMs, secrets }: { readonly atMs: number; readonly secrets: readonly string[] },
): Promise<{ readonly body: string; readonly requestHeaders: Readonly<Record<string, string>> }> {
  if (format === "GREENFIELD") {
    const body = webhookText({ event, webhookId, deliveryId, isRedelivery: attempts > 0 });
    return { body, requestHeaders: await webhookHeaders(body, secrets) };
  }
  const body = eventText(event);
  const timestampSeconds = Math.floor(atMs / SECOND_MS);
  const of = { eventId: event.id, deliveryId, webhookId, body, timestampSeconds, secrets };
  return { body, requestHeaders: await signedHeaders(of) };
}
