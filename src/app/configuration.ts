// Checks a deployment's variables. A wrong one only disables what depends on it: rates, watched networks, shown addresses, codes, mails or
// signed returns. Reads and the sweep continue, and `/healthz` and the log say what to correct.

import { parseProviders } from "../accounts/identities/providers.ts";
import { parseChainSources } from "../chains/chain-sources.ts";
import { parsePollSeconds } from "../chains/poll-setting.ts";
import { parseSigningKeys } from "../checkout/signed-redirect/signing-key.ts";
import { parseMacKeys } from "../commerce/wallets/row-mac.ts";
import { parseKeyring } from "../lib/keyring.ts";
import { parseLocationHint } from "../lib/object-of.ts";
import type { Result } from "../lib/result.ts";
import { parseSchedule } from "../notifications/webhooks/retry-schedule.ts";
import { parseMailProvider, parseSender } from "../platform/mail/provider.ts";
import { parseRateSource } from "../rates/rate-setting.ts";

/** The checked variables of the Worker. One that was never set is undefined, despite the generated types. */
export interface Variables {
  readonly ENVIRONMENT: string | undefined;
  readonly PUBLIC_URL: string | undefined;
  readonly RATE_SOURCE: string | undefined;
  readonly ROW_MAC_KEY: string | undefined;
  readonly CHAIN_SOURCES: string | undefined;
  readonly POLL_SECONDS: string | undefined;
  readonly CODE_PEPPER: string | undefined;
  readonly SECRETS_AES_KEY: string | undefined;
  readonly SIGNING_KEY: string | undefined;
  readonly API_KEY_MAC_KEY: string | undefined;
  readonly SIGN_IN_PROVIDERS: string | undefined;
  readonly MAIL_PROVIDER: string | undefined;
  readonly MAIL_FROM: string | undefined;
  readonly LOCATION_HINT: string | undefined;
  readonly WEBHOOK_LOOPBACK: string | undefined;
  readonly WEBHOOK_SCHEDULE_SECONDS: string | undefined;
}

export type FaultCode =
  | "ROW_MAC_KEY_INVALID"
  | "RATE_SOURCE_INVALID"
  | "CHAIN_SOURCES_INVALID"
  | "POLL_SECONDS_INVALID"
  | "LOCATION_HINT_INVALID"
  | "CODE_PEPPER_INVALID"
  | "SECRETS_AES_KEY_INVALID"
  | "SIGNING_KEY_INVALID"
  | "API_KEY_MAC_KEY_INVALID"
  | "SIGN_IN_PROVIDERS_INVALID"
  | "MAIL_PROVIDER_INVALID"
  | "MAIL_FROM_INVALID"
  | "WEBHOOK_SCHEDULE_SECONDS_INVALID"
  | "PUBLIC_URL_MISSING"
  | "PUBLIC_URL_INSECURE"
  | "DEVELOPMENT_SETTING_IN_PRODUCTION";

export interface ConfigurationFault {
  readonly code: FaultCode;
  /** For the log; never contains the value of a secret. */
  readonly problem: string;
  /** Whether invoices and wallets cannot be shown until the fault is corrected. */
  readonly isFatal: boolean;
}

