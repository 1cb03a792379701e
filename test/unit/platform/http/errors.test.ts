import { STATUS_CODES } from "node:http";
import { describe, expect, it } from "vitest";
import type { Failure, FailureCode } from "../../../../src/platform/failures.ts";
import { failureResponse } from "../../../../src/platform/http/errors.ts";
import { refusalStatus, SAMPLES } from "../../../../src/platform/http/refusals.ts";

/** Written by hand from Interface 4.3 and 7 and decisions 1, 2, 3, 4 and 6. */
const STATUS: Readonly<Record<FailureCode, number>> = {
  VALIDATION_FAILED: 400,
  MALFORMED_JSON: 400,
  UNSUPPORTED_MEDIA_TYPE: 415,
  BODY_TOO_LARGE: 413,
  ROUTE_NOT_FOUND: 404,
  METHOD_NOT_ALLOWED: 405,
  UNAUTHORIZED: 401,
  IP_NOT_ALLOWED: 403,
  MERCHANT_MISMATCH: 403,
  MERCHANT_NOT_FOUND: 404,
  PERMISSION_DENIED: 403,
  PUBLIC_KEY_FORBIDDEN: 403,
  CHALLENGE_REQUIRED: 403,
  CHALLENGE_FAILED: 403,
  CHALLENGE_UNAVAILABLE: 503,
  RATE_LIMITED: 429,
  SESSION_REQUIRED: 403,
  ORIGIN_NOT_ALLOWED: 403,
  OWNER_REQUIRED: 403,
  OPERATOR_REQUIRED: 403,
  NOT_SET_UP: 503,
  SETUP_LINK_INVALID: 404,
  SIGN_UP_CLOSED: 403,
  USER_NOT_FOUND: 404,
  OPERATOR_NOT_FOUND: 404,
  LAST_OPERATOR: 409,
  TEST_ALERT_MISSING: 409,
  NETWORK_NOT_FOUND: 404,
  REREAD_IN_PROGRESS: 409,
  REREAD_NOT_FOUND: 404,
  RESTORE_FINDING_NOT_FOUND: 404,
  MERCHANT_SUSPENDED: 403,
  SECURITY_REQUIREMENT_NOT_MET: 403,
  SECOND_FACTOR_REQUIRED: 403,
  STEP_UP_REQUIRED: 403,
  INVALID_CODE: 401,
  TOO_MANY_ATTEMPTS: 429,
  PASSKEY_REFUSED: 401,
  PASSKEY_EXISTS: 409,
  PASSKEY_NOT_FOUND: 404,
  TOTP_ALREADY_ENABLED: 409,
  TOTP_NOT_ENABLED: 409,
  FACTOR_NOT_AVAILABLE: 422,
  SIGN_IN_REFUSED: 400,
  PROVIDER_NOT_CONFIGURED: 422,
  PROVIDER_UNAVAILABLE: 503,
  IDENTITY_TAKEN: 409,
  IDENTITY_NOT_FOUND: 404,
  SESSION_NOT_FOUND: 404,
  CONFIRMATION_MISMATCH: 422,
  MEMBER_NOT_FOUND: 404,
  ALREADY_MEMBER: 409,
  INSUFFICIENT_RANK: 403,
  OWNER_CANNOT_LEAVE: 403,
  ALREADY_OWNER: 409,
  OWNER_LACKS_FACTOR: 422,
  INVITATION_NOT_FOUND: 404,
  INVITATION_EXPIRED: 410,
  INVITATION_EMAIL_MISMATCH: 403,
  INVITATION_EXISTS: 409,
  API_KEY_NOT_FOUND: 404,
  AUTHORIZATION_OVER: 409,
  PERMISSION_NOT_GRANTABLE: 403,
  PRODUCT_NOT_FOUND: 404,
  PRODUCT_NOT_AVAILABLE: 422,
  PRICE_IS_FIXED: 400,
  CUSTOMER_NOT_FOUND: 404,
  CUSTOMER_EMAIL_EXISTS: 409,
  IMAGE_REFUSED: 400,
  IMAGE_NOT_FOUND: 404,
  LINK_INVALID: 404,
  IDEMPOTENCY_KEY_INVALID: 400,
  IDEMPOTENCY_KEY_REUSED: 409,
  OPERATION_IN_PROGRESS: 503,
  UNSUPPORTED_PAIR: 400,
  INVALID_ADDRESS: 400,
  INVALID_XPUB: 400,
  DERIVATION_PATH_MISMATCH: 400,
  XPUB_NOT_SUPPORTED: 400,
  PRIVATE_KEY_REFUSED: 400,
  WALLET_EXISTS: 409,
  WALLET_HAS_ACTIVE_PAYMENTS: 409,
  WALLET_NOT_FOUND: 404,
  WALLET_FROZEN: 409,
  WALLET_IS_NOT_XPUB: 400,
  INVOICE_NOT_FOUND: 404,
  EXTERNAL_ID_EXISTS: 409,
  NO_ENABLED_WALLET: 422,
  INVOICE_NOT_PAYABLE: 422,
  INVOICE_ENDED: 422,
  INVOICE_NOT_EDITABLE: 422,
  INVOICE_NOT_CANCELLABLE: 422,
  INVOICE_HAS_PAYMENTS: 422,
  TOO_MANY_ACTIVE_INVOICES: 422,
  CURRENCY_NOT_PRICED: 422,
  RATE_UNAVAILABLE: 503,
  AMOUNTS_EXHAUSTED: 409,
  ANY_AMOUNT_NEEDS_OWN_ADDRESS: 422,
  PUBLIC_ADDRESS_LIMIT: 409,
  NETWORK_NOT_WATCHED: 503,
  INVOICE_NOT_RESOLVABLE: 422,
  NOTHING_TO_REVIEW: 422,
  PAYMENT_NOT_FOUND: 404,
  PAYMENT_NOT_RESOLVABLE: 422,
  TRANSACTION_NOT_FOUND: 404,
  CHAIN_UNAVAILABLE: 503,
  NETWORK_NOT_OFFERED: 422,
  TOO_MANY_PAYMENTS: 422,
  EVENT_NOT_FOUND: 404,
  WEBHOOK_NOT_FOUND: 404,
  WEBHOOK_URL_REFUSED: 400,
  LIMIT_REACHED: 422,
  WEBHOOK_INACTIVE: 422,
  DELIVERY_NOT_FOUND: 404,
  REPLAY_TOO_LARGE: 422,
  STORAGE_UNAVAILABLE: 503,
  RESTORING: 503,
  CONTENTION: 503,
  INTERNAL_ERROR: 500,
};

