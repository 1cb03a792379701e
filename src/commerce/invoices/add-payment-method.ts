// Adds a payment method to an existing invoice, for the API and for the checkout. Idempotent per (invoice, pair): a method that is already ACTIVE is
// returned unchanged. The change goes through `runOnce`, so that a retry with the same key gets exactly the same response.

import { assertNotSuspended, selectServerRoom } from "../../accounts/merchant-records/store.ts";
import { isSamePair, type Pair } from "../../chains/registry/pair.ts";
import { derivedId } from "../../lib/ids.ts";
import type { CallerNetwork } from "../../lib/ip-network.ts";
import { err, type Result } from "../../lib/result.ts";
import type { Trail } from "../../platform/audit/entry.ts";
import { batch } from "../../platform/db/batch.ts";
import { throwUnlessContention } from "../../platform/db/conflict.ts";
import type { Failure } from "../../platform/failures.ts";
import type { Prepared, Work } from "../../platform/idempotency/run-once.ts";
import { isLagging } from "../cursors/cursor.ts";
import { selectCursor } from "../cursors/store.ts";
import { type InvoiceFile, isQuoteOver } from "../invoice-records/invoice.ts";
import { type Activation, activate } from "../payment-methods/activate-payment-method.ts";
import { selectPayableWallets } from "../payment-methods/store.ts";
import { readPublicHold, withinPublicLimit } from "../public-holds/check-public-addresses.ts";
import { freezeWallet } from "../wallet-records/store.ts";
import { isAltered } from "../wallets/freeze-wallet.ts";
import { buildChange, readFile } from "./change-invoice.ts";
import { methodBodyOf } from "./invoice-body.ts";
import { methodFacts } from "./invoice-facts.ts";
import { type RefreshDependencies, refreshInvoice } from "./refresh-invoice.ts";

export interface PickDependencies extends RefreshDependencies {
  readonly trail: Trail;
}

interface PickRequest {
  readonly pair: Pair;
  /** Whether a browser picks the method: with a public key, or on the page of an invoice that a browser created. */
  readonly isFromPublicKey: boolean;
  /** The IP networks whose limits count this request. */
  readonly callers: readonly CallerNetwork[];
  readonly file: InvoiceFile;
}

/** Responds 201 with a newly activated method, or 200 with one that was already active. */
export function addPaymentMethod(deps: PickDependencies, request: PickRequest): Work {
  return async (operationId, conflict, tries) => {
    throwUnlessContention("a pick", conflict);
    const file = await currentFile(deps, request, tries);
    if (!file.ok) return refused(file.error);
    const { invoice, methods } = file.value;
    const known = methods.find((method) => method.status === "ACTIVE" && isSamePair(method, request.pair));
    if (known !== undefined && isQuoteOver(invoice, known, deps.nowMs)) {
      return refused({ code: known.reason === "AMOUNTS_EXHAUSTED" ? "AMOUNTS_EXHAUSTED" : "RATE_UNAVAILABLE" });
    }
    if (known !== undefined) {
      return {
        kind: "ready",
        status: 200,
        body: JSON.stringify(methodBodyOf(invoice, known, deps.body)),
        statements: [],
      };
    }
    // The invoice may still be open because a network has not been read beyond its end, but no new payment method may be activated.
    if (invoice.status !== "AWAITING_PAYMENT" || deps.nowMs > invoice.expiresAtMs)
      return refused({ code: "INVOICE_NOT_PAYABLE", status: invoice.status });
    const activation = await activateOn(deps, request, file.value, operationId);
    if (!activation.ok) return refused(activation.error);
    const { method, statements } = activation.value;
    const { isFromPublicKey, callers } = request;
    const limited = isFromPublicKey ? withinPublicLimit(deps, { method, callers, statements }) : statements;
    return prepare(deps, file.value, { method, statements: limited }, operationId);
  };
}

/** The invoice, settled and with fresh quotes. */
async function currentFile(
  deps: RefreshDependencies,
  request: PickRequest,
  tries: number,
): Promise<Result<InvoiceFile, Failure>> {
  if (tries === 0) return refreshInvoice(deps, request.file);
  const { merchantId, id } = request.file.invoice;
  const again = await readFile(deps, merchantId, id);
  return again.ok ? refreshInvoice(deps, again.value) : again;
}

async function activateOn(
  deps: RefreshDependencies,
  request: PickRequest,
  file: InvoiceFile,
  operationId: string,
): Promise<Result<Activation, Failure>> {
  const { invoice } = file;
  const { network } = request.pair;
  const [[found], [cursor], [merchant]] = await batch(deps.db, [
    selectPayableWallets(deps.db, invoice.merchantId),
    selectCursor(deps.db, network),
    selectServerRoom(deps.db, invoice.merchantId),
  ]);
  if (merchant !== undefined && merchant.suspendedAtMs !== null) return err({ code: "MERCHANT_SUSPENDED" });
  if (cursor !== undefined && isLagging(cursor, deps.nowMs)) return err({ code: "NETWORK_NOT_WATCHED", network });
  const wallet = found?.payable.find((each) => isSamePair(each, request.pair));
  if (wallet === undefined) {
    return err({
      code: "NO_ENABLED_WALLET",
      cryptocurrency: request.pair.cryptocurrency,
      network: request.pair.network,
    });
  }
  const publicHold = request.isFromPublicKey
    ? await readPublicHold(deps, { wallet, invoiceId: invoice.id, callers: request.callers })
    : null;
  if (isAltered(deps.macKeys, wallet)) {
    const auditId = derivedId("aud", operationId, 1);
    await batch(deps.db, freezeWallet(deps.db, wallet, { auditId, nowMs: deps.nowMs }));
  }
  return activate(deps, { invoice, wallet, operationId, publicHold });
}

function prepare(
  deps: PickDependencies,
  file: InvoiceFile,
  activation: Pick<Activation, "method" | "statements">,
  operationId: string,
): Prepared {
  const { method } = activation;
  // The same event is sent for an activation with a reserved amount and for one with its own address.
  const built = buildChange(
    deps,
    file,
    {
      columns: {},
      methods: [method],
      events: [{ type: "payment.created", method }],
      audit: { action: "invoice.payment_method_activated", after: methodFacts(method) },
      statements: [assertNotSuspended(deps.db, file.invoice.merchantId), ...activation.statements],
    },
    operationId,
  );
  const body = JSON.stringify(methodBodyOf(built.file.invoice, method, deps.body));
  const afterwards = async () => deps.wakeWatcher(method.network);
  return { kind: "ready", status: 201, body, statements: built.statements, afterwards };
}

function refused(failure: Failure): Prepared {
  return { kind: "refused", failure };
}
