// How a route runs its work at most once: the caller's key, the object of the merchant, and the stored answer (decisions 6).

import type { Statements } from "../auth/authenticate.ts";
import type { MerchantCall, Reply } from "../auth/middleware.ts";
import type { Failure } from "../failures.ts";
import { newUlid } from "../lib/ids.ts";
import { err, ok, type Result } from "../lib/result.ts";
import type { Keys } from "./claims.ts";
import { fingerprint, keyHash, parseIdempotencyKey } from "./idempotency-key.ts";
import { runOnce, type Work } from "./run-once.ts";

/** A fresh operation id. */
export function newOperationId(): string {
  return newUlid(Date.now(), crypto.getRandomValues(new Uint8Array(16)));
}

/** Runs `work` under the request's Idempotency-Key, or without protection when it has none. */
export async function answerOnce<B, Q, R extends Statements>(
  call: MerchantCall<B, Q, R>,
  work: Work,
): Promise<Result<Reply, Failure>> {
  const parsed = parseIdempotencyKey(call.idempotencyKey);
  if (!parsed.ok) return parsed;
  const { merchantId, keyKind } = call.principal;
  const keySpace = keyKind === "PUBLIC" ? "public" : "secret";
  const key =
    parsed.value === undefined
      ? undefined
      : {
          hash: keyHash({ merchantId, keySpace, key: parsed.value }),
          fingerprint: fingerprint({ method: call.method, path: call.path, body: call.json }),
        };
  const fx = {
    db: call.db,
    keys: keysOf(call.env, merchantId),
    nowMs: () => Date.now(),
    sleep: call.sleep,
    background: call.background,
    newOperationId,
  };
  const answer = await runOnce(fx, { merchantId, key }, work);
  if (answer.kind === "refused") return err(answer.failure);
  const { status, body, isReplay } = answer;
  return ok({ status, body, headers: isReplay ? { "idempotent-replayed": "true" } : {} });
}

/** A merchant's keys. Each call takes a fresh stub: one that threw once may be broken for good. */
function keysOf(env: Pick<Env, "IDEMPOTENCY_KEYS">, merchantId: string): Keys {
  const stub = (): Keys => env.IDEMPOTENCY_KEYS.getByName(merchantId);
  return {
    claim: (hash, print, nowMs) => stub().claim(hash, print, nowMs),
    takeOver: (hash, operationId, nowMs) => stub().takeOver(hash, operationId, nowMs),
    endLease: (hash, operationId, attempt) => stub().endLease(hash, operationId, attempt),
  };
}
