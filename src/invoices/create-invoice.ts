// Creating an invoice: decide on what was read, activate what is asked for, and hand over one batch: customer, invoice, timeline item,
// methods, amounts, events. `runOnce` adds the stored answer and sends it (reliability.md 1, 3).
import type { BatchItem, BatchResponse } from "drizzle-orm/batch";
import type { Trail } from "../audit/entry.ts";
import { insertAudit } from "../audit/store.ts";
import { type Customer, customerEntry, isSameCustomer } from "../customers/customer.ts";
import { assertCustomerLive, insertCustomer, updateCustomer } from "../customers/store.ts";
import type { Db } from "../db/client.ts";
import { describeConflict, isContention } from "../db/conflict.ts";
import type { Failure } from "../failures.ts";
import type { Prepared, Work } from "../idempotency/run-once.ts";
import { emailKeyOf } from "../lib/email.ts";
import { derivedId, type InvoiceId, makeId } from "../lib/ids.ts";
import { ok } from "../lib/result.ts";
import { SECOND_MS } from "../lib/time.ts";
import type { MerchantRow } from "../merchants/store.ts";
import type { Product } from "../products/product.ts";
import { assertProductAsRead } from "../products/store.ts";
import { isAltered } from "../wallets/freeze-wallet.ts";
import { freezeWallet } from "../wallets/store.ts";
import { isWalletOpen } from "../wallets/wallet.ts";
import { type Activation, type ActivationEffects, activate, type PayableWallet } from "./activate-payment-method.ts";
import { readPublicHold, withinPublicLimit } from "./check-public-addresses.ts";
import { type Invoice, newFile, type TimelineItem } from "./invoice.ts";
import { type BodyContext, invoiceBodyOf, publicInvoiceBody } from "./invoice-body.ts";
import { customerOf, metadataOf } from "./invoice-customer.ts";
import { createdFacts } from "./invoice-facts.ts";
import { type Pair, pairKey, pricesJson, unavailableMethod, walletsToActivate } from "./payment-method.ts";
import { type AskedTerms, type Terms, termsOf } from "./product-terms.ts";
import { recordEvents } from "./record-events.ts";
import { noteLosses } from "./reserve-amount.ts";
import { insertInvoice, insertTimelineItem, putMethod, selectForCreate } from "./store.ts";
import { overpaidToleranceMicros, underpaidToleranceMicros } from "./value.ts";

/** A valid request: the contract's body with its pairs in canonical form. */
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
  readonly pairs: readonly Pair[] | undefined;
}

/** What a create decides on, read before in one call with the key. */
export interface CreateFacts {
  readonly wallets: readonly PayableWallet[];
  readonly customer: Customer | undefined;
  /** Of the id that the request names, deleted or not. */
  readonly product: Product | undefined;
  readonly sameExternalId: InvoiceId | undefined;
}

export interface CreateEffects extends ActivationEffects {
  readonly body: BodyContext;
  readonly trail: Trail;
}

export interface CreateRequest {
  readonly merchant: MerchantRow;
  readonly isFromPublicKey: boolean;
  /** Whether it comes from a product's page, which asks what its merchant wants to know. */
  readonly isFromProductPage?: true;
  readonly invoice: NewInvoice;
  readonly facts: CreateFacts;
}

/** The reads of a create, for the call that reads the key; every value is bound, none is trusted. */
export function createReads(
  db: Db,
  merchantId: string,
  of: Pick<NewInvoice, "customerEmail" | "externalId" | "productId"> & { readonly prices: string },
) {
  const { customerEmail, externalId, productId, prices } = of;
  const emailKey = customerEmail === undefined ? undefined : emailKeyOf(customerEmail);
  return [selectForCreate(db, merchantId, { emailKey, externalId, productId, prices })] as const;
}

/** What `createReads` found. */
export function createFacts([[found]]: BatchResponse<ReturnType<typeof createReads>>): CreateFacts {
  if (found === undefined) throw new Error("the reads of a create are one row, always");
  const { payable, customer, product, sameExternalId } = found;
  return {
    wallets: payable,
    customer: customer ?? undefined,
    product: product ?? undefined,
    sameExternalId: sameExternalId ?? undefined,
  };
}

