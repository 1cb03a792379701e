// What a payer may see of an invoice, as it is true now (decisions 4). Whoever has its id may see it; nothing of the customer goes on from here.
import type { Db } from "../db/client.ts";
import { readWithRetry } from "../db/retry.ts";
import type { Failure } from "../failures.ts";
import { fileOf, type InvoiceFile } from "../invoices/invoice.ts";
import { type MethodBody, offeredMethodBody } from "../invoices/invoice-body.ts";
import { listMethods } from "../invoices/list-methods.ts";
import { isSamePair } from "../invoices/payment-method.ts";
import { type RefreshEffects, refreshInvoice } from "../invoices/refresh-invoice.ts";
import { parseId } from "../lib/ids.ts";
import { err, ok, type Result } from "../lib/result.ts";
import type { Sleep } from "../lib/sleep.ts";
import type { MerchantRow } from "../merchants/store.ts";
import type { NetworkCursor } from "../payments/cursor.ts";
import type { Wallet } from "../wallets/wallet.ts";
import { noteLanguage, selectCheckout } from "./store.ts";

/** As it is stored. */
export interface StoredCheckout {
  readonly file: InvoiceFile;
  readonly merchant: MerchantRow;
  readonly wallets: readonly Wallet[];
  readonly cursors: readonly NetworkCursor[];
  /** In which its page was read last; null where nobody has opened it. */
  readonly language: string | null;
}

export interface Checkout extends StoredCheckout {
  /** Addresses only of rows whose HMAC holds; networks that lag are not AVAILABLE. */
  readonly methods: readonly MethodBody[];
}

/** In one request to the database. A malformed id, and an invoice of a deleted merchant, is INVOICE_NOT_FOUND too. */
export async function findCheckout(
  fx: { readonly db: Db; readonly sleep: Sleep },
  invoiceId: string,
): Promise<Result<StoredCheckout, Failure>> {
  const id = parseId("inv", invoiceId);
  if (id === undefined) return err({ code: "INVOICE_NOT_FOUND" });
  const rows = await readWithRetry(fx.sleep, async () => selectCheckout(fx.db, id));
  if (!rows.ok) return rows;
  const [found] = rows.value;
  if (found === undefined) return err({ code: "INVOICE_NOT_FOUND" });
  const { merchant, wallets, watched, language, ...row } = found;
  if (merchant === null) return err({ code: "INVOICE_NOT_FOUND" });
  // The page wants to know of all networks how they are seen; the invoice only of those that its money may come by.
  const { methods, payments } = row;
  const cursors = watched.filter(
    ({ network }) =>
      methods.some((method) => method.network === network && method.status === "ACTIVE") ||
      payments.some((payment) => payment.network === network),
  );
  return ok({ file: fileOf({ ...row, cursors }), merchant, wallets, cursors: watched, language });
}

/** Settled and with fresh quotes: what a page shows. */
export async function readCheckout(fx: RefreshEffects, invoiceId: string): Promise<Result<Checkout, Failure>> {
  const found = await findCheckout(fx, invoiceId);
  if (!found.ok) return found;
  const file = await refreshInvoice(fx, found.value.file);
  if (!file.ok) return file;
  const { wallets, cursors } = found.value;
  const methods = listMethods(file.value, wallets, { ...fx.body, isWatched: fx.isWatched, cursors });
  return ok({ ...found.value, file: file.value, methods: methods.map((each) => stillOpen(file.value, wallets, each)) });
}

/**
 * An open invoice ties its wallets, an UNDERPAID one does not: who switched a wallet off, or deleted it, may have lost it, and nobody is to be
 * asked to send the rest there.
 */
function stillOpen({ invoice, methods }: InvoiceFile, wallets: readonly Wallet[], body: MethodBody): MethodBody {
  if (invoice.status !== "UNDERPAID" || body.status !== "ACTIVE") return body;
  const walletId = methods.find((method) => isSamePair(method, body))?.walletId;
  const isOpen = wallets.some(({ id, isEnabled }) => id === walletId && isEnabled);
  return isOpen ? body : offeredMethodBody(body, "NO_ENABLED_WALLET");
}

/** In which language its payer reads, kept for mails; a write only where that is new. Never on the way to an answer. */
export async function keepLanguage(
  fx: Pick<RefreshEffects, "db" | "nowMs">,
  { file, language: kept }: StoredCheckout,
  reader: { readonly language: string; readonly isLanguageNamed: boolean; readonly isLanguageKnown: boolean },
): Promise<void> {
  const { language, isLanguageNamed: isNamed, isLanguageKnown } = reader;
  if (!isLanguageKnown) return;
  if (kept !== null && (!isNamed || kept === language)) return;
  await noteLanguage(fx.db, { invoiceId: file.invoice.id, language, isNamed, nowMs: fx.nowMs });
}
