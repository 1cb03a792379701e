// Creates an invoice: decides from the rows that were read, activates the requested payment methods, and returns one batch with customer, invoice,
// timeline item, methods, amounts and events. `runOnce` adds the stored response and commits the batch.
import { type MerchantRow, selectServerRoom } from "../../accounts/merchant-records/store.ts";
import { isSamePair, type Pair } from "../../chains/registry/pair.ts";
import { emailKeyOf } from "../../lib/email.ts";
import { derivedId, type InvoiceId, makeId } from "../../lib/ids.ts";
import type { CallerNetwork } from "../../lib/ip-network.ts";
import { LIMITS } from "../../lib/limits.ts";
import type { Sleep } from "../../lib/sleep.ts";
import { HOUR_MS, SECOND_MS } from "../../lib/time.ts";
import type { Trail } from "../../platform/audit/entry.ts";
import { insertAudit } from "../../platform/audit/store.ts";
import type { InvoiceOrigin } from "../../platform/column-values.ts";
import { type ResultsOf, readTogether } from "../../platform/db/batch.ts";
import type { Db } from "../../platform/db/client.ts";
import { isConflictOn, throwUnlessContention } from "../../platform/db/conflict.ts";
import { nextSequence } from "../../platform/deployment/restore-epoch.ts";
import { recordOutbox } from "../../platform/events/store.ts";
import type { Failure } from "../../platform/failures.ts";
import type { Prepared, Work } from "../../platform/idempotency/run-once.ts";
import type { Customer } from "../customers/customer.ts";
import { type Invoice, isPublicOrigin, lateTimes, newFile, type TimelineItem } from "../invoice-records/invoice.ts";
import { insertInvoice, insertTimelineItem, putMethod, selectNamed } from "../invoice-records/store.ts";
import {
  type Activation,
  type ActivationDependencies,
  activate,
  currencyRefusal,
  type PayableWallet,
} from "../payment-methods/activate-payment-method.ts";
import { unavailableMethod, walletsToActivate } from "../payment-methods/payment-method.ts";
import { selectPayableWallets } from "../payment-methods/store.ts";
import type { Product } from "../products/product.ts";
import { assertProductAsRead } from "../products/store.ts";
import { readPublicHold, withinPublicLimit } from "../public-holds/check-public-addresses.ts";
import { roomRefusal, serverRoomRefusal, takeRoom } from "../public-holds/check-room.ts";
import { entriesOfChange } from "../reports/invoice-entries.ts";
import { addEntries } from "../reports/store.ts";
import { overpaidToleranceMicros, underpaidToleranceMicros } from "../settlement/value.ts";
import { freezeWallet } from "../wallet-records/store.ts";
import { isWalletOpen } from "../wallet-records/wallet.ts";
import { isAltered } from "../wallets/freeze-wallet.ts";
import { answerRestored } from "./answer-restored.ts";
import { invoiceAt } from "./event-invoice.ts";
import { type BodyContext, invoiceBodyOf, publicInvoiceBody } from "./invoice-body.ts";
import { customerOf, metadataOf } from "./invoice-customer.ts";
import { createdFacts } from "./invoice-facts.ts";
import { type AskedTerms, type Terms, termsOf } from "./product-terms.ts";
import { recordCustomer } from "./record-customer.ts";
import { invoiceOutbox } from "./record-events.ts";

const PUBLIC_LIFETIME_MS = LIMITS.publicInvoiceHours * HOUR_MS;

/** The validated request body, with its pairs in canonical form. */
export interface NewInvoice extends AskedTerms {
  readonly customerEmail?: string | undefined;
  readonly customerName?: string | undefined;
  readonly customerAddress?: string | undefined;
  readonly customerPhoneNumber?: string | undefined;
  readonly description?: string | undefined;
  readonly redirectUrl?: string | undefined;
  readonly metadata?: Readonly<Record<string, string>> | undefined;
  readonly externalId?: string | undefined;
  readonly expiresInSeconds?: number | undefined;
  readonly underpaidTolerancePercent?: number | undefined;
  readonly pairs: readonly Pair[] | undefined;
}

