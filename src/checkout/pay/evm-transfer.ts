// What a payer's wallet in the browser is asked to send, as `eth_sendTransaction` takes it: the exact amount, computed here and not in the page.
import type { Asset, Network } from "../../chains/networks.ts";

export interface EvmTransfer {
  /** As `wallet_switchEthereumChain` wants it: `0x1`. */
  readonly chainId: string;
  readonly to: string;
  /** Wei, `0x0` for a token. */
  readonly value: string;
  /** `transfer(address,uint256)` of ERC-20; `0x` for the native coin. */
  readonly data: string;
}

/** keccak256("transfer(address,uint256)"), its first 4 bytes (EIP-20). */
const TRANSFER = "0xa9059cbb";

/** Null on networks that are no EVM. */
export function evmTransfer(of: {
  readonly network: Network;
  readonly asset: Asset;
  readonly address: string;
  readonly amountUnits: bigint;
}): EvmTransfer | null {
  const { network, asset, address, amountUnits } = of;
  if (network.family !== "evm" || network.chainId === null) return null;
  const chainId = `0x${network.chainId.toString(16)}`;
  if (asset.contract === null) return { chainId, to: address, value: `0x${amountUnits.toString(16)}`, data: "0x" };
  const words = [address.slice(2).toLowerCase(), amountUnits.toString(16)].map((hex) => hex.padStart(64, "0"));
  return { chainId, to: asset.contract, value: "0x0", data: `${TRANSFER}${words.join("")}` };
}