/** All faults, the worst first; empty if there are none. */
export function configurationFaults(of: Variables): readonly ConfigurationFault[] {
  const isDevelopment = of.ENVIRONMENT === "development";
  const mail = parseMailProvider(of.MAIL_PROVIDER, isDevelopment);
  const judged: readonly (readonly [FaultCode, Result<unknown, string>])[] = [
    ["ROW_MAC_KEY_INVALID", parseMacKeys(of.ROW_MAC_KEY)],
    ["RATE_SOURCE_INVALID", parseRateSource(of.RATE_SOURCE, isDevelopment)],
    ["CHAIN_SOURCES_INVALID", parseChainSources(of.CHAIN_SOURCES)],
    ["POLL_SECONDS_INVALID", parsePollSeconds(of.POLL_SECONDS)],
    ["LOCATION_HINT_INVALID", parseLocationHint(of.LOCATION_HINT)],
    ["CODE_PEPPER_INVALID", parseKeyring("CODE_PEPPER", of.CODE_PEPPER)],
    ["SECRETS_AES_KEY_INVALID", parseKeyring("SECRETS_AES_KEY", of.SECRETS_AES_KEY)],
    ["SIGNING_KEY_INVALID", parseSigningKeys(of.SIGNING_KEY)],
    ["API_KEY_MAC_KEY_INVALID", parseKeyring("API_KEY_MAC_KEY", of.API_KEY_MAC_KEY)],
    ["SIGN_IN_PROVIDERS_INVALID", parseProviders(of.SIGN_IN_PROVIDERS)],
    ...(isDevelopment
      ? [["WEBHOOK_SCHEDULE_SECONDS_INVALID", parseSchedule(of.WEBHOOK_SCHEDULE_SECONDS, true)] as const]
      : []),
    ["MAIL_PROVIDER_INVALID", mail],
    // The mailbox needs no sender.
    ...(mail.ok && mail.value.kind === "mailbox" ? [] : [["MAIL_FROM_INVALID", parseSender(of.MAIL_FROM)] as const]),
  ];
  const faults = judged.flatMap(([code, parsed]): ConfigurationFault[] =>
    parsed.ok ? [] : [{ code, problem: parsed.error, isFatal: code === "ROW_MAC_KEY_INVALID" }],
  );
  if (!isDevelopment && hasDevelopmentSetting(of)) {
    const problem =
      "WEBHOOK_LOOPBACK and WEBHOOK_SCHEDULE_SECONDS are for development only: nothing is served until they are removed";
    faults.unshift({ code: "DEVELOPMENT_SETTING_IN_PRODUCTION", problem, isFatal: true });
  }
  if (!isDevelopment && hasInsecureOrigin(of)) {
    const problem =
      "PUBLIC_URL must start with https://: nothing is served, because sessions and payment pages would be sent unencrypted";
    faults.unshift({ code: "PUBLIC_URL_INSECURE", problem, isFatal: true });
  }
  if (!isDevelopment && (of.PUBLIC_URL ?? "").trim() === "") {
    const problem = "PUBLIC_URL is empty: set it, because links to customers need an origin";
    faults.push({ code: "PUBLIC_URL_MISSING", problem, isFatal: false });
  }
  return faults;
}

/** Whether production must not serve at all with these variables. */
export function refusesToServe(
  of: Pick<Variables, "ENVIRONMENT" | "PUBLIC_URL" | "WEBHOOK_LOOPBACK" | "WEBHOOK_SCHEDULE_SECONDS">,
): boolean {
  return of.ENVIRONMENT !== "development" && (hasDevelopmentSetting(of) || hasInsecureOrigin(of));
}

/**
 * Whether an origin is set that is not https. Loopback is allowed, because it never leaves the machine (browsers' secure contexts do the same).
 */
function hasInsecureOrigin({ PUBLIC_URL }: Pick<Variables, "PUBLIC_URL">): boolean {
  const origin = (PUBLIC_URL ?? "").trim();
  if (origin === "") return false;
  if (!URL.canParse(origin)) return true;
  const { protocol, hostname } = new URL(origin);
  const isLoopback = ["localhost", "127.0.0.1", "[::1]"].includes(hostname);
  return protocol !== "https:" && !(protocol === "http:" && isLoopback);
}

/** Whether a development setting is on: one that lets users register endpoints inside the network, or one that changes the retry schedule. */
export function hasDevelopmentSetting(of: Pick<Variables, "WEBHOOK_LOOPBACK" | "WEBHOOK_SCHEDULE_SECONDS">): boolean {
  return [of.WEBHOOK_LOOPBACK, of.WEBHOOK_SCHEDULE_SECONDS].some((setting) => (setting ?? "").trim() !== "");
}
