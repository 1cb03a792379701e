// What `npm start` reads from its environment. A bad value stops the start with a sentence that names it: a server that runs with
// something else than it was told is worse than none.
import { resolve } from "node:path";
import { parseProviders } from "../src/accounts/identities/providers.ts";
import { parseChainSources } from "../src/chains/chain-sources.ts";
import { parsePollSeconds } from "../src/chains/poll-setting.ts";
import { parseSchedule } from "../src/notifications/webhooks/retry-schedule.ts";
import { parseMailProvider, parseSender } from "../src/platform/mail/provider.ts";
import { parseRateSource } from "../src/rates/rate-setting.ts";

/** Stops a start; the message is for the person at the terminal. */
export class StartError extends Error {}

export interface Settings {
  readonly port: number;
  readonly baseUrl: string;
  /** Absolute; everything that a start writes is below it. */
  readonly home: string;
  /** Variables of the Worker by name, as wrangler.toml has them. */
  readonly variables: Readonly<Record<string, string>>;
}

type Environment = Readonly<Record<string, string | undefined>>;

export function readSettings(environment: Environment): Settings {
  const port = wholeNumber(environment, "PORT", "8787", { from: 1, to: 65_535 });
  const baseUrl = `http://localhost:${port}`;
  return {
    port,
    baseUrl,
    home: resolve(given(environment, "EDGETILL_HOME") ?? ".edgetill"),
    variables: {
      ENVIRONMENT: "development",
      PUBLIC_URL: baseUrl,
      RATE_SOURCE: rateSource(environment),
      CHAIN_SOURCES: chainSources(environment),
      SIGN_IN_PROVIDERS: signInProviders(environment),
      MAIL_PROVIDER: mailProvider(environment),
      MAIL_FROM: mailFrom(environment),
      POLL_SECONDS: pollSeconds(environment),
      // Receivers on this machine, and only they, may be http.
      WEBHOOK_LOOPBACK: "on",
      WEBHOOK_SCHEDULE_SECONDS: webhookSchedule(environment),
      RATE_LIMIT_PER_MINUTE: String(
        wholeNumber(environment, "RATE_LIMIT_PER_MINUTE", "300", { from: 0, to: 1_000_000 }),
      ),
    },
  };
}

/** An empty variable counts as none. */
function given(environment: Environment, name: string): string | undefined {
  const text = environment[name]?.trim();
  return text === "" ? undefined : text;
}

function wholeNumber(
  environment: Environment,
  name: string,
  otherwise: string,
  range: { from: number; to: number },
): number {
  const text = given(environment, name) ?? otherwise;
  const value = /^\d{1,9}$/.test(text) ? Number(text) : Number.NaN;
  if (value >= range.from && value <= range.to) return value;
  throw new StartError(`${name} must be a whole number from ${range.from} to ${range.to}, not "${text}".`);
}

/** By the Worker's own rule: what passes here serves there. */
function rateSource(environment: Environment): string {
  const text = given(environment, "RATE_SOURCE") ?? "fixed";
  const setting = parseRateSource(text, true);
  if (!setting.ok) throw new StartError(`${setting.error}.`);
  return text;
}

/** By the Worker's own rule, whose messages never repeat the value: it may carry vendors' keys. */
function chainSources(environment: Environment): string {
  const text = given(environment, "CHAIN_SOURCES") ?? "{}";
  const sources = parseChainSources(text);
  if (!sources.ok) throw new StartError(`${sources.error}.`);
  return text;
}

/** The same: it carries client secrets. */
function signInProviders(environment: Environment): string {
  const text = given(environment, "SIGN_IN_PROVIDERS") ?? "{}";
  const providers = parseProviders(text);
  if (!providers.ok) throw new StartError(`${providers.error}.`);
  return text;
}

/** The same: it carries a provider's key. */
function mailProvider(environment: Environment): string {
  const text = given(environment, "MAIL_PROVIDER") ?? '{"kind":"mailbox"}';
  const provider = parseMailProvider(text, true);
  if (!provider.ok) throw new StartError(`${provider.error}.`);
  return text;
}

function mailFrom(environment: Environment): string {
  const text = given(environment, "MAIL_FROM") ?? "Edgetill <edgetill@localhost>";
  const sender = parseSender(text);
  if (!sender.ok) throw new StartError(`${sender.error}.`);
  return text;
}

/** By the Worker's own rule; empty leaves every network at its own pace. */
function pollSeconds(environment: Environment): string {
  const text = given(environment, "POLL_SECONDS") ?? "";
  const seconds = parsePollSeconds(text);
  if (!seconds.ok) throw new StartError(`${seconds.error}, not "${text}".`);
  return text;
}

/** By the Worker's own rule; empty is the schedule of the reference. */
function webhookSchedule(environment: Environment): string {
  const text = given(environment, "WEBHOOK_SCHEDULE_SECONDS") ?? "";
  const schedule = parseSchedule(text, true);
  if (!schedule.ok) throw new StartError(`${schedule.error}, not "${text}".`);
  return text;
}
