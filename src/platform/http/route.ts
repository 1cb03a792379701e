// A route as data. The pipeline, the OpenAPI document and the access tests all read this one declaration.
import * as z from "zod";
import { lazily } from "../../lib/lazily.ts";
import type { FailureCode } from "../failures.ts";

/** Chapters of both API references, in order: the ones that a shop's server needs come first; sign-in, health and pages come last. */
export const TAGS = {
  Invoices: "What a customer has to pay, and the payment methods for it.",
  Payments: "Transfers seen on chain, the invoice that each was credited to and why, and decisions made by hand.",
  Checkout:
    "For your own payment pages: what a payer can read and do with nothing but the unguessable id of an invoice. No key is needed; a key that is sent is ignored.",
  Wallets: "The merchant's own wallets, which receive all payments. Edgetill never holds money.",
  Events: "What happened. Each event is recorded together with its change and kept for 90 days.",
  Webhooks:
    "Endpoints on a merchant's server that receive events as POST requests, signed as in Standard Webhooks 1.0.",
  Products: "What a merchant sells repeatedly, with a page where customers can buy it.",
  Customers: "The customers of a merchant's invoices.",
  Reports: "Totals over all invoices and payments of a merchant, and exports of them.",
  Search: "One field for ids, order numbers, emails, transactions and addresses.",
  Merchants: "The businesses of a user, their settings and images.",
  "API keys": "How a merchant's servers (sk_) and browsers (pk_) authenticate.",
  Team: "Members, their roles, and the security settings that a team requires of them.",
  Invitations: "How a user becomes a member of a team.",
  Audit: "Who changed what, and when.",
  "Sign-in": "Sign-in without passwords. It gives the user's browser a session.",
  "My account": "A user's own factors, sessions and linked accounts.",
  Deployment: "The set-up of the deployment, its operators and its keys.",
  Service: "Health, API references and files.",
  Pages: "HTML pages for customers and users; all other routes return JSON.",
} as const;

export type Tag = keyof typeof TAGS;

/**
 * Whether the route is refused while revoked access may work again after a restore: true for all pages, and for all routes that authenticate a
 * caller, change something, sign a user in, or show payers what to pay.
 */
export function waitsForRestore({ callers, method, tag, isForAnyOrigin, isPage }: RouteSpec): boolean {
  const isReadByAnybody = callers === "ANYBODY" && method === "GET" && !isPage && tag !== "Sign-in";
  return !isReadByAnybody || (tag === "Checkout" && Boolean(isForAnyOrigin));
}

export interface RouteAnswer {
  readonly status: number;
  readonly description: string;
  /** Absent for a response without a JSON body. Built only for the documents: at module scope it would slow the Worker's start-up. */
  readonly schema?: () => z.ZodType;
  /** The schema of each line, if the response is JSON lines. */
  readonly lineSchema?: () => z.ZodType;
  /** Another media type that the route may respond with. */
  readonly alsoAs?: string;
}

export interface RouteSpec {
  readonly method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  /** Hono path with `:parameters`. */
  readonly path: string;
  readonly operationId: string;
  readonly tag: Tag;
  readonly summary: string;
  readonly description?: string;
  /**
   * Who may call: ANYBODY; USER: a user with a session; MEMBER: a user of the merchant's team; MEMBER_OR_KEY: also its API keys; KEY: a secret API
   * key, for its own merchant.
   */
  readonly callers: "ANYBODY" | "USER" | "MEMBER" | "MEMBER_OR_KEY" | "KEY";
  /** The permission that a member or a key needs, "a or b" if either is enough; null if `callers` is enough. */
  readonly permission: string | null;
  /** Whether a member must have the role OWNER, in addition to the permission (decisions 7). */
  readonly isOwnerOnly?: true;
  /** Whether a user must be an operator of the deployment (security.md 5). */
  readonly isOperatorOnly?: true;
  /** Whether a user must have given a factor in the last 5 minutes. */
  readonly needsStepUp?: true;
  /** Whether a `pk_` key may call the route (decisions 7). */
  readonly isForPublicKeys: boolean;
  /** Whether pages from any origin may call the route (decisions 1, "CORS"): the checkout's routes, which have no user and read no cookie. */
  readonly isForAnyOrigin?: true;
  /** Whether the route is an HTML page: its body is a form, and its refusals are pages in the reader's language, with the refusal's status. */
  readonly isPage?: true;
  /** Whether the route honours an Idempotency-Key (decisions 6). */
  readonly isIdempotent: boolean;
  /** Whether a public key must send a Turnstile token, if the operator requires one. */
  readonly isChallenged?: true;
  /** Built when the first request or a document needs it, as is `query`: at module scope, schemas took most of the Worker's start-up time. */
  readonly body: () => z.ZodType;
  readonly query: () => z.ZodType;
  readonly answers: readonly RouteAnswer[];
  /** The route's own refusals; those of every route of its kind are added (refusals.ts). */
  readonly refusals: readonly FailureCode[];
}

