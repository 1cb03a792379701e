// What the edge hands over to the object of a merchant (app/merchant-object.ts), and what the object hands back.
import type { RequestId } from "../../lib/ids.ts";
import type { Result } from "../../lib/result.ts";
import type { Json } from "../../lib/typed-json.ts";
import type { Failure } from "../failures.ts";
import type { Incoming } from "./incoming.ts";

/** A request that the edge has read, found valid and admitted. The object authenticates it again, and validates it with its own schema. */
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
}

/** What the object answers. The edge makes the response, with `headers`. */
export interface HandedBack {
  readonly result: Result<HandedReply, Failure>;
  readonly headers: Readonly<Record<string, string>>;
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
const HEADERS = ["x-api-key", "cookie", "origin", "idempotency-key", "accept", "user-agent"];

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
  return { ...of, requestId, ip, path, params, query, headers: Object.fromEntries(headers) };
}
