// A way to pay, picked by whoever has the invoice's id. It is the merchant's own activation; what is the payer's are the names of their
// Idempotency-Keys, the limit per address, and that nothing of them is written down.
import { SYSTEM_TRAIL } from "../audit/entry.ts";
import type { Failure } from "../failures.ts";
import type { Keys } from "../idempotency/claims.ts";
import { fingerprint, keyHash, parseIdempotencyKey } from "../idempotency/idempotency-key.ts";
import { type OnceAnswer, runOnce } from "../idempotency/run-once.ts";
import { addPaymentMethod } from "../invoices/add-payment-method.ts";
import type { InvoiceFile } from "../invoices/invoice.ts";
import { canonicalPairs, type Pair } from "../invoices/payment-method.ts";
import type { RefreshEffects } from "../invoices/refresh-invoice.ts";
import type { Json } from "../lib/canonical-json.ts";
import type { InvoiceId, RequestId } from "../lib/ids.ts";
import { err, ok, type Result } from "../lib/result.ts";

export interface PickMethodEffects extends RefreshEffects {
  clock(): number;
  /** Those of one invoice's payers, whom no merchant's key can meet. */
  keysOf(invoiceId: InvoiceId): Keys;
  background(work: Promise<unknown>): void;
  /** Counts a pick of the caller; seconds to wait where there were too many, else 0. */
  waitOfIp(ip: string | null): Promise<number>;
}

export interface MethodPick {
  readonly file: InvoiceFile;
  /** As it was sent, in whatever spelling. */
  readonly named: Pair;
  readonly ip: string | null;
  readonly requestId: RequestId;
  /** Absent where a form was sent, which knows no Idempotency-Key. */
  readonly keyed?: { readonly key: string | undefined; readonly path: string; readonly json: Json | undefined };
}

export type PickedMethod = Extract<OnceAnswer, { kind: "answer" }> & { readonly pair: Pair };

/** 201 with the method that was activated, 200 with one that was already. Refuses what an activation refuses, UNSUPPORTED_PAIR and RATE_LIMITED. */
export async function pickMethod(
  fx: PickMethodEffects,
  { file, named, ip, requestId, keyed }: MethodPick,
): Promise<Result<PickedMethod, Failure>> {
  const pairs = canonicalPairs([named]);
  if (!pairs.ok) return pairs;
  const [pair = named] = pairs.value;
  const parsed = parseIdempotencyKey(keyed?.key);
  if (!parsed.ok) return parsed;
  const waitSeconds = await fx.waitOfIp(ip);
  if (waitSeconds > 0) return err({ code: "RATE_LIMITED", retryAfterSeconds: waitSeconds });
  const { id, merchantId, isFromPublicKey } = file.invoice;
  const key =
    keyed === undefined || parsed.value === undefined
      ? undefined
      : {
          hash: keyHash({ merchantId: id, keySpace: "page", key: parsed.value }),
          fingerprint: fingerprint({ method: "POST", path: keyed.path, body: keyed.json }),
        };
  // Who pays is nobody whom a merchant's audit log may name.
  const trail = { ...SYSTEM_TRAIL, requestId };
  const once = { ...fx, keys: fx.keysOf(id), nowMs: () => fx.clock() };
  const work = addPaymentMethod({ ...fx, trail }, { pair, isFromPublicKey, file });
  const answer = await runOnce(once, { merchantId, key }, work);
  return answer.kind === "refused" ? err(answer.failure) : ok({ ...answer, pair });
}

/** `USDT_TRX` as a pair, known or not: no code of a coin has a low line. */
export function pairNamed(key: string): Pair {
  const [cryptocurrency = "", ...network] = key.split("_");
  return { cryptocurrency, network: network.join("_") };
}
