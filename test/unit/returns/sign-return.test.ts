import { createPublicKey, verify } from "node:crypto";
import { expect, it } from "vitest";
import { returnText } from "../../../src/returns/return-url.ts";
import { listPublicKeys, returnUrlFor } from "../../../src/returns/sign-return.ts";
import { parseSigningKeys } from "../../../src/returns/signing-key.ts";

const keyring = (...ids: readonly string[]) =>
  ids.map((id) => `${id}:${Buffer.alloc(32, id).toString("base64")}`).join(",");
const OF = {
  invoiceId: "inv_01M7ZZZZZZZZZZZZZZZZZZZZZZ",
  status: "OVERPAID",
  nowMs: Date.UTC(2026, 10, 21),
} as const;
const REDIRECT = "https://shop.example/thanks?order=7";

function worldWith(text: string | undefined) {
  const lines: string[] = [];
  return { lines, fx: { signingKeys: parseSigningKeys(text), log: (line: string) => void lines.push(line) } };
}

it("a return is signed by the newest key, and another implementation finds the signature good", async () => {
  const { fx, lines } = worldWith(keyring("k2", "k1"));
  const url = new URL(await returnUrlFor(fx, { ...OF, redirectUrl: REDIRECT }));
  const { order, keyId, signature = "" } = Object.fromEntries(url.searchParams);
  expect([order, keyId, lines]).toEqual(["7", "k2", []]);
  const [newest] = await listPublicKeys(fx);
  const key = createPublicKey({ key: { ...newest }, format: "jwk" });
  const isGood = (text: string) => verify(null, Buffer.from(text), key, Buffer.from(signature, "base64url"));
  expect([isGood(returnText(OF)), isGood(returnText({ ...OF, status: "PAID" }))]).toEqual([true, false]);
});

it.each([undefined, "", "k1:hunter2"])(
  "with SIGNING_KEY=%s the customer comes back all the same, nothing is claimed, and the log says so",
  async (text) => {
    const { fx, lines } = worldWith(text);
    expect(await returnUrlFor(fx, { ...OF, redirectUrl: REDIRECT })).toBe(`${REDIRECT}&invoiceId=${OF.invoiceId}`);
    expect(lines.map((line) => JSON.parse(line))).toEqual([
      { level: "error", alert: "a return was not signed", reason: expect.stringContaining("SIGNING_KEY must be") },
    ]);
    expect(lines.join()).not.toContain("hunter2");
  },
);
