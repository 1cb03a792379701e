// The input of a route's handler, and the input of its reads. Both depend on the kind of caller that the route declares.

import type { RequestId } from "../../lib/ids.ts";
import type { Json } from "../../lib/typed-json.ts";
import type { Trail } from "../../platform/audit/entry.ts";
import type { ResultsOf } from "../../platform/db/batch.ts";
import type { Db } from "../../platform/db/client.ts";
import type { GivenDependencies } from "../../platform/http/context.ts";
import type { CookieName } from "../../platform/http/cookies.ts";
import type { MerchantContext } from "../../platform/http/merchant-context.ts";
import type { RouteSpec } from "../../platform/http/route.ts";
import type { Statements } from "../auth/authenticate.ts";
import type { ApiKeyPrincipal, MerchantPrincipal, UserPrincipal } from "../auth/principal.ts";
import type { MerchantRow } from "../merchant-records/store.ts";

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
  /** The body before defaults are applied, for the idempotency fingerprint. */
  readonly json: Json | undefined;
  readonly idempotencyKey: string | undefined;
  /** The Turnstile token from its header, not yet checked. */
  readonly challengeToken: string | undefined;
  /** The Origin header: the origin of the page that sends the request. */
  readonly origin: string | undefined;
  /** The Accept header, for a route with several response formats. */
  readonly accept: string | undefined;
  /** A header by its name in lower case, for a protocol with its own headers. */
  readonly header: (name: string) => string | undefined;
  /** The value of one of our cookies; undefined when it is absent or empty. */
  readonly cookie: (name: CookieName) => string | undefined;
  /** Defined only inside the merchant's object. */
  readonly merchantContext: MerchantContext | undefined;
  readonly ip: string | null;
  /** The User-Agent header, at most 300 characters. */
  readonly userAgent: string | null;
  readonly requestId: RequestId;
}

/** The data known after authentication. */
interface Known<R extends Statements> {
  /** The results of the route's reads, from the same storage call as the authentication. */
  readonly read: ResultsOf<R>;
  /** For the audit entries of this request. */
  readonly trail: Trail;
}

export interface KnownUser<R extends Statements> extends Known<R> {
  readonly principal: UserPrincipal;
}

export interface KnownForMerchant<R extends Statements> extends Known<R> {
  readonly principal: MerchantPrincipal;
  readonly merchant: MerchantRow;
}

/** The data known after authentication, by the kind of caller. */
export interface Callers<R extends Statements> {
  readonly ANYBODY: object;
  readonly USER: KnownUser<R>;
  readonly MEMBER: KnownForMerchant<R>;
  readonly MEMBER_OR_KEY: KnownForMerchant<R>;
  readonly KEY: KnownForMerchant<R> & { readonly principal: ApiKeyPrincipal };
}

/** The input of a route's handler. */
export type CallOf<C extends CallerKind, Body, Query, R extends Statements, Deps> = OpenCall<Body, Query, Deps> &
  Callers<R>[C];

/** The input of the handler of a merchant's route, for functions that need only parts of it. */
export type MerchantCall<Deps, R extends Statements = Statements> = CallOf<"MEMBER_OR_KEY", unknown, unknown, R, Deps>;

/** The input of a route's reads. The caller is not authenticated yet; if authentication fails, the results are discarded. */
export interface ReadInput<Body, Query, Deps> {
  readonly deps: Deps;
  readonly db: Db;
  readonly params: Readonly<Record<string, string>>;
  /** Undefined if the request is invalid, which is only reported after authentication. */
  readonly request: { readonly body: Body; readonly query: Query } | undefined;
}

interface MerchantKeys {
  /** The merchant named in the path. */
  readonly merchantId: string;
  /** Whether the credential has the form of a public key; it may still be invalid. */
  readonly isPublicKeyClaimed: boolean;
}

/** Further input of the reads, by the kind of caller. */
export interface ReadKeys {
  readonly ANYBODY: object;
  readonly USER: {
    /** `sessions.token_hash` of the session, which is not authenticated yet. */
    readonly tokenHash: string;
  };
  readonly MEMBER: MerchantKeys;
  readonly MEMBER_OR_KEY: MerchantKeys;
  readonly KEY: object;
}
