// The channel of alerts by webhook, built from the environment once per request or job.
import { logAlert } from "../../lib/log.ts";
import type { Result } from "../../lib/result.ts";
import { sleep } from "../../lib/sleep.ts";
import { resolveHost } from "../../platform/resolver/host-resolver-client.ts";
import { endpointRules } from "../webhooks/dependencies.ts";
import { postToReceiver } from "../webhooks/receiver-client.ts";
import { type AlertWebhook, parseAlertWebhook } from "./alert-webhook.ts";
import { type PostAlertDependencies, postAlertRepeatedly, RESOLVE_LIMIT_MS } from "./post-alert.ts";
import type { AlertPoster } from "./send-alerts.ts";

/** Null if no webhook is configured. The error says which variable is wrong. */
export function alertWebhookOf(env: Env): Result<AlertWebhook | null, string> {
  return parseAlertWebhook(env, endpointRules(env));
}

/** For alerts that nobody waits for. If a variable is wrong, alerts by webhook are not sent, and each is logged as lost. */
export function alertPosterOf(env: Env, background: (work: Promise<unknown>) => void): AlertPoster | undefined {
  const webhook = alertWebhookOf(env);
  if (!webhook.ok) return { post: () => logAlert("an alert by webhook was lost", { reason: webhook.error }) };
  const { value: receiver } = webhook;
  if (receiver === null) return undefined;
  const deps = { ...postAlertDependencies(), sleep, random: Math.random, report: logAlert };
  return { post: (message) => background(postAlertRepeatedly(deps, receiver, message)) };
}

export function postAlertDependencies(): PostAlertDependencies {
  const fetcher = (url: string, init: RequestInit) => fetch(url, init);
  const nowMs = () => Date.now();
  return {
    nowMs,
    resolve: (host) => resolveHost({ fetch: fetcher, timeoutMs: RESOLVE_LIMIT_MS }, host),
    post: (request) => postToReceiver({ fetch: fetcher, nowMs }, request),
  };
}
