import { emailKeyOf } from "../lib/email.ts";
import type { CustomerId, MerchantId } from "../lib/ids.ts";

export interface Customer {
  readonly id: CustomerId;
  readonly merchantId: MerchantId;
  readonly email: string | null;
  readonly emailKey: string | null;
  readonly name: string | null;
  readonly address: string | null;
  readonly phoneNumber: string | null;
}

/** What a request says of the customer; absent fields change nothing. */
export interface CustomerFields {
  readonly customerEmail?: string | undefined;
  readonly customerName?: string | undefined;
  readonly customerAddress?: string | undefined;
  readonly customerPhoneNumber?: string | undefined;
}

/** Whether a request says anything of a customer; if not, the invoice has none. */
export function namesCustomer(fields: CustomerFields): boolean {
  const { customerEmail, customerName, customerAddress, customerPhoneNumber } = fields;
  return [customerEmail, customerName, customerAddress, customerPhoneNumber].some((each) => each !== undefined);
}

/** The customer with the given fields taken over. */
export function withFields(customer: Customer, fields: CustomerFields): Customer {
  const email = fields.customerEmail ?? customer.email;
  return {
    ...customer,
    email,
    emailKey: email === null ? null : emailKeyOf(email),
    name: fields.customerName ?? customer.name,
    address: fields.customerAddress ?? customer.address,
    phoneNumber: fields.customerPhoneNumber ?? customer.phoneNumber,
  };
}

/** A customer that only has what the request says. */
export function newCustomer(id: CustomerId, merchantId: MerchantId, fields: CustomerFields): Customer {
  return withFields(
    { id, merchantId, email: null, emailKey: null, name: null, address: null, phoneNumber: null },
    fields,
  );
}

/** Whether two states of one customer say the same. */
export function isSameCustomer(a: Customer, b: Customer): boolean {
  return a.email === b.email && a.name === b.name && a.address === b.address && a.phoneNumber === b.phoneNumber;
}
