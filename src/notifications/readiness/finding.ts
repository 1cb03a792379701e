// What keeps a merchant from being paid, as a closed list of codes, each with a sentence and what is known with it.
import { isoTimeOrNull } from "../../lib/time.ts";

/** In the order of the document: of the whole merchant, of a wallet, of a network, of a rate. */
export const FINDING_CODES = [
  "MERCHANT_SUSPENDED",
  "RESTORING",
  "LIMIT",
  "CURRENCY_NOT_PRICED",
  "NO_WALLET",
  "WALLET_DISABLED",
  "WALLET_CHANGE_PENDING",
  "WALLET_FROZEN",
  "NO_SOURCE",
  "PAUSED",
  "SOURCE_SILENT",
  "SOURCE_LAGS",
  "SOURCE_REFUSES",
  "NOT_YET_READ",
  "NO_RATE",
] as const;

type FindingCode = (typeof FINDING_CODES)[number];

/** Creating an invoice does not check these: the invoice is made all the same, and its payments are seen late. */
export const SEEN_LATE: readonly FindingCode[] = ["SOURCE_SILENT", "SOURCE_LAGS", "SOURCE_REFUSES"];

export interface Finding {
  readonly code: FindingCode;
  /** A sentence for the merchant; nothing of other merchants and no secret. */
  readonly detail: string;
  readonly sinceMs: number | null;
  readonly untilMs: number | null;
  readonly secondsBehind: number | null;
  readonly blocksBehind: number | null;
}

export function finding(code: FindingCode, detail: string, known: Partial<Omit<Finding, "code" | "detail">> = {}) {
  const unknown = { sinceMs: null, untilMs: null, secondsBehind: null, blocksBehind: null };
  return { code, ...unknown, ...known, detail } satisfies Finding;
}

export function findingBodyOf({ code, detail, sinceMs, untilMs, secondsBehind, blocksBehind }: Finding) {
  return { code, detail, since: isoTimeOrNull(sinceMs), until: isoTimeOrNull(untilMs), secondsBehind, blocksBehind };
}
