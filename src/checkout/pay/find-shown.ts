// Finds what this payer's browser last showed of an invoice, to show it again while the database does not answer.

import type { Keyring } from "../../lib/keyring.ts";
import type { Sleep } from "../../lib/sleep.ts";
import { MINUTE_MS, SECOND_MS } from "../../lib/time.ts";
import { answerWithin } from "../../platform/db/retry.ts";
import { readCopy, type ShownCopy } from "./shown-copy.ts";

/**
 * The merchant's object is notified of a change before its batch is sent. After this time the batch has committed or failed, even if something
 * stalls.
 */
const CHANGING_MS = 2 * MINUTE_MS;
const ASKED_WITHIN_MS = SECOND_MS;

interface FindingShown {
  /** Undefined in a deployment without the key. */
  readonly copyKeys: Keyring | undefined;
  /** Whether a wallet, a key or a permission of the merchant has changed since `sinceMs`, according to the merchant's object. */
  readonly hasChanged: (merchantId: string, sinceMs: number) => Promise<boolean>;
  readonly sleep: Sleep;
  readonly nowMs: number;
}

/** The copy from a cookie, if it may be shown again; undefined if not, or if the merchant's object does not answer. */
export async function findShown(
  { copyKeys, hasChanged, sleep, nowMs }: FindingShown,
  invoiceId: string,
  cookie: string | undefined,
): Promise<ShownCopy | undefined> {
  const copy = readCopy(copyKeys, cookie, { invoiceId, nowMs });
  if (copy === undefined) return undefined;
  const asked = () => hasChanged(copy.merchantId, copy.shownAtMs - CHANGING_MS);
  return (await answerWithin(sleep, asked, { limitMs: ASKED_WITHIN_MS, otherwise: true })) ? undefined : copy;
}
