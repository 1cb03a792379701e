// The pipeline of routes that a person calls for themselves, whatever merchants they belong to: `/api/v1/me`, sign-out, my merchants, my
// invitations. Enforcement of a team never closes these: they are where a missing factor is added (security.md 1).
import type { BatchResponse } from "drizzle-orm/batch";
import type * as z from "zod";
import { authenticate, type Statements } from "../auth/authenticate.ts";
import { authenticatePerson, noteSessionUse } from "../auth/authenticate-session.ts";
import {
  type Call,
  type Credential,
  callOf,
  credentialOf,
  type GivenEffects,
  givenEffects,
  type MakeEffects,
  type MountedRoute,
  type ReadInput,
  requestOf,
  trailOf,
} from "../auth/middleware.ts";
import { type PersonPrincipal, stepUpRefusal } from "../auth/principal.ts";
import type { Failure } from "../failures.ts";
import { readBody } from "../http/body.ts";
import { type AppContext, callerIp } from "../http/context.ts";
import { setCookie } from "../http/cookies.ts";
import { failureResponse } from "../http/errors.ts";
import { checkRate, requestsPerMinute } from "../http/rate-check.ts";
import { jsonReply, type Reply, replyResponse } from "../http/reply.ts";
import type { RouteSpec } from "../http/route.ts";
import { sha256Hex } from "../lib/bytes.ts";
import { err, type Result } from "../lib/result.ts";
import { SECOND_MS } from "../lib/time.ts";
import type { Person } from "../users/person.ts";
import { FREE_TEXT } from "../wallets/secret-material.ts";
import { SESSION_LIFETIME_MS, type SessionState, secondFactorsOf, stateText } from "./session.ts";

export interface PersonCall<Body, Query, R extends Statements, Fx = unknown> extends Call<Body, Query, R, Fx> {
  readonly principal: PersonPrincipal;
  /** As the browser names itself, at most 300 characters. */
  readonly userAgent: string | null;
}

export interface PersonRoute<B extends z.ZodType, Q extends z.ZodType, R extends Statements, Fx> {
  readonly spec: RouteSpec<B, Q> & { readonly callers: "PERSON"; readonly permission: null };
  /** Whether a session that still owes its second factor may call: only what settles or ends it. */
  readonly mayOweFactor?: true;
  readonly effects: MakeEffects<Fx>;
  /** What to read together with the session. `tokenHash` names it, not yet proved: `sessions.token_hash`. */
  readonly reads: (
    input: Omit<ReadInput<z.output<B>, z.output<Q>, Fx>, "merchantId" | "isPublicKeyClaimed"> & {
      readonly tokenHash: string;
    },
  ) => R;
  readonly answer: (call: PersonCall<z.output<B>, z.output<Q>, R, Fx>) => Promise<Result<Reply, Failure>>;
}

export function personRoute<B extends z.ZodType, Q extends z.ZodType, const R extends Statements, Fx>(
  route: PersonRoute<B, Q, R, Fx>,
): MountedRoute {
  return {
    spec: route.spec,
    handle: async (c) => {
      const headers: Record<string, string> = {};
      const outcome = await run(c, route, headers);
      if (!outcome.ok) return failureResponse(outcome.error, c.get("requestId"), headers);
      return replyResponse(c, outcome.value, headers);
    },
  };
}

async function run<B extends z.ZodType, Q extends z.ZodType, R extends Statements, Fx>(
  c: AppContext,
  route: PersonRoute<B, Q, R, Fx>,
  headers: Record<string, string>,
): Promise<Result<Reply, Failure>> {
  const { spec } = route;
  const parsed = await readBody(c.req.raw);
  const credential = credentialOf(c, spec);
  if (!credential.ok) return credential;
  const given = givenEffects(c);
  const params: Record<string, string> = c.req.param();
  const request = requestOf({ spec, secrets: FREE_TEXT }, parsed, c.req.query());
  const fx = route.effects(c.env, given);
  const tokenHash = credential.value.kind === "SESSION" ? sha256Hex(credential.value.token) : "";
  const reads = route.reads({
    db: given.db,
    fx,
    params,
    tokenHash,
    request: request.ok ? request.value : undefined,
  });
  const caller = await prove(c, credential.value, given, route.mayOweFactor ?? false, reads);
  if (!caller.ok) return caller;
  const { principal } = caller.value;
  const stepUp = spec.needsStepUp ? stepUpRefusal(principal, given.nowMs) : undefined;
  const refusal = stepUp ?? (await limit(c, principal, headers));
  if (refusal !== undefined) return err(refusal);
  if (caller.value.isTouchDue) given.background(noteSessionUse(given.db, principal, given.nowMs));
  if (!request.ok) return request;
  return route.answer({
    ...callOf(c, spec, given, parsed),
    ...request.value,
    principal,
    read: caller.value.read,
    fx,
    trail: trailOf(c, principal),
    userAgent: userAgentOf(c),
  });
}

async function prove<const R extends Statements>(
  c: AppContext,
  credential: Credential,
  { db, nowMs, sleep }: GivenEffects,
  mayOweFactor: boolean,
  reads: R,
): Promise<Result<{ principal: PersonPrincipal; read: BatchResponse<R>; isTouchDue: boolean }, Failure>> {
  if (credential.kind === "SESSION")
    return authenticatePerson(db, { ...credential, mayOweFactor, nowMs, sleep }, reads);
  // A key is proved first, so that a bad one is told no more than anywhere else. It has no merchant to match here.
  const known = await authenticate(
    db,
    { apiKey: credential.apiKey, merchantId: "", ip: callerIp(c), nowMs, sleep },
    [],
  );
  if (!known.ok && known.error.code !== "MERCHANT_MISMATCH") return known;
  return err({ code: "SESSION_REQUIRED" });
}

async function limit(
  c: AppContext,
  { person }: PersonPrincipal,
  headers: Record<string, string>,
): Promise<Failure | undefined> {
  const perMinute = requestsPerMinute(c.env);
  return perMinute === 0 ? undefined : checkRate(c, { name: `usr:${person.id}`, perMinute, isShown: true }, headers);
}

const LONGEST_USER_AGENT = 300;

export function userAgentOf(c: AppContext): string | null {
  return c.req.header("user-agent")?.slice(0, LONGEST_USER_AGENT) ?? null;
}

/** What every sign-in and second factor answers: the session's cookie, whose it is, and what it still owes. */
export function sessionReply(
  env: Env,
  of: { readonly token: string; readonly state: SessionState; readonly person: Person },
  more: { readonly cookies?: readonly string[] } = {},
): Reply {
  const { person, state } = of;
  const body = {
    state: stateText(state),
    factors: state === "ACTIVE" ? [] : secondFactorsOf(person),
    user: { id: person.id, email: person.email, name: person.name },
  };
  const cookie = setCookie(env, "session", of.token, SESSION_LIFETIME_MS / SECOND_MS);
  return { ...jsonReply(200, body), cookies: [cookie, ...(more.cookies ?? [])] };
}
