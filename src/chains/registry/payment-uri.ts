// The text behind the QR code of a payment method: BIP21 for Bitcoin and Litecoin, EIP-681 for EVM networks, and for TRON the form that most wallets
// read.
import { formatUnits } from "../../lib/money.ts";
import type { Asset, Network } from "./networks.ts";

interface PaymentRequest {
  readonly network: Network;
  readonly asset: Asset;
  /** An address on the network, in canonical form. */
  readonly address: string;
  /** Base units of the asset; null asks for no particular amount. */
  readonly amountUnits: bigint | null;
  /** Shown by the payer's wallet. Only BIP21 has such a field. */
  readonly label?: string;
}

/** A URI that wallets open as a prepared transfer. Amounts are exact: in coins for BIP21 and TRON, in base units for EIP-681. */
export function paymentUri(request: PaymentRequest): string {
  switch (request.network.family) {
    case "bitcoin":
      return bip21(request);
    case "evm":
      return eip681(request);
    case "tron":
      return tronUri(request);
  }
}

/** BIP21: `bitcoin:<address>?amount=<coins>&label=<percent-encoded>`; for Litecoin only the scheme differs. */
function bip21({ network, asset, address, amountUnits, label }: PaymentRequest): string {
  return withQuery(`${network.uriScheme}:${address}`, [
    ["amount", amountUnits === null ? undefined : formatUnits(amountUnits, asset.decimals)],
    ["label", label === undefined || label === "" ? undefined : encodeURIComponent(label.toWellFormed())],
  ]);
}

/**
 * EIP-681: `ethereum:<address>@<chainId>?value=<wei>`. For a token the target is its contract, and the payee is an argument of the call:
 * `ethereum:<contract>@<chainId>/transfer?address=<address>&uint256=<units>`. The scheme is `ethereum` on every EVM chain.
 */
function eip681({ network, asset, address, amountUnits }: PaymentRequest): string {
  if (asset.contract === null) {
    return withQuery(`ethereum:${address}@${network.chainId}`, [["value", amountUnits?.toString()]]);
  }
  return withQuery(`ethereum:${asset.contract}@${network.chainId}/transfer`, [
    ["address", address],
    ["uint256", amountUnits?.toString()],
  ]);
}

/**
 * TRON has no accepted standard. `tron:<address>?amount=<decimal coins>` is what BTCPay Server's USDt plugin prints (its pull request 41) and most
 * wallets read; for a token we add its contract as `token`, which other wallets ignore. Some scanners, such as TronLink's "Send", accept only a
 * bare address: a page should show the address next to the code.
 */
function tronUri({ asset, address, amountUnits }: PaymentRequest): string {
  return withQuery(`tron:${address}`, [
    ["amount", amountUnits === null ? undefined : formatUnits(amountUnits, asset.decimals)],
    ["token", asset.contract ?? undefined],
  ]);
}

function withQuery(base: string, members: readonly (readonly [string, string | undefined])[]): string {
  const query = members.filter(([, value]) => value !== undefined).map(([name, value]) => `${name}=${value}`);
  return query.length === 0 ? base : `${base}?${query.join("&")}`;
}
