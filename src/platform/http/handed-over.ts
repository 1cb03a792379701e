// What the edge hands over to the object of a merchant (app/merchant-object.ts), and what the object hands back.
import type { RequestId } from "../../lib/ids.ts";
import { objectOf } from "../../lib/object-of.ts";
import { err, type Result } from "../../lib/result.ts";
import type { Json } from "../../lib/typed-json.ts";
import type { Cost } from "../../lib/work-log.ts";
import { faultKind } from "../db/retry.ts";
import type { Failure } from "../failures.ts";
import type { Incoming } from "./incoming.ts";
import { CHALLENGE_TOKEN } from "./route.ts";

/**
 * A request that the edge has read, found valid and admitted. The object authenticates it again, and validates it with its own schema. The sender
 * of a page's form is counted at the edge, any other caller in the object.
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
  /** Whether anyone can send it: with a public key, or as a form. */
  readonly isPublic: boolean;
  /** The length of its body. */
  readonly bytes: number;
  /** The newest restore that the edge knows, as RESTORE_EPOCH names it; absent from an edge that still runs the release before. */
  readonly restoreEpoch?: string;
}

/** What the object answers. The edge makes the response, with `headers`. */
export interface HandedBack {
  readonly result: Result<HandedReply, Failure>;
  readonly headers: Readonly<Record<string, string>>;
  /** What it asked of D1; absent from an object that still runs the release before. */
  readonly cost?: Cost;
}

/** A reply that is no stream. */
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

/**
 * Has the object of the merchant answer. `isRepeatable`: whether a second request changes nothing that the first has changed. Without a key, the
 * first one may have created something.
 */
export async function answerInMerchantObject(
  env: Pick<Env, "MERCHANT_OBJECT" | "LOCATION_HINT">,
  merchantId: string,
  { handed, isRepeatable }: { readonly handed: HandedOver; readonly isRepeatable: boolean },
): Promise<HandedBack> {
  const tries = isRepeatable ? 2 : 1;
  for (let attempt = 1; ; attempt++) {
    try {
      const object: MerchantObjectRpc = objectOf(env, env.MERCHANT_OBJECT, merchantId);
      return await object.answer(handed);
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
  // Hono's objects have no prototype, and a call between objects takes only plain ones.
  const [params, query] = [{ ...incoming.params }, { ...of.query }];
  const { RESTORE_EPOCH: restoreEpoch } = incoming.env;
  return { ...of, requestId, ip, path, params, query, headers: Object.fromEntries(headers), restoreEpoch };
}
