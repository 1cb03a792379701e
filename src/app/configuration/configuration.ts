// Checks a deployment's variables. Most wrong values only disable what depends on them: rates, watched networks, shown addresses, codes, emails or
// signed returns. Reads and the sweep continue, and `/healthz` names what to correct. Only an insecure origin or a development setting stops
// everything (`refusesToServe`).

import { parseSignUp } from "../../accounts/email-codes/new-accounts.ts";
import { parseProviders } from "../../accounts/security-policies/providers.ts";
import { parseExplorers } from "../../chains/registry/explorers.ts";
import { type ChainSettings, parseChainSources } from "../../chains/sources/chain-sources.ts";
import { parsePollSeconds } from "../../chains/sources/poll-setting.ts";
import { signingKeysOf } from "../../checkout/signed-redirect/signing-key.ts";
import { isLoopbackUrl, isOriginSafe } from "../../lib/ip-network.ts";
import { parseLocationHint } from "../../lib/object-of.ts";
import { ok, type Result } from "../../lib/result.ts";
import { parseLogSample } from "../../lib/work-log.ts";
import { parseDatabaseLimit, parseMetricsToken } from "../../notifications/deployment-status/settings.ts";
import { parseAlertWebhook } from "../../notifications/operator-alerts/alert-webhook.ts";
import { rulesOf } from "../../notifications/webhooks/endpoint-url.ts";
import { parseSchedule } from "../../notifications/webhooks/retry-schedule.ts";
import { parseTurnstile } from "../../platform/challenge/turnstile.ts";
import { parseRestoreEpoch } from "../../platform/deployment/restore-epoch.ts";
import { isSet, type KeyringName, type KeySettings, keyringOf, parseMasterKey } from "../../platform/keys/keyrings.ts";
import { parseMailProvider, parseSender } from "../../platform/mail/provider.ts";
import { parseExportDays } from "../../platform/merchant-exports/keep-days.ts";
import { parseRateSource } from "../../rates/rate-setting.ts";

/** The Worker's variables that are checked. A variable that was never set is undefined, despite the generated types. */
interface Variables extends ChainSettings, KeySettings {
  readonly ENVIRONMENT: string | undefined;
  readonly PUBLIC_URL: string | undefined;
  readonly RATE_SOURCE: string | undefined;
  readonly EXPLORERS: string | undefined;
  readonly POLL_SECONDS: string | undefined;
  readonly SIGN_IN_PROVIDERS?: string | undefined;
  readonly SIGN_UP: string | undefined;
  readonly MAIL_PROVIDER?: string | undefined;
  readonly MAIL_FROM: string | undefined;
  readonly LOCATION_HINT: string | undefined;
  readonly EXPORT_DAYS?: string | undefined;
  readonly WEBHOOK_LOOPBACK: string | undefined;
  readonly WEBHOOK_SCHEDULE_SECONDS: string | undefined;
  readonly DEV_CONTROL: string | undefined;
  readonly RESTORE_EPOCH?: string | undefined;
  readonly TURNSTILE_SITE_KEY?: string | undefined;
  readonly TURNSTILE_SECRET_KEY?: string | undefined;
  readonly TURNSTILE_ORIGIN?: string | undefined;
  readonly DATABASE_LIMIT_GB?: string | undefined;
  readonly METRICS_TOKEN?: string | undefined;
  readonly ALERT_WEBHOOK_URL?: string | undefined;
  readonly ALERT_WEBHOOK_SECRET?: string | undefined;
  readonly LOG_SAMPLE?: string | undefined;
}

/** Variables that may be set only in development. */
type DevelopmentVariables = Pick<
  Variables,
  "WEBHOOK_LOOPBACK" | "WEBHOOK_SCHEDULE_SECONDS" | "DEV_CONTROL" | "TURNSTILE_ORIGIN"
>;

