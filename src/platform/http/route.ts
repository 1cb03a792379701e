// A route as data: what the pipeline enforces, what the OpenAPI document says and what the access tests enumerate are one declaration.
import * as z from "zod";
import { lazily } from "../../lib/lazily.ts";
import type { FailureCode } from "../failures.ts";

/** Chapters of both references, in their order: first what a shop's server needs, last what serves people and machines around it. */
export const TAGS = {
  Invoices: "What a customer is asked to pay, and the ways to pay it.",
  Payments: "What was seen on chain, to which invoice it was credited and why, and what a person decided.",
  Checkout:
    "For payment pages of your own: what a payer may see and do of an invoice, by its unguessable id alone. No key is needed, and one that is sent changes nothing.",
  Wallets: "Where money is received; Edgetill never holds it.",
  Events: "What happened: recorded together with the change, kept for 90 days.",
  Webhooks: "Where a merchant's server is told of events, by POSTs that are signed as Standard Webhooks 1.0 says.",
  Products: "What is sold again and again.",
  Customers: "Who was invoiced.",
  Merchants: "The businesses of a person, their settings and images.",
  "API keys": "What a merchant's servers (sk_) and browsers (pk_) prove themselves with.",
  Team: "Members, their roles, and the factors that a team demands.",
  Invitations: "How somebody becomes a member.",
  Audit: "Who changed what.",
  "Sign-in": "People sign in without passwords; then their browser has a session.",
  "My account": "A person's own factors, sessions and linked accounts.",
  Service: "Health, references and files.",
  Pages: "For people; the rest is JSON.",
} as const;

export type Tag = keyof typeof TAGS;

export interface RouteAnswer {
  readonly status: number;
  readonly description: string;
  /** Absent for an answer without a JSON body. Made when the documents ask: building it costs a Worker's start more than it is worth. */
  readonly schema?: () => z.ZodType;
  /** Another media type that the route may answer with. */
  readonly alsoAs?: string;
}

export interface RouteSpec {
  readonly method: "GET" | "POST" | "PATCH" | "DELETE";
  /** Hono path with `:parameters`. */
  readonly path: string;
  readonly operationId: string;
  readonly tag: Tag;
  readonly summary: string;
  readonly description?: string;
  /** Who may call: ANYBODY; PERSON, a user with a session; MEMBER, a user of the merchant's team; MEMBER_OR_KEY, them or its API keys. */
  readonly callers: "ANYBODY" | "PERSON" | "MEMBER" | "MEMBER_OR_KEY";
  /** What a member or a key must hold; null where `callers` says all. */
  readonly permission: string | null;
  /** A role check, not a permission (decisions 7). */
  readonly isOwnerOnly?: true;
  /** Whether a user must have given a factor in the last 5 minutes. */
  readonly needsStepUp?: true;
  /** Whether a `pk_` key may call it (decisions 7). */
  readonly isForPublicKeys: boolean;
  /** Whether pages of any origin may call it (decisions 1, "CORS"): the checkout's, which know no user and read no cookie. */
  readonly isForAnyOrigin?: true;
  /** Whether people see it: it takes a form, and its refusals are pages in their language, with the status of the refusal. */
  readonly isPage?: true;
  /** Whether it creates something, so that Idempotency-Key applies (decisions 6). */
  readonly isIdempotent: boolean;
  /** Made when the first request or a document asks, as is `query`: schemas at module scope were most of a Worker's start. */
  readonly body: () => z.ZodType;
  readonly query: () => z.ZodType;
  readonly answers: readonly RouteAnswer[];
  /** Refusals of its own, beside those that every route of its kind can give. */
  readonly refusals: readonly FailureCode[];
}

/** The body of a route that takes none: absent, or an empty object. */
export const noBody = () => z.strictObject({}).optional();
/** The query of a route that takes none; what else is there is ignored. */
export const noQuery = () => z.object({});

/** What a route must declare. */
type Said = Pick<RouteSpec, "method" | "path" | "operationId" | "tag" | "summary" | "callers" | "answers">;

/** What holds for a route that does not say otherwise. */
const DEFAULTS = {
  permission: null,
  isForPublicKeys: false,
  isIdempotent: false,
  refusals: [],
} as const;

/** The whole declaration; each schema is made once, when it is first asked for. */
export function specOf(said: Said & Partial<RouteSpec>): RouteSpec {
  const { body = noBody, query = noQuery } = said;
  return { ...DEFAULTS, ...said, body: lazily(body), query: lazily(query) };
}

/** Whether a preflight is answered, and any page may read the answer. */
export function isCrossOrigin(spec: RouteSpec): boolean {
  return spec.isForAnyOrigin === true || (spec.isForPublicKeys && spec.permission !== null);
}

/** Who may call a route, in a sentence or two. */
export function accessText(spec: RouteSpec): string {
  const stepUp = spec.needsStepUp ? " A person must have given a factor in the last 5 minutes." : "";
  switch (spec.callers) {
    case "ANYBODY":
      if (spec.isPage) return "Needs no key: what it takes is a form, and what it refuses with is a page.";
      return `Needs no key.${spec.isForAnyOrigin ? " Pages of any origin may call it." : ""}`;
    case "PERSON":
      return `Needs a session.${stepUp}`;
    case "MEMBER": {
      const who = spec.isOwnerOnly ? "the owner" : `a member with the permission ${spec.permission}`;
      return `Needs the session of ${who}; not for API keys.${stepUp}`;
    }
    case "MEMBER_OR_KEY": {
      const publicKeys = spec.isForPublicKeys ? " A public key may call it." : "";
      const owner = spec.isOwnerOnly ? " Of members only the owner." : "";
      return `Needs the permission ${spec.permission}, of a key or of a member in a session.${publicKeys}${owner}${stepUp}`;
    }
  }
}

/** Whether a request path is one the route serves. */
export function servesPath(spec: RouteSpec, path: string): boolean {
  const want = spec.path.split("/");
  const have = path.split("/");
  return (
    want.length === have.length && want.every((part, i) => (part.startsWith(":") ? have[i] !== "" : part === have[i]))
  );
}

/** As both references list them: by the order of TAGS, and within one as mounted. */
export function inOrderOfTags(specs: readonly RouteSpec[]): readonly RouteSpec[] {
  const order = Object.keys(TAGS);
  return specs.toSorted((one, other) => order.indexOf(one.tag) - order.indexOf(other.tag));
}
