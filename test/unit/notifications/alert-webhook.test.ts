// Where alerts may be posted, what they contain, and how the result of an attempt is judged.
import { describe, expect, it } from "vitest";
import type { Alert } from "../../../src/notifications/operator-alerts/alert.ts";
import { alertMail } from "../../../src/notifications/operator-alerts/alert-mail.ts";
import { alertMessage, parseAlertWebhook } from "../../../src/notifications/operator-alerts/alert-webhook.ts";
import { postAlert } from "../../../src/notifications/operator-alerts/post-alert.ts";
import { webhookSecret } from "../../../src/notifications/webhooks/secret.ts";
import type { Resolution } from "../../../src/platform/resolver/host-resolver-client.ts";

const RULES = { isLoopbackOpen: false, ownHost: "pay.shop.com" };
const SECRET = webhookSecret(new Uint8Array(32).fill(7));
const URL_OK = "https://oncall.shop.com/hook?token=hunter2";

describe("the settings for alerts by webhook", () => {
  it.each([
    [{}, null],
    [{ ALERT_WEBHOOK_URL: " ", ALERT_WEBHOOK_SECRET: "" }, null],
    [{ ALERT_WEBHOOK_URL: ` ${URL_OK} ` }, { url: URL_OK, host: "oncall.shop.com", secret: null }],
    [
      { ALERT_WEBHOOK_URL: URL_OK, ALERT_WEBHOOK_SECRET: SECRET },
      { url: URL_OK, host: "oncall.shop.com", secret: SECRET },
    ],
  ])("%j are accepted", (settings, value) => {
    expect(parseAlertWebhook(settings, RULES)).toEqual({ ok: true, value });
  });

  it.each([
    [
      { ALERT_WEBHOOK_URL: "http://oncall.shop.com/hunter2" },
      "ALERT_WEBHOOK_URL: it must start with https:// and a host",
    ],
    [{ ALERT_WEBHOOK_URL: "http://localhost:9/hunter2" }, "ALERT_WEBHOOK_URL: it must start with https:// and a host"],
    [{ ALERT_WEBHOOK_URL: "https://169.254.169.254/" }, "ALERT_WEBHOOK_URL: the host is an IP address"],
    [{ ALERT_WEBHOOK_URL: "https://pay.shop.com/" }, "ALERT_WEBHOOK_URL: the host is this service's own"],
    [{ ALERT_WEBHOOK_SECRET: SECRET }, "ALERT_WEBHOOK_SECRET is set without ALERT_WEBHOOK_URL"],
    [
      { ALERT_WEBHOOK_URL: URL_OK, ALERT_WEBHOOK_SECRET: "whsec_hunter2" },
      "ALERT_WEBHOOK_SECRET must be whsec_ and the base64 of 24 to 64 bytes",
    ],
  ])("%j are refused with the reason and without the values", (settings, error) => {
    expect(parseAlertWebhook(settings, RULES)).toEqual({ ok: false, error });
  });
});

const alert = (cause: string, endedAtMs: number | null = null): Alert => ({
  cause,
  detail: `about ${cause}`,
  beganAtMs: 0,
  endedAtMs,
  mailedAtMs: 0,
  isMailed: true,
});

describe("an alert which says that one of two causes is over", () => {
  const plan = { failing: [], over: [alert("CRON_STOPPED", 60_000)], isFailing: true };

  it("has the status FAILING, so that no incident is closed while the other cause lasts", () => {
    const { body } = alertMessage(plan, { id: "one", nowMs: 60_000, publicUrl: "https://pay.shop.com" });
    expect(JSON.parse(body)).toEqual({
      id: "one",
      type: "deployment.alert",
      timestamp: "1970-01-01T00:01:00.000Z",
      text: "Over: CRON_STOPPED\nhttps://pay.shop.com/healthz",
      data: {
        deployment: "https://pay.shop.com",
        status: "FAILING",
        failing: [],
        over: [
          {
            cause: "CRON_STOPPED",
            detail: "about CRON_STOPPED",
            since: "1970-01-01T00:00:00.000Z",
            endedAt: "1970-01-01T00:01:00.000Z",
          },
        ],
      },
    });
  });

  it("does not say in its email that the deployment has recovered", () => {
    const mailed = (isFailing: boolean) => alertMail("ann@shop.com", { ...plan, isFailing, publicUrl: "" }).text;
    expect(mailed(true)).not.toContain("has recovered");
    expect(mailed(false)).toContain("has recovered");
  });
});

describe("one attempt to post an alert", () => {
  const webhook = { url: URL_OK, host: "oncall.shop.com", secret: SECRET };
  const posting = async (
    resolution: Resolution,
    answer: { readonly statusCode: number | null; readonly error: "TIMEOUT" | "CONNECTION_FAILED" | null },
  ) => {
    const requests: unknown[] = [];
    const deps = {
      nowMs: () => 1_000,
      resolve: async () => resolution,
      post: async (request: unknown) => {
        requests.push(request);
        return { ...answer, latencyMs: 1, response: null, retryAfter: null };
      },
    };
    return { posted: await postAlert(deps, webhook, { id: "one", body: "{}" }), requests };
  };
  const PUBLIC: Resolution = { kind: "public", addresses: ["192.0.2.1"] };

  it("sends nothing to a host that resolves to a private address, and must not be retried", async () => {
    const why = "the host resolves to 10.0.0.1, which is not a public address";
    const { posted, requests } = await posting({ kind: "refused", why }, { statusCode: 200, error: null });
    expect(posted).toEqual({ statusCode: null, problem: { reason: why, isPassing: false } });
    expect(requests).toEqual([]);
  });

  it("sends nothing to a host that cannot be resolved, and may be retried", async () => {
    const why = "the host could not be resolved (TIMEOUT)";
    const { posted, requests } = await posting({ kind: "unknown", why }, { statusCode: 200, error: null });
    expect(posted).toEqual({ statusCode: null, problem: { reason: why, isPassing: true } });
    expect(requests).toEqual([]);
  });

  it.each([
    [204, undefined],
    [302, false],
    [404, false],
    [410, false],
    [408, true],
    [429, true],
    [503, true],
  ])("succeeds or fails according to the status of the response: %i", async (statusCode, isPassing) => {
    const { posted, requests } = await posting(PUBLIC, { statusCode, error: null });
    const reason = `the receiver answered with status ${statusCode}`;
    expect(posted).toEqual({ statusCode, problem: isPassing === undefined ? undefined : { reason, isPassing } });
    expect(requests).toMatchObject([{ url: URL_OK, body: "{}", timeoutMs: 6_000 }]);
  });

  it.each([
    ["TIMEOUT", "no answer within 6 seconds"],
    ["CONNECTION_FAILED", "no connection to the receiver"],
  ] as const)("reports %s with a readable reason, and may be retried", async (error, reason) => {
    const { posted } = await posting(PUBLIC, { statusCode: null, error });
    expect(posted).toEqual({ statusCode: null, problem: { reason, isPassing: true } });
  });
});
