import type { Db } from "../db/client.ts";
import { selectLiveWallets } from "../wallets/store.ts";
import { isWalletOpen, type Wallet } from "../wallets/wallet.ts";
import type { InvoiceFile } from "./invoice.ts";
import { type BodyContext, type MethodBody, methodBodyOf, offeredMethodBody } from "./invoice-body.ts";
import { isSamePair, walletRefusal } from "./payment-method.ts";
import { selectInvoiceRow } from "./store.ts";

/** The invoice and the wallets that could serve it, for the call that reads the key. */
export function methodReads(db: Db, merchantId: string, invoiceId: string) {
  return [selectInvoiceRow(db, merchantId, invoiceId), selectLiveWallets(db, merchantId)] as const;
}

/** What was activated, and every other pair of the merchant's enabled wallets: AVAILABLE, or UNAVAILABLE with its reason. */
export function listMethods(
  file: InvoiceFile,
  wallets: readonly Wallet[],
  context: BodyContext & { readonly isWatched: (network: string) => boolean },
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

function offerRefusal(
  { invoice }: InvoiceFile,
  wallet: Wallet,
  context: BodyContext & { readonly isWatched: (network: string) => boolean },
): string | null {
  if (invoice.status !== "AWAITING_PAYMENT") return "INVOICE_NOT_PAYABLE";
  if (wallet.isEnabled && !isWalletOpen(wallet, context.nowMs)) return "CHANGE_PENDING";
  return walletRefusal(wallet, { ...context, amountMicros: invoice.amountMicros })?.code ?? null;
}
