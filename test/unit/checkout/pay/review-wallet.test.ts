// Requests to a wallet, and what a payer reads when one fails: never that nothing was paid when something may have been.
import { expect, it } from "vitest";
import { sendTransfer, type Wallet } from "../../../../src/checkout/pay/browser/wallet.ts";

const TRANSFER = { chainId: "0x1", to: "0x01", value: "0x0a", data: "0x" };

/** On the right chain, failing with `error` at one method. */
function walletFailing(at: string, error: unknown): Wallet {
  const answers: Readonly<Record<string, unknown>> = { eth_requestAccounts: ["0x02"], eth_chainId: "0x1" };
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
])("a wallet that fails at %s with %j has the outcome %s", async (method, error, outcome) => {
  expect(await sendTransfer(walletFailing(method, error), () => TRANSFER)).toBe(outcome);
});

it("a wallet sends the page's transfer, with the chain id in it", async () => {
  const asked: unknown[] = [];
  const wallet = walletFailing("nowhere", undefined);
  const request: Wallet["request"] = async (method, params = []) => {
    if (method === "eth_sendTransaction") asked.push(...params);
    return wallet.request(method, params);
  };
  expect(await sendTransfer({ ...wallet, request }, () => TRANSFER)).toBe("sent");
  expect(asked).toEqual([{ from: "0x02", ...TRANSFER }]);
});
