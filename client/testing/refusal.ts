// A refusal of the fake: a failure of the service, thrown where it is decided, and answered as in the service.
import type { Result } from "../../src/lib/result.ts";
import type { Failure, FailureCode } from "../../src/platform/failures.ts";
import { answerTo, failureResponse } from "../../src/platform/http/errors.ts";

/** The refusals of the fake. A test covers each of them. */
export const CODES: readonly FailureCode[] = [
  "VALIDATION_FAILED",
  "MALFORMED_JSON",
  "UNSUPPORTED_MEDIA_TYPE",
  "BODY_TOO_LARGE",
  "ROUTE_NOT_FOUND",
  "METHOD_NOT_ALLOWED",
  "UNAUTHORIZED",
  "MERCHANT_MISMATCH",
  "PUBLIC_KEY_FORBIDDEN",
  "IDEMPOTENCY_KEY_INVALID",
  "IDEMPOTENCY_KEY_REUSED",
  "INVOICE_NOT_FOUND",
  "EXTERNAL_ID_EXISTS",
  "UNSUPPORTED_PAIR",
  "NO_ENABLED_WALLET",
  "ANY_AMOUNT_NEEDS_OWN_ADDRESS",
  "INVOICE_NOT_PAYABLE",
  "INVOICE_NOT_EDITABLE",
  "INVOICE_NOT_CANCELLABLE",
  "INVOICE_HAS_PAYMENTS",
  "INVOICE_NOT_RESOLVABLE",
  "NOTHING_TO_REVIEW",
  "PAYMENT_NOT_FOUND",
  "PAYMENT_NOT_RESOLVABLE",
  "PRODUCT_NOT_FOUND",
  "PRODUCT_NOT_AVAILABLE",
  "PRICE_IS_FIXED",
  "CUSTOMER_NOT_FOUND",
  "CUSTOMER_EMAIL_EXISTS",
  "WALLET_NOT_FOUND",
  "WEBHOOK_NOT_FOUND",
  "WEBHOOK_URL_REFUSED",
  "WEBHOOK_INACTIVE",
  "EVENT_NOT_FOUND",
];

export class Refused extends Error {
  readonly failure: Failure;

  constructor(failure: Failure) {
    super(answerTo(failure).message);
    this.failure = failure;
  }
}

/** The value of a rule's result; throws its refusal. */
export function allowed<T>(result: Result<T, Failure>): T {
  if (!result.ok) throw new Refused(result.error);
  return result.value;
}

export function refusalAnswer({ failure }: Refused, requestId: string): Response {
  return failureResponse(failure, requestId);
}