/** The rows that creating an invoice depends on, read in one storage call with the key. */
export interface CreateFacts {
  readonly wallets: readonly PayableWallet[];
  readonly customer: Customer | undefined;
  /** The product named in the request, even if deleted. */
  readonly product: Product | undefined;
  readonly sameExternalId: InvoiceId | undefined;
}

export interface CreateDependencies extends ActivationDependencies {
  readonly body: BodyContext;
  readonly trail: Trail;
  readonly sleep: Sleep;
  /** See `ChangeDependencies`: a repeated key may belong to an invoice that the database has lost. */
  readonly sequenceFloor?: number | undefined;
}

interface CreateRequest {
  readonly merchant: MerchantRow;
  readonly origin: InvoiceOrigin;
  /** The IP networks whose limits count a browser's request. */
  readonly callers: readonly CallerNetwork[];
  readonly invoice: NewInvoice;
  readonly facts: CreateFacts;
}

/** The reads for creating an invoice, in the storage call that reads the key. Every value is bound, because none is trusted. */
export function createReads(
  db: Db,
  merchantId: string,
  of: Partial<Pick<NewInvoice, "customerEmail" | "externalId" | "productId">>,
) {
  const { customerEmail, externalId, productId } = of;
  const emailKey = customerEmail === undefined ? undefined : emailKeyOf(customerEmail);
  return [
    selectPayableWallets(db, merchantId),
    selectNamed(db, merchantId, { emailKey, externalId, productId }),
  ] as const;
}

export function createFacts([[own], [named]]: ResultsOf<ReturnType<typeof createReads>>): CreateFacts {
  if (own === undefined || named === undefined) throw new Error("each read of a create must return one row");
  const { customer, product, sameExternalId } = named;
  return {
    wallets: own.payable,
    customer: customer ?? undefined,
    product: product ?? undefined,
    sameExternalId: sameExternalId ?? undefined,
  };
}

/** Creates one invoice, as work for `runOnce`. A retry gets the conflict that aborted its batch; a takeover continues with the same operation id. */
export function createInvoice(deps: CreateDependencies, request: CreateRequest): Work {
  let read = request;
  return async (operationId, conflict, tries) => {
    const isMade = isConflictOn(conflict, "invoices", ["id"]);
    if (!isMade) throwUnlessContention("a create", conflict);
    read = tries === 0 ? request : await readAgain(deps, read);
    if (isMade || read.facts.sameExternalId === makeId("inv", operationId))
      return answerRestored(deps, { ...request, operationId });
    const plan = planInvoice(deps, read, operationId);
    if ("code" in plan) return { kind: "refused", failure: plan };
    const unpriced = await currencyRefusal(deps, plan.invoice.currency);
    const refusal = unpriced ?? (await roomRefusal(deps, plan.invoice, request.callers));
    if (refusal !== undefined) return { kind: "refused", failure: refusal };
    const activations = await activateAll(deps, read, plan, operationId);
    return prepare(deps, read, { plan, activations, operationId });
  };
}

/** Reads the rows again, and also the count of active invoices. */
async function readAgain(deps: CreateDependencies, request: CreateRequest): Promise<CreateRequest> {
  const { invoice, merchant } = request;
  const reads = createReads(deps.db, merchant.id, invoice);
  const [own, named, [room]] = await readTogether(deps.db, [...reads, selectServerRoom(deps.db, merchant.id)]);
  return { ...request, facts: createFacts([own, named]), merchant: { ...merchant, ...room } };
}

interface Plan {
  readonly invoice: Invoice;
  readonly toActivate: readonly PayableWallet[];
  readonly customer: Customer | undefined;
}

