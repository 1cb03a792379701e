// What keeps a merchant from being paid, as a closed list of codes. Each finding has a sentence and related facts.
import { isoTimeOrNull } from "../../lib/time.ts";

/** In the order of the response: findings about the whole merchant, about a wallet, about a network, and about a rate. */
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

/** Creating an invoice does not check these: the invoice is still created, but its payments are seen late. */
export const SEEN_LATE: readonly FindingCode[] = ["SOURCE_SILENT", "SOURCE_LAGS", "SOURCE_REFUSES"];

export interface Finding {
  readonly code: FindingCode;
  /** A sentence for the merchant; reveals no secret and nothing about other merchants. */
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
