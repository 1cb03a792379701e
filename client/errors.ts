// How a call fails: the API refused it (EdgetillError), its outcome is unknown (EdgetillConnectionError, EdgetillTimeoutError), or the caller
// aborted it, which throws the reason of the caller's signal. None of these errors has the API key in its message.

import type { ErrorTable } from "./error-table.ts";

/** A code of the catalogue, such as `INVOICE_NOT_FOUND`. A newer service may send other codes, so have a default case. */
export type ErrorCode = keyof ErrorTable;

/**
 * A refusal with this code; its `status` and `facts` have the types of the code. By default it is the union of all codes, which
 * `switch (error.code)` narrows. An answer that is not the API's own, such as a proxy's, has the code `HTTP_<status>` and no facts.
 */
export type Refusal<Code extends ErrorCode = ErrorCode> =
  | { [Each in Code]: EdgetillError & { readonly code: Each } & ErrorTable[Each] }[Code]
  | ([ErrorCode] extends [Code] ? EdgetillError & { readonly code: `HTTP_${number}` } : never);

/** A field of the request that was refused, and why. */
export interface ErrorDetail {
  /** Path in the body or the query, joined by dots: `paymentMethods.0.network`; empty if the body or query as a whole is wrong. */
  readonly path: string;
  /** In English, for people. */
  readonly message: string;
}

/** The call that failed. */
export interface FailedCall {
  /** `POST /invoices` */
  readonly route: string;
  /** How many times the call was sent. If it is above 1, an earlier attempt may be the reason for a refusal, such as 404 for a second DELETE. */
  readonly attempts: number;
  /** Undefined for a GET. Repeating the call with this key within 24 hours continues where this one ended. */
  readonly idempotencyKey: string | undefined;
}

/**
 * The API refused the call. Compare `code`, show `message`, give `requestId` to the operator of the service. `error instanceof EdgetillError` narrows
 * to the union `Refusal`, in which `error.code === "EXTERNAL_ID_EXISTS"` gives `error.facts.invoiceId`.
 */
export class EdgetillError extends Error implements FailedCall {
  override readonly name = "EdgetillError";
  readonly route: string;
  readonly attempts: number;
  readonly idempotencyKey: string | undefined;
  /** The HTTP status. */
  readonly status: number;
  /** A stable name from the catalogue at /docs; `HTTP_<status>` if the answer is not the API's own. */
  readonly code: string;
  /** The fields that were wrong; empty unless `code` is VALIDATION_FAILED. */
  readonly details: readonly ErrorDetail[];
  readonly requestId: string | undefined;
  /** How long the service asked to wait before the next call. */
  readonly retryAfterMs: number | undefined;
  /** Facts of this code, such as the `invoiceId` of EXTERNAL_ID_EXISTS. */
  readonly facts: Readonly<Record<string, unknown>>;

  constructor(
    call: FailedCall,
    answer: { status: number; requestId: string | null; retryAfterMs: number | undefined; text: string },
  ) {
    const { statusCode: _, message, error: _name, code, requestId, details, ...facts } = membersOf(answer.text);
    super(typeof message === "string" ? message : `${call.route} answered ${answer.status}`);
    this.route = call.route;
    this.attempts = call.attempts;
    this.idempotencyKey = call.idempotencyKey;
    this.status = answer.status;
    this.code = typeof code === "string" ? code : `HTTP_${answer.status}`;
    this.details = Array.isArray(details) ? details.filter(isDetail) : [];
    this.requestId = typeof requestId === "string" ? requestId : (answer.requestId ?? undefined);
    this.retryAfterMs = answer.retryAfterMs;
    this.facts = facts;
  }

  /** Only for the compiler; the runtime does the same by default. */
  static override [Symbol.hasInstance](value: unknown): value is Refusal {
    // biome-ignore lint/complexity/noThisInStatic: for a subclass, only its own instances match.
    return Function.prototype[Symbol.hasInstance].call(this, value);
  }
}

/** No complete answer arrived; `cause` says why. Whether the call was carried out is unknown. */
export class EdgetillConnectionError extends Error implements FailedCall {
  override readonly name: string = "EdgetillConnectionError";
  readonly route: string;
  readonly attempts: number;
  readonly idempotencyKey: string | undefined;

  constructor(call: FailedCall, message: string, cause: unknown) {
    super(`${call.route}: ${message}`, { cause });
    this.route = call.route;
    this.attempts = call.attempts;
    this.idempotencyKey = call.idempotencyKey;
  }
}

/** No complete answer arrived within `timeoutMs`. */
export class EdgetillTimeoutError extends EdgetillConnectionError {
  override readonly name = "EdgetillTimeoutError";
}

/** The members of the JSON object in the text; empty if it is something else. */
function membersOf(text: string): Readonly<Record<string, unknown>> {
  try {
    const json: unknown = JSON.parse(text);
    return typeof json === "object" && json !== null ? { ...json } : {};
  } catch {
    return {};
  }
}

function isDetail(value: unknown): value is ErrorDetail {
  return typeof value === "object" && value !== null && "path" in value && "message" in value;
}
