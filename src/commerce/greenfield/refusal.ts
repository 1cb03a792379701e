// A refusal of our own API in Greenfield's two shapes: a list of fields for 422, and a code with a message for everything else.
import { jsonObject } from "../../lib/typed-json.ts";

interface GreenfieldRefusal {
  readonly status: number;
  readonly body: object;
}

/** Greenfield's name of a member of our own requests. */
const FIELDS: Readonly<Record<string, string>> = {
  rawAmount: "amount",
  redirectUrl: "checkout.redirectURL",
  expiresInSeconds: "checkout.expirationMinutes",
  underpaidTolerancePercent: "checkout.paymentTolerance",
  paymentMethods: "checkout.paymentMethods",
  events: "authorizedEvents.specificEvents",
  action: "status",
};

/** Which field of Greenfield a refusal of ours is about, where it is about one. */
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

/** What plugins compare. All others are our own codes in their spelling. */
const CODES: Readonly<Record<string, string>> = {
  UNAUTHORIZED: "unauthenticated",
  PERMISSION_DENIED: "missing-permission",
  MERCHANT_MISMATCH: "missing-permission",
};

const KEY_WANTED = "Authentication is required: send a valid secret key in the header `Authorization: token KEY`";

/** Greenfield's right for one of ours, as `rights.ts` grants it; ours where it has none. */
export function refusalOf(status: number, text: string, rightFor: (permission: string) => string): GreenfieldRefusal {
  const { code, message, details, permission } = jsonObject(text) ?? {};
  const name = typeof code === "string" ? code : "INTERNAL_ERROR";
  const field = FIELD_OF_CODE[name];
  if (name === "VALIDATION_FAILED") return { status: 422, body: fieldsOf(details) };
  if (field !== undefined || status === 422) return { status: 422, body: [{ path: field ?? "", message }] };
  return {
    status,
    body: {
      code: CODES[name] ?? name.toLowerCase().replaceAll("_", "-"),
      message: name === "UNAUTHORIZED" ? KEY_WANTED : message,
      ...(typeof permission === "string" ? { missingPermission: rightFor(permission) } : {}),
    },
  };
}

function fieldsOf(details: unknown): readonly object[] {
  const problems: readonly unknown[] = Array.isArray(details) ? details : [];
  return problems.map((problem) => {
    const { path, message } = Object(problem);
    const [first = "", ...rest] = String(path).split(".");
    return { path: [FIELDS[first] ?? first, ...rest].join("."), message };
  });
}
