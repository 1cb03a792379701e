// The settings that `npm start` reads from its environment. An invalid value stops the start with a message that names it, so that no server
// runs with unintended settings.
import { resolve } from "node:path";
import { parseProviders } from "../src/accounts/security-policies/providers.ts";
import { parseExplorers } from "../src/chains/registry/explorers.ts";
import { parseChainSources } from "../src/chains/sources/chain-sources.ts";
import { parsePollSeconds } from "../src/chains/sources/poll-setting.ts";
import { parseLogSample } from "../src/lib/work-log.ts";
import { parseSchedule } from "../src/notifications/webhooks/retry-schedule.ts";
import { parseTurnstile } from "../src/platform/challenge/turnstile.ts";
import { parseRestoreEpoch } from "../src/platform/deployment/restore-epoch.ts";
import { parseMailProvider, parseSender } from "../src/platform/mail/provider.ts";
import { parseRateSource } from "../src/rates/rate-setting.ts";
import { DEFAULT_NAME, NAME } from "./deploy/answers.ts";

/** Stops a start; the message is for the user at the terminal. */
export class StartError extends Error {}

export interface Settings {
  readonly port: number;
  readonly baseUrl: string;
  /** The name that `npm run deploy -- --name` sets: the name of the Worker, and the prefix of the names of its database and queues. */
  readonly name: string;
  /** Absolute path; a start writes only below it. */
  readonly home: string;
  /** Variables of the Worker by name, as in wrangler.toml. */
  readonly variables: Readonly<Record<string, string>>;
}

type Environment = Readonly<Record<string, string | undefined>>;

export function readSettings(environment: Environment): Settings {
  const port = wholeNumber(environment, "PORT", "8787", { from: 1, to: 65_535 });
  const baseUrl = `http://localhost:${port}`;
  return {
    port,
    baseUrl,
    name: deploymentName(environment),
    home: resolve(given(environment, "EDGETILL_HOME") ?? ".edgetill"),
    variables: {
      ENVIRONMENT: "development",
      PUBLIC_URL: baseUrl,
      RATE_SOURCE: rateSource(environment),
      CHAIN_SOURCES: chainSources(environment),
      EXPLORERS: explorers(environment),
      // Anyone who can reach a server on this machine may have an account.
      SIGN_UP: "open",
      SIGN_IN_PROVIDERS: signInProviders(environment),
      MAIL_PROVIDER: mailProvider(environment),
      MAIL_FROM: mailFrom(environment),
      POLL_SECONDS: pollSeconds(environment),
      // Plain http is allowed only for receivers on this machine.
      WEBHOOK_LOOPBACK: "on",
      WEBHOOK_SCHEDULE_SECONDS: webhookSchedule(environment),
      DEV_CONTROL: "",
      RESTORE_EPOCH: restoreEpoch(environment),
      LOG_SAMPLE: logSample(environment),
      ...turnstile(environment),
      RATE_LIMIT_PER_MINUTE: String(
        wholeNumber(environment, "RATE_LIMIT_PER_MINUTE", "300", { from: 0, to: 1_000_000 }),
      ),
    },
  };
}

function restoreEpoch(environment: Environment): string {
  const text = given(environment, "RESTORE_EPOCH") ?? "";
  const parsed = parseRestoreEpoch(text);
  if (!parsed.ok) throw new StartError(`${parsed.error}.`);
  return text;
}

/** Off by default, because logging every request would hide the useful output in the terminal. */
function logSample(environment: Environment): string {
  const text = given(environment, "LOG_SAMPLE") ?? "0";
  const parsed = parseLogSample(text);
  if (!parsed.ok) throw new StartError(parsed.error);
  return text;
}

/** An empty variable counts as missing. */
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

/** Checked by the same rule as in a deploy. */
function deploymentName(environment: Environment): string {
  const name = given(environment, "EDGETILL_NAME") ?? DEFAULT_NAME;
  if (NAME.test(name)) return name;
  throw new StartError(
    `EDGETILL_NAME must begin with a letter and have up to 50 small letters, digits and hyphens, not "${name}".`,
  );
}

function rateSource(environment: Environment): string {
  const text = given(environment, "RATE_SOURCE") ?? "fixed";
  const setting = parseRateSource(text, true);
  if (!setting.ok) throw new StartError(`${setting.error}.`);
  return text;
}

function turnstile(environment: Environment) {
  const keys = {
    TURNSTILE_SITE_KEY: given(environment, "TURNSTILE_SITE_KEY") ?? "",
    TURNSTILE_SECRET_KEY: given(environment, "TURNSTILE_SECRET_KEY") ?? "",
    TURNSTILE_ORIGIN: given(environment, "TURNSTILE_ORIGIN") ?? "",
  };
  const parsed = parseTurnstile({ ENVIRONMENT: "development", ...keys });
  if (!parsed.ok) throw new StartError(`${parsed.error}.`);
  return keys;
}

/** Uses the Worker's own check, whose messages never show the value: it may contain vendors' keys. */
function chainSources(environment: Environment): string {
  const text = given(environment, "CHAIN_SOURCES") ?? "{}";
  const sources = parseChainSources({ CHAIN_SOURCES: text });
  if (!sources.ok) throw new StartError(`${sources.error}.`);
  return text;
}

function explorers(environment: Environment): string {
  const text = given(environment, "EXPLORERS") ?? "{}";
  const parsed = parseExplorers(text);
  if (!parsed.ok) throw new StartError(`${parsed.error}.`);
  return text;
}

/** Uses the Worker's own check, whose messages never show the value: it contains client secrets. */
function signInProviders(environment: Environment): string {
  const text = given(environment, "SIGN_IN_PROVIDERS") ?? "{}";
  const providers = parseProviders(text);
  if (!providers.ok) throw new StartError(`${providers.error}.`);
  return text;
}

/** Uses the Worker's own check, whose messages never show the value: it contains a provider's key. */
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

/** Empty means that each network keeps its own interval. */
function pollSeconds(environment: Environment): string {
  const text = given(environment, "POLL_SECONDS") ?? "";
  const seconds = parsePollSeconds(text);
  if (!seconds.ok) throw new StartError(`${seconds.error}, not "${text}".`);
  return text;
}

/** Empty means the production schedule. */
function webhookSchedule(environment: Environment): string {
  const text = given(environment, "WEBHOOK_SCHEDULE_SECONDS") ?? "";
  const schedule = parseSchedule(text, true);
  if (!schedule.ok) throw new StartError(`${schedule.error}, not "${text}".`);
  return text;
}
