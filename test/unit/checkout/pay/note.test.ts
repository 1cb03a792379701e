import { describe, expect, it } from "vitest";
import { NETWORKS } from "../../../../src/chains/registry/networks.ts";
import { canonicalPairs, pairKey } from "../../../../src/chains/registry/pair.ts";
import { claimNote, NOTES, pickNote } from "../../../../src/checkout/pay/note.ts";
import { pairNamed } from "../../../../src/checkout/pay/pick-method.ts";
import { SAMPLES } from "../../../../src/platform/http/refusals.ts";

describe("the note about a payment method that could not be chosen", () => {
  it.each([
    ["RATE_UNAVAILABLE", "rate"],
    ["AMOUNTS_EXHAUSTED", "taken"],
    ["LIMIT_REACHED", "taken"],
    ["PUBLIC_ADDRESS_LIMIT", "taken"],
    ["CONTENTION", "taken"],
    ["NETWORK_NOT_WATCHED", "network"],
    ["INVOICE_NOT_PAYABLE", "closed"],
    ["NO_ENABLED_WALLET", "closed"],
    ["UNSUPPORTED_PAIR", "closed"],
    ["ANY_AMOUNT_NEEDS_OWN_ADDRESS", "closed"],
    ["WALLET_FROZEN", "frozen"],
    ["RATE_LIMITED", "too-many"],
    ["STORAGE_UNAVAILABLE", "other"],
    ["UNAUTHORIZED", "other"],
  ] as const)("for %s is %s", (code, note) => {
    expect(pickNote(SAMPLES[code])).toBe(note);
  });

  it("is never a note about a claim", () => {
    for (const failure of Object.values(SAMPLES)) {
      const note = pickNote(failure);
      expect(NOTES).toContain(note);
      expect(note.startsWith("claim-")).toBe(false);
    }
  });
});

describe("the note about a claim", () => {
  it("says why the claim was refused", () => {
    const refused = (code: keyof typeof SAMPLES) => claimNote(SAMPLES[code]);
    expect(refused("VALIDATION_FAILED")).toBe("claim-invalid");
    expect(refused("NETWORK_NOT_OFFERED")).toBe("claim-invalid");
    expect(refused("RATE_LIMITED")).toBe("claim-too-many");
    expect(refused("STORAGE_UNAVAILABLE")).toBe("claim-unavailable");
    expect(refused("CONTENTION")).toBe("claim-unavailable");
  });
});

describe("the key of a form", () => {
  it("converts back to its pair, for every pair in the registry", () => {
    for (const network of NETWORKS)
      for (const asset of network.assets) {
        const pair = { cryptocurrency: asset.code, network: network.name };
        expect(canonicalPairs([pairNamed(pairKey(pair))])).toEqual({ ok: true, value: [pair] });
      }
  });

  it.each(["", "_", "USDT", "USDT_", "_ETH", "USDT_ETH_", "USDT ETH", "__proto___x"])("%j is not a pair", (key) => {
    expect(canonicalPairs([pairNamed(key)]).ok).toBe(false);
  });
});
