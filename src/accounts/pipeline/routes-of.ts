// Declares routes: a group declares what its routes share, and each route declares the rest.
//   routesOf({ tag: "Webhooks", callers: "MEMBER_OR_KEY", dependencies: webhookDependencies }).get(PATH, {...}).post(PATH, {...})
import type * as z from "zod";
import { FREE_TEXT, type SecretForms } from "../../chains/secrets/secret-material.ts";
import type { Result } from "../../lib/result.ts";
import type { Failure } from "../../platform/failures.ts";
import type { AppContext, MakeDependencies } from "../../platform/http/context.ts";
import type { HandedBack, HandedOver } from "../../platform/http/handed-over.ts";
import type { Incoming } from "../../platform/http/incoming.ts";
import type { Reply } from "../../platform/http/reply.ts";
import { type noBody, type noQuery, type RouteSpec, specOf } from "../../platform/http/route.ts";
import type { TranslatedRequest } from "../../platform/http/validate.ts";
import type { Statements } from "../auth/authenticate.ts";
import { alternativesOf, type Needed, neededText } from "../roles/permissions.ts";
import { answeringOnce, answerOnce, type OnceOptions, type ProvedCall } from "./answer-once.ts";
import type { CallerKind, CallOf, ReadInput, ReadKeys } from "./call.ts";
import { honoursKey } from "./keyed-routes.ts";
import {
  type PipelineRoute,
  respond,
  respondInObject,
  respondToTranslated,
  type TranslatedAnswer,
} from "./pipeline.ts";

/** A route with its handler, as the app mounts it. */
export interface MountedRoute {
  readonly spec: RouteSpec;
  readonly handle: (c: AppContext) => Promise<Response>;
  /** Answers a request that came in another API's format; absent for pages of the console and for routes of only some deployments. */
  readonly answerTranslated?: (c: AppContext, translated: TranslatedRequest) => Promise<TranslatedAnswer>;
  /** Handles a request inside its merchant's object; only for routes that run there. */
  readonly handleInObject?: (incoming: Incoming, handed: Pick<HandedOver, "query" | "json">) => Promise<HandedBack>;
}

export type NoBody = ReturnType<typeof noBody>;
export type NoQuery = ReturnType<typeof noQuery>;

/** Members that a group can declare for all of its routes, or a single route for itself. */
type Common = Partial<
  Pick<
    RouteSpec,
    | "needsStepUp"
    | "isOwnerOnly"
    | "isOperatorOnly"
    | "isForPublicKeys"
    | "isForAnyOrigin"
    | "isIdempotent"
    | "isChallenged"
    | "refusals"
  >
> & {
  /** The forms of private keys to search for in the body; by default those of free text. */
  readonly secrets?: SecretForms;
  /** Runs the route's requests in the object of their merchant, where concurrent ones share their storage calls. */
  readonly runsInMerchantObject?: true;
  /** Whether the answer holds a secret, which is then stored encrypted. Only for a route that does not call `answerOnce` itself. */
  readonly isSecret?: true;
  /**
   * Whether the operation may end the caller's access to the route. The first answer then belongs to the user: a repeat with the same Idempotency-Key
   * needs only the user's session to get it.
   */
  readonly endsAccess?: true;
};

interface Group<C extends CallerKind> extends Common {
  readonly tag: RouteSpec["tag"];
  readonly callers: C;
}

/** The declaration of a route. A route without a body schema has no body, and one without a query schema has no query. */
export interface Said<B extends z.ZodType, Q extends z.ZodType>
  extends Common,
    Pick<RouteSpec, "operationId" | "summary" | "description" | "answers"> {
  readonly body?: () => B;
  readonly query?: () => Q;
}

interface OfMerchant {
  /** If several permissions are named, any one of them is enough, and the handler shows only what the caller's own permissions allow. */
  readonly permission: Needed;
}

/** The part of a declaration that depends on the kind of caller. */
interface Own {
  readonly ANYBODY: { readonly reads?: never };
  readonly USER: {
    /** Whether a session that still needs its second factor may call: only for routes that complete or end the session. */
    readonly mayOweFactor?: true;
  };
  readonly MEMBER: OfMerchant;
  readonly MEMBER_OR_KEY: OfMerchant;
  readonly KEY: { readonly reads?: never };
}

