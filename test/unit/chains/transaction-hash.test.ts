import { describe, expect, it } from "vitest";
import { NETWORKS } from "../../../src/chains/registry/networks.ts";
import { transactionHash } from "../../../src/chains/registry/transaction-hash.ts";
import { network } from "../../support/named-network.ts";

const BARE = "5C504ED432CB51138BCF09AA5E8A410DD4A1E204EF84BFED1BE16DFBA1B22060";
const lower = BARE.toLowerCase();

describe("a transaction's hash", () => {
  it("is accepted in upper or lower case, with or without 0x, and written in lower case, with 0x on EVM networks only", () => {
    for (const each of NETWORKS) {
      const written = each.family === "evm" ? `0x${lower}` : lower;
      expect([transactionHash(each, BARE), transactionHash(each, `0x${BARE}`)]).toEqual([written, written]);
    }
  });

  it.each(["", "0x", lower.slice(1), `${lower}0`, `0x0x${lower.slice(2)}`, ` ${lower}`, `${lower}\n`, "g".repeat(64)])(
    "is not %j on any network",
    (text) => {
      for (const name of ["BTC", "ETH", "TRX"] as const) {
        const of = network(name);
        expect(transactionHash(of, of.family === "evm" ? `0x${text}` : text)).toBeUndefined();
      }
    },
  );
});
