// What a request has inside the object of its merchant (app/merchant-object.ts): its storage calls join those of the merchant's other requests.
import type { RequestId } from "../../lib/ids.ts";
import { parseJson, printJson } from "../../lib/typed-json.ts";
import type { RequestGroup } from "../db/request-group.ts";
import type { Keys } from "../idempotency/key-reservations.ts";

export interface MerchantContext {
  readonly group: RequestGroup;
  /** The object's own idempotency keys. */
  readonly keys: Keys;
  /** As the Worker at the edge gave it to the request. */
  readonly requestId: RequestId;
  /** The caller's IP address as the edge reported it; null without the edge. */
  readonly ip: string | null;
}

/** The environment of a request: inside a merchant's object it has the merchant's context. */
export type Bindings = Env & { readonly merchantContext?: MerchantContext };

/** What only the edge knows of a request, given with it to the merchant's object. */
export interface HandedOver extends Pick<MerchantContext, "requestId" | "ip"> {
  /** Whether anyone can send it: with a public key, or as a form. */
  readonly isPublic: boolean;
  /** The length of its body. */
  readonly bytes: number;
}

const HEADER = "edgetill-handed-over";

/** The request as the merchant's object gets it. */
export function handOver(request: Request, body: Uint8Array | undefined, known: Omit<HandedOver, "bytes">): Request {
  const headers = new Headers(request.headers);
  const bytes = body?.byteLength ?? 0;
  headers.set(HEADER, printJson<HandedOver>({ ...known, bytes }));
  return new Request(request.url, { method: request.method, headers, body: body ?? null });
}

export function handedOver(request: Request): HandedOver {
  const header = request.headers.get(HEADER);
  if (header === null) throw new Error("a request that no edge has handed over");
  return parseJson<HandedOver>(header);
}
