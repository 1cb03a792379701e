import { expect } from "vitest";
import type { Answer, TestMerchant } from "../../support/worker-merchant.ts";

export const ORIGIN = "http://localhost:8787";

export async function made(shop: TestMerchant, fields: object = {}): Promise<Answer["body"]> {
  const answer = await shop.post("/products", { name: "Coffee", price: 19.5, ...fields });
  expect(answer.status, answer.text).toBe(201);
  return answer.body;
}