const failures: readonly Failure[] = Object.values(SAMPLES);

async function answer(failure: Failure) {
  const response = failureResponse(failure, "req_1");
  const text = await response.text();
  const body: Record<string, unknown> = JSON.parse(text);
  return { response, text, body };
}

describe("the response to a failure", () => {
  it("is defined for every code, and the catalogue has one sample per code", () => {
    expect(failures.map(({ code }) => code).sort()).toEqual(Object.keys(STATUS).sort());
    expect(Object.entries(SAMPLES).filter(([code, sample]) => code !== sample.code)).toEqual([]);
  });

  it.each(failures.map((failure) => [failure.code, failure] as const))(
    "%s has its status, the envelope's members in order, and the name of the status as `error`",
    async (code, failure) => {
      const { response, body } = await answer(failure);
      expect(response.status).toBe(STATUS[code]);
      expect(refusalStatus(code)).toBe(STATUS[code]);
      expect(response.headers.get("content-type")).toBe("application/json; charset=utf-8");
      expect(Object.keys(body).slice(0, 5)).toEqual(["statusCode", "message", "error", "code", "requestId"]);
      expect(body).toMatchObject({
        statusCode: STATUS[code],
        // This is the only code that is also the value of `error` (decisions 1).
        error: code === "SECURITY_REQUIREMENT_NOT_MET" ? code : STATUS_CODES[STATUS[code]],
        code,
        requestId: "req_1",
        message: expect.stringMatching(/^[A-Z].{8,}[^.]$/),
      });
    },
  );

  it("has no members except the envelope and the listed facts", () => {
    const facts = failures.map(async (failure) => Object.keys((await answer(failure)).body).slice(5));
    return expect(Promise.all(facts).then((lists) => [...new Set(lists.flat())].sort())).resolves.toEqual([
      "action",
      "details",
      "factors",
      "invoiceIds",
      "limit",
      "missing",
      "name",
      "permission",
      "permissions",
      "siteKey",
    ]);
  });

  it("has the messages that the interface document specifies", async () => {
    expect((await answer(SAMPLES.WALLET_HAS_ACTIVE_PAYMENTS)).body).toMatchObject({
      message: "Cannot delete a wallet with active payments",
    });
    expect((await answer(SAMPLES.IDEMPOTENCY_KEY_REUSED)).body).toMatchObject({
      message: "Idempotency-Key was previously used with a different request body",
      error: "Conflict",
    });
  });

  it("has Retry-After in whole seconds for every 429 and 503", () => {
    const waits = failures
      .map((failure) => failureResponse(failure, ""))
      .filter(({ status }) => status === 429 || status === 503)
      .map(({ headers }) => headers.get("retry-after"));
    expect(waits.length).toBeGreaterThan(4);
    expect(waits.filter((wait) => wait === null || !/^[1-9]\d*$/.test(wait))).toEqual([]);
    expect(failureResponse({ code: "RATE_LIMITED", retryAfterSeconds: 17 }, "").headers.get("retry-after")).toBe("17");
  });

  it("has no Retry-After for any other status", () => {
    const others = failures.map((failure) => failureResponse(failure, "")).filter(({ status }) => status < 429);
    expect(others.filter(({ headers }) => headers.has("retry-after"))).toEqual([]);
  });

  it("names the methods that a path allows, and the existing object when an id is taken", async () => {
    const notAllowed = await answer({ code: "METHOD_NOT_ALLOWED", allow: ["GET", "POST"] });
    expect(notAllowed.response.headers.get("allow")).toBe("GET, POST");
    const walletId = "wal_01ARYZ6S41TSV4RRFFQ69G5FAV";
    expect((await answer({ code: "WALLET_EXISTS", walletId })).body).toMatchObject({ walletId });
    const invoiceId = "inv_01ARYZ6S41TSV4RRFFQ69G5FAV";
    expect((await answer({ code: "EXTERNAL_ID_EXISTS", invoiceId })).body).toMatchObject({ invoiceId });
  });

  it("names the first problem of a body in its message and all of them in its details", async () => {
    const details = [
      { path: "name", message: "must not be empty" },
      { path: "rawAmount", message: "must be a number" },
    ];
    const { body } = await answer({ code: "VALIDATION_FAILED", details });
    expect(body).toMatchObject({ message: "name: must not be empty (and 1 more)", details });
    const whole = await answer({ code: "VALIDATION_FAILED", details: [{ path: "", message: "must be an object" }] });
    expect(whole.body).toMatchObject({ message: "must be an object" });
  });

  it("for a wrong API key does not reveal what is wrong with it", async () => {
    const { text } = await answer({ code: "UNAUTHORIZED" });
    expect(text).not.toMatch(/expired|revoked|unknown|checksum|sk_|pk_/i);
  });

  it("omits all members of a failure object except its facts", async () => {
    const canary =
      "xprv9s21ZrQH143K3QTDL4LXw2F7HEK3wJUD2nW2nRk4stbPy6cq3jPPqjiChkVvvNKmPGJxWUtg6LnF5kejMRNNU3TGtRBeJgk33yuGBxrMPHi";
    for (const failure of failures) {
      const loaded: Failure = Object.assign({}, failure, { body: canary, cause: new Error(canary) });
      expect((await answer(loaded)).text).not.toContain("xprv");
    }
  });
});
