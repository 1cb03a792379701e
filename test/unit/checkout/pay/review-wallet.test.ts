// Requests to a wallet, and what a payer reads when one fails. The page must never say that nothing was paid if something may have been paid.
import { expect, it } from "vitest";
import { NETWORKS } from "../../../../src/chains/registry/networks.ts";
import { sendTransfer, transferOf, type Wallet } from "../../../../src/checkout/pay/browser/wallet.ts";
import { evmTransfer } from "../../../../src/checkout/pay/evm-transfer.ts";

const ACCOUNT = `0x${"a".repeat(40)}`;
const TRANSFER = { chainId: "0x1", to: `0x${"b".repeat(40)}`, value: "0xa", data: "0x" };
const PAYMENT = { shown: () => TRANSFER, read: async () => ({ ...TRANSFER }) };

/** A wallet on the right chain, whose method `at` fails with `error`. */
function walletFailing(at: string, error: unknown): Wallet {
  const answers: Readonly<Record<string, unknown>> = { eth_requestAccounts: [ACCOUNT], eth_chainId: "0x1" };
  const request = async (method: string) => {
    if (method === at) throw error;
    return answers[method];
  };
  return { id: "a", name: "Wallet", icon: null, request };
}

it.each([
  ["eth_sendTransaction", { code: 4_001 }, "rejected"],
  ["eth_sendTransaction", { code: 4_900 }, "unclear"],
  ["eth_sendTransaction", { code: -32_603, message: "timeout" }, "unclear"],
  ["eth_sendTransaction", new Error("the window closed"), "unclear"],
  ["eth_sendTransaction", undefined, "unclear"],
  ["eth_requestAccounts", new Error("the window closed"), "rejected"],
  ["eth_chainId", new Error("the window closed"), "rejected"],
])("the outcome of a wallet that fails at %s with %j is %s", async (method, error, outcome) => {
  expect(await sendTransfer(walletFailing(method, error), PAYMENT)).toBe(outcome);
});

it("a wallet gets only a transfer that the server confirms", async () => {
  const wallet = walletFailing("eth_sendTransaction", new Error("nobody may ask"));
  const reads = [async () => undefined, async () => ({ ...TRANSFER, value: "0xb" }), () => Promise.reject(new Error())];
  for (const read of reads) expect(await sendTransfer(wallet, { ...PAYMENT, read })).toBe("changed");
  expect(await sendTransfer(wallet, { ...PAYMENT, shown: () => undefined })).toBe("changed");
});

it("the page accepts exactly the transfers that the server computes for a wallet", () => {
  for (const network of NETWORKS)
    for (const asset of network.assets) {
      const made = evmTransfer({ network, asset, address: ACCOUNT, amountUnits: 10n });
      expect(transferOf(JSON.stringify(made))).toEqual(made ?? undefined);
    }
  for (const text of [undefined, "", "{", "null", "[]", JSON.stringify({ ...TRANSFER, value: "0x0" })])
    expect(transferOf(text)).toBeUndefined();
});

it("a wallet gets the page's transfer, with the chain id in the request", async () => {
  const asked: unknown[] = [];
  const wallet = walletFailing("nowhere", undefined);
  const request: Wallet["request"] = async (method, params = []) => {
    if (method === "eth_sendTransaction") asked.push(...params);
    return wallet.request(method, params);
  };
  expect(await sendTransfer({ ...wallet, request }, PAYMENT)).toBe("sent");
  expect(asked).toEqual([{ from: ACCOUNT, ...TRANSFER }]);
});
