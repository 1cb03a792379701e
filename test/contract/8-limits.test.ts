// Interface 8: the table of limits, each tested at its boundary. Bounds of invoice fields are in 2.2, one wallet per pair in 2.1, replays in
// 8-idempotency. The rate limit is off on the server under test (its refusals are tested where a clock can be set): this file only shows that no
// other limit applies instead.
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import {
  atOnce,
  createInvoice,
  expectOk,
  expectRefusal,
  registerWallet,
  removeWallets,
  shop,
  unique,
} from "./client.ts";
import { freshDirectWallet } from "./key-material.ts";
import type { Invoice } from "./shapes.ts";

beforeAll(() => removeWallets(shop));
afterAll(() => removeWallets(shop));

describe("limits", () => {
  test.each([
    ["name", 200],
    ["description", 1_000],
    ["customerAddress", 500],
    ["customerPhoneNumber", 50],
  ] as const)("%s has at most %i characters", async (field, most) => {
    await createInvoice(shop, { [field]: "x".repeat(most) });
    const answer = await shop.post("/invoices", { name: "Order", rawAmount: 1, [field]: "x".repeat(most + 1) });
    expectRefusal(answer, 400, "VALIDATION_FAILED");
  });

  test("rawAmount is from 0 to 1000000", async () => {
    for (const rawAmount of [0, 1_000_000]) await createInvoice(shop, { rawAmount });
    for (const rawAmount of [-1, 1_000_001]) {
      expectRefusal(await shop.post("/invoices", { name: "Order", rawAmount }), 400, "VALIDATION_FAILED");
    }
  });

  test("a pair can have only one wallet, whose requiredConfirmations is 1 by default", async () => {
    expect((await registerWallet(shop, freshDirectWallet("ETH", "ETH"))).requiredConfirmations).toBe(1);
    expectRefusal(await shop.post("/wallets", freshDirectWallet("ETH", "ETH")), 409, "WALLET_EXISTS");
  });

  test("an Idempotency-Key is any text of up to 255 characters", async () => {
    const body = { name: "Order", rawAmount: 1 };
    const keys = ["k", unique().padEnd(255, "~"), `${unique()} !"#$%&'()*+,-./:;<=>?@[\\]^_\`{|}~`];
    for (const key of keys) {
      const headers = { "idempotency-key": key };
      const first = expectOk(await shop.post<Invoice>("/invoices", body, headers), 201);
      const again = await shop.post<Invoice>("/invoices", body, headers);
      expect(again.headers.get("idempotent-replayed")).toBe("true");
      expect(again.body.id).toBe(first.id);
    }
    const tooLong = { "idempotency-key": unique().padEnd(256, "~") };
    expectRefusal(await shop.post("/invoices", body, tooLong), 400, "IDEMPOTENCY_KEY_INVALID");
  });

  test("the length of an Idempotency-Key is counted in characters, and a key that is not UTF-8 is refused", async () => {
    const body = { name: "Order", rawAmount: 1 };
    const post = (key: Buffer) => shop.post<Invoice>("/invoices", body, { "idempotency-key": key.toString("latin1") });
    for (const letter of ["é", "ж", "€", "😀"]) {
      const start = unique();
      const key = Buffer.from(start + letter.repeat(255 - start.length));
      const first = expectOk(await post(key), 201);
      const again = await post(key);
      expect([again.headers.get("idempotent-replayed"), again.body.id]).toEqual(["true", first.id]);
      expectRefusal(await post(Buffer.concat([key, Buffer.from(letter)])), 400, "IDEMPOTENCY_KEY_INVALID");
    }
    // Some clients send the key in Latin-1. Read as UTF-8, its é and è would be the same invalid character, and so the same key.
    const latin1 = (letter: string) => Buffer.from(`order-${letter}`, "latin1");
    for (const letter of ["é", "è"]) expectRefusal(await post(latin1(letter)), 400, "IDEMPOTENCY_KEY_INVALID");
  });

  test("four hundred concurrent requests with one API key all succeed if no rate limit is set", async () => {
    const answers = await atOnce(400, () => shop.get("/wallets"));
    expect(new Set(answers.map((answer) => answer.status))).toEqual(new Set([200]));
  });
});