/** A declaration. If the body, the query or the reads are left out, they have the types of the defaults. */
type Declared<C extends CallerKind, B extends z.ZodType, Q extends z.ZodType, R extends Statements, Deps> = Own[C] &
  Said<B, Q> & {
    /** The route's reads, done in the storage call that authenticates the caller. */
    readonly reads?: (input: ReadInput<z.output<B>, z.output<Q>, Deps> & ReadKeys[C]) => R | Promise<R>;
    readonly answer: (call: CallOf<C, z.output<B>, z.output<Q>, R, Deps>) => Promise<Result<Reply, Failure>>;
  };

/** A declaration without the types of its parts. That is safe, because the pipeline uses the schemas and reads of the same route. */
interface Untyped<C extends CallerKind, Deps> extends Said<z.ZodType, z.ZodType>, Partial<OfMerchant> {
  readonly mayOweFactor?: true;
  readonly reads?: PipelineRoute<C, Deps, Reply>["reads"];
  readonly answer: PipelineRoute<C, Deps, Reply>["answer"];
}

function untyped<C extends CallerKind, B extends z.ZodType, Q extends z.ZodType, R extends Statements, Deps>(
  route: Declared<C, B, Q, R, Deps>,
): Untyped<C, Deps>;
function untyped<C extends CallerKind, Deps>(route: Untyped<C, Deps>): Untyped<C, Deps> {
  return route;
}

type Declare<C extends CallerKind, Deps> = <
  B extends z.ZodType = NoBody,
  Q extends z.ZodType = NoQuery,
  const R extends Statements = [],
>(
  path: string,
  route: Declared<C, B, Q, R, Deps>,
) => Routes<C, Deps>;

/** A group of routes in the order of their declaration, in which they are mounted and listed in the references. */
interface Routes<C extends CallerKind, Deps> extends Iterable<MountedRoute> {
  readonly get: Declare<C, Deps>;
  readonly post: Declare<C, Deps>;
  readonly patch: Declare<C, Deps>;
  readonly delete: Declare<C, Deps>;
}

/** Starts a group of routes. `dependencies` builds the dependencies of their operations; without it there are none. */
export function routesOf<C extends CallerKind, Deps>(group: Group<C> & HasDependencies<Deps>): Routes<C, Deps>;
export function routesOf<C extends CallerKind>(group: Group<C>): Routes<C, object>;
export function routesOf<C extends CallerKind>(group: Group<C> & Partial<HasDependencies<object>>): Routes<C, object> {
  const whole = { dependencies: () => ({}), ...group };
  const mounted: MountedRoute[] = [];
  const declare =
    (method: RouteSpec["method"]): Declare<C, object> =>
    (path, route) => {
      mounted.push(mount(whole, { ...untyped(route), method, path }));
      return routes;
    };
  const routes: Routes<C, object> = {
    get: declare("GET"),
    post: declare("POST"),
    patch: declare("PATCH"),
    delete: declare("DELETE"),
    [Symbol.iterator]: () => mounted[Symbol.iterator](),
  };
  return routes;
}

interface HasDependencies<Deps> {
  readonly dependencies: MakeDependencies<Deps>;
}

function mount<C extends CallerKind, Deps>(
  group: Group<C> & HasDependencies<Deps>,
  route: Untyped<C, Deps> & Pick<RouteSpec, "method" | "path">,
): MountedRoute {
  const { secrets = FREE_TEXT, mayOweFactor = false, runsInMerchantObject = false, ...rest } = { ...group, ...route };
  const { dependencies, reads, permission, isSecret, endsAccess, ...said } = rest;
  const { callers } = group;
  const declared = specOf({
    ...said,
    permission: permission === undefined ? null : neededText(alternativesOf(permission)),
  });
  // A route that declares `isIdempotent` calls `answerOnce` itself.
  const isStaged = !declared.isIdempotent && honoursKey(declared);
  const spec = { ...declared, isIdempotent: declared.isIdempotent || isStaged };
  const options: OnceOptions = { isSecret, isOfUser: endsAccess };
  const answer = isStaged ? answeringOnce<C, Deps>(route.answer, options) : route.answer;
  const run = {
    spec,
    callers,
    permission,
    mayOweFactor,
    runsInMerchantObject,
    secrets,
    dependencies,
    reads,
    answer,
    answerAgain:
      endsAccess &&
      ((call: ProvedCall, failure: Failure) => answerOnce(call, async () => ({ kind: "refused", failure }), options)),
  };
  const mounted: MountedRoute = {
    spec,
    handle: (c) => respond(c, run),
    answerTranslated: (c, translated) => respondToTranslated(c, run, translated),
  };
  if (!runsInMerchantObject) return mounted;
  return { ...mounted, handleInObject: (incoming, handed) => respondInObject(incoming, run, handed) };
}
