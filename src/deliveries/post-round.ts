// The POSTs of one round, a few at a time. None begins once one of them was left without an answer: an endpoint that hangs costs a time limit
// or two, not one for each that it is owed.
import { eventText } from "../events/event-body.ts";
import { SECOND_MS } from "../lib/time.ts";
import { type EndpointRules, parseEndpointUrl } from "../webhooks/endpoint-url.ts";
import type { Resolution } from "../webhooks/host-resolver-client.ts";
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

export interface PostEffects {
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
 * Makes a round's POSTs, signed with `secrets`. Where the address is refused, or nobody can tell what it is, the first delivery fails for all:
 * the others would only fail of the same, and each has no more than its attempts.
 */
export async function postRound(fx: PostEffects, round: Round, secrets: readonly string[]): Promise<Posted> {
  const { webhook, deliveries } = round;
  const target = await targetOf(fx, webhook);
  const [first, ...others] = deliveries;
  if (typeof target === "string" && first !== undefined)
    return { attempts: [unsent(fx.nowMs(), first, target)], untried: others };
  const beganMs = fx.nowMs();
  const attempts: Attempt[] = [];
  const waiting = [...deliveries];
  const lane = async (): Promise<void> => {
    while (!attempts.some(endsRound) && mayBegin(round, { beganMs, nowMs: fx.nowMs() })) {
      const delivery = waiting.shift();
      if (delivery === undefined) return;
      attempts.push(await attemptOf(fx, webhook, delivery, secrets));
    }
  };
  await Promise.all(Array.from({ length: POSTS_AT_ONCE }, lane));
  return { attempts, untried: waiting };
}

/** Judged before every round, for the rules or the name may have changed since the endpoint was made. Undefined: it may go there. */
async function targetOf(fx: PostEffects, { url }: Webhook): Promise<AttemptError | undefined> {
  const parsed = parseEndpointUrl(url, fx.rules);
  if (!parsed.ok) return "URL_REFUSED";
  if (parsed.value.isLoopback) return undefined;
  const { kind } = await fx.resolve(parsed.value.host);
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
  fx: PostEffects,
  { id: webhookId, url, timeoutMs }: Webhook,
  delivery: Claimed,
  secrets: readonly string[],
): Promise<Attempt> {
  const body = eventText(delivery.event);
  const atMs = fx.nowMs();
  const timestampSeconds = Math.floor(atMs / SECOND_MS);
  const of = { eventId: delivery.event.id, deliveryId: delivery.id, webhookId, body, timestampSeconds, secrets };
  const requestHeaders = await signedHeaders(of);
  const answer = await fx.post({ url, headers: requestHeaders, body, timeoutMs });
  return { delivery, atMs, endedMs: fx.nowMs(), requestHeaders, answer };
}
