import { createPublicKey, verify } from "node:crypto";
import { expect, it } from "vitest";
import { returnText } from "../../../../src/checkout/signed-redirect/return-url.ts";
import { listPublicKeys, returnUrlFor } from "../../../../src/checkout/signed-redirect/sign-return.ts";
import { signingKeysOf } from "../../../../src/checkout/signed-redirect/signing-key.ts";
import { logLine, type Report } from "../../../../src/lib/log.ts";

const keyring = (...ids: readonly string[]) =>
  ids.map((id) => `${id}:${Buffer.alloc(32, id).toString("base64")}`).join(",");
const OF = {
  invoiceId: "inv_01M7ZZZZZZZZZZZZZZZZZZZZZZ",
  status: "OVERPAID",
  nowMs: Date.UTC(2026, 10, 21),
} as const;
const REDIRECT = "https://shop.example/thanks?order=7";

function setUpWith(text: string | undefined) {
  const lines: string[] = [];
  const report: Report = (alert, facts) => void lines.push(logLine("error", { alert, ...facts }));
  return { lines, deps: { signingKeys: signingKeysOf({ SIGNING_KEY: text }), report } };
}

it("a return is signed with the newest key, and node:crypto verifies the signature", async () => {
  const { deps, lines } = setUpWith(keyring("k2", "k1"));
  const url = new URL(await returnUrlFor(deps, { ...OF, redirectUrl: REDIRECT }));
  const { order, keyId, signature = "" } = Object.fromEntries(url.searchParams);
  expect([order, keyId, lines]).toEqual(["7", "k2", []]);
  const [newest] = await listPublicKeys(deps);
  const key = createPublicKey({ key: { ...newest }, format: "jwk" });
  const isGood = (text: string) => verify(null, Buffer.from(text), key, Buffer.from(signature, "base64url"));
  expect([isGood(returnText(OF)), isGood(returnText({ ...OF, status: "PAID" }))]).toEqual([true, false]);
});

it.each([undefined, "", "k1:hunter2"])(
  "with SIGNING_KEY=%s the customer returns without a signed status, and the log reports it",
  async (text) => {
    const { deps, lines } = setUpWith(text);
    expect(await returnUrlFor(deps, { ...OF, redirectUrl: REDIRECT })).toBe(`${REDIRECT}&invoiceId=${OF.invoiceId}`);
    expect(lines.map((line) => JSON.parse(line))).toEqual([
      { level: "error", alert: "a return was not signed", reason: expect.stringContaining("SIGNING_KEY must be") },
    ]);
    expect(lines.join()).not.toContain("hunter2");
  },
);