type FaultCode =
  | "MASTER_KEY_INVALID"
  | "ROW_MAC_KEY_INVALID"
  | "RATE_SOURCE_INVALID"
  | "CHAIN_SOURCES_INVALID"
  | "EXPLORERS_INVALID"
  | "POLL_SECONDS_INVALID"
  | "LOCATION_HINT_INVALID"
  | "EXPORT_DAYS_INVALID"
  | "RESTORE_EPOCH_INVALID"
  | "CODE_PEPPER_INVALID"
  | "SECRETS_AES_KEY_INVALID"
  | "SIGNING_KEY_INVALID"
  | "API_KEY_MAC_KEY_INVALID"
  | "SIGN_IN_PROVIDERS_INVALID"
  | "MAIL_PROVIDER_INVALID"
  | "MAIL_NOT_CONFIGURED"
  | "MAIL_FROM_INVALID"
  | "WEBHOOK_SCHEDULE_SECONDS_INVALID"
  | "SIGN_UP_INVALID"
  | "NOT_SET_UP"
  | "TURNSTILE_KEYS_INVALID"
  | "DATABASE_LIMIT_GB_INVALID"
  | "METRICS_TOKEN_INVALID"
  | "ALERT_WEBHOOK_INVALID"
  | "LOG_SAMPLE_INVALID"
  | "PUBLIC_URL_MISSING"
  | "PUBLIC_URL_INSECURE"
  | "DEVELOPMENT_SETTING_IN_PRODUCTION";

export interface ConfigurationFault {
  readonly code: FaultCode;
  /** Whether invoices and wallets cannot be shown until the fault is corrected. */
  readonly isFatal: boolean;
}

/** All faults, worst first. `askedAt`: the URL of a request, whose host is checked in development. */
export function configurationFaults(of: Variables, askedAt = ""): readonly ConfigurationFault[] {
  const isDevelopment = of.ENVIRONMENT === "development";
  const judged: readonly Judged[] = [
    ...keyFaults(of),
    ["RATE_SOURCE_INVALID", parseRateSource(of.RATE_SOURCE, isDevelopment)],
    ["CHAIN_SOURCES_INVALID", parseChainSources(of)],
    ["EXPLORERS_INVALID", parseExplorers(of.EXPLORERS)],
    ["POLL_SECONDS_INVALID", parsePollSeconds(of.POLL_SECONDS)],
    ["LOCATION_HINT_INVALID", parseLocationHint(of.LOCATION_HINT)],
    ["EXPORT_DAYS_INVALID", parseExportDays(of.EXPORT_DAYS)],
    ["RESTORE_EPOCH_INVALID", parseRestoreEpoch(of.RESTORE_EPOCH)],
    ["SIGN_IN_PROVIDERS_INVALID", parseProviders(of.SIGN_IN_PROVIDERS)],
    ["SIGN_UP_INVALID", parseSignUp(of.SIGN_UP)],
    ["TURNSTILE_KEYS_INVALID", parseTurnstile(of)],
    ["LOG_SAMPLE_INVALID", parseLogSample(of.LOG_SAMPLE)],
    ["METRICS_TOKEN_INVALID", parseMetricsToken(of.METRICS_TOKEN)],
    ["ALERT_WEBHOOK_INVALID", parseAlertWebhook(of, rulesOf(of, { isDevelopment, origin: of.PUBLIC_URL ?? "" }))],
    ["DATABASE_LIMIT_GB_INVALID", parseDatabaseLimit(of.DATABASE_LIMIT_GB)],
    ...(isDevelopment
      ? [["WEBHOOK_SCHEDULE_SECONDS_INVALID", parseSchedule(of.WEBHOOK_SCHEDULE_SECONDS, true)] as const]
      : []),
    ...mailFaults(of, isDevelopment),
  ];
  const faults = judged.flatMap(([code, parsed]): ConfigurationFault[] =>
    parsed.ok ? [] : [{ code, isFatal: code === "ROW_MAC_KEY_INVALID" || code === "MASTER_KEY_INVALID" }],
  );
  if (isDevelopment ? isInPublic(of, askedAt) : hasDevelopmentSetting(of))
    faults.unshift({ code: "DEVELOPMENT_SETTING_IN_PRODUCTION", isFatal: true });
  // An insecure origin would send sessions and payment pages unencrypted.
  if (!isDevelopment && hasInsecureOrigin(of)) faults.unshift({ code: "PUBLIC_URL_INSECURE", isFatal: true });
  // Links to customers need an origin: from PUBLIC_URL, or from a set-up link that was redeemed.
  if (!isDevelopment && (of.PUBLIC_URL ?? "").trim() === "")
    faults.push({ code: "PUBLIC_URL_MISSING", isFatal: false });
  return faults;
}

