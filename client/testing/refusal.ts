// A refusal of the fake, thrown by whatever decides it and answered in the API's envelope.
import type { ErrorDetail } from "../errors.ts";
import { REFUSALS } from "./tables.ts";

/** A code that the fake answers. */
export type FakeCode = keyof typeof REFUSALS;

export class Refused extends Error {
  readonly code: FakeCode;
  readonly facts: object;

  constructor(code: FakeCode, facts: object = {}) {
    super(code);
    this.code = code;
    this.facts = facts;
  }
}

export function invalid(details: readonly ErrorDetail[]): Refused {
  return new Refused("VALIDATION_FAILED", { details });
}

/** The answer to a refusal. */
export function refusalAnswer({ code, facts }: Refused, requestId: string): Response {
  const { status, error, message } = REFUSALS[code];
  return answer(status, { statusCode: status, message, error, code, requestId, ...facts }, requestId);
}

/** JSON as the API sends it. */
export function answer(status: number, body: unknown, requestId: string, more: Record<string, string> = {}): Response {
  const headers = { "content-type": "application/json; charset=utf-8", "x-request-id": requestId, ...more };
  // A status that has no body may be given none.
  return new Response(body === undefined ? null : JSON.stringify(body), { status, headers });
}
