// Derives addresses in workerd, in the product's way and in the plain way of the library, each at `GET /<way>?from=&count=`. The answer has all
// addresses, so that the two ways can be compared. With `last` it has only the last address, so that the timing does not include writing text.
import { HDKey } from "@scure/bip32";
import { p2wpkh } from "@scure/btc-signer";
import { networkNamed } from "../../src/chains/registry/networks.ts";
import { addressAt, receiveChain } from "../../src/commerce/wallets/derive-address.ts";
import { parseExtendedKey } from "../../src/commerce/wallets/extended-key.ts";
import { ZPUB, ZPUB_VERSIONS } from "../floor/derive.ts";

const WAYS: Readonly<Record<string, (from: number, count: number) => string[]>> = {
  naive: (from, count) =>
    Array.from({ length: count }, (_, i) => {
      const { publicKey } = HDKey.fromExtendedKey(ZPUB, ZPUB_VERSIONS).derive(`m/0/${from + i}`);
      if (publicKey === null) throw new Error("a derived key without a public key");
      return p2wpkh(publicKey).address ?? "";
    }),
  product: (from, count) => {
    const network = networkNamed("BTC");
    if (network === undefined) throw new Error("no network BTC");
    const key = parseExtendedKey({ network, xpub: ZPUB, derivationPath: "m/84'/0'/0'" });
    if (!key.ok) throw new Error(key.error.reason);
    const chain = receiveChain(key.value, network);
    return Array.from({ length: count }, (_, i) => addressAt(chain, from + i));
  },
};

export default {
  fetch(request: Request): Response {
    const { pathname, searchParams } = new URL(request.url);
    const way = WAYS[pathname.slice(1)];
    if (way === undefined) return new Response("ok");
    const addresses = way(Number(searchParams.get("from")), Number(searchParams.get("count")));
    return searchParams.has("last") ? new Response(addresses.at(-1)) : Response.json(addresses);
  },
};