/** The header and the form field for a Turnstile token. */
export const CHALLENGE_TOKEN = "cf-turnstile-response";

/** The body schema of a route that takes no body: absent, or an empty object. */
export const noBody = () => z.strictObject({}).optional();
/** The query schema of a route without parameters; parameters that are sent are ignored. */
export const noQuery = () => z.object({});

/** What every route must declare; the rest has defaults. */
type RequiredParts = Pick<RouteSpec, "method" | "path" | "operationId" | "tag" | "summary" | "callers" | "answers">;

const DEFAULTS = {
  permission: null,
  isForPublicKeys: false,
  isIdempotent: false,
  refusals: [],
} as const;

/** Completes a declaration with the defaults; builds each schema once, on first use. */
export function specOf(parts: RequiredParts & Partial<RouteSpec>): RouteSpec {
  const { body = noBody, query = noQuery } = parts;
  return { ...DEFAULTS, ...parts, body: lazily(body), query: lazily(query) };
}

/** Whether preflight requests are answered and any page may read the response. */
export function isCrossOrigin(spec: RouteSpec): boolean {
  return spec.isForAnyOrigin === true || (spec.isForPublicKeys && spec.permission !== null);
}

/** Who may call a route, as text for the references. */
export function accessText(spec: RouteSpec): string {
  const stepUp = spec.needsStepUp ? " A user must have given a factor in the last 5 minutes." : "";
  switch (spec.callers) {
    case "ANYBODY":
      if (spec.isPage) return "Needs no key. The body is a form, and errors are HTML pages.";
      return `Needs no key.${spec.isForAnyOrigin ? " Pages of any origin may call it." : ""}`;
    case "USER":
      return `Needs ${spec.isOperatorOnly ? "the session of an operator; not for API keys" : "a session"}.${stepUp}`;
    case "KEY":
      return "Needs a secret API key, as `x-api-key` or as a bearer token. It acts for the key's merchant.";
    case "MEMBER": {
      const who = spec.isOwnerOnly ? "the owner" : `a member with the permission ${spec.permission}`;
      return `Needs the session of ${who}; not for API keys.${stepUp}`;
    }
    case "MEMBER_OR_KEY": {
      const publicKeys = spec.isForPublicKeys ? " A public key may call it." : "";
      const owner = spec.isOwnerOnly ? " Of the members, only the owner may call it." : "";
      return `Needs the permission ${spec.permission}, held by an API key or by a signed-in member.${publicKeys}${owner}${stepUp}`;
    }
  }
}

/** Whether a request path matches the route's path. */
export function servesPath(spec: RouteSpec, path: string): boolean {
  const want = spec.path.split("/");
  const have = path.split("/");
  return (
    want.length === have.length && want.every((part, i) => (part.startsWith(":") ? have[i] !== "" : part === have[i]))
  );
}

/** The order in both references: by TAGS, and within a tag as mounted. */
export function inOrderOfTags(specs: readonly RouteSpec[]): readonly RouteSpec[] {
  const order = Object.keys(TAGS);
  return specs.toSorted((one, other) => order.indexOf(one.tag) - order.indexOf(other.tag));
}
