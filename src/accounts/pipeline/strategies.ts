// Authentication, permission checks and rate limits for each kind of caller. The order of these steps is in `pipeline.ts`.

import { sha256Hex } from "../../lib/bytes.ts";
import { lazily } from "../../lib/lazily.ts";
import { err, ok, type Result } from "../../lib/result.ts";
import type { Trail } from "../../platform/audit/entry.ts";
import type { Failure } from "../../platform/failures.ts";
import type { GivenDependencies } from "../../platform/http/context.ts";
import { readCookie } from "../../platform/http/cookies.ts";
import type { CountedAs } from "../../platform/http/counted-callers.ts";
import { publicUrl } from "../../platform/http/deployment.ts";
import type { Incoming } from "../../platform/http/incoming.ts";
import type { RouteSpec } from "../../platform/http/route.ts";
import { type KeySettings, keyringOf } from "../../platform/keys/keyrings.ts";
import { apiKeyKind, apiKeyStanding, hashApiKey } from "../auth/api-key.ts";
import { authenticate, authenticateKey, noteKeyUse, type Statements } from "../auth/authenticate.ts";
import { authenticateMember, authenticateUser, noteSessionUse } from "../auth/authenticate-session.ts";
import { actorOf, isPublicKey, type MerchantPrincipal, stepUpRefusal, type UserPrincipal } from "../auth/principal.ts";
import { alternativesOf, keyPermissionName, type Needed, neededText } from "../roles/permissions.ts";
import { configuredProviders } from "../security-policies/providers.ts";
import type { CallerKind, Callers, KnownForMerchant, KnownUser, ReadKeys } from "./call.ts";

/** The requirements of a route for its callers. */
export interface Access {
  readonly spec: RouteSpec;
  /** The permission that a member or a key needs; undefined on routes without a merchant. */
  readonly permission: Needed | undefined;
  /** Whether a session that still needs its second factor may call: only for routes that complete or end the session. */
  readonly mayOweFactor: boolean;
}

/** `Keys` is the input of the route's reads, `Caller` the result of authentication. */
interface Strategy<Keys, Caller> {
  /** Reads the credential from headers and path. Does not access storage, so that a malformed credential costs no storage call. */
  readonly present: (incoming: Incoming, access: Access) => Result<Presented<Keys, Caller>, Failure>;
  readonly permit: (access: Access, caller: Caller, nowMs: number) => Failure | undefined;
  /** The object in which the caller's requests may run; undefined for a caller without a merchant. */
  readonly admit: (caller: Caller) => Entry | undefined;
  /** The identity by which the caller's requests are counted; if undefined, they are counted by IP address. */
  readonly countedAs: (caller: Caller) => CountedAs | undefined;
}

/** A merchant's object, for one request. */
export interface Entry {
  readonly merchantId: string;
  /** Whether anyone can send the request. */
  readonly isPublic: boolean;
}

interface Presented<Keys, Caller> {
  readonly keys: Keys;
  /** Defined if the credential itself shows that it was made for the merchant, before anything is read. It may have been revoked since. */
  readonly admitted: () => Entry | undefined;
  /** The credential's hash; empty without one. */
  readonly hash: () => string;
  /**
   * Authenticates the caller in one storage call, together with the route's reads. A KEY caller needs two calls, and ANYBODY none; their routes have
   * no reads.
   */
  readonly prove: (given: GivenDependencies, reads: Statements) => Promise<Result<Proved<Caller>, Failure>>;
}

interface Proved<Caller> {
  readonly caller: Caller;
  /** Updates the time of last use of the key or session; undefined if the stored time is recent. */
  readonly noteUse: (() => Promise<void>) | undefined;
}

const NOT_ADMITTED = { admitted: () => undefined };

type StrategyOf<C extends CallerKind> = Strategy<ReadKeys[C], Callers<Statements>[C]>;

/** A merchant's API key, or a member of its team. Both use the same table of permissions. */
const forMerchant: StrategyOf<"MEMBER_OR_KEY"> = {
  present: (incoming, { spec }) => {
    const credential = credentialOf(incoming, spec);
    if (!credential.ok) return credential;
    const presented = credential.value;
    const merchantId = incoming.params.merchantId ?? "";
    const isPublicKeyClaimed = presented.kind === "API_KEY" && apiKeyKind(presented.apiKey) === "PUBLIC";
    const isGenuine = () => presented.kind === "API_KEY" && isGenuineKey(incoming.env, presented.apiKey, merchantId);
    return ok({
      keys: { merchantId, isPublicKeyClaimed },
      admitted: () => (isGenuine() ? { merchantId, isPublic: isPublicKeyClaimed } : undefined),
      hash: presented.hash,
      prove: (given, reads) => proveForMerchant(incoming, { given, credential: presented, merchantId }, reads),
    });
  },
  permit: permitForMerchant,
  admit: ({ principal }) => ({
    merchantId: principal.merchantId,
    isPublic: principal.kind === "API_KEY" && isPublicKey(principal),
  }),
  countedAs: ({ principal }) => countedAs(principal),
};

