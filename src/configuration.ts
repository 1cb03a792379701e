// What is wrong with a deployment's variables. A wrong one costs what depends on it and nothing else: no rates, no watched network, no
// address shown. Reads and the sweep go on, and `/healthz` and the log say what to mend.
import { parseChainSources } from "./chains/chain-sources.ts";
import { parseRateSource } from "./rates/rate-setting.ts";
import { parseMacKeys } from "./wallets/row-mac.ts";

/** The variables of the Worker that are judged; one that was never set is undefined, whatever the generated types say. */
export interface Variables {
  readonly ENVIRONMENT: string | undefined;
  readonly PUBLIC_URL: string | undefined;
  readonly RATE_SOURCE: string | undefined;
  readonly ROW_MAC_KEY: string | undefined;
  readonly CHAIN_SOURCES: string | undefined;
}

export type FaultCode = "ROW_MAC_KEY_INVALID" | "RATE_SOURCE_INVALID" | "CHAIN_SOURCES_INVALID" | "PUBLIC_URL_MISSING";

export interface ConfigurationFault {
  readonly code: FaultCode;
  /** For the log; never holds a value of a secret. */
  readonly problem: string;
  /** Whether invoices and wallets cannot be shown before it is mended. */
  readonly isFatal: boolean;
}

/** Every fault, the worst first; empty when all is well. */
export function configurationFaults(of: Variables): readonly ConfigurationFault[] {
  const isDevelopment = of.ENVIRONMENT === "development";
  const macKeys = parseMacKeys(of.ROW_MAC_KEY);
  const rates = parseRateSource(of.RATE_SOURCE, isDevelopment);
  const chains = parseChainSources(of.CHAIN_SOURCES);
  const faults: ConfigurationFault[] = [];
  if (!macKeys.ok) faults.push({ code: "ROW_MAC_KEY_INVALID", problem: macKeys.error, isFatal: true });
  if (!rates.ok) faults.push({ code: "RATE_SOURCE_INVALID", problem: rates.error, isFatal: false });
  if (!chains.ok) faults.push({ code: "CHAIN_SOURCES_INVALID", problem: chains.error, isFatal: false });
  if (!isDevelopment && (of.PUBLIC_URL ?? "").trim() === "") {
    const problem = "PUBLIC_URL is empty, so links to customers have no origin";
    faults.push({ code: "PUBLIC_URL_MISSING", problem, isFatal: false });
  }
  return faults;
}
