// Before an invoice is shown, it is settled if it is due, and its quotes are renewed if their locks are over (decisions 4).

import { isSamePair } from "../../chains/registry/pair.ts";
import { ok, type Result } from "../../lib/result.ts";
import { changedFacts, SYSTEM_TRAIL } from "../../platform/audit/entry.ts";
import { batch } from "../../platform/db/batch.ts";
import type { Db } from "../../platform/db/client.ts";
import type { Write } from "../../platform/db/statement.ts";
import type { Failure } from "../../platform/failures.ts";
import {
  type Invoice,
  type InvoiceFile,
  isQuoteOver,
  lockEndMs,
  type PaymentMethod,
} from "../invoice-records/invoice.ts";
import { putMethod, selectInvoiceRow } from "../invoice-records/store.ts";
import type { ActivationDependencies } from "../payment-methods/activate-payment-method.ts";
import { type MethodQuote, quotedMethod, quoteMethod } from "../payment-methods/payment-method.ts";
import { type ReservedAmount, reserveAmount } from "../payment-methods/reserve-amount.ts";
import { reserveRemainders } from "../payment-methods/reserve-remainder.ts";
import { lacksRest } from "../payment-methods/rest.ts";
import type { Sharing } from "../ranks/rank.ts";
import { selectSharing } from "../ranks/store.ts";
import { isDue } from "../settlement/status.ts";
import { usedBy } from "../settlement/weighing.ts";
import { type Change, type ChangeDependencies, changeInvoice } from "./change-invoice.ts";
import { quoteFacts } from "./invoice-facts.ts";
import { settlementChange } from "./settle-invoice.ts";

/** A settlement or a new quote is made by the system, not by the reader, so the reader's trail is not used. */
export interface RefreshDependencies
  extends Omit<ChangeDependencies, "trail">,
    Omit<ActivationDependencies, "nowMs" | "db"> {
  /** Whether the import after a restore is still running. If absent, no import runs. */
  isRestoring?(): Promise<boolean>;
}

/** The read of one invoice, for the storage call that reads the key. */
export function invoiceReads(db: Db, merchantId: string, invoiceId: string) {
  return [selectInvoiceRow(db, merchantId, invoiceId)] as const;
}

/** Whether the invoice must be changed before it may be shown. */
function isStale(file: InvoiceFile, nowMs: number): boolean {
  const { invoice } = file;
  return (
    isDue(invoice, nowMs) || file.methods.some((each) => isQuoteOver(invoice, each, nowMs) || lacksRest(invoice, each))
  );
}

/**
 * Settles the invoice and renews its quotes, if that is due, and returns it once that is committed. Without a rate the old quote stays but is not
 * shown. While an import after a restore runs, the stored invoice is returned unchanged: no payments are read during the import, so the invoice must
 * not expire for lack of them.
 */
export async function refreshInvoice(
  deps: RefreshDependencies,
  file: InvoiceFile,
): Promise<Result<InvoiceFile, Failure>> {
  if (!isStale(file, deps.nowMs) || (await deps.isRestoring?.())) return ok(file);
  const { merchantId, id } = file.invoice;
  const clock = clockOf(deps);
  const settled = await changeInvoice(clock, { merchantId, id, read: file }, async (read) =>
    ok(settlementChange(read, deps.nowMs)),
  );
  if (!settled.ok || !isStale(settled.value, deps.nowMs)) return settled;
  let plan: Requote | undefined;
  const renewed = await changeInvoice(clock, { merchantId, id, read: settled.value }, async (read) => {
    plan = await requote(deps, read);
    return ok(plan.change);
  });
  if (!renewed.ok) return renewed;
  const rested = await reserveRests(deps, renewed.value);
  return rested.ok ? ok(withMethods(rested.value, plan?.exhausted ?? [])) : rested;
}

/** A settlement is not part of the request that reads the invoice: it commits on its own. */
function clockOf(deps: RefreshDependencies): ChangeDependencies {
  return { ...deps, trail: SYSTEM_TRAIL, stage: undefined };
}

/** Reserves an amount for what is left to pay, on each method for which no amount was free when the partial payment arrived. */
async function reserveRests(deps: RefreshDependencies, file: InvoiceFile): Promise<Result<InvoiceFile, Failure>> {
  const { merchantId, id } = file.invoice;
  if (!file.methods.some((method) => lacksRest(file.invoice, method))) return ok(file);
  const clock = clockOf(deps);
  return changeInvoice(clock, { merchantId, id, read: file }, async (read) => {
    const rests = await reserveRemainders(deps, read, read.invoice);
    const [first, ...more] = rests.methods.map((method) => ({ type: "payment.updated" as const, method }));
    if (first === undefined) return ok(undefined);
    const audit = { action: "invoice.requoted", ...changedFacts({}, quoteFacts(rests.methods)) } as const;
    return ok({ columns: {}, methods: rests.methods, events: [first, ...more], audit, statements: rests.statements });
  });
}

interface Requote {
  readonly change: Change | undefined;
  /**
   * Methods for whose new price no amount is free, with the reason AMOUNTS_EXHAUSTED. The reason is not stored, because an amount may be free at the
   * next read.
   */
  readonly exhausted: readonly PaymentMethod[];
}

