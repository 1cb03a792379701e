import { and, eq, isNull, sql } from "drizzle-orm";
import type { Db } from "../db/client.ts";
import { customers } from "../db/schema/customers.ts";
import { insertTemplate, template } from "../db/template.ts";
import { emailKeyOf } from "../lib/email.ts";
import type { Customer, CustomerFields } from "./customer.ts";

const customerByEmail = template((db) =>
  db
    .select()
    .from(customers)
    .where(
      and(
        eq(customers.merchantId, sql.placeholder("merchantId")),
        eq(customers.emailKey, sql.placeholder("emailKey")),
        isNull(customers.deletedAtMs),
      ),
    )
    .limit(1),
);
const insertRow = insertTemplate(customers);

/** The merchant's customer of an email (already in lower case); none for an undefined one. `merchantId` may be a path's, unproved. */
export function selectCustomerByEmail(db: Db, merchantId: string, emailKey: string | undefined) {
  return customerByEmail(db, { merchantId, emailKey: emailKey ?? "" });
}

export function insertCustomer(db: Db, customer: Customer, nowMs: number) {
  return insertRow(db, { ...customer, metadata: null, createdAtMs: nowMs, updatedAtMs: nowMs, deletedAtMs: null });
}

/** Writes only what the request says: two requests about one customer at once must not undo each other. */
export function updateCustomer(
  db: Db,
  customer: Pick<Customer, "id" | "merchantId">,
  fields: CustomerFields,
  nowMs: number,
) {
  const { customerEmail, customerName, customerAddress, customerPhoneNumber } = fields;
  return db
    .update(customers)
    .set({
      ...(customerEmail === undefined ? {} : { email: customerEmail, emailKey: emailKeyOf(customerEmail) }),
      ...(customerName === undefined ? {} : { name: customerName }),
      ...(customerAddress === undefined ? {} : { address: customerAddress }),
      ...(customerPhoneNumber === undefined ? {} : { phoneNumber: customerPhoneNumber }),
      updatedAtMs: nowMs,
    })
    .where(and(eq(customers.merchantId, customer.merchantId), eq(customers.id, customer.id)));
}
