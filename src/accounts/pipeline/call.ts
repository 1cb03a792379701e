// What a route's handler gets, and what its reads may be keyed by. Both depend on the kind of caller that the route declares.

import type { RequestId } from "../../lib/ids.ts";
import type { Json } from "../../lib/typed-json.ts";
import type { Trail } from "../../platform/audit/entry.ts";
import type { ResultsOf } from "../../platform/db/batch.ts";
import type { Db } from "../../platform/db/client.ts";
import type { GivenDependencies } from "../../platform/http/context.ts";
import type { CookieName } from "../../platform/http/cookies.ts";
import type { RouteSpec } from "../../platform/http/route.ts";
import type { Statements } from "../auth/authenticate.ts";
import type { MerchantPrincipal, UserPrincipal } from "../auth/principal.ts";
import type { MerchantRow } from "../merchants/store.ts";

export type CallerKind = RouteSpec["callers"];

/** A valid request, and the dependencies of the route's operations. */
export interface OpenCall<Body, Query, Deps = unknown> extends GivenDependencies {
  readonly deps: Deps;
  readonly env: Env;
  readonly body: Body;
  readonly query: Query;
  readonly params: Readonly<Record<string, string>>;
  readonly method: string;
  readonly path: string;
  /** The body before defaults, for the idempotency fingerprint. */
  readonly json: Json | undefined;
  readonly idempotencyKey: string | undefined;
  /** The Accept header, where a route has more than one form of its answer. */
  readonly accept: string | undefined;
  /** The value of one of our cookies; undefined when it is absent or empty. */
  readonly cookie: (name: CookieName) => string | undefined;
  readonly ip: string | null;
  /** As the browser names itself, at most 300 characters. */
  readonly userAgent: string | null;
  readonly requestId: RequestId;
}

/** What is known of a caller who is proved. */
interface Known<R extends Statements> {
  /** What was read for the route in the call that proved the caller. */
  readonly read: ResultsOf<R>;
  /** For the audit entries of whatever this request changes. */
  readonly trail: Trail;
}

export interface KnownUser<R extends Statements> extends Known<R> {
  readonly principal: UserPrincipal;
}

export interface KnownForMerchant<R extends Statements> extends Known<R> {
  readonly principal: MerchantPrincipal;
  readonly merchant: MerchantRow;
}

/** What is known of each kind of caller. */
export interface Callers<R extends Statements> {
  readonly ANYBODY: object;
  readonly PERSON: KnownUser<R>;
  readonly MEMBER: KnownForMerchant<R>;
  readonly MEMBER_OR_KEY: KnownForMerchant<R>;
}

/** What the handler of a route gets. */
export type CallOf<C extends CallerKind, Body, Query, R extends Statements, Deps> = OpenCall<Body, Query, Deps> &
  Callers<R>[C];

/** What the handler of a merchant's route gets, for functions that take part of it. */
export type MerchantCall<Deps, R extends Statements = Statements> = CallOf<"MEMBER_OR_KEY", unknown, unknown, R, Deps>;

/** What a route may key its reads by. The caller is not proved yet: if the proof fails, what was read is discarded. */
export interface ReadInput<Body, Query, Deps> {
  readonly deps: Deps;
  readonly db: Db;
  readonly params: Readonly<Record<string, string>>;
  /** Undefined when the request is not valid; the answer says why once the caller is proved. */
  readonly request: { readonly body: Body; readonly query: Query } | undefined;
}

interface MerchantKeys {
  /** The merchant whom the path names. */
  readonly merchantId: string;
  /** Whether the credential has the form of a public key; whether it is one shows only when it is proved. */
  readonly isPublicKeyClaimed: boolean;
}

/** The same, by the kind of caller. */
export interface ReadKeys {
  readonly ANYBODY: object;
  readonly PERSON: {
    /** Names the session, not yet proved: `sessions.token_hash`. */
    readonly tokenHash: string;
  };
  readonly MEMBER: MerchantKeys;
  readonly MEMBER_OR_KEY: MerchantKeys;
}
