// What this payer's browser was shown of an invoice, while the database does not answer.

import type { Keyring } from "../../lib/keyring.ts";
import type { Sleep } from "../../lib/sleep.ts";
import { MINUTE_MS, SECOND_MS } from "../../lib/time.ts";
import { answerWithin } from "../../platform/db/retry.ts";
import { readCopy, type ShownCopy } from "./shown-copy.ts";

/** A change is told to the object before its batch is sent. From its first telling until it has committed or failed it takes less, whatever stalls. */
const CHANGING_MS = 2 * MINUTE_MS;
const ASKED_WITHIN_MS = SECOND_MS;

interface FindingShown {
  /** Undefined in a deployment without the key. */
  readonly copyKeys: Keyring | undefined;
  /** Whether a wallet, a key or a right of the merchant has changed since a time, according to the merchant's object. */
  readonly hasChanged: (merchantId: string, sinceMs: number) => Promise<boolean>;
  readonly sleep: Sleep;
  readonly nowMs: number;
}

/** The copy in a cookie, if it may be shown again. Undefined otherwise, and if the merchant's object does not answer. */
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
