import {
  type Customer,
  type CustomerFields,
  isSameCustomer,
  namesCustomer,
  newCustomer,
  withFields,
} from "../customers/customer.ts";
import { insertCustomer, selectCustomerByEmail, updateCustomer } from "../customers/store.ts";
import type { Failure } from "../failures.ts";
import { emailKeyOf } from "../lib/email.ts";
import { derivedId } from "../lib/ids.ts";
import { err, ok, type Result } from "../lib/result.ts";
import { type Change, type ChangeEffects, changeInvoice } from "./change-invoice.ts";
import type { Invoice, InvoiceFile } from "./invoice.ts";

/** What a PATCH may say: absent keeps, null clears. */
export interface InvoiceUpdate extends CustomerFields {
  readonly name?: string | undefined;
  readonly description?: string | null | undefined;
  readonly redirectUrl?: string | null | undefined;
  readonly metadata?: Readonly<Record<string, string>> | undefined;
}

/** Changes what an invoice says, while it awaits payment; amounts, currency and time never change. */
export async function updateInvoiceText(
  fx: ChangeEffects,
  file: InvoiceFile,
  update: InvoiceUpdate,
): Promise<Result<InvoiceFile, Failure>> {
  const { merchantId, id } = file.invoice;
  return changeInvoice(fx, { merchantId, id, read: file }, async (read, _conflict, operationId) => {
    const { status } = read.invoice;
    if (status !== "AWAITING_PAYMENT") return err({ code: "INVOICE_NOT_EDITABLE", status });
    const columns = textColumns(read.invoice, update);
    const customer = await customerChange(fx, read, update, operationId);
    const isSame = Object.entries(columns).every(([name, value]) => Reflect.get(read.invoice, name) === value);
    if (isSame && customer === undefined) return ok(undefined);
    const change: Change = { columns, events: [{ type: "invoice.updated" }] };
    if (customer === undefined) return ok(change);
    const { after, statement } = customer;
    return ok({ ...change, columns: { ...columns, customerId: after.id }, customer: after, statements: [statement] });
  });
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
 * With an email: the merchant's customer of that email, made when there is none. Without one: the invoice's own customer, made when it
 * has none. Undefined when nothing of it changes.
 */
async function customerChange(fx: ChangeEffects, file: InvoiceFile, update: InvoiceUpdate, operationId: string) {
  if (!namesCustomer(update)) return undefined;
  const before = await customerBefore(fx, file, update);
  const after =
    before === undefined
      ? newCustomer(derivedId("cus", operationId), file.invoice.merchantId, update)
      : withFields(before, update);
  if (before === undefined) return { after, statement: insertCustomer(fx.db, after, fx.nowMs) };
  if (isSameCustomer(before, after) && before.id === file.invoice.customerId) return undefined;
  return { after, statement: updateCustomer(fx.db, after, update, fx.nowMs) };
}

async function customerBefore(
  fx: ChangeEffects,
  file: InvoiceFile,
  update: InvoiceUpdate,
): Promise<Customer | undefined> {
  if (update.customerEmail === undefined) return file.customer;
  const emailKey = emailKeyOf(update.customerEmail);
  if (file.customer?.emailKey === emailKey) return file.customer;
  const [known] = await selectCustomerByEmail(fx.db, file.invoice.merchantId, emailKey);
  if (known !== undefined) return known;
  // A customer who had no email gets this one; one who had another is somebody else.
  return file.customer?.emailKey === null ? file.customer : undefined;
}