/** Makes all decisions that need no I/O. */
export function planInvoice(
  deps: Pick<CreateDependencies, "macKeys" | "isWatched" | "nowMs">,
  request: CreateRequest,
  operationId: string,
): Plan | Failure {
  const { merchant, facts, invoice: wanted } = request;
  const id = makeId("inv", operationId);
  // Also asserted in the batch, so that no invoice is created after the suspension, even if this read is old.
  if (merchant.suspendedAtMs !== null) return { code: "MERCHANT_SUSPENDED" };
  const full = serverRoomRefusal(merchant, request.origin);
  if (full !== undefined) return full;
  // The invoice of this operation itself, stored by an earlier batch, is no conflict: `createInvoice` responds with it (`answerRestored`).
  if (facts.sameExternalId !== undefined && facts.sameExternalId !== id) {
    return { code: "EXTERNAL_ID_EXISTS", invoiceId: facts.sameExternalId };
  }
  const terms = termsOf(wanted, facts.product, isPublicOrigin(request.origin));
  if (!terms.ok) return terms.error;
  const chosen = walletsToActivate(facts.wallets, wanted.pairs, {
    amountMicros: terms.value.rawAmount,
    macKeys: deps.macKeys,
    isWatched: deps.isWatched,
    nowMs: deps.nowMs,
  });
  if (!chosen.ok) return chosen.error;
  const customer = customerOf(request, operationId, deps.nowMs);
  const warnings = facts.wallets.some((each) => isWalletOpen(each, deps.nowMs)) ? [] : ["NO_ENABLED_WALLET"];
  const given = { id, customerId: customer?.id ?? null, warnings, terms: terms.value };
  const invoice = newInvoice(deps.nowMs, request, given);
  return { invoice, toActivate: chosen.value, customer };
}

function newInvoice(
  nowMs: number,
  request: CreateRequest,
  given: {
    readonly id: InvoiceId;
    readonly customerId: Invoice["customerId"];
    readonly warnings: readonly string[];
    readonly terms: Terms;
  },
): Invoice {
  const { merchant, invoice: wanted, facts } = request;
  const { name, rawAmount: expectedMicros, currency } = given.terms;
  const metadata = metadataOf(request);
  const lifetimeMs = (wanted.expiresInSeconds ?? merchant.invoiceLifetimeSeconds) * SECOND_MS;
  const expiresAtMs = nowMs + (isPublicOrigin(request.origin) ? Math.min(lifetimeMs, PUBLIC_LIFETIME_MS) : lifetimeMs);
  return {
    id: given.id,
    merchantId: merchant.id,
    customerId: given.customerId,
    productId: facts.product?.id ?? null,
    externalId: wanted.externalId ?? null,
    name,
    description: wanted.description ?? null,
    redirectUrl: wanted.redirectUrl ?? null,
    metadata: metadata === undefined ? null : JSON.stringify(metadata),
    amountMicros: expectedMicros,
    currency,
    status: "AWAITING_PAYMENT",
    receivedMicros: 0n,
    confirmedMicros: 0n,
    isLate: false,
    needsReview: false,
    resolution: null,
    warnings: JSON.stringify(given.warnings),
    underpaidToleranceMicros: underpaidToleranceMicros({
      expectedMicros,
      basisPoints: merchant.underpaidToleranceBasisPoints,
      askedPercent: wanted.underpaidTolerancePercent,
      maxMicros: merchant.underpaidToleranceMaxMicros,
    }),
    overpaidToleranceMicros: overpaidToleranceMicros({
      expectedMicros,
      basisPoints: merchant.overpaidToleranceBasisPoints,
    }),
    latePaymentPolicy: merchant.latePaymentPolicy,
    rateLockSeconds: merchant.rateLockSeconds,
    monitorSeconds: merchant.monitorSeconds,
    origin: request.origin,
    eventSequence: 0,
    timelinePosition: 1,
    expiresAtMs,
    ...lateTimes(expiresAtMs, merchant),
    cancelledAtMs: null,
    closedAtMs: null,
    createdAtMs: nowMs,
    updatedAtMs: nowMs,
  };
}

/** Numbers of the audit entries: 0 is the invoice, 1 the customer, from 2 on the wallets whose rows were altered. */
const FREEZES_FROM = 2;

/**
 * Activates all methods concurrently. That is safe because none reads what another writes, and every id that an activation derives from the operation
 * includes its pair or its position in the list. Returns the methods in the order of the wallets. A method that cannot be activated now is returned
 * as UNAVAILABLE with its reason; the invoice is still created (decisions 4).
 */
