import { emailKeyOf } from "../../lib/email.ts";
import type { AuditId, CustomerId, MerchantId } from "../../lib/ids.ts";
import { type JsonOf, printJson } from "../../lib/typed-json.ts";
import type { AuditEntry } from "../../platform/audit/entry.ts";

export interface Customer {
  readonly id: CustomerId;
  readonly merchantId: MerchantId;
  readonly email: string | null;
  /** The email in lower case, for comparison; unique among the merchant's live customers. */
  readonly emailKey: string | null;
  readonly name: string | null;
  readonly address: string | null;
  readonly phoneNumber: string | null;
  /** When the customer was deleted. From then on the row has no personal data, and none may be written to it. */
  readonly deletedAtMs: number | null;
  readonly createdAtMs: number;
  /** When one of the fields was last changed. */
  readonly updatedAtMs: number;
  /** The search words of the stored row; absent if it is not stored yet. */
  readonly searchText?: string | null | undefined;
}

/** A customer with everything that the merchant stores about them: all columns of the table except `indexed_at_ms`. */
export interface CustomerRecord extends Customer {
  /** JSON object of strings. */
  readonly metadata: JsonOf<Record<string, string>> | null;
}

/** The customer fields in a request; an absent field is left unchanged. */
export interface CustomerFields {
  readonly customerEmail?: string | undefined;
  readonly customerName?: string | undefined;
  readonly customerAddress?: string | undefined;
  readonly customerPhoneNumber?: string | undefined;
}

/** Whether a request has any customer field; without one the invoice has no customer. */
export function namesCustomer(fields: CustomerFields): boolean {
  const { customerEmail, customerName, customerAddress, customerPhoneNumber } = fields;
  return [customerEmail, customerName, customerAddress, customerPhoneNumber].some((each) => each !== undefined);
}

/** The customer with the given fields replaced. */
export function withFields(customer: Customer, fields: CustomerFields, nowMs: number): Customer {
  const email = fields.customerEmail ?? customer.email;
  const after = {
    ...customer,
    email,
    emailKey: email === null ? null : emailKeyOf(email),
    name: fields.customerName ?? customer.name,
    address: fields.customerAddress ?? customer.address,
    phoneNumber: fields.customerPhoneNumber ?? customer.phoneNumber,
  };
  return isSameCustomer(customer, after) ? after : { ...after, updatedAtMs: nowMs };
}

/** A new customer with only the fields in the request. */
export function newCustomer(of: Pick<Customer, "id" | "merchantId">, fields: CustomerFields, nowMs: number): Customer {
  const times = { createdAtMs: nowMs, updatedAtMs: nowMs, deletedAtMs: null };
  return withFields({ ...NOTHING_PERSONAL, ...of, ...times }, fields, nowMs);
}

export function isSameCustomer(a: Customer, b: Customer): boolean {
  return a.email === b.email && a.name === b.name && a.address === b.address && a.phoneNumber === b.phoneNumber;
}

/** A merchant's own change to a customer: an absent field is left unchanged, null clears it. */
export interface CustomerChange {
  readonly email?: string | null | undefined;
  readonly name?: string | null | undefined;
  readonly address?: string | null | undefined;
  readonly phoneNumber?: string | null | undefined;
  readonly metadata?: Readonly<Record<string, string>> | null | undefined;
}

const PERSONAL = ["email", "name", "address", "phoneNumber", "metadata"] as const;
type Personal = Pick<CustomerRecord, (typeof PERSONAL)[number] | "emailKey">;

/** The personal columns of a deleted customer, whose row stays because invoices refer to it. */
export const NOTHING_PERSONAL: Personal = {
  email: null,
  emailKey: null,
  name: null,
  address: null,
  phoneNumber: null,
  metadata: null,
};

export function changedColumns(before: Personal, change: CustomerChange): Personal {
  const { email = before.email, name = before.name } = change;
  const { address = before.address, phoneNumber = before.phoneNumber, metadata } = change;
  return {
    email,
    emailKey: email === null ? null : emailKeyOf(email),
    name,
    address,
    phoneNumber,
    metadata: metadata === undefined ? before.metadata : textOf(metadata),
  };
}

function textOf(metadata: Readonly<Record<string, string>> | null): Personal["metadata"] {
  return metadata === null ? null : printJson(metadata);
}

type AnyCustomer = Customer | CustomerRecord;

/** Names of the personal fields in which two states of a customer differ. */
export function differingFields(before: Partial<Personal>, after: Partial<Personal>): readonly string[] {
  return PERSONAL.filter((name) => (before[name] ?? null) !== (after[name] ?? null));
}

/**
 * The audit entry for a change to a customer; a new customer has no `before`. It lists which fields changed, never their values: the log is
 * append-only, and a deleted customer's data must not stay in it.
 */
export function customerEntry(
  id: AuditId,
  { before, after }: { readonly before: AnyCustomer | undefined; readonly after: AnyCustomer },
): AuditEntry {
  const fields = differingFields(before ?? NOTHING_PERSONAL, after);
  const of = { id, merchantId: after.merchantId, target: after.id };
  if (before === undefined) return { ...of, action: "customer.created", after: { fields } };
  if (after.deletedAtMs !== null) return { ...of, action: "customer.deleted", before: { fields } };
  return { ...of, action: "customer.updated", after: { fields } };
}

/** Metadata keys that a product page writes; they are removed when the customer is deleted. */
export const TYPED_NAMES = ["customerName", "customerAddress", "customerPhoneNumber"] as const;