/** The work of one create, for `runOnce`: called again with what refused its batch, and by whoever takes over, with the same id. */
export function createInvoice(fx: CreateEffects, request: CreateRequest): Work {
  const lostSalts = new Map<string, number[]>();
  let { facts } = request;
  let triedSalts = new Map<string, number>();
  return async (operationId, conflict, tries) => {
    if (conflict !== undefined && !isContention(conflict))
      throw new Error(`a create met ${describeConflict(conflict)}`);
    noteLosses(lostSalts, triedSalts, conflict);
    facts = tries === 0 ? request.facts : await readFacts(fx, { ...request, facts }, lostSalts);
    const plan = planInvoice(fx, { ...request, facts }, operationId);
    if ("code" in plan) return { kind: "refused", failure: plan };
    const activations = await activateAll(fx, request, plan, { operationId, lostSalts });
    triedSalts = new Map(activations.flatMap(({ key, salt }) => (salt === undefined ? [] : [[key, salt] as const])));
    return prepare(fx, request, { plan, facts, activations, operationId });
  };
}

/** The same reads again, now with the price of every direct wallet that lost its amount. */
async function readFacts(fx: CreateEffects, request: CreateRequest, lost: Map<string, number[]>): Promise<CreateFacts> {
  const { invoice, facts, merchant } = request;
  const contested = facts.wallets.filter((wallet) => lost.has(pairKey(wallet)));
  const terms = termsOf(invoice, facts.product, request.isFromPublicKey);
  const prices = terms.ok
    ? pricesJson(
        { rates: await fx.table(), nowMs: fx.nowMs },
        { amountMicros: terms.value.rawAmount, currency: terms.value.currency },
        [...(invoice.pairs ?? []), ...contested],
      )
    : "{}";
  return createFacts(await fx.db.batch(createReads(fx.db, merchant.id, { ...invoice, prices })));
}

interface Plan {
  readonly invoice: Invoice;
  readonly toActivate: readonly PayableWallet[];
  readonly customer: Customer | undefined;
}

/** Everything that can be decided without the world. */
function planInvoice(fx: CreateEffects, request: CreateRequest, operationId: string): Plan | Failure {
  const { merchant, facts, invoice: wanted } = request;
  const id = makeId("inv", operationId);
  if (merchant.activeInvoices >= merchant.maxActiveInvoices) {
    return { code: "TOO_MANY_ACTIVE_INVOICES", limit: merchant.maxActiveInvoices };
  }
  // Our own earlier batch may stand already: then this one aborts on its operation id and the stored answer is given.
  if (facts.sameExternalId !== undefined && facts.sameExternalId !== id) {
    return { code: "EXTERNAL_ID_EXISTS", invoiceId: facts.sameExternalId };
  }
  const terms = termsOf(wanted, facts.product, request.isFromPublicKey);
  if (!terms.ok) return terms.error;
  const chosen = walletsToActivate(facts.wallets, wanted.pairs, {
    amountMicros: terms.value.rawAmount,
    macKeys: fx.macKeys,
    isWatched: fx.isWatched,
    nowMs: fx.nowMs,
  });
  if (!chosen.ok) return chosen.error;
  const customer = customerOf(request, operationId);
  const hasWallet = facts.wallets.some((wallet) => isWalletOpen(wallet, fx.nowMs));
  const warnings = hasWallet ? [] : ["NO_ENABLED_WALLET"];
  const given = { id, customerId: customer?.id ?? null, warnings, terms: terms.value };
  const invoice = newInvoice(fx.nowMs, request, given);
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
  const expiresAtMs = nowMs + (wanted.expiresInSeconds ?? merchant.invoiceLifetimeSeconds) * SECOND_MS;
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
      maxMicros: merchant.underpaidToleranceMaxMicros,
    }),
    overpaidToleranceMicros: overpaidToleranceMicros({
      expectedMicros,
      basisPoints: merchant.overpaidToleranceBasisPoints,
    }),
    latePaymentPolicy: merchant.latePaymentPolicy,
    rateLockSeconds: merchant.rateLockSeconds,
    monitorSeconds: merchant.monitorSeconds,
    isFromPublicKey: request.isFromPublicKey,
    eventSequence: 0,
    timelinePosition: 1,
    expiresAtMs,
    monitorUntilMs: expiresAtMs + merchant.monitorSeconds * SECOND_MS,
    cancelledAtMs: null,
    closedAtMs: null,
    createdAtMs: nowMs,
    updatedAtMs: nowMs,
  };
}

/** The numbers of a create's audit entries: 0 the invoice, 1 the customer, from 2 on wallets found altered. */
const FREEZES_FROM = 2;

type Activated = Pick<Activation, "method" | "statements" | "salt"> & { readonly key: string };

