// The transfer that a payer's browser wallet is asked to send, for `eth_sendTransaction`: the exact amount, computed here and not in the page.
import { encodeFunctionData, erc20Abi, getAddress, numberToHex } from "viem";
import type { Asset, Network } from "../../chains/registry/networks.ts";

export interface EvmTransfer {
  /** For `wallet_switchEthereumChain`, e.g. `0x1`. */
  readonly chainId: string;
  readonly to: string;
  /** Wei, `0x0` for a token. */
  readonly value: string;
  /** `transfer(address,uint256)` of ERC-20; `0x` for the native coin. */
  readonly data: string;
}

/** Null on networks that are not EVM. */
export function evmTransfer(of: {
  readonly network: Network;
  readonly asset: Asset;
  readonly address: string;
  readonly amountUnits: bigint;
}): EvmTransfer | null {
  const { network, asset, address, amountUnits } = of;
  if (network.family !== "evm" || network.chainId === null) return null;
  const chainId = numberToHex(network.chainId);
  if (asset.contract === null) return { chainId, to: address, value: numberToHex(amountUnits), data: "0x" };
  const args = [getAddress(address), amountUnits] as const;
  const data = encodeFunctionData({ abi: erc20Abi, functionName: "transfer", args });
  return { chainId, to: asset.contract, value: "0x0", data };
}
