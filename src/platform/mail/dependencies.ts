// The mailer that the operator configured (MAIL_PROVIDER, MAIL_FROM), built from the environment once per request.

import { logAlert } from "../../lib/log.ts";
import { objectOf } from "../../lib/object-of.ts";
import { err, ok, type Result } from "../../lib/result.ts";
import { sleep } from "../../lib/sleep.ts";
import { isoTime } from "../../lib/time.ts";
import { isDevelopment } from "../http/deployment.ts";
import { isSet } from "../keys/keyrings.ts";
import { cloudflareMailClient } from "./cloudflare-client.ts";
import type { KeptMail } from "./dev-mailbox.ts";
import type { MailClient, Mailer } from "./mail.ts";
import { type MailProvider, parseMailProvider, parseSender } from "./provider.ts";
import { resendClient } from "./resend-client.ts";
import { sendMail, TRY_LIMIT_MS } from "./send-mail.ts";

/**
 * If a variable is invalid, emails are lost and each loss is logged. Operations that do not need the email continue, and no response reveals how
 * the deployment is configured.
 */
export function mailerOf(
  env: Env,
  given: { readonly nowMs: number; readonly background: (work: Promise<unknown>) => void },
): Mailer {
  const provider = parseMailProvider(env.MAIL_PROVIDER, isDevelopment(env));
  if (!provider.ok) return losing(provider.error);
  if (provider.value.kind === "mailbox") {
    const at = isoTime(given.nowMs);
    return { post: async (mail) => mailboxOf(env).keep({ ...mail, at }) };
  }
  const client = clientOf(env, provider.value);
  if (!client.ok) return losing(client.error);
  const deps = { sleep, random: Math.random, report: logAlert };
  return { post: async (mail) => given.background(sendMail(deps, client.value, mail, crypto.randomUUID())) };
}

/**
 * False if an emailed code would never arrive, because the operator has not set MAIL_PROVIDER. True if it is set wrongly, and always in development.
 */
export function isMailOffered(env: Pick<Env, "ENVIRONMENT" | "MAIL_PROVIDER">): boolean {
  return isDevelopment(env) || isSet(env.MAIL_PROVIDER);
}

/** A client for callers that record which emails were sent. If a variable is invalid, every email fails. */
export function mailClientOf(env: Env, nowMs: () => number): MailClient {
  const provider = parseMailProvider(env.MAIL_PROVIDER, isDevelopment(env));
  if (!provider.ok) return failingClient(provider.error);
  if (provider.value.kind === "mailbox") return mailboxClient(env, nowMs);
  const client = clientOf(env, provider.value);
  return client.ok ? client.value : failingClient(client.error);
}

function failingClient(reason: string): MailClient {
  return { name: "none", send: async () => err({ reason, isPassing: false }) };
}

function mailboxClient(env: Env, nowMs: () => number): MailClient {
  const kept = () => ok(undefined);
  const failed = () => err({ reason: "the mailbox threw", isPassing: true });
  return {
    name: "mailbox",
    send: (mail) =>
      mailboxOf(env)
        .keep({ ...mail, at: isoTime(nowMs()) })
        .then(kept, failed),
  };
}

/** Lists the development mailbox, newest first: the emails to `to`, in upper or lower case, or all if it is undefined. */
export function mailboxReader(env: Env): {
  readonly list: (to: string | undefined) => Promise<readonly KeptMail[]>;
} {
  return { list: async (to) => mailboxOf(env).list(to) };
}

function mailboxOf(env: Env) {
  return objectOf(env, env.DEV_MAILBOX, "mailbox");
}

function losing(reason: string): Mailer {
  return { post: async () => logAlert("a mail was lost", { reason }) };
}

function clientOf(env: Env, provider: Exclude<MailProvider, { readonly kind: "mailbox" }>): Result<MailClient, string> {
  const from = parseSender(env.MAIL_FROM);
  if (!from.ok) return from;
  const common = { from: from.value, timeoutMs: TRY_LIMIT_MS };
  switch (provider.kind) {
    case "cloudflare":
      if (env.SEND_EMAIL === undefined) return err("MAIL_PROVIDER: the binding SEND_EMAIL is missing");
      return ok(cloudflareMailClient({ ...common, binding: env.SEND_EMAIL }));
    case "resend": {
      const { url: baseUrl, apiKey } = provider;
      return ok(resendClient({ ...common, baseUrl, apiKey, fetch: (url, init) => fetch(url, init) }));
    }
  }
}
