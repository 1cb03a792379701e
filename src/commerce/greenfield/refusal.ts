// A refusal from our own API in Greenfield's two shapes: a list of fields for 422, and a code with a message for everything else.
import type { Failure, FieldProblem } from "../../platform/failures.ts";

interface GreenfieldRefusal {
  readonly status: number;
  readonly body: object;
}

interface OwnAnswer {
  readonly status: number;
  readonly message: string;
}

/** Greenfield's names for members of our own requests. */
const FIELDS: Readonly<Record<string, string>> = {
  rawAmount: "amount",
  redirectUrl: "checkout.redirectURL",
  expiresInSeconds: "checkout.expirationMinutes",
  underpaidTolerancePercent: "checkout.paymentTolerance",
  paymentMethods: "checkout.paymentMethods",
  events: "authorizedEvents.specificEvents",
  action: "status",
};

/** The Greenfield field that one of our error codes is about. */
const FIELD_OF_CODE: Readonly<Record<string, string>> = {
  UNSUPPORTED_PAIR: "checkout.paymentMethods",
  NO_ENABLED_WALLET: "checkout.paymentMethods",
  CURRENCY_NOT_PRICED: "currency",
  WEBHOOK_URL_REFUSED: "url",
  INVOICE_NOT_CANCELLABLE: "status",
  INVOICE_NOT_RESOLVABLE: "status",
  INVOICE_HAS_PAYMENTS: "status",
  INVOICE_NOT_EDITABLE: "metadata",
};

/** Codes that plugins check for. All others are our own codes in Greenfield's spelling. */
const CODES: Readonly<Record<string, string>> = {
  UNAUTHORIZED: "unauthenticated",
  PERMISSION_DENIED: "missing-permission",
  MERCHANT_MISMATCH: "missing-permission",
};

const KEY_WANTED = "Authentication is required: send a valid secret key in the header `Authorization: token KEY`";

/**
 * The refusal in Greenfield's format. `rightFor`: Greenfield's right for one of our permissions (`rights.ts`), or the permission itself if it has
 * none.
 */
export function refusalOf(
  failure: Failure,
  { status, message }: OwnAnswer,
  rightFor: (permission: string) => string,
): GreenfieldRefusal {
  if (failure.code === "VALIDATION_FAILED") return { status: 422, body: fieldsOf(failure.details) };
  const { code } = failure;
  const field = FIELD_OF_CODE[code];
  if (field !== undefined || status === 422) return { status: 422, body: [{ path: field ?? "", message }] };
  return {
    status,
    body: {
      code: CODES[code] ?? code.toLowerCase().replaceAll("_", "-"),
      message: code === "UNAUTHORIZED" ? KEY_WANTED : message,
      ...(code === "PERMISSION_DENIED" && { missingPermission: rightFor(failure.permission) }),
    },
  };
}

function fieldsOf(problems: readonly FieldProblem[]): readonly object[] {
  return problems.map(({ path, message }) => {
    const [first = "", ...rest] = path.split(".");
    return { path: [FIELDS[first] ?? first, ...rest].join("."), message };
  });
}
