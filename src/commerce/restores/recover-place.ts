// Recovers an address or an amount that a payer was shown and that the database has lost, together with its invoice if that is lost too. The invoice
// keeps its id, terms and times, and is watched from the restored minute on. It needs a review, because what happened to it in the lost time is
// unknown.

import { isSamePair } from "../../chains/registry/pair.ts";
import { derivedId } from "../../lib/ids.ts";
import { parseJson, printJson } from "../../lib/typed-json.ts";
import { SYSTEM_TRAIL } from "../../platform/audit/entry.ts";
import { insertAudit } from "../../platform/audit/store.ts";
import { commitChange } from "../../platform/changes/commit-change.ts";
import { batch } from "../../platform/db/batch.ts";
import { isConflictOn } from "../../platform/db/conflict.ts";
import type { Write } from "../../platform/db/statement.ts";
import { nextSequence } from "../../platform/deployment/restore-epoch.ts";
import { putAmount } from "../amounts/store.ts";
import { beginWatch } from "../cursors/store.ts";
import { fileOf, type Invoice, type InvoiceFile, newFile, type PaymentMethod } from "../invoice-records/invoice.ts";
import { insertInvoice, insertTimelineItem, putMethod, selectInvoiceRow } from "../invoice-records/store.ts";
import { buildChange, type ChangeDependencies } from "../invoices/change-invoice.ts";
import { invoiceBodyOf } from "../invoices/invoice-body.ts";
import { createdFacts, methodFacts } from "../invoices/invoice-facts.ts";
import { recordEvents } from "../invoices/record-events.ts";
import type { ActivationDependencies } from "../payment-methods/activate-payment-method.ts";
import { activeMethod } from "../payment-methods/payment-method.ts";
import { parseTerms, type ShownTerms } from "../payment-methods/shown-terms.ts";
import { parseQuotes, printQuotes } from "../quotes/quotes.ts";
import { entriesOfChange } from "../reports/invoice-entries.ts";
import { addEntries } from "../reports/store.ts";
import { noteAllocation, selectWalletsById } from "../wallet-records/store.ts";
import type { Wallet } from "../wallet-records/wallet.ts";
import type { Outcome, ShownPlace } from "./restore.ts";
import { forgetUnmatched, lowerCursors, selectAmountRow, selectGround, selectOwnAddress } from "./store.ts";

/** The warning on an invoice whose rows were recovered (docs/guides/invoices.md). */
const RESTORED = "RESTORED";

export interface RecoverDependencies
  extends Omit<ChangeDependencies, "trail">,
    Pick<ActivationDependencies, "macKeys" | "hasSource" | "wakeWatcher"> {
  readonly restoredToMs: number;
}

const MAX_TRIES = 5;

/** Recovers one address or amount. May be repeated: if the rows exist, the outcome is KNOWN. Throws storage errors, so that the step is repeated. */
export async function recoverPlace(deps: RecoverDependencies, place: ShownPlace, tries = 1): Promise<Outcome> {
  const terms = parseTerms(place.terms);
  if (terms === undefined) {
    const [own] = await selectOwnAddress(deps.db, place);
    return own === undefined ? { kind: "FOUND", reason: "TERMS_UNKNOWN" } : { kind: "KNOWN" };
  }
  const { externalId, customerId } = terms.invoice;
  const [[row], [wallet], [ground]] = await batch(deps.db, [
    selectInvoiceRow(deps.db, place.merchantId, place.invoiceId),
    selectWalletsById(deps.db, [terms.walletId]),
    selectGround(deps.db, { merchantId: place.merchantId, externalId, customerId }),
  ]);
  if (ground === undefined) throw new Error("the read of a recovery's ground must return one row");
  const file = row === undefined ? undefined : fileOf(row);
  if (ground.hasMerchant === 0) return { kind: "FOUND", reason: "MERCHANT_LOST" };
  if (wallet === undefined) return { kind: "FOUND", reason: "WALLET_LOST" };
  if (file !== undefined && (await isThere(deps, place, wallet, file))) return { kind: "KNOWN" };
  if (isContradicted(place, terms, wallet, file)) return { kind: "FOUND", reason: "REFUSED" };
  const lost = { place, terms, wallet };
  const [operationId, statements] =
    file === undefined
      ? recoverInvoice(deps, lost, {
          externalId: ground.hasExternalId === 1 ? null : externalId,
          customerId: ground.hasCustomer === 1 ? customerId : null,
        })
      : recoverMethod(deps, lost, file);
  const committed = await commitChange(deps, derivedId("aud", operationId), statements);
  if (committed.kind === "committed") {
    deps.wakeWatcher(wallet.network);
    return { kind: "DONE" };
  }
  if (committed.kind === "unknown") throw new Error("a recovered invoice may be stored or not");
  const { conflict } = committed;
  // A retried create request wrote the invoice first, or the payer's page changed it. The step is repeated with the current rows.
  const isChanged = isConflictOn(conflict, "invoices") || isConflictOn(conflict, "events");
  if (isChanged && tries < MAX_TRIES) return recoverPlace(deps, place, tries + 1);
  return { kind: "FOUND", reason: "REFUSED" };
}

