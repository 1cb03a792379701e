import { assetOn, networkNamed } from "../../src/chains/registry/networks.ts";
import { parseUnits } from "../../src/lib/money.ts";
import type { EvmChain } from "./evm-chain.ts";
import type { PaymentMethod } from "./shop.ts";

/** Sends exactly the amount that a payment method on an EVM network still asks for, without mining it. Throws if nothing is due. */
export async function payDue(
  chain: Pick<EvmChain, "sendNative" | "sendToken">,
  {
    cryptocurrency,
    network: name,
    amountDue,
    address,
  }: Pick<PaymentMethod, "cryptocurrency" | "network" | "amountDue" | "address">,
): Promise<void> {
  const network = networkNamed(name);
  const asset = network === undefined ? undefined : assetOn(network, cryptocurrency);
  const units = asset === undefined || amountDue === null ? undefined : parseUnits(amountDue, asset.decimals);
  if (asset === undefined || address === null || !units?.ok || units.value === 0n)
    throw new Error(`nothing is due in ${cryptocurrency} on ${name}`);
  if (asset.contract === null) await chain.sendNative({ to: address, units: units.value });
  else await chain.sendToken({ contract: asset.contract, to: address, units: units.value });
}
