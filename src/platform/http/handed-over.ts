// What the edge hands over to a merchant's object (app/merchant-object.ts), and what the object hands back.
//
// While an object refuses more requests than it accepts, because D1 stalls or the object is overloaded, the edge refuses most of them itself: each
// request that the object has to refuse costs it time for requests that it could accept. Refused callers come back later, at different times. This is
// the adaptive throttling of Google's SRE book ("Handling overload"). It counts answers, not requests, so that a burst of requests passes.
import type { RequestId } from "../../lib/ids.ts";
import { objectOf } from "../../lib/object-of.ts";
import { err, type Result } from "../../lib/result.ts";
import { SECOND_MS } from "../../lib/time.ts";
import type { Json } from "../../lib/typed-json.ts";
import type { Cost } from "../../lib/work-log.ts";
import { faultKind, OVERLOADED } from "../db/retry.ts";
import type { Failure } from "../failures.ts";
import type { Incoming } from "./incoming.ts";
import { CHALLENGE_TOKEN } from "./route.ts";

/**
 * A request that the edge has read, validated and admitted. The object authenticates it again, and validates it with its own schema. For rate limits,
 * the sender of a page's form is counted at the edge, any other caller in the object.
 */
export interface HandedOver {
  readonly operationId: string;
  readonly requestId: RequestId;
  readonly ip: string | null;
  readonly path: string;
  readonly params: Readonly<Record<string, string>>;
  readonly headers: Readonly<Record<string, string>>;
  readonly query: Readonly<Record<string, string>>;
  readonly json: Json | undefined;
  /** Whether the request needs no secret: it was sent with a public key, or as a form. */
  readonly isPublic: boolean;
  /** The length of the request's body, in bytes. */
  readonly bytes: number;
  /** The newest restore known at the edge, in the form of RESTORE_EPOCH; absent from an edge that still runs the previous release. */
  readonly restoreEpoch?: string;
}

/** The object's answer. The edge builds the response, with `headers`. */
export interface HandedBack {
  readonly result: Result<HandedReply, Failure>;
  readonly headers: Readonly<Record<string, string>>;
  /** The request's D1 usage; absent from an object that still runs the previous release. */
  readonly cost?: Cost;
}

/** A reply that is not a stream. */
export interface HandedReply {
  readonly status: number;
  readonly body: string | null;
  readonly headers?: Readonly<Record<string, string>>;
}

/** The merchant's object (app/merchant-object.ts). */
export interface MerchantObjectRpc {
  answer(handed: HandedOver): Promise<HandedBack>;
}

/** The headers that a route inside the object may read. */
const HEADERS = ["x-api-key", "cookie", "origin", "idempotency-key", CHALLENGE_TOKEN, "accept", "user-agent"];

/** Lets the merchant's object answer. `isRepeatable`: whether repeating is safe, which it is not for a create without an Idempotency-Key. */
export async function answerInMerchantObject(
  env: Pick<Env, "MERCHANT_OBJECT" | "LOCATION_HINT">,
  merchantId: string,
  { handed, isRepeatable }: { readonly handed: HandedOver; readonly isRepeatable: boolean },
): Promise<HandedBack> {
  const answered = await answerIn(() => objectOf(env, env.MERCHANT_OBJECT, merchantId), handed, isRepeatable ? 2 : 1);
  if (!handed.isPublic) noteAnswer(merchantId, answered.result);
  return answered;
}

async function answerIn(object: () => MerchantObjectRpc, handed: HandedOver, tries: number): Promise<HandedBack> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await object().answer(handed);
    } catch (error) {
      const kind = faultKind(error);
      if (kind === "other") throw error;
      if (kind === "overloaded" || attempt === tries)
        return { result: err({ code: "STORAGE_UNAVAILABLE" }), headers: {} };
    }
  }
}

export function handOver(
  incoming: Incoming,
  of: Pick<HandedOver, "operationId" | "query" | "json" | "isPublic" | "bytes">,
): HandedOver {
  const { requestId, ip = null, path } = incoming;
  const headers = HEADERS.flatMap((name) => {
    const value = incoming.header(name);
    return value === undefined ? [] : [[name, value] as const];
  });
  // Hono's objects have no prototype, and calls between objects accept only plain ones.
  const [params, query] = [{ ...incoming.params }, { ...of.query }];
  const { RESTORE_EPOCH: restoreEpoch } = incoming.env;
  return { ...of, requestId, ip, path, params, query, headers: Object.fromEntries(headers), restoreEpoch };
}

/** The time constant with which the weight of an answer fades. */
const FADES_MS = 3 * SECOND_MS;
/**
 * How far refusals may outnumber accepted requests, both with their faded weights. About three requests a second still reach the object, to test
 * whether it accepts requests again.
 */
const PASSING = 10;
/** The number of merchants for which an isolate counts answers. */
const MOST_MERCHANTS = 1_024;

export class Throttle {
  #refused = 0;
  #taken = 0;
  #atMs = 0;

  /** STORAGE_UNAVAILABLE, or undefined if the object should be called. */
  refusal(nowMs: number): Failure | undefined {
    this.#fade(nowMs);
    return this.#refused < this.#taken + PASSING ? undefined : OVERLOADED;
  }

  /** Counts the object's answers. */
  note(result: Result<unknown, Failure>, nowMs: number): void {
    this.#fade(nowMs);
    if (!result.ok && result.error.code === "STORAGE_UNAVAILABLE") this.#refused += 1;
    else this.#taken += 1;
  }

  #fade(nowMs: number): void {
    const left = Math.exp(Math.min(0, this.#atMs - nowMs) / FADES_MS);
    this.#atMs = nowMs;
    this.#refused *= left;
    this.#taken *= left;
  }
}

const throttles = new Map<string, Throttle>();

/** The refusal for a request to a merchant's object, before its caller is known. Undefined if the object should be called. */
export function throttled(merchantId: string | undefined): Failure | undefined {
  return throttles.get(merchantId ?? "")?.refusal(Date.now());
}

/** Records the object's answer to one of the merchant's servers. Answers to browsers do not count, because browsers have lower limits. */
export function noteAnswer(merchantId: string, result: Result<unknown, Failure>): void {
  const throttle = throttles.get(merchantId) ?? new Throttle();
  throttles.set(merchantId, throttle);
  throttle.note(result, Date.now());
  const [oldest] = throttles.keys();
  if (oldest !== undefined && throttles.size > MOST_MERCHANTS) throttles.delete(oldest);
}