interface Lost {
  readonly place: ShownPlace;
  readonly terms: ShownTerms;
  readonly wallet: Wallet;
}

/** Whether the invoice now shows a different address, or the lost amount is for the rest of a method that the invoice does not have. */
function isContradicted(
  { address }: ShownPlace,
  { quote }: ShownTerms,
  wallet: Wallet,
  file: InvoiceFile | undefined,
): boolean {
  const method = file?.methods.find((each) => isSamePair(each, wallet) && each.status === "ACTIVE");
  return method === undefined ? quote === null : method.address !== address;
}

async function isThere(
  { db }: Pick<RecoverDependencies, "db">,
  { address, amount, invoiceId }: ShownPlace,
  { network, cryptocurrency }: Wallet,
  file: InvoiceFile,
): Promise<boolean> {
  const method = file.methods.find((each) => isSamePair(each, { network, cryptocurrency }));
  if (method?.status !== "ACTIVE" || method.address !== address) return false;
  if (amount === null) return true;
  const rows = await selectAmountRow(db, { network, cryptocurrency, address, invoiceId, units: amount.units });
  return rows.length > 0;
}

/** The statements that recover a lost invoice with one method, and the operation from which their ids derive. */
function recoverInvoice(
  deps: RecoverDependencies,
  lost: Lost,
  named: Pick<Invoice, "externalId" | "customerId">,
): readonly [string, readonly Write[]] {
  const { terms, place } = lost;
  const operationId = `${place.invoiceId.slice("inv_".length)}|restored ${placeKey(lost)}`;
  const invoice: Invoice = {
    ...terms.invoice,
    ...named,
    id: place.invoiceId,
    merchantId: place.merchantId,
    status: "AWAITING_PAYMENT",
    receivedMicros: 0n,
    confirmedMicros: 0n,
    isLate: false,
    needsReview: true,
    resolution: null,
    warnings: withWarning(terms.invoice),
    eventSequence: nextSequence(0, deps.sequenceFloor),
    timelinePosition: 1,
    cancelledAtMs: null,
    closedAtMs: null,
    updatedAtMs: deps.nowMs,
  };
  const item = {
    id: derivedId("itl", operationId),
    invoiceId: invoice.id,
    position: 1,
    paymentStatus: invoice.status,
    timeMs: invoice.createdAtMs,
  };
  const method = methodOf(deps, lost, invoice);
  const file = newFile({ invoice, customer: undefined, product: undefined, methods: [method] }, item);
  const id = derivedId("aud", operationId);
  const after = createdFacts(invoice, [method]);
  const entry = { id, merchantId: invoice.merchantId, action: "invoice.restored", target: invoice.id, after } as const;
  const body = invoiceBodyOf(file, deps.body);
  const context = {
    invoice,
    firstSequence: invoice.eventSequence,
    operationId,
    body,
    hasMoney: false,
    nowMs: deps.nowMs,
  };
  return [
    operationId,
    [
      ...insertInvoice(deps.db, invoice),
      insertAudit(deps.db, SYSTEM_TRAIL, entry, deps.nowMs),
      insertTimelineItem(deps.db, item),
      ...addEntries(deps.db, entriesOfChange(undefined, file)),
      putMethod(deps.db, method),
      ...placeStatements(deps, lost),
      ...recordEvents(deps.db, context, [{ type: "invoice.updated" }]),
    ],
  ];
}

