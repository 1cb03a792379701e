// What a payer was shown, as a cookie of their own browser: while the database does not answer, the page shows it again and says since when it is known.
// Nobody else can have it, it lives for five minutes and not beyond its quote, and it names no address that this service has not shown there before: it
// carries a MAC. The merchant's object, which is notified of each change before it commits, says whether the wallet was changed since.
import { base64urlnopad } from "@scure/base";
import * as z from "zod";
import { lengthPrefixed, utf8ToBytes } from "../../lib/bytes.ts";
import { isMacOf, type Keyring, macText } from "../../lib/keyring.ts";
import { lazily } from "../../lib/lazily.ts";
import { MINUTE_MS, SECOND_MS } from "../../lib/time.ts";
import { parseJson } from "../../lib/typed-json.ts";
import type { CheckoutView } from "./view.ts";

const KEPT_MS = 5 * MINUTE_MS;
/** A younger one is not sent again with each poll, unless the page shows something else. */
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

/** What the page shows, if it asks for money and none has come: then, and only then, a payer is helped by seeing it again. */
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

/** The page's view again. It offers no other way to pay and prepares no transfer: both need what is true now. */
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
    isTest: method.isTest,
    isLive: true,
  };
}

/** For how many more seconds a copy may be shown. */
export function secondsLeft({ shownAtMs, method }: Pick<ShownCopy, "shownAtMs" | "method">, nowMs: number): number {
  const untilMs = Math.min(shownAtMs + KEPT_MS, method.deadlineMs);
  return shownAtMs > nowMs + MINUTE_MS ? 0 : Math.max(0, Math.floor((untilMs - nowMs) / SECOND_MS));
}

/** What a browser is to keep; an empty value has it forget what it had. Undefined if nothing changes. */
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

/** The copy in a cookie, if it is ours, is of this invoice and may still be shown. */
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

/** Whether the browser need not get another copy: it has this one, and has not had it for long. */
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
