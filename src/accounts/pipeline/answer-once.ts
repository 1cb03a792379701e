// Runs the work of a route at most once, with the request's Idempotency-Key, the merchant's Durable Object and the stored response (decisions 6).

import { newOperationId } from "../../lib/ids.ts";
import { objectOf } from "../../lib/object-of.ts";
import { err, ok, type Result } from "../../lib/result.ts";
import { seal, unseal } from "../../lib/seal.ts";
import type { Kept } from "../../platform/changes/change.ts";
import { callAdded, readWithRetry } from "../../platform/db/retry.ts";
import type { Failure } from "../../platform/failures.ts";
import type { Reply } from "../../platform/http/reply.ts";
import { fingerprint, keyHash, parseIdempotencyKey } from "../../platform/idempotency/idempotency-key.ts";
import type { Keys } from "../../platform/idempotency/key-reservations.ts";
import {
  type OnceDependencies,
  type OnceRequest,
  runOnce,
  type ScopeId,
  type Work,
} from "../../platform/idempotency/run-once.ts";
import { type KeySettings, keyringOf } from "../../platform/keys/keyrings.ts";
import type { Statements } from "../auth/authenticate.ts";
import type { MerchantPrincipal, UserPrincipal } from "../auth/principal.ts";
import type { CallerKind, CallOf, OpenCall } from "./call.ts";

/** A call whose caller is authenticated. */
export interface ProvedCall extends OpenCall<unknown, unknown> {
  readonly principal: MerchantPrincipal | UserPrincipal;
}

export interface OnceOptions {
  /** Whether the key belongs to the user although the route names a merchant, because the caller may no longer be a member of its team. */
  readonly isOfUser?: true | undefined;
  /** Whether the response holds a secret; then it is stored encrypted. */
  readonly isSecret?: true | undefined;
  /**
   * Called before the key is reserved, with a name for the operation (undefined without a key). A refusal stores nothing. Not called for a key that
   * is already reserved: the request that reserved it was admitted, and a key counts as one operation.
   */
  readonly admit?: ((operation: string | undefined) => Promise<Failure | undefined>) | undefined;
}

/** Runs `work` with the request's Idempotency-Key. Without a key, a repeated request runs it again. */
export async function answerOnce(
  call: ProvedCall,
  work: Work,
  options: OnceOptions = {},
): Promise<Result<Reply, Failure>> {
  const parsed = parseIdempotencyKey(call.idempotencyKey);
  if (!parsed.ok) return parsed;
  const { scopeId, keySpace } = scopeOf(call.principal, options);
  const key =
    parsed.value === undefined
      ? undefined
      : {
          hash: keyHash({ merchantId: scopeId, keySpace, key: parsed.value }),
          fingerprint: fingerprint({ method: call.method, path: call.path, body: call.json }),
        };
  const deps = {
    db: call.db,
    keys: call.merchantContext?.keys ?? keysOf(call.env, scopeId),
    nowMs: () => Date.now(),
    sleep: call.sleep,
    background: call.background,
    newOperationId,
    ...(options.isSecret ? sealing(call.env, scopeId) : {}),
  };
  const refused = await admission(deps, key, options.admit);
  if (refused !== undefined) return err(refused);
  const answer = await runOnce(deps, { merchantId: scopeId, key }, work);
  if (answer.kind === "refused") return err(answer.failure);
  const { status, body, isReplay } = answer;
  return ok({ status, body: body || null, headers: isReplay ? { "idempotent-replayed": "true" } : {} });
}

type Answer<Call> = (call: Call) => Promise<Result<Reply, Failure>>;
type AnswerOf<C extends CallerKind, Deps> = Answer<CallOf<C, unknown, unknown, Statements, Deps>>;

/**
 * The route's answer, given once for each Idempotency-Key. The route's change is staged (`change`), and commits with the stored response. A request
 * without a key is answered as usual.
 */
export function answeringOnce<C extends CallerKind, Deps>(
  answer: AnswerOf<C, Deps>,
  options: OnceOptions,
): AnswerOf<C, Deps>;
export function answeringOnce(answer: Answer<ProvedCall>, options: OnceOptions): Answer<ProvedCall> {
  return async (call) => {
    if (!call.idempotencyKey) return answer(call);
    let cookies: Reply["cookies"] = [];
    const once = await answerOnce(
      call,
      async (operationId, conflict, tries) => {
        const kept: Kept[] = [];
        const stage = { operationId, conflict, tries, keep: (change: Kept) => void kept.push(change) };
        const answered = await answer({ ...call, deps: { ...Object(call.deps), stage } });
        if (!answered.ok) return { kind: "refused", failure: answered.error };
        const { status, body } = answered.value;
        if (kept.length > 1 || body instanceof ReadableStream) throw new Error(call.path);
        cookies = answered.value.cookies ?? [];
        return { kind: "ready", status, body: body ?? "", statements: [], ...kept[0] };
      },
      options,
    );
    // Only the first answer has cookies, because they are not stored.
    return once.ok ? ok({ ...once.value, cookies }) : once;
  };
}

async function admission(
  { keys, sleep, nowMs }: Pick<OnceDependencies, "keys" | "sleep" | "nowMs">,
  key: OnceRequest["key"],
  admit: OnceOptions["admit"],
): Promise<Failure | undefined> {
  if (admit === undefined) return undefined;
  if (key === undefined) return admit(undefined);
  const known = await readWithRetry(sleep, async () => (await keys.knows?.(key.hash, nowMs())) ?? false);
  if (!known.ok) return known.error;
  return known.value ? undefined : admit(key.hash + key.fingerprint);
}

/**
 * The owner of the key: the merchant, or the user if the route has no merchant or sets `isOfUser`. Public keys have
 * their own key space (decisions 6).
 */
function scopeOf(principal: MerchantPrincipal | UserPrincipal, { isOfUser }: OnceOptions) {
  const user = principal.kind === "USER" && isOfUser ? { user: principal.user } : principal;
  const scopeId: ScopeId = "merchantId" in user ? user.merchantId : user.user.id;
  const isPublic = principal.kind === "API_KEY" && principal.keyKind === "PUBLIC";
  return { scopeId, keySpace: isPublic ? "public" : "secret" } as const;
}

function sealing(env: KeySettings<"SECRETS_AES_KEY">, scopeId: ScopeId): Pick<OnceDependencies, "seal" | "open"> {
  const keys = keyringOf(env, "SECRETS_AES_KEY");
  if (!keys.ok) throw new Error(keys.error);
  const context = `operation:${scopeId}`;
  return {
    seal: (body) => seal(keys.value, context, body),
    open: async (stored) => {
      const body = await unseal(keys.value, context, stored);
      if (body === undefined) throw new Error("a stored response cannot be decrypted");
      return body;
    },
  };
}

/** The idempotency keys of an owner. Each call uses a new stub, because a stub that has thrown may stay broken. */
export function keysOf(env: Pick<Env, "MERCHANT_OBJECT" | "LOCATION_HINT">, scopeId: string): Keys {
  const stub = (): Keys => objectOf(env, env.MERCHANT_OBJECT, scopeId);
  return {
    reserve: (hash, print, nowMs) => stub().reserve(hash, print, nowMs),
    takeOver: (hash, operationId, nowMs) => stub().takeOver(hash, operationId, nowMs),
    endLease: (hash, operationId, attempt) => stub().endLease(hash, operationId, attempt),
    // An object that still runs the previous release lacks `knows`; the request is then admitted again.
    knows: (hash, nowMs) =>
      callAdded(
        async () => (await stub().knows?.(hash, nowMs)) ?? false,
        async () => false,
      ),
  };
}
