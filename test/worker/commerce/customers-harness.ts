import { eq } from "drizzle-orm";
import { expect } from "vitest";
import { customers } from "../../../src/platform/db/schema/customers.ts";
import { type Answer, type TestMerchant, testDb } from "../../support/worker-merchant.ts";

export const ADA = {
  email: "Ada@shop.example",
  name: "Ada",
  address: "1 Long Road",
  phoneNumber: "+49 1",
  metadata: { tier: "gold" },
};

export async function recorded(shop: TestMerchant, body: object, status = 201): Promise<Answer["body"]> {
  const answer = await shop.post("/customers", body);
  expect(answer.status, answer.text).toBe(status);
  return answer.body;
}

export async function invoiced(shop: TestMerchant, body: object): Promise<Answer["body"]> {
  const answer = await shop.post("/invoices", { name: "Order", rawAmount: 10, ...body });
  expect(answer.status, answer.text).toBe(201);
  return answer.body;
}

export const customersOf = (shop: TestMerchant) =>
  testDb.select().from(customers).where(eq(customers.merchantId, shop.merchantId)).orderBy(customers.createdAtMs);