/** The statements that recover a lost method or amount of an existing invoice. */
function recoverMethod(deps: RecoverDependencies, lost: Lost, file: InvoiceFile): readonly [string, readonly Write[]] {
  const { invoice } = file;
  const operationId = `${invoice.id.slice("inv_".length)}|restored ${placeKey(lost)}`;
  const method = methodOf(deps, lost, invoice, file);
  const built = buildChange(
    { ...deps, trail: SYSTEM_TRAIL },
    file,
    {
      columns: { needsReview: true, warnings: withWarning(invoice) },
      methods: [method],
      events: [{ type: "invoice.updated" }],
      audit: { action: "invoice.restored", after: methodFacts(method) },
      statements: [putMethod(deps.db, method), ...placeStatements(deps, lost)],
    },
    operationId,
  );
  return [operationId, built.statements];
}

/**
 * The other statements that an address or amount needs: its own row, the wallet's counters, and its network, which is read again from the restored
 * minute on.
 */
function placeStatements(deps: RecoverDependencies, { place, terms, wallet }: Lost): readonly Write[] {
  const { db, nowMs, restoredToMs } = deps;
  const { network, cryptocurrency } = wallet;
  const { address, addressIndex, amount, invoiceId, merchantId } = place;
  const watch = deps.hasSource(network) ? [beginWatch(db, network, restoredToMs)] : [];
  const read = [...watch, ...lowerCursors(db, restoredToMs, network)];
  if (amount === null) {
    const index = addressIndex ?? 0;
    return [...read, noteAllocation(db, wallet.id, { index, nowMs })];
  }
  const { units, priceUnits, rank, heldUntilMs } = amount;
  const row = putAmount(db, {
    network,
    cryptocurrency,
    address,
    units,
    invoiceId,
    merchantId,
    priceUnits,
    rank,
    createdAtMs: terms.shownAtMs,
    openUntilMs: terms.invoice.expiresAtMs,
    heldUntilMs,
    releaseAfterMs: heldUntilMs,
    releasedAtMs: null,
  });
  const found = { address, network, cryptocurrency, units, sinceMs: restoredToMs };
  return [...read, row, forgetUnmatched(db, found)];
}

/** The method as it was shown. If the invoice already has that method, its row with the lost quote added. */
function methodOf(deps: RecoverDependencies, lost: Lost, invoice: Invoice, file?: InvoiceFile): PaymentMethod {
  const { place, terms, wallet } = lost;
  const { address, addressIndex, amount } = place;
  const known = file?.methods.find(
    (each) => isSamePair(each, wallet) && each.status === "ACTIVE" && each.address === address,
  );
  const { quote, shownAtMs } = terms;
  if (quote === null) {
    if (known === undefined) throw new Error(`an invoice without its method: ${invoice.id}`);
    return known;
  }
  const destination = { address, addressIndex, amountUnits: amount?.units ?? quote.amountUnits };
  const { macKeys } = deps;
  const shown = activeMethod({ invoice, wallet, quote, destination, macKeys, nowMs: shownAtMs });
  if (known === undefined) return shown;
  const quotes = [...parseQuotes(known.quotes), ...parseQuotes(shown.quotes)];
  return { ...known, quotes: printQuotes(quotes.toSorted((a, b) => a.askedFromMs - b.askedFromMs)) };
}

function withWarning({ warnings }: Pick<Invoice, "warnings">): Invoice["warnings"] {
  const others = parseJson(warnings).filter((each) => each !== RESTORED);
  return printJson([...others, RESTORED]);
}

/** Identifies a place of an invoice. The network is included, because two networks may have the same address and ask for the same units. */
function placeKey({ place: { address, amount }, wallet: { network, cryptocurrency } }: Lost): string {
  return `${network} ${cryptocurrency} ${address} ${amount?.units ?? ""}`;
}
