// A request inside its merchant's object (app/merchant-object.ts), where its storage calls join those of the merchant's other requests.
import type { Sleep } from "../../lib/sleep.ts";
import type { Db } from "../db/client.ts";
import type { Keys } from "../idempotency/key-reservations.ts";
import type { CountedCallers } from "./counted-callers.ts";

export interface MerchantContext {
  readonly merchantId: string;
  /** A client whose statements join the request's group. */
  readonly storage: { readonly db: Db; readonly sleep: Sleep };
  /** The object's own idempotency keys. */
  readonly keys: Keys;
  readonly countedCallers: CountedCallers;
}
