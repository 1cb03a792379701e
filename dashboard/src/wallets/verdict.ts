// Checks whether the service will accept a wallet, with the service's own rules, in the browser and before the request. It is loaded only after
// something was pasted, because it includes the code for key derivation.
import { decodeBase58check, trimSpaces } from "../../../src/chains/encodings/address-text.ts";
import { networkNamed } from "../../../src/chains/registry/networks.ts";
import { addressAt, receiveChain, receivePath } from "../../../src/commerce/wallets/derive-address.ts";
import { payoutTarget } from "../../../src/commerce/wallets/payout-target.ts";
import type { Pair } from "./pairs.ts";
import type { Recognised } from "./recognise.ts";

/** How many addresses to show, so that the user can compare them with the wallet software. */
const COMPARED = 5;
const HARDENED = 2 ** 31;
/** BIP32 "Serialization format": version 4, depth 1, parent's fingerprint 4, then the child number. */
const CHILD_NUMBER_AT = 9;

export interface PathAndAddress {
  readonly path: string;
  readonly address: string;
}

export interface Pasted {
  readonly text: string;
  readonly pair: Pair;
  readonly recognised: Recognised;
}

/** The body of the registration, without the number of confirmations, which the user chooses. */
type Registration =
  | { readonly walletType: "DIRECT_WALLET"; readonly address: string }
  | { readonly walletType: "XPUB_WALLET"; readonly xpub: string; readonly derivationPath: string };

export type Verdict =
  /** `addresses`: the first addresses of a key; empty for a single address. */
  | { readonly isUsable: true; readonly registration: Registration; readonly addresses: readonly PathAndAddress[] }
  /** `reason` starts in lower case. */
  | { readonly isUsable: false; readonly reason: string };

export function verdictOf(pasted: Pasted): Verdict {
  const { cryptocurrency, network } = pasted.pair;
  const registration = registrationOf(pasted);
  const wanted = { ...registration, cryptocurrency, network, requiredConfirmations: 1, isEnabled: true };
  const target = payoutTarget(wanted, () => false);
  if (!target.ok)
    return {
      isUsable: false,
      reason: "reason" in target.error ? target.error.reason : "it does not match the selected coin",
    };
  const { key } = target.value;
  if (key === null) return { isUsable: true, registration, addresses: [] };
  const chain = receiveChain(key, target.value.network);
  const addresses = Array.from({ length: COMPARED }, (_, index) => ({
    path: receivePath(key, index),
    address: addressAt(chain, index),
  }));
  return { isUsable: true, registration, addresses };
}

function registrationOf({ text, pair, recognised }: Pasted): Registration {
  if (recognised.kind !== "XPUB") return { walletType: "DIRECT_WALLET", address: trimSpaces(text) };
  const xpub = trimSpaces(text);
  const coinType = networkNamed(pair.network)?.coinType ?? 0;
  const derivationPath = `m/${recognised.purpose}h/${coinType}h/${accountOf(xpub)}h`;
  return { walletType: "XPUB_WALLET", xpub, derivationPath };
}

/** The account number in a key; 0 for a string that is not a key. */
function accountOf(xpub: string): number {
  const bytes = decodeBase58check(xpub);
  if (bytes === undefined || bytes.length < CHILD_NUMBER_AT + 4) return 0;
  const childNumber = new DataView(bytes.buffer, bytes.byteOffset).getUint32(CHILD_NUMBER_AT);
  return childNumber >= HARDENED ? childNumber - HARDENED : 0;
}