async function activateAll(
  deps: CreateDependencies,
  request: CreateRequest,
  plan: Plan,
  operationId: string,
): Promise<readonly Activation[]> {
  const activated = plan.toActivate.map(async (wallet, n): Promise<Activation> => {
    const isPublic = isPublicOrigin(request.origin);
    const publicHold = isPublic
      ? await readPublicHold(deps, { wallet, invoiceId: plan.invoice.id, callers: request.callers })
      : null;
    const { invoice } = plan;
    const outcome = await activate(deps, { invoice, wallet, operationId, publicHold });
    if (outcome.ok) {
      const { method, statements } = outcome.value;
      const limited = isPublic ? withinPublicLimit(deps, { method, callers: request.callers, statements }) : statements;
      return { method, statements: limited };
    }
    const method = unavailableMethod(plan.invoice, wallet, outcome.error.code);
    const auditId = derivedId("aud", operationId, FREEZES_FROM + n);
    const freezing = isAltered(deps.macKeys, wallet)
      ? freezeWallet(deps.db, wallet, { auditId, nowMs: deps.nowMs })
      : ([] as const);
    return { method, statements: [putMethod(deps.db, method), ...freezing] };
  });
  return Promise.all(activated);
}

function prepare(
  deps: CreateDependencies,
  request: CreateRequest,
  of: {
    readonly plan: Plan;
    readonly activations: readonly Activation[];
    readonly operationId: string;
  },
): Prepared {
  const { plan, activations, operationId } = of;
  const { product, customer } = request.facts;
  const methods = activations.map(({ method }) => method);
  const active = methods.filter((method) => method.status === "ACTIVE");
  const firstSequence = nextSequence(0, deps.sequenceFloor);
  const invoice: Invoice = { ...plan.invoice, eventSequence: firstSequence + active.length };
  const item: TimelineItem = {
    id: derivedId("itl", operationId),
    invoiceId: invoice.id,
    position: 1,
    paymentStatus: invoice.status,
    timeMs: deps.nowMs,
  };
  const file = newFile({ invoice, customer: plan.customer, product, methods }, item);
  const body = invoiceBodyOf(file, deps.body);
  const json = JSON.stringify(body);
  const auditId = derivedId("aud", operationId);
  const facts = { target: invoice.id, after: createdFacts(invoice, active) };
  const entry = { id: auditId, merchantId: invoice.merchantId, action: "invoice.created", ...facts } as const;
  const outbox = invoiceOutbox(
    { invoice, firstSequence, operationId, body, json, hasMoney: false, nowMs: deps.nowMs },
    [{ type: "invoice.created" }, ...active.map((method) => activationEvent(body, method))],
  );
  const isWhole = !isPublicOrigin(request.origin);
  return {
    kind: "ready",
    status: 201,
    body: isWhole ? json : JSON.stringify(publicInvoiceBody(body)),
    bodyAt: isWhole ? invoiceAt(outbox[0]?.data ?? "", json) : undefined,
    subjects: subjectsOf(invoice, customer === undefined ? plan.customer : undefined),
    afterwards: async () => {
      for (const network of new Set(active.map((method) => method.network))) deps.wakeWatcher(network);
    },
    statements: [
      ...(product === undefined ? [] : [assertProductAsRead(deps.db, product)]),
      ...recordCustomer(deps, request.invoice, { before: customer, after: plan.customer, operationId }),
      ...insertInvoice(deps.db, invoice),
      ...takeRoom(deps, invoice, request.callers),
      insertAudit(deps.db, deps.trail, entry, deps.nowMs),
      insertTimelineItem(deps.db, item),
      ...addEntries(deps.db, entriesOfChange(undefined, file)),
      ...activations.flatMap(({ statements }) => statements),
      ...recordOutbox(deps.db, outbox),
    ],
  };
}

function activationEvent(body: ReturnType<typeof invoiceBodyOf>, method: Pair) {
  return {
    type: "payment.created",
    paymentMethod: body.paymentMethods.find((each) => isSamePair(each, method)),
  } as const;
}

/** The keys that only one of two concurrent requests can insert: a new customer, and an external id. */
function subjectsOf({ externalId }: Invoice, newCustomer: Customer | undefined): readonly string[] {
  return [
    ...(externalId === null ? [] : [`externalId ${externalId}`]),
    ...(newCustomer === undefined ? [] : [`customer ${newCustomer.emailKey ?? newCustomer.id}`]),
  ];
}
