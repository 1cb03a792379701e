// Accounts in the form in which BTCPay Server shows them, with their addresses, derived with libraries other than Edgetill's.
import { hexToBytes } from "@noble/hashes/utils.js";
import { NETWORK, p2pkh, p2sh, p2wpkh, TEST_NETWORK } from "@scure/btc-signer";
import { BIP32Factory, type BIP32Interface } from "bip32";
import * as tinySecp256k1 from "tiny-secp256k1";
import accountKeys from "../vectors/account-keys.json" with { type: "json" };

export type BtcpayKind = "segwit" | "p2sh" | "legacy";

export interface BtcpayAccount {
  /** As BTCPay prints it: `xpub...-[p2sh]`. */
  readonly scheme: string;
  /** `84'/0'/0'` */
  readonly path: string;
  readonly addresses: readonly string[];
}

const PURPOSES = { segwit: 84, p2sh: 49, legacy: 44 } as const;
const SUFFIXES = { segwit: "", p2sh: "-[p2sh]", legacy: "-[legacy]" } as const;
/** Addresses of BTC and LTC, on the main networks and on Bitcoin's test network. */
const NETWORKS = {
  BTC: { coinType: 0, addresses: NETWORK, version: 0x0488b21e },
  LTC: {
    coinType: 2,
    addresses: { ...NETWORK, bech32: "ltc", pubKeyHash: 0x30, scriptHash: 0x32 },
    version: 0x0488b21e,
  },
  BTC_TESTNET: { coinType: 1, addresses: TEST_NETWORK, version: 0x043587cf },
} as const;
export type BtcpayNetwork = keyof typeof NETWORKS;

const tiny = BIP32Factory(tinySecp256k1);
const SEED = hexToBytes(accountKeys.seed.hex);

/** An account of the published seed "abandon ... about", whose private keys are public. */
export function btcpayAccount(on: BtcpayNetwork, kind: BtcpayKind, account = 0, count = 10): BtcpayAccount {
  const { coinType, version } = NETWORKS[on];
  const path = `${PURPOSES[kind]}'/${coinType}'/${account}'`;
  const network = {
    messagePrefix: "",
    bech32: "",
    bip32: { public: version, private: 0 },
    pubKeyHash: 0,
    scriptHash: 0,
    wif: 0,
  };
  const node = tiny.fromSeed(SEED, network).derivePath(path).neutered();
  const addresses = Array.from({ length: count }, (_, index) => addressOf(node, on, kind, index));
  return { scheme: `${node.toBase58()}${SUFFIXES[kind]}`, path, addresses };
}

function addressOf(account: BIP32Interface, on: BtcpayNetwork, kind: BtcpayKind, index: number): string {
  const { publicKey } = account.derive(0).derive(index);
  const { addresses } = NETWORKS[on];
  const address = {
    segwit: () => p2wpkh(publicKey, addresses).address,
    p2sh: () => p2sh(p2wpkh(publicKey, addresses), addresses).address,
    legacy: () => p2pkh(publicKey, addresses).address,
  }[kind]();
  if (address === undefined) throw new Error("no address");
  return address;
}
