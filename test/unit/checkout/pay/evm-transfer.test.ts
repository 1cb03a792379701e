// The `eth_sendTransaction` request to a payer's wallet. The call data is compared with data written by hand from EIP-20 and the contract ABI
// specification ("Function selector", "Argument encoding"): selector, address and amount, each argument padded to 32 bytes.
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { assetOn, NETWORKS } from "../../../../src/chains/registry/networks.ts";
import { evmTransfer } from "../../../../src/checkout/pay/evm-transfer.ts";
import { network } from "../../../support/named-network.ts";
import { RUNS } from "../../../support/property-runs.ts";

const ADDRESS = "0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed";
const ETH = network("ETH");

function assetNamed(of: typeof ETH, code: string) {
  const asset = assetOn(of, code);
  if (asset === undefined) throw new Error(`no ${code}`);
  return asset;
}

describe("the transfer for an injected wallet", () => {
  it("of a token calls `transfer` on its contract, and sends no ether", () => {
    const asset = assetNamed(ETH, "USDT");
    expect(evmTransfer({ network: ETH, asset, address: ADDRESS, amountUnits: 10_000_000n })).toEqual({
      chainId: "0x1",
      to: asset.contract,
      value: "0x0",
      data: `0xa9059cbb${"0".repeat(24)}5aaeb6053f3e94c9b9a09f33669435e7ef1beaed${"0".repeat(58)}989680`,
    });
  });

  it("of a native coin sends its value to the address, without call data", () => {
    const asset = assetNamed(ETH, "ETH");
    expect(evmTransfer({ network: ETH, asset, address: ADDRESS, amountUnits: 10n ** 18n + 1n })).toEqual({
      chainId: "0x1",
      to: ADDRESS,
      value: "0xde0b6b3a7640001",
      data: "0x",
    });
  });

  it("has the chain id of its network, without leading zeros", () => {
    const evm = NETWORKS.filter(({ family }) => family === "evm");
    expect(evm.length).toBeGreaterThan(5);
    for (const each of evm)
      for (const asset of each.assets) {
        const made = evmTransfer({ network: each, asset, address: ADDRESS, amountUnits: 1n });
        expect(made?.chainId).toMatch(/^0x[1-9a-f][0-9a-f]*$/);
        expect(Number(made?.chainId)).toBe(each.chainId);
      }
  });

  it("is null on networks that are not EVM", () => {
    for (const each of NETWORKS.filter(({ family }) => family !== "evm"))
      for (const asset of each.assets)
        expect(evmTransfer({ network: each, asset, address: ADDRESS, amountUnits: 1n })).toBeNull();
  });

  it("encodes any amount and address exactly", () => {
    const asset = assetNamed(ETH, "USDC");
    const hex = fc.string({ unit: fc.constantFrom(..."0123456789abcdefABCDEF"), minLength: 40, maxLength: 40 });
    fc.assert(
      fc.property(hex, fc.bigInt(0n, 2n ** 256n - 1n), (digits, amountUnits) => {
        const made = evmTransfer({ network: ETH, asset, address: `0x${digits}`, amountUnits });
        const data = made?.data ?? "";
        expect(data).toHaveLength(2 + 8 + 64 + 64);
        expect(data.slice(10, 74)).toBe(`${"0".repeat(24)}${digits.toLowerCase()}`);
        expect(BigInt(`0x${data.slice(74)}`)).toBe(amountUnits);
      }),
      { numRuns: RUNS },
    );
  });
});
