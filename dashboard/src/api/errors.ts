// How a call fails: the API refused it, or no answer arrived.
import { errorText } from "./error-texts.ts";

interface Detail {
  /** `customerEmail`, `brand.color` */
  readonly path: string;
  readonly message: string;
}

/** A refusal by the API, created from its error envelope. The message is for the user. */
export class ApiError extends Error {
  override readonly name = "ApiError";
  readonly status: number;
  readonly code: string;
  readonly requestId: string | undefined;
  readonly details: readonly Detail[];
  /** Facts of this code, such as `factors`. */
  readonly facts: Readonly<Record<string, unknown>>;

  constructor(status: number, envelope: Readonly<Record<string, unknown>>) {
    const { code, message, requestId, details, ...facts } = envelope;
    const known = typeof code === "string" ? code : `HTTP_${status}`;
    super(
      errorText(
        known,
        typeof message === "string" ? message : `The service responded with status ${status}. Try again.`,
        facts,
      ),
    );
    this.status = status;
    this.code = known;
    this.requestId = typeof requestId === "string" ? requestId : undefined;
    this.details = Array.isArray(details) ? details : [];
    this.facts = facts;
  }
}

/** No complete answer arrived; whether the call was executed is unknown. */
export class ConnectionError extends Error {
  override readonly name = "ConnectionError";

  constructor(cause: unknown) {
    super("The service cannot be reached. Check your connection; the console reconnects automatically.", {
      cause,
    });
  }
}

/** The user closed the dialog that asked for their factor: nothing was done, and no message is needed. */
export class StepUpCancelled extends Error {
  override readonly name = "StepUpCancelled";
}

/** A message for the user, with the id by which the request is found in the logs. */
export function withRequestId(error: Error): string {
  return error instanceof ApiError && error.requestId !== undefined
    ? `${error.message} (${error.requestId})`
    : error.message;
}

/** Whether a retry of the same call may succeed. */
export function isPassing(error: unknown): boolean {
  if (error instanceof ConnectionError) return true;
  return error instanceof ApiError && (error.status >= 500 || error.code === "OPERATION_IN_PROGRESS");
}

/** Messages for a form's fields, by path; empty for any error except a refused form. */
export function fieldErrors(error: unknown): Readonly<Record<string, string>> {
  if (!(error instanceof ApiError)) return {};
  return Object.fromEntries(error.details.map(({ path, message }) => [path, capitalized(message)]));
}

/** Like `fieldErrors`, for forms in which one field has a whole list: `allowedIps.2` is shown at `allowedIps`. */
export function wholeFieldErrors(error: unknown): Readonly<Record<string, string>> {
  const all = Object.entries(fieldErrors(error)).toReversed();
  return Object.fromEntries(all.map(([path, message]) => [path.replace(/\..*/, ""), message]));
}

function capitalized(text: string): string {
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}`;
}
