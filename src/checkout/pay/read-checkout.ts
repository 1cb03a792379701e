// What a payer may see of an invoice in its current state (decisions 4). Anyone who has the invoice's id may see it, so no customer data is included.

import type { MerchantRow } from "../../accounts/merchant-records/store.ts";
import { isSamePair } from "../../chains/registry/pair.ts";
import type { NetworkCursor } from "../../commerce/cursors/cursor.ts";
import type { KeptLocation } from "../../commerce/customers/location.ts";
import { fileOf, type InvoiceFile } from "../../commerce/invoice-records/invoice.ts";
import { type MethodBody, offeredMethodBody } from "../../commerce/invoices/invoice-body.ts";
import { listMethods } from "../../commerce/invoices/list-methods.ts";
import { type RefreshDependencies, refreshInvoice } from "../../commerce/invoices/refresh-invoice.ts";
import type { Payment } from "../../commerce/payments/payment.ts";
import type { Wallet } from "../../commerce/wallet-records/wallet.ts";
import type { StandingFacts } from "../../detection/claims/standing.ts";
import { type ClaimId, parseId } from "../../lib/ids.ts";
import { err, ok, type Result } from "../../lib/result.ts";
import type { Sleep } from "../../lib/sleep.ts";
import type { Db } from "../../platform/db/client.ts";
import { readRow } from "../../platform/db/retry.ts";
import type { Failure } from "../../platform/failures.ts";
import { noteLanguage, selectCheckout } from "./store.ts";

export interface StoredCheckout {
  readonly file: InvoiceFile;
  readonly merchant: MerchantRow;
  readonly wallets: readonly Wallet[];
  readonly cursors: readonly NetworkCursor[];
  /** The language that the payer last chose on the page, otherwise that of the first visit; null if none is stored. */
  readonly language: string | null;
  /** The customer's last location, compared at the next visit; never shown. */
  readonly location: KeptLocation | null;
  /** The claim that the page is about, and other payments of its transaction; null and empty without a claim. */
  readonly claim: (StandingFacts["claim"] & { readonly id: ClaimId }) | null;
  readonly claimed: readonly Payment[];
  /** Uncredited transfers that can only be meant for this invoice. */
  readonly arrived: readonly Payment[];
}

export interface Checkout extends StoredCheckout {
  /** Only rows with a valid HMAC have addresses; methods on lagging networks are not AVAILABLE. */
  readonly methods: readonly MethodBody[];
}

/** Reads in one database request. A malformed id and an invoice of a deleted merchant are INVOICE_NOT_FOUND too. */
export async function findCheckout(
  deps: { readonly db: Db; readonly sleep: Sleep },
  invoiceId: string,
  namedClaim?: string,
): Promise<Result<StoredCheckout, Failure>> {
  const id = parseId("inv", invoiceId);
  if (id === undefined) return err({ code: "INVOICE_NOT_FOUND" });
  const claimId = parseId("clm", namedClaim ?? "");
  const found = await readRow(deps.sleep, () => selectCheckout(deps.db, id, claimId), { code: "INVOICE_NOT_FOUND" });
  if (!found.ok) return found;
  const { merchant, wallets, watched, language, location, claim, claimed, arrived, ...row } = found.value;
  if (merchant === null) return err({ code: "INVOICE_NOT_FOUND" });
  // The page needs the cursors of all networks, the invoice only those of its own networks.
  const { methods, payments } = row;
  const cursors = watched.filter(
    ({ network }) =>
      methods.some((method) => method.network === network && method.status === "ACTIVE") ||
      payments.some((payment) => payment.network === network),
  );
  const file = fileOf({ ...row, cursors });
  return ok({ file, merchant, wallets, cursors: watched, language, location, claim, claimed, arrived });
}

/** Reads a checkout, settles its invoice and renews its quotes. `namedClaim`: the id of a claim in the URL. */
export async function readCheckout(
  deps: RefreshDependencies,
  invoiceId: string,
  namedClaim?: string,
): Promise<Result<Checkout, Failure>> {
  const found = await findCheckout(deps, invoiceId, namedClaim);
  return found.ok ? refreshCheckout(deps, found.value) : found;
}

/** Like `readCheckout`, for a checkout that was already read. */
export async function refreshCheckout(
  deps: RefreshDependencies,
  found: StoredCheckout,
): Promise<Result<Checkout, Failure>> {
  const file = await refreshInvoice(deps, found.file);
  if (!file.ok) return file;
  const { wallets, cursors } = found;
  const methods = listMethods(file.value, wallets, { ...deps.body, isWatched: deps.isWatched, cursors });
  return ok({ ...found, file: file.value, methods: methods.map((each) => stillOpen(file.value, wallets, each)) });
}

/**
 * An open invoice locks its wallets, but an UNDERPAID invoice does not. A merchant who disabled or deleted a wallet may have lost it, so no payer may
 * be asked to send the rest there.
 */
function stillOpen({ invoice, methods }: InvoiceFile, wallets: readonly Wallet[], body: MethodBody): MethodBody {
  if (invoice.status !== "UNDERPAID" || body.status !== "ACTIVE") return body;
  const walletId = methods.find((method) => isSamePair(method, body))?.walletId;
  const isOpen = wallets.some(({ id, isEnabled }) => id === walletId && isEnabled);
  return isOpen ? body : offeredMethodBody(body, "NO_ENABLED_WALLET");
}

/** Stores the payer's language for emails: that of the first visit, and later one that the payer chose on the page. Never delays a response. */
export async function keepLanguage(
  deps: Pick<RefreshDependencies, "db" | "nowMs">,
  { file, language: kept }: StoredCheckout,
  reader: { readonly language: string; readonly isLanguageNamed: boolean; readonly isLanguageKnown: boolean },
): Promise<void> {
  const { language, isLanguageNamed: isNamed, isLanguageKnown } = reader;
  if (!isLanguageKnown) return;
  if (kept !== null && (!isNamed || kept === language)) return;
  await noteLanguage(deps.db, { invoiceId: file.invoice.id, language, isNamed, nowMs: deps.nowMs });
}