/** What cannot be had now comes back UNAVAILABLE with its reason; creating an invoice never fails for it (decisions 4). */
async function activateAll(
  fx: CreateEffects,
  request: CreateRequest,
  plan: Plan,
  run: { readonly operationId: string; readonly lostSalts: ReadonlyMap<string, readonly number[]> },
): Promise<readonly Activated[]> {
  const activated: Activated[] = [];
  for (const [n, wallet] of plan.toActivate.entries()) {
    const key = pairKey(wallet);
    const lostSalts = run.lostSalts.get(key) ?? [];
    const hold = request.isFromPublicKey ? await readPublicHold(fx.db, wallet, fx.nowMs) : ok(null);
    const { invoice } = plan;
    const { operationId } = run;
    const outcome = hold.ok
      ? await activate(fx, { invoice, wallet, operationId, lostSalts, publicHold: hold.value })
      : hold;
    if (outcome.ok) {
      const { method, statements } = outcome.value;
      const limited = request.isFromPublicKey ? withinPublicLimit(fx.db, method, statements) : statements;
      activated.push({ ...outcome.value, statements: limited, key });
      continue;
    }
    const method = unavailableMethod(plan.invoice, wallet, outcome.error.code);
    const auditId = derivedId("aud", run.operationId, FREEZES_FROM + n);
    const freezing = isAltered(fx.macKeys, wallet)
      ? freezeWallet(fx.db, wallet, { auditId, nowMs: fx.nowMs })
      : ([] as const);
    activated.push({ key, method, salt: undefined, statements: [putMethod(fx.db, method), ...freezing] });
  }
  return activated;
}

function prepare(
  fx: CreateEffects,
  request: CreateRequest,
  of: {
    readonly plan: Plan;
    readonly facts: CreateFacts;
    readonly activations: readonly Activated[];
    readonly operationId: string;
  },
): Prepared {
  const { plan, activations, operationId } = of;
  const { product } = of.facts;
  const methods = activations.map(({ method }) => method);
  const active = methods.filter((method) => method.status === "ACTIVE");
  const invoice: Invoice = { ...plan.invoice, eventSequence: 1 + active.length };
  const item: TimelineItem = {
    id: derivedId("itl", operationId),
    invoiceId: invoice.id,
    position: 1,
    paymentStatus: invoice.status,
    timeMs: fx.nowMs,
  };
  const body = invoiceBodyOf(newFile({ invoice, customer: plan.customer, product, methods }, item), fx.body);
  const json = JSON.stringify(body);
  const events = recordEvents(fx.db, { invoice, firstSequence: 1, operationId, body, json, nowMs: fx.nowMs }, [
    { type: "invoice.created" },
    ...active.map((method) => ({
      type: "payment.created" as const,
      paymentMethod: body.paymentMethods.find(
        (each) => each.network === method.network && each.cryptocurrency === method.cryptocurrency,
      ),
    })),
  ]);
  return {
    kind: "ready",
    status: 201,
    body: request.isFromPublicKey ? JSON.stringify(publicInvoiceBody(body)) : json,
    afterwards: async () => {
      for (const network of new Set(active.map((method) => method.network))) fx.wakeWatcher(network);
    },
    statements: [
      ...(product === undefined ? [] : [assertProductAsRead(fx.db, product)]),
      ...customerStatements(fx, request, { before: of.facts.customer, after: plan.customer, operationId }),
      insertInvoice(fx.db, invoice),
      insertAudit(
        fx.db,
        fx.trail,
        {
          id: derivedId("aud", operationId),
          merchantId: invoice.merchantId,
          action: "invoice.created",
          target: invoice.id,
          after: createdFacts(invoice, active),
        },
        fx.nowMs,
      ),
      insertTimelineItem(fx.db, item),
      ...activations.flatMap(({ statements }) => statements),
      ...events,
    ],
  };
}

function customerStatements(
  fx: CreateEffects,
  request: CreateRequest,
  of: {
    readonly before: Customer | undefined;
    readonly after: Customer | undefined;
    readonly operationId: string;
  },
): readonly BatchItem<"sqlite">[] {
  const { before, after, operationId } = of;
  if (after === undefined) return [];
  const entry = customerEntry(derivedId("aud", operationId, 1), { before, after });
  const told = insertAudit(fx.db, fx.trail, entry, fx.nowMs);
  if (before === undefined) return [insertCustomer(fx.db, after, fx.nowMs), told];
  const writing = isSameCustomer(before, after) ? [] : [updateCustomer(fx.db, after, request.invoice, fx.nowMs), told];
  return [assertCustomerLive(fx.db, before.id), ...writing];
}
