import { emailKeyOf } from "../../lib/email.ts";
import { derivedId } from "../../lib/ids.ts";
import { err, ok, type Result } from "../../lib/result.ts";
import { insertAudit } from "../../platform/audit/store.ts";
import type { Failure } from "../../platform/failures.ts";
import {
  type Customer,
  type CustomerFields,
  customerEntry,
  isSameCustomer,
  namesCustomer,
  newCustomer,
  withFields,
} from "../customers/customer.ts";
import { assertCustomerLive, insertCustomer, selectCustomerByEmail, updateCustomer } from "../customers/store.ts";
import type { Invoice, InvoiceFile } from "../invoice-records/invoice.ts";
import { type Change, type ChangeDependencies, changeInvoice } from "./change-invoice.ts";

/** The fields of a PATCH: an absent field is left unchanged, null clears it. */
interface InvoiceUpdate extends CustomerFields {
  readonly name?: string | undefined;
  readonly description?: string | null | undefined;
  readonly redirectUrl?: string | null | undefined;
  readonly metadata?: Readonly<Record<string, string>> | undefined;
}

/**
 * Updates an invoice's texts and customer while it awaits payment. Its metadata, which are the merchant's own notes, can be updated at any time by a
 * request without other fields. Amounts, currency and expiry never change.
 */
export async function updateInvoiceText(
  deps: ChangeDependencies,
  file: InvoiceFile,
  update: InvoiceUpdate,
): Promise<Result<InvoiceFile, Failure>> {
  const { merchantId, id } = file.invoice;
  return changeInvoice(deps, { merchantId, id, read: file }, async (read, _conflict, operationId) => {
    const { status } = read.invoice;
    if (status !== "AWAITING_PAYMENT" && !isOnlyMetadata(update)) return err({ code: "INVOICE_NOT_EDITABLE", status });
    const columns = textColumns(read.invoice, update);
    const customer = await customerChange(deps, read, update, operationId);
    const all = customer === undefined ? columns : { ...columns, customerId: customer.after.id };
    // Only the names of fields: values from the merchant and the customer must not enter the audit log (decisions 10, erasure).
    const fields = Object.entries(all).flatMap(([name, value]) =>
      Reflect.get(read.invoice, name) === value ? [] : [name],
    );
    if (fields.length === 0 && customer === undefined) return ok(undefined);
    const change: Change = {
      columns: all,
      events: [{ type: "invoice.updated" }],
      audit: { action: "invoice.updated", after: { fields } },
    };
    return ok(
      customer === undefined ? change : { ...change, customer: customer.after, statements: customer.statements },
    );
  });
}

function isOnlyMetadata({ metadata, ...rest }: InvoiceUpdate): boolean {
  return metadata !== undefined && Object.values(rest).every((each) => each === undefined);
}

function textColumns(invoice: Invoice, update: InvoiceUpdate): Partial<Invoice> {
  return {
    name: update.name ?? invoice.name,
    description: update.description === undefined ? invoice.description : update.description,
    redirectUrl: update.redirectUrl === undefined ? invoice.redirectUrl : update.redirectUrl,
    metadata: update.metadata === undefined ? invoice.metadata : JSON.stringify(update.metadata),
  };
}

/**
 * If the update has an email: the merchant's customer with that email; if there is none, the invoice's own customer if it has no email yet, otherwise
 * a new one. If the update has no email: the invoice's own customer, created if missing or deleted. Undefined if nothing changes.
 */
async function customerChange(deps: ChangeDependencies, file: InvoiceFile, update: InvoiceUpdate, operationId: string) {
  if (!namesCustomer(update)) return undefined;
  const before = await customerBefore(deps, file, update);
  const after =
    before === undefined
      ? newCustomer({ id: derivedId("cus", operationId), merchantId: file.invoice.merchantId }, update, deps.nowMs)
      : withFields(before, update, deps.nowMs);
  const entry = customerEntry(derivedId("aud", operationId, 1), { before, after });
  const audit = insertAudit(deps.db, deps.trail, entry, deps.nowMs);
  if (before === undefined) return { after, statements: [...insertCustomer(deps.db, after, deps.nowMs), audit] };
  const live = assertCustomerLive(deps.db, before.id);
  if (!isSameCustomer(before, after))
    return { after, statements: [live, ...updateCustomer(deps.db, { before, after }, update, deps.nowMs), audit] };
  return before.id === file.invoice.customerId ? undefined : { after, statements: [live] };
}

async function customerBefore(
  deps: ChangeDependencies,
  file: InvoiceFile,
  update: InvoiceUpdate,
): Promise<Customer | undefined> {
  const own = file.customer?.deletedAtMs === null ? file.customer : undefined;
  if (update.customerEmail === undefined) return own;
  const emailKey = emailKeyOf(update.customerEmail);
  if (own?.emailKey === emailKey) return own;
  const [known] = await selectCustomerByEmail(deps.db, file.invoice.merchantId, emailKey);
  if (known !== undefined) return known;
  // A customer without an email gets this one. If the customer has a different email, it is a different customer.
  return own?.emailKey === null ? own : undefined;
}
