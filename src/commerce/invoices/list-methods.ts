import { isSamePair } from "../../chains/registry/pair.ts";
import type { Db } from "../../platform/db/client.ts";
import { isLagging, type NetworkCursor } from "../cursors/cursor.ts";
import { selectCursors } from "../cursors/store.ts";
import type { InvoiceFile } from "../invoice-records/invoice.ts";
import { selectInvoiceRow } from "../invoice-records/store.ts";
import { walletRefusal } from "../payment-methods/payment-method.ts";
import { selectLiveWallets } from "../wallet-records/store.ts";
import { isWalletOpen, type Wallet } from "../wallet-records/wallet.ts";
import { type BodyContext, type MethodBody, methodBodyOf, offeredMethodBody } from "./invoice-body.ts";

/** The invoice, the wallets that it could use, and the state of their networks, for the storage call that reads the key. */
export function methodReads(db: Db, merchantId: string, invoiceId: string) {
  return [selectInvoiceRow(db, merchantId, invoiceId), selectLiveWallets(db, merchantId), selectCursors(db)] as const;
}

interface OfferContext extends BodyContext {
  readonly isWatched: (network: string) => boolean;
  readonly cursors: readonly NetworkCursor[];
}

/**
 * The active methods; every other pair of the merchant's wallets, AVAILABLE or UNAVAILABLE with its reason; and the invoice's unavailable methods
 * whose wallet was deleted.
 */
export function listMethods(
  file: InvoiceFile,
  wallets: readonly Wallet[],
  context: OfferContext,
): readonly MethodBody[] {
  const { invoice, methods } = file;
  const active = methods.filter((method) => method.status === "ACTIVE");
  const offered = wallets.filter((wallet) => !active.some((method) => isSamePair(method, wallet)));
  const gone = methods.filter(
    (method) => method.status === "UNAVAILABLE" && !wallets.some((wallet) => isSamePair(method, wallet)),
  );
  return [
    ...active.map((method) => methodBodyOf(invoice, method, context)),
    ...offered.map((wallet) => offeredMethodBody(wallet, offerRefusal(file, wallet, context))),
    ...gone.map((method) => methodBodyOf(invoice, method, context)),
  ];
}

function offerRefusal({ invoice }: InvoiceFile, wallet: Wallet, context: OfferContext): string | null {
  const { nowMs, cursors } = context;
  if (invoice.status !== "AWAITING_PAYMENT" || nowMs > invoice.expiresAtMs) return "INVOICE_NOT_PAYABLE";
  if (wallet.isEnabled && !isWalletOpen(wallet, nowMs)) return "CHANGE_PENDING";
  const refusal = walletRefusal(wallet, { ...context, amountMicros: invoice.amountMicros });
  if (refusal !== undefined) return refusal.code;
  const isHidden = cursors.some((cursor) => cursor.network === wallet.network && isLagging(cursor, nowMs));
  return isHidden ? "NETWORK_NOT_WATCHED" : null;
}
