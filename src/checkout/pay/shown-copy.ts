// A copy of what a payer was shown, kept in a cookie of their own browser. While the database does not answer, the page is rendered from this copy
// and shows the time of the copy. No one else has the copy, it expires after five minutes or with its quote, and its MAC proves that this service has
// shown the address in this browser. The merchant's object, which is notified of each change before it commits, knows whether the wallet has changed
// since.
import { base64urlnopad } from "@scure/base";
import * as z from "zod";
import { lengthPrefixed, utf8ToBytes } from "../../lib/bytes.ts";
import { isMacOf, type Keyring, macText } from "../../lib/keyring.ts";
import { lazily } from "../../lib/lazily.ts";
import { MINUTE_MS, SECOND_MS } from "../../lib/time.ts";
import { parseJson } from "../../lib/typed-json.ts";
import type { CheckoutView } from "./view.ts";

const KEPT_MS = 5 * MINUTE_MS;
/** A copy younger than this is not sent again with each poll, unless the page shows something else. */
const RENEWED_MS = MINUTE_MS;
/** A browser keeps no cookie of more than 4,096 characters. */
const LONGEST = 3_600;
const PURPOSE = "edgetill shown checkout v1";

const shape = lazily(() =>
  z.object({
    invoiceId: z.string(),
    merchantId: z.string(),
    shop: z.object({
      name: z.string(),
      color: z.string().nullable(),
      logoUrl: z.string().nullable(),
      supportUrl: z.string().nullable(),
    }),
    title: z.string(),
    total: z.object({ micros: z.string().regex(/^\d+$/), currency: z.string() }),
    method: z.object({
      key: z.string(),
      network: z.string(),
      networkName: z.string(),
      standard: z.string().nullable(),
      isTest: z.boolean(),
      code: z.string(),
      coin: z.string(),
      address: z.string(),
      isShared: z.boolean(),
      amount: z.string().nullable(),
      uri: z.string(),
      rate: z.string().nullable(),
      deadlineMs: z.number(),
      atDeadline: z.enum(["requote", "expire"]),
      requiredConfirmations: z.number(),
      minutes: z.number(),
    }),
    createdAtMs: z.number(),
    expiresAtMs: z.number(),
    acceptsLate: z.boolean(),
    pollSeconds: z.number(),
  }),
);
type Shown = z.output<ReturnType<typeof shape>>;

/** `shownAtMs`: when it was read from the database. */
export interface ShownCopy extends Shown {
  readonly shownAtMs: number;
}

/** The copy of a page that asks for money before any has arrived; undefined for other pages, whose copies would not help the payer. */
export function copyOf(view: CheckoutView, merchantId: string, nowMs: number): ShownCopy | undefined {
  const { stage, shop, title, total, method, invoiceId, createdAtMs, expiresAtMs, acceptsLate, pollSeconds } = view;
  if (stage !== "pay" || method === null || view.payments.length > 0 || view.claim !== null) return undefined;
  const shown = shape().parse({
    invoiceId,
    merchantId,
    shop,
    title,
    total: { micros: String(total.micros), currency: total.currency },
    method,
    createdAtMs,
    expiresAtMs,
    acceptsLate,
    pollSeconds,
  });
  return { ...shown, shownAtMs: nowMs };
}

/** The page's view from a copy. It offers no other payment method and prepares no transfer, because both need current data. */
export function viewOf(copy: ShownCopy): CheckoutView {
  const { total, method, shownAtMs: _, merchantId: __, ...kept } = copy;
  const money = (micros: bigint) => ({ micros, currency: total.currency });
  return {
    ...kept,
    stage: "pay",
    description: null,
    imageUrl: null,
    total: money(BigInt(total.micros)),
    received: money(0n),
    missing: money(BigInt(total.micros)),
    choices: [],
    method: { ...method, transfer: null },
    canChoose: false,
    payments: [],
    paidAtMs: null,
    canReturn: false,
    claim: null,
    claimNetworks: [],
    isMonitored: true,
    monitorUntilMs: kept.expiresAtMs,
    isTest: method.isTest,
    isUnwatched: false,
    isLive: true,
  };
}

/** For how many more seconds a copy may be shown. */
export function secondsLeft({ shownAtMs, method }: Pick<ShownCopy, "shownAtMs" | "method">, nowMs: number): number {
  const untilMs = Math.min(shownAtMs + KEPT_MS, method.deadlineMs);
  return shownAtMs > nowMs + MINUTE_MS ? 0 : Math.max(0, Math.floor((untilMs - nowMs) / SECOND_MS));
}

/** The cookie for the browser to keep; an empty value deletes it. Undefined if nothing changes. */
export function cookieOf(
  keys: Keyring | undefined,
  { had, view, merchantId, nowMs }: Keeping,
): { readonly value: string; readonly maxAgeSeconds: number } | undefined {
  const now = copyOf(view, merchantId, nowMs);
  if (now !== undefined && isKept(readCopy(keys, had, { invoiceId: view.invoiceId, nowMs }), now)) return undefined;
  const value = now && keys && printCopy(keys, now);
  const maxAgeSeconds = now === undefined || value === undefined ? 0 : secondsLeft(now, nowMs);
  if (maxAgeSeconds === 0) return had === undefined ? undefined : { value: "", maxAgeSeconds };
  return { value: value ?? "", maxAgeSeconds };
}

interface Keeping {
  /** The cookie that the browser sent. */
  readonly had: string | undefined;
  readonly view: CheckoutView;
  readonly merchantId: string;
  readonly nowMs: number;
}

/** The cookie's value; undefined if a browser would not keep it. */
export function printCopy(keys: Keyring, copy: ShownCopy): string | undefined {
  const json = JSON.stringify(copy);
  const { mac, macKeyId } = macText(keys, macInput(json));
  const text = `${macKeyId}.${mac}.${base64urlnopad.encode(utf8ToBytes(json))}`;
  return text.length > LONGEST ? undefined : text;
}

/** The copy in a cookie, if it is ours, belongs to this invoice and may still be shown. */
export function readCopy(
  keys: Keyring | undefined,
  text: string | undefined,
  of: { readonly invoiceId: string; readonly nowMs: number },
): ShownCopy | undefined {
  const [, macKeyId, mac, encoded] = /^([\w-]{1,32})\.([0-9a-f]{64})\.([\w-]+)$/.exec(text ?? "") ?? [];
  if (keys === undefined || macKeyId === undefined || mac === undefined || encoded === undefined) return undefined;
  const json = decoded(encoded);
  if (json === undefined || !isMacOf(keys, macInput(json), { mac, macKeyId })) return undefined;
  const copy = shape().extend({ shownAtMs: z.number() }).safeParse(parseJson(json));
  if (!copy.success || copy.data.invoiceId !== of.invoiceId) return undefined;
  return secondsLeft(copy.data, of.nowMs) > 0 ? copy.data : undefined;
}

/** Whether the browser already has the same content in a copy that is recent enough. */
export function isKept(had: ShownCopy | undefined, now: ShownCopy): boolean {
  if (had === undefined || now.shownAtMs - had.shownAtMs >= RENEWED_MS) return false;
  return JSON.stringify({ ...had, shownAtMs: 0 }) === JSON.stringify({ ...now, shownAtMs: 0 });
}

const macInput = (json: string) => lengthPrefixed([PURPOSE, json]);

function decoded(encoded: string): string | undefined {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(base64urlnopad.decode(encoded));
  } catch {
    return undefined;
  }
}
