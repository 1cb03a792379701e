import { and, eq, isNull, sql } from "drizzle-orm";
import type { Db } from "../db/client.ts";
import { customers } from "../db/schema/customers.ts";
import type { Customer } from "./customer.ts";

/** The merchant's customer of an email (already in lower case); none for an undefined one. `merchantId` may be a path's, unproved. */
export function selectCustomerByEmail(db: Db, merchantId: string, emailKey: string | undefined) {
  return db
    .select()
    .from(customers)
    .where(
      and(
        sql`${customers.merchantId} = ${merchantId}`,
        eq(customers.emailKey, emailKey ?? ""),
        isNull(customers.deletedAtMs),
      ),
    )
    .limit(1);
}

export function insertCustomer(db: Db, customer: Customer, nowMs: number) {
  return db.insert(customers).values({ ...customer, createdAtMs: nowMs, updatedAtMs: nowMs });
}

export function updateCustomer(db: Db, customer: Customer, nowMs: number) {
  const { email, emailKey, name, address, phoneNumber } = customer;
  return db
    .update(customers)
    .set({ email, emailKey, name, address, phoneNumber, updatedAtMs: nowMs })
    .where(and(eq(customers.merchantId, customer.merchantId), eq(customers.id, customer.id)));
}