type Judged = readonly [FaultCode, Result<unknown, string>];

/** A wrong MASTER_KEY is one fault, not one for each keyring derived from it. */
function keyFaults(of: Variables): readonly Judged[] {
  const master = isSet(of.MASTER_KEY) ? parseMasterKey(of.MASTER_KEY) : ok(undefined);
  const ring = (name: KeyringName) => (master.ok || isSet(of[name]) ? keyringOf(of, name) : ok(undefined));
  return [
    ["MASTER_KEY_INVALID", master],
    ["ROW_MAC_KEY_INVALID", ring("ROW_MAC_KEY")],
    ["CODE_PEPPER_INVALID", ring("CODE_PEPPER")],
    ["SECRETS_AES_KEY_INVALID", ring("SECRETS_AES_KEY")],
    ["SIGNING_KEY_INVALID", master.ok || isSet(of.SIGNING_KEY) ? signingKeysOf(of) : ok(undefined)],
    ["API_KEY_MAC_KEY_INVALID", ring("API_KEY_MAC_KEY")],
  ];
}

function mailFaults(of: Variables, isDevelopment: boolean): readonly Judged[] {
  const mail = parseMailProvider(of.MAIL_PROVIDER, isDevelopment);
  if (!mail.ok && !isSet(of.MAIL_PROVIDER)) return [["MAIL_NOT_CONFIGURED", mail]];
  // The development mailbox needs no sender.
  const isMailbox = mail.ok && mail.value.kind === "mailbox";
  return [
    ["MAIL_PROVIDER_INVALID", mail],
    ["MAIL_FROM_INVALID", isMailbox ? ok(undefined) : parseSender(of.MAIL_FROM)],
  ];
}

/** Whether these variables forbid serving anything; in development, whether they forbid a request for `askedAt`. */
export function refusesToServe(
  of: Pick<Variables, "ENVIRONMENT" | "PUBLIC_URL"> & DevelopmentVariables,
  askedAt: string,
): boolean {
  if (of.ENVIRONMENT === "development") return isInPublic(of, askedAt);
  return hasDevelopmentSetting(of) || hasInsecureOrigin(of);
}

/**
 * Whether a development server may be reached from other machines, although its mailbox is open to all and it has no outer rate limit. The host of
 * each request is checked too, because another site's name may resolve to loopback.
 */
function isInPublic({ PUBLIC_URL }: Pick<Variables, "PUBLIC_URL">, askedAt: string): boolean {
  return [PUBLIC_URL ?? "", askedAt].some((url) => url.trim() !== "" && !isLoopbackUrl(url));
}

/**
 * Whether an origin is set that is not https. Loopback is allowed, because it never leaves the machine (browsers' secure contexts do the same).
 */
function hasInsecureOrigin({ PUBLIC_URL }: Pick<Variables, "PUBLIC_URL">): boolean {
  const origin = (PUBLIC_URL ?? "").trim();
  return origin !== "" && !isOriginSafe(origin);
}

/** The faults to show before the set-up link is redeemed: the link supplies the origin that PUBLIC_URL lacks. */
export function beforeSetUp(faults: readonly ConfigurationFault[]): readonly ConfigurationFault[] {
  return [{ code: "NOT_SET_UP", isFatal: false }, ...faults.filter(({ code }) => code !== "PUBLIC_URL_MISSING")];
}

/**
 * Whether a development setting is on: one that lets users register endpoints inside the network, changes the retry schedule, calls a program next
 * to the server, or replaces Turnstile.
 */
export function hasDevelopmentSetting(of: DevelopmentVariables): boolean {
  return [of.WEBHOOK_LOOPBACK, of.WEBHOOK_SCHEDULE_SECONDS, of.DEV_CONTROL, of.TURNSTILE_ORIGIN].some(
    (setting) => (setting ?? "").trim() !== "",
  );
}
