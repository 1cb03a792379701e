// Alerts by webhook: where they are POSTed (ALERT_WEBHOOK_URL, ALERT_WEBHOOK_SECRET), and what is sent. Like the emails, they hold no merchant data.
import { err, ok, type Result } from "../../lib/result.ts";
import { isoTime, isoTimeOrNull } from "../../lib/time.ts";
import { type EndpointRules, parseEndpointUrl } from "../webhooks/endpoint-url.ts";
import { webhookKey } from "../webhooks/secret.ts";
import { type Alert, type AlertPlan, headlineOf } from "./alert.ts";

export interface AlertWebhook {
  readonly url: string;
  /** The name to resolve before an attempt; null for a receiver on the developer's own machine. */
  readonly host: string | null;
  /** Signs the messages; null if they are not signed. */
  readonly secret: string | null;
}

/** A variable that was never set is undefined. */
interface AlertVariables {
  readonly ALERT_WEBHOOK_URL?: string | undefined;
  readonly ALERT_WEBHOOK_SECRET?: string | undefined;
}

/** Parses both variables; null if no webhook is configured. The error is a sentence without either value, because a URL may contain a token. */
export function parseAlertWebhook(of: AlertVariables, rules: EndpointRules): Result<AlertWebhook | null, string> {
  const text = (of.ALERT_WEBHOOK_URL ?? "").trim();
  const secret = parseAlertSecret(of);
  if (!secret.ok) return secret;
  if (text === "") return ok(null);
  const url = parseEndpointUrl(text, rules);
  if (!url.ok) return err(`ALERT_WEBHOOK_URL: ${url.error}`);
  const { href, host, isLoopback } = url.value;
  return ok({ url: href, host: isLoopback ? null : host, secret: secret.value });
}

function parseAlertSecret({ ALERT_WEBHOOK_URL, ALERT_WEBHOOK_SECRET }: AlertVariables): Result<string | null, string> {
  const secret = (ALERT_WEBHOOK_SECRET ?? "").trim();
  if (secret === "") return ok(null);
  if ((ALERT_WEBHOOK_URL ?? "").trim() === "") return err("ALERT_WEBHOOK_SECRET is set without ALERT_WEBHOOK_URL");
  return webhookKey(secret) === undefined
    ? err("ALERT_WEBHOOK_SECRET must be whsec_ and the base64 of 24 to 64 bytes")
    : ok(secret);
}

/** A message, which is the same for each attempt. */
export interface AlertMessage {
  /** The header `webhook-id`, by which a receiver recognises a repeated message. */
  readonly id: string;
  readonly body: string;
}

interface AlertMessageOf {
  readonly id: string;
  readonly nowMs: number;
  /** The deployment's origin; empty if it has none. */
  readonly publicUrl: string;
}

export function alertMessage(
  { failing, over, isFailing }: Pick<AlertPlan, "failing" | "over" | "isFailing">,
  of: AlertMessageOf,
): AlertMessage {
  const lines = [headlineOf({ failing, over }), ...failing.map(({ cause, detail }) => `${cause}: ${detail}`)];
  const data = { status: isFailing ? "FAILING" : "OK", failing: failing.map(causeOf), over: over.map(causeOf) };
  return messageOf(of, { type: "deployment.alert", lines, data });
}

/** The message that an operator requests to check that alerts arrive. */
export function testAlertMessage(of: AlertMessageOf): AlertMessage {
  const lines = ["Test: alerts of the deployment reach you. Nothing is wrong."];
  return messageOf(of, { type: "deployment.alert_test", lines, data: { status: "TEST", failing: [], over: [] } });
}

interface Content {
  readonly type: string;
  readonly lines: readonly string[];
  readonly data: object;
}

function messageOf({ id, nowMs, publicUrl }: AlertMessageOf, { type, lines, data }: Content): AlertMessage {
  const deployment = publicUrl === "" ? null : publicUrl;
  const text = [...lines, ...(deployment === null ? [] : [`${deployment}/healthz`])].join("\n");
  return { id, body: JSON.stringify({ id, type, timestamp: isoTime(nowMs), text, data: { deployment, ...data } }) };
}

function causeOf({ cause, detail, beganAtMs, endedAtMs }: Alert) {
  return { cause, detail, since: isoTime(beganAtMs), endedAt: isoTimeOrNull(endedAtMs) };
}