/** A user, independent of teams. No security policy applies to these routes, because users add missing factors through them. */
const user: StrategyOf<"USER"> = {
  present: (incoming, { spec, mayOweFactor }) => {
    const credential = credentialOf(incoming, spec);
    if (!credential.ok) return credential;
    const presented = credential.value;
    return ok({
      keys: { tokenHash: presented.kind === "SESSION" ? presented.hash() : "" },
      ...NOT_ADMITTED,
      hash: presented.hash,
      prove: (given, reads) => proveUser(incoming, { given, credential: presented, mayOweFactor }, reads),
    });
  },
  permit: ({ spec }, { principal }, nowMs) => {
    if (spec.isOperatorOnly && !principal.user.isOperator) return { code: "OPERATOR_REQUIRED" };
    return spec.needsStepUp ? stepUpRefusal(principal, nowMs) : undefined;
  },
  admit: () => undefined,
  countedAs: ({ principal }) => countedAs(principal),
};

/** A secret key, for routes whose path names no merchant. Reads no cookie, so our own pages have no more rights here than other programs. */
const key: StrategyOf<"KEY"> = {
  present: (incoming) => {
    const apiKey = keyOf(incoming);
    if (!apiKey.ok) return apiKey;
    const hash = lazily(() => hashApiKey(apiKey.value));
    return ok({ keys: {}, ...NOT_ADMITTED, hash, prove: (given) => proveKey(incoming, given, hash()) });
  },
  permit: (_access, { principal }) => (isPublicKey(principal) ? { code: "PUBLIC_KEY_FORBIDDEN" } : undefined),
  admit: () => undefined,
  countedAs: ({ principal }) => countedAs(principal),
};

/** Callers who are not authenticated here: sign-in, links in emails, checkouts. Each route checks what it needs. */
const anybody: StrategyOf<"ANYBODY"> = {
  present: (incoming, { spec }) => {
    // Requests from other origins are refused, because a page could otherwise sign its visitors in. Pages and routes for any origin never sign in and
    // read no cookie.
    const isOursOnly = spec.method !== "GET" && !spec.isForAnyOrigin && !spec.isPage;
    const origin = incoming.header("origin");
    if (isOursOnly && origin !== undefined && origin !== publicUrl(incoming.env))
      return err({ code: "ORIGIN_NOT_ALLOWED" });
    return ok({ keys: {}, ...NOT_ADMITTED, hash: () => "", prove: async () => ok({ caller: {}, noteUse: undefined }) });
  },
  permit: () => undefined,
  admit: () => undefined,
  countedAs: () => undefined,
};

export const STRATEGIES: { readonly [C in CallerKind]: StrategyOf<C> } = {
  ANYBODY: anybody,
  USER: user,
  MEMBER: forMerchant,
  MEMBER_OR_KEY: forMerchant,
  KEY: key,
};

/** `hash` identifies the credential in storage. */
type Credential = { readonly hash: () => string } & (
  | { readonly kind: "API_KEY"; readonly apiKey: string }
  | { readonly kind: "SESSION"; readonly token: string }
);

/** Whether the key itself proves that it was made for the merchant. False if no secret for that is configured. */
function isGenuineKey(env: KeySettings<"API_KEY_MAC_KEY">, apiKey: string, merchantId: string): boolean {
  const macKeys = keyringOf(env, "API_KEY_MAC_KEY");
  return macKeys.ok && apiKeyStanding({ macKeys: macKeys.value, apiKey, merchantId }) === "GENUINE";
}

/** If a request has a key and a cookie, the key counts (decisions 1). */
function credentialOf(incoming: Incoming, spec: RouteSpec): Result<Credential, Failure> {
  const apiKey = incoming.header("x-api-key");
  if (apiKey !== undefined) {
    if (apiKeyKind(apiKey) === undefined) return err({ code: "UNAUTHORIZED" });
    return ok({ kind: "API_KEY", apiKey, hash: lazily(() => hashApiKey(apiKey)) });
  }
  const token = readCookie(incoming.env, incoming.header("cookie"), "session");
  if (token === undefined || token === "") return err({ code: "UNAUTHORIZED" });
  if (spec.method !== "GET" && incoming.header("origin") !== publicUrl(incoming.env))
    return err({ code: "ORIGIN_NOT_ALLOWED" });
  return ok({ kind: "SESSION", token, hash: lazily(() => sha256Hex(token)) });
}

/** The API key from either header. Both headers may contain it, but not different keys. */
function keyOf(incoming: Incoming): Result<string, Failure> {
  const origin = incoming.header("origin");
  if (origin !== undefined && origin !== publicUrl(incoming.env)) return err({ code: "ORIGIN_NOT_ALLOWED" });
  const named = incoming.header("x-api-key");
  const authorization = incoming.header("authorization");
  const borne = authorization === undefined ? undefined : /^bearer +(\S+)$/i.exec(authorization)?.[1];
  if (authorization !== undefined && borne === undefined) return err({ code: "UNAUTHORIZED" });
  if (named !== undefined && borne !== undefined && named !== borne) {
    const details = [{ path: "authorization", message: "Must be the same key as x-api-key, or absent" }];
    return err({ code: "VALIDATION_FAILED", details });
  }
  const apiKey = named ?? borne;
  return apiKey === undefined || apiKeyKind(apiKey) === undefined ? err({ code: "UNAUTHORIZED" }) : ok(apiKey);
}

