// The choice of a payment method by anyone who has the invoice's id. It has the same effect as an activation by the merchant, but its
// Idempotency-Keys are separate from the merchant's, a limit per IP address applies, and no record names the payer.

import { canonicalPairs, type Pair } from "../../chains/registry/pair.ts";
import { type InvoiceFile, isPublicOrigin } from "../../commerce/invoice-records/invoice.ts";
import { addPaymentMethod } from "../../commerce/invoices/add-payment-method.ts";
import type { RefreshDependencies } from "../../commerce/invoices/refresh-invoice.ts";
import type { InvoiceId, RequestId } from "../../lib/ids.ts";
import type { CallerNetwork } from "../../lib/ip-network.ts";
import { err, ok, type Result } from "../../lib/result.ts";
import type { Json } from "../../lib/typed-json.ts";
import { SYSTEM_TRAIL } from "../../platform/audit/entry.ts";
import type { Failure } from "../../platform/failures.ts";
import { fingerprint, keyHash, parseIdempotencyKey } from "../../platform/idempotency/idempotency-key.ts";
import type { Keys } from "../../platform/idempotency/key-reservations.ts";
import { type OnceAnswer, runOnce } from "../../platform/idempotency/run-once.ts";

interface PickMethodDependencies extends RefreshDependencies {
  clock(): number;
  /** The Idempotency-Keys of one invoice's payers, separate from the merchant's. */
  keysOf(invoiceId: InvoiceId): Keys;
  background(work: Promise<unknown>): void;
  /** Counts one of the caller's choices. Returns the seconds to wait if there were too many, otherwise 0. */
  waitOfIp(ip: string | null): Promise<number>;
  /** The networks under which an IP address is counted. */
  callersOf(ip: string | null): readonly CallerNetwork[];
}

interface MethodPick {
  readonly file: InvoiceFile;
  /** As the caller sent it, in any spelling. */
  readonly named: Pair;
  readonly ip: string | null;
  readonly requestId: RequestId;
  /** Absent for a form, which has no Idempotency-Key. */
  readonly keyed?: { readonly key: string | undefined; readonly path: string; readonly json: Json | undefined };
}

type PickedMethod = Extract<OnceAnswer, { kind: "answer" }> & { readonly pair: Pair };

/** 201 with the activated method, 200 if it was already active. Refuses like an activation, and with UNSUPPORTED_PAIR and RATE_LIMITED. */
export async function pickMethod(
  deps: PickMethodDependencies,
  { file, named, ip, requestId, keyed }: MethodPick,
): Promise<Result<PickedMethod, Failure>> {
  const pairs = canonicalPairs([named]);
  if (!pairs.ok) return pairs;
  const [pair = named] = pairs.value;
  const parsed = parseIdempotencyKey(keyed?.key);
  if (!parsed.ok) return parsed;
  const waitSeconds = await deps.waitOfIp(ip);
  if (waitSeconds > 0) return err({ code: "RATE_LIMITED", retryAfterSeconds: waitSeconds });
  const { id, merchantId, origin } = file.invoice;
  const key =
    keyed === undefined || parsed.value === undefined
      ? undefined
      : {
          hash: keyHash({ merchantId: id, keySpace: "page", key: parsed.value }),
          fingerprint: fingerprint({ method: "POST", path: keyed.path, body: keyed.json }),
        };
  // A merchant's audit log must not name the payer.
  const trail = { ...SYSTEM_TRAIL, requestId };
  const once = { ...deps, keys: deps.keysOf(id), nowMs: () => deps.clock() };
  const isFromPublicKey = isPublicOrigin(origin);
  const work = addPaymentMethod({ ...deps, trail }, { pair, isFromPublicKey, callers: deps.callersOf(ip), file });
  const answer = await runOnce(once, { merchantId, key }, work);
  return answer.kind === "refused" ? err(answer.failure) : ok({ ...answer, pair });
}

/** Parses `USDT_TRX` into a pair, which may be unknown. Coin codes contain no underscore. */
export function pairNamed(key: string): Pair {
  const [cryptocurrency = "", ...network] = key.split("_");
  return { cryptocurrency, network: network.join("_") };
}
