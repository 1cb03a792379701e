// A payment method picked for an invoice that stands: by the API or, later, by the customer. Idempotent per (invoice, pair): an ACTIVE
// one is answered as it is. Its change goes through `runOnce`, so that a retry with the same key answers the same bytes.
import type { Trail } from "../audit/entry.ts";
import { describeConflict, isConflictOn, isContention } from "../db/conflict.ts";
import type { Failure } from "../failures.ts";
import type { Prepared, Work } from "../idempotency/run-once.ts";
import { derivedId } from "../lib/ids.ts";
import { err, ok, type Result } from "../lib/result.ts";
import { isLagging } from "../payments/cursor.ts";
import { isAltered } from "../wallets/freeze-wallet.ts";
import { freezeWallet, selectPayableWallets } from "../wallets/store.ts";
import { selectCursor } from "../watchers/store.ts";
import { type Activation, activate } from "./activate-payment-method.ts";
import { buildChange, readFile } from "./change-invoice.ts";
import { readPublicHold, withinPublicLimit } from "./check-public-addresses.ts";
import { type InvoiceFile, isQuoteOver } from "./invoice.ts";
import { methodBodyOf } from "./invoice-body.ts";
import { methodFacts } from "./invoice-facts.ts";
import { isSamePair, type Pair, pricesJson } from "./payment-method.ts";
import { type RefreshEffects, refreshInvoice } from "./refresh-invoice.ts";

export interface PickEffects extends RefreshEffects {
  readonly trail: Trail;
}

export interface PickRequest {
  readonly pair: Pair;
  readonly isFromPublicKey: boolean;
  readonly file: InvoiceFile;
}

/** 201 with the method that was activated, 200 with one that already was. */
export function addPaymentMethod(fx: PickEffects, request: PickRequest): Work {
  const lostSalts: number[] = [];
  let triedSalt: number | undefined;
  return async (operationId, conflict, tries) => {
    if (conflict !== undefined && !isContention(conflict)) throw new Error(`a pick met ${describeConflict(conflict)}`);
    if (isConflictOn(conflict, "amount_reservations") && triedSalt !== undefined) lostSalts.push(triedSalt);
    const file = await currentFile(fx, request, tries);
    if (!file.ok) return refused(file.error);
    const { invoice, methods } = file.value;
    const known = methods.find((method) => method.status === "ACTIVE" && isSamePair(method, request.pair));
    if (known !== undefined && isQuoteOver(invoice, known, fx.nowMs)) {
      return refused({ code: known.reason === "AMOUNTS_EXHAUSTED" ? "AMOUNTS_EXHAUSTED" : "RATE_UNAVAILABLE" });
    }
    if (known !== undefined) {
      return {
        kind: "ready",
        status: 200,
        body: JSON.stringify(methodBodyOf(invoice, known, fx.body)),
        statements: [],
      };
    }
    // It may await a network that is still read beyond its end, but nobody is to begin to pay too late.
    if (invoice.status !== "AWAITING_PAYMENT" || fx.nowMs > invoice.expiresAtMs)
      return refused({ code: "INVOICE_NOT_PAYABLE", status: invoice.status });
    const activation = await activateOn(fx, request, file.value, { operationId, lostSalts });
    if (!activation.ok) return refused(activation.error);
    triedSalt = activation.value.salt;
    const { method, statements } = activation.value;
    const limited = request.isFromPublicKey ? withinPublicLimit(fx.db, method, statements) : statements;
    return prepare(fx, file.value, { method, statements: limited }, operationId);
  };
}

/** The invoice as it is true now: settled and with fresh quotes. */
async function currentFile(
  fx: RefreshEffects,
  request: PickRequest,
  tries: number,
): Promise<Result<InvoiceFile, Failure>> {
  if (tries === 0) return refreshInvoice(fx, request.file);
  const { merchantId, id } = request.file.invoice;
  const again = await readFile(fx, merchantId, id);
  if (!again.ok) return again;
  return again.value === undefined ? err({ code: "INVOICE_NOT_FOUND" }) : refreshInvoice(fx, again.value);
}

async function activateOn(
  fx: RefreshEffects,
  request: PickRequest,
  file: InvoiceFile,
  run: { readonly operationId: string; readonly lostSalts: readonly number[] },
): Promise<Result<Activation, Failure>> {
  const { invoice } = file;
  const prices = pricesJson({ rates: await fx.table(), nowMs: fx.nowMs }, invoice, [request.pair]);
  const { network } = request.pair;
  const [[found], [cursor]] = await fx.db.batch([
    selectPayableWallets(fx.db, invoice.merchantId, prices),
    selectCursor(fx.db, network),
  ]);
  if (cursor !== undefined && isLagging(cursor, fx.nowMs)) return err({ code: "NETWORK_NOT_WATCHED", network });
  const wallet = found?.payable.find((each) => isSamePair(each, request.pair));
  if (wallet === undefined) {
    return err({
      code: "NO_ENABLED_WALLET",
      cryptocurrency: request.pair.cryptocurrency,
      network: request.pair.network,
    });
  }
  const hold = request.isFromPublicKey ? await readPublicHold(fx.db, wallet, fx.nowMs) : ok(null);
  if (!hold.ok) return hold;
  if (isAltered(fx.macKeys, wallet)) {
    const auditId = derivedId("aud", run.operationId, 1);
    await fx.db.batch(freezeWallet(fx.db, wallet, { auditId, nowMs: fx.nowMs }));
  }
  return activate(fx, { invoice, wallet, ...run, publicHold: hold.value });
}

function prepare(
  fx: PickEffects,
  file: InvoiceFile,
  activation: Pick<Activation, "method" | "statements">,
  operationId: string,
): Prepared {
  const { method } = activation;
  // A direct amount is a promise of the payer's; own addresses have one anyway. Both are told by the same event.
  const built = buildChange(
    fx,
    file,
    {
      columns: {},
      methods: [method],
      events: [{ type: "payment.created", method }],
      audit: { action: "invoice.payment_method_activated", after: methodFacts(method) },
      statements: activation.statements,
    },
    operationId,
  );
  const body = JSON.stringify(methodBodyOf(built.file.invoice, method, fx.body));
  const afterwards = async () => fx.wakeWatcher(method.network);
  return { kind: "ready", status: 201, body, statements: built.statements, afterwards };
}

function refused(failure: Failure): Prepared {
  return { kind: "refused", failure };
}