async function proveKey(
  incoming: Incoming,
  given: GivenDependencies,
  keyHash: string,
): Promise<Result<Proved<Callers<Statements>["KEY"]>, Failure>> {
  const { db, nowMs, sleep } = given;
  const known = await authenticateKey(db, { keyHash, ip: incoming.ip, nowMs, sleep });
  if (!known.ok) return known;
  const { principal, merchant, read, isTouchDue } = known.value;
  const caller = { principal, merchant, read, trail: trailOf(incoming, principal) };
  return ok({ caller, noteUse: isTouchDue ? () => noteUse(given, principal) : undefined });
}

async function proveForMerchant(
  incoming: Incoming,
  of: { readonly given: GivenDependencies; readonly credential: Credential; readonly merchantId: string },
  reads: Statements,
): Promise<Result<Proved<KnownForMerchant<Statements>>, Failure>> {
  const { db, nowMs, sleep } = of.given;
  const request = { merchantId: of.merchantId, nowMs, sleep };
  const known =
    of.credential.kind === "API_KEY"
      ? await authenticate(db, { ...request, keyHash: of.credential.hash(), ip: incoming.ip }, reads)
      : await authenticateMember(
          db,
          { ...request, token: of.credential.token, configured: configuredProviders(incoming.env.SIGN_IN_PROVIDERS) },
          reads,
        );
  if (!known.ok) return known;
  const { principal, merchant, read, isTouchDue } = known.value;
  const caller = { principal, merchant, read, trail: trailOf(incoming, principal) };
  return ok({ caller, noteUse: isTouchDue ? () => noteUse(of.given, principal) : undefined });
}

async function proveUser(
  incoming: Incoming,
  of: { readonly given: GivenDependencies; readonly credential: Credential; readonly mayOweFactor: boolean },
  reads: Statements,
): Promise<Result<Proved<KnownUser<Statements>>, Failure>> {
  const { credential, mayOweFactor } = of;
  const { db, nowMs, sleep } = of.given;
  if (credential.kind === "API_KEY") {
    // Authenticates the key first, so that an invalid key gets the same refusal as on every route. There is no merchant to compare.
    const keyHash = credential.hash();
    const known = await authenticate(db, { keyHash, merchantId: "", ip: incoming.ip, nowMs, sleep }, []);
    if (!known.ok && known.error.code !== "MERCHANT_MISMATCH") return known;
    return err({ code: "SESSION_REQUIRED" });
  }
  const known = await authenticateUser(db, { token: credential.token, mayOweFactor, nowMs, sleep }, reads);
  if (!known.ok) return known;
  const { principal, read, isTouchDue } = known.value;
  const caller = { principal, read, trail: trailOf(incoming, principal) };
  return ok({ caller, noteUse: isTouchDue ? () => noteUse(of.given, principal) : undefined });
}

async function noteUse({ db, nowMs }: GivenDependencies, principal: MerchantPrincipal | UserPrincipal): Promise<void> {
  if (principal.kind === "API_KEY") await noteKeyUse(db, principal, nowMs);
  else await noteSessionUse(db, principal, nowMs);
}

function trailOf(incoming: Incoming, principal: MerchantPrincipal | UserPrincipal): Trail {
  return { actor: actorOf(principal), ip: incoming.ip ?? null, requestId: incoming.requestId };
}

/** Checks the kind of caller, then permission, role and step-up. A public key is refused by its kind before its permissions are checked. */
function permitForMerchant(
  { spec, permission }: Access,
  { principal }: KnownForMerchant<Statements>,
  nowMs: number,
): Failure | undefined {
  if (permission === undefined) throw new Error(`the merchant's route ${spec.operationId} names no permission`);
  const enough = alternativesOf(permission);
  const isHeld = enough.some((each) => principal.permissions.has(each));
  if (principal.kind === "API_KEY") {
    if (spec.callers === "MEMBER") return { code: "SESSION_REQUIRED" };
    if (isPublicKey(principal) && !spec.isForPublicKeys) return { code: "PUBLIC_KEY_FORBIDDEN" };
    if (isHeld) return undefined;
    return { code: "PERMISSION_DENIED", permission: neededText(enough.map(keyPermissionName)) };
  }
  if (!isHeld) return { code: "PERMISSION_DENIED", permission: neededText(enough) };
  if (spec.isOwnerOnly && principal.role !== "OWNER") return { code: "OWNER_REQUIRED" };
  return spec.needsStepUp ? stepUpRefusal(principal, nowMs) : undefined;
}

/** The identity by which requests of the key or user are counted. */
function countedAs(principal: MerchantPrincipal | UserPrincipal): CountedAs {
  if (principal.kind === "USER") return { name: `usr:${principal.user.id}`, act: undefined };
  const { keyId } = principal;
  return { name: `key:${keyId}`, act: isPublicKey(principal) ? `pk:${keyId}` : undefined };
}