/**
 * New quotes for every method whose lock is over. The address stays the same, and a direct wallet's old amount stays reserved in addition to the new
 * one.
 */
async function requote(deps: RefreshDependencies, file: InvoiceFile): Promise<Requote> {
  const methods: PaymentMethod[] = [];
  const exhausted: PaymentMethod[] = [];
  const statements: Write[] = [];
  const isUsed = usedBy(file.payments);
  for (const renewal of await quotesOf(deps, file)) {
    const { method, quote } = renewal;
    const renewed = await renew(deps, file, renewal);
    if (renewed === undefined) {
      exhausted.push({ ...method, reason: "AMOUNTS_EXHAUSTED" });
      continue;
    }
    const quoted = quotedMethod(method, {
      quote: { ...quote, amountUnits: renewed.units },
      forMicros: dueMicros(file.invoice),
      nowMs: deps.nowMs,
      lockedUntilMs: Math.min(lockEndMs(file.invoice, deps.nowMs), renewed.heldUntilMs ?? Number.POSITIVE_INFINITY),
      isUsed,
    });
    methods.push(quoted);
    statements.push(...renewed.statements, putMethod(deps.db, quoted));
  }
  const [first, ...more] = methods.map((method) => ({ type: "payment.updated" as const, method }));
  if (first === undefined) return { change: undefined, exhausted };
  const before = file.methods.filter((method) => methods.some((other) => isSamePair(method, other)));
  const audit = { action: "invoice.requoted", ...changedFacts(quoteFacts(before), quoteFacts(methods)) } as const;
  // A payment that was read before the new quote was made may belong to that quote.
  const settled = settlementChange(withMethods(file, methods), deps.nowMs);
  const events = [first, ...more, ...(settled?.events ?? [])] as const;
  const { columns = {}, payments = [], moves = [] } = settled ?? {};
  const change = { columns, payments, moves, methods: [...methods, ...exhausted], events, audit, statements };
  return { change, exhausted };
}

interface Renewal {
  readonly method: PaymentMethod;
  readonly quote: MethodQuote;
  /** The shared address and who uses it; undefined if the address is the invoice's own. */
  readonly shared: { readonly address: string; readonly sharing: Sharing } | undefined;
}

/** New quotes for the methods whose lock is over and that have a rate, with the facts about their addresses, which are read together. */
async function quotesOf(deps: RefreshDependencies, file: InvoiceFile): Promise<readonly Renewal[]> {
  const { invoice } = file;
  const table = await deps.table();
  const asked = { currency: invoice.currency, amountMicros: dueMicros(invoice) };
  const renewals = file.methods
    .filter((method) => isQuoteOver(invoice, method, deps.nowMs))
    .flatMap((method) => {
      const quote = quoteMethod({ invoice: asked, wallet: method, table, nowMs: deps.nowMs });
      return quote.ok ? [{ method, quote: quote.value }] : [];
    });
  const { merchantId } = invoice;
  const places = renewals.map(({ method: { walletType, network, address } }) =>
    walletType === "DIRECT_WALLET" && address !== null ? { network, address, merchantId } : undefined,
  );
  const direct = places.filter((place) => place !== undefined);
  const [first, ...more] = direct.map((place) => selectSharing(deps.db, place));
  const rows = first === undefined ? [] : await batch(deps.db, [first, ...more]);
  return renewals.map((each, n) => {
    const place = places[n];
    if (place === undefined) return { ...each, shared: undefined };
    const [sharing] = rows[direct.indexOf(place)] ?? [];
    if (sharing === undefined) throw new Error("a rank has one row");
    return { ...each, shared: { address: place.address, sharing } };
  });
}

interface Renewed extends Pick<ReservedAmount, "statements"> {
  readonly units: bigint | null;
  /** Undefined if the address is the invoice's own. */
  readonly heldUntilMs?: number;
}

/** The amount to ask for from now on, and the statements that write it; undefined if no amount is free. */
async function renew(
  deps: RefreshDependencies,
  { invoice }: InvoiceFile,
  { method, quote, shared }: Renewal,
): Promise<Renewed | undefined> {
  if (shared === undefined || quote.amountUnits === null) return { units: quote.amountUnits, statements: [] };
  const { network, cryptocurrency, walletId } = method;
  const { address, sharing } = shared;
  const at = { network, cryptocurrency, address };
  const reserved = await reserveAmount(deps, { invoice, walletId, at, priceUnits: quote.amountUnits, sharing, quote });
  return reserved.ok ? reserved.value : undefined;
}

/** What is still due: the whole amount before the first payment, the rest after a partial payment; 0 on an any-amount invoice. */
function dueMicros({ amountMicros, receivedMicros }: Pick<Invoice, "amountMicros" | "receivedMicros">): bigint {
  return amountMicros === 0n ? 0n : amountMicros - receivedMicros;
}

function withMethods(file: InvoiceFile, changed: readonly PaymentMethod[]): InvoiceFile {
  const methods = file.methods.map((method) => changed.find((other) => isSamePair(method, other)) ?? method);
  return { ...file, methods };
}
