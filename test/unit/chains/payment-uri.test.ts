import { describe, expect, test } from "vitest";
import { assetOn, type NetworkName } from "../../../src/chains/registry/networks.ts";
import { paymentUri } from "../../../src/chains/registry/payment-uri.ts";
import { network } from "../../support/named-network.ts";

function uri(name: NetworkName, code: string, address: string, amountUnits: bigint | null, label?: string): string {
  const asset = assetOn(network(name), code);
  if (asset === undefined) throw new Error(`no ${code} on ${name}`);
  return paymentUri({ network: network(name), asset, address, amountUnits, ...(label === undefined ? {} : { label }) });
}

const EVM = "0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed";
const TRON = "TUEZSdKsoDHQMeZwihtdoBiN46zxhGWYdH";
const BTC = "bc1qcr8te4kr609gcawutmrza0j4xv80jy8z306fyu";

describe("a payment URI", () => {
  test.each([
    ["BTC", "BTC", BTC, 1n, `bitcoin:${BTC}?amount=0.00000001`],
    ["BTC", "BTC", BTC, 2_030_000_000n, `bitcoin:${BTC}?amount=20.3`],
    ["BTC", "BTC", BTC, null, `bitcoin:${BTC}`],
    ["BTC_TESTNET", "BTC", "tb1q", 100_000_000n, "bitcoin:tb1q?amount=1"],
    ["LTC", "LTC", "ltc1q", 12_345_670n, "litecoin:ltc1q?amount=0.1234567"],
    ["ETH", "ETH", EVM, 2_014_000_000_000_000_000n, `ethereum:${EVM}@1?value=2014000000000000000`],
    ["ETH", "ETH", EVM, null, `ethereum:${EVM}@1`],
    ["POL", "POL", EVM, 10n ** 24n, `ethereum:${EVM}@137?value=1${"0".repeat(24)}`],
    [
      "ETH",
      "USDT",
      EVM,
      25_500_000n,
      `ethereum:0xdAC17F958D2ee523a2206206994597C13D831ec7@1/transfer?address=${EVM}&uint256=25500000`,
    ],
    [
      "BNB",
      "USDT",
      EVM,
      10n ** 18n,
      `ethereum:0x55d398326f99059fF775485246999027B3197955@56/transfer?address=${EVM}&uint256=1${"0".repeat(18)}`,
    ],
    ["CRO", "USDC", EVM, null, `ethereum:0x3D7F2C478aAfdB65542BCB44bCeeC05849999d2D@25/transfer?address=${EVM}`],
    ["TRX", "TRX", TRON, 5_000_000n, `tron:${TRON}?amount=5`],
    ["TRX", "TRX", TRON, null, `tron:${TRON}`],
    ["TRX", "USDT", TRON, 25_490_000n, `tron:${TRON}?amount=25.49&token=TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t`],
  ] as const)("on %s, for %s to %s with the amount %s, is %s", (name, code, address, units, expected) => {
    expect(uri(name, code, address, units)).toBe(expected);
  });

  test("escapes its label, so that a label cannot add parameters", () => {
    const text = uri("BTC", "BTC", BTC, 1n, 'Tea & "cake" #1?amount=9\u202e\ud800');
    expect(text).toBe(
      `bitcoin:${BTC}?amount=0.00000001&label=Tea%20%26%20%22cake%22%20%231%3Famount%3D9%E2%80%AE%EF%BF%BD`,
    );
    expect(new URL(text).searchParams.getAll("amount")).toEqual(["0.00000001"]);
  });
});
