// Communication with a wallet in the browser: wallets announce themselves by EIP-6963, are asked by EIP-1193 and switch chains by EIP-3326.
// Everything from a wallet is checked before use.

export interface Wallet {
  readonly id: string;
  /** Plain text, without control characters. */
  readonly name: string;
  /** A `data:image/` URI; null if the wallet has none. */
  readonly icon: string | null;
  request(method: string, params?: readonly unknown[]): Promise<unknown>;
}

/** The content of `data-wallets`: quantities and bytes in hex, exactly as the wallet gets them. */
interface Transfer {
  readonly chainId: string;
  readonly to: string;
  readonly value: string;
  readonly data: string;
}

/** `unclear`: the wallet was asked to send and reported no result. */
export type Outcome = "sent" | "rejected" | "unclear" | "wrongNetwork";

const LONGEST_NAME = 40;
/** EIP-1193: the user rejected the request. */
const REJECTED = 4001;

/** Undefined if it is not an announcement (EIP-6963 "Announce and Request Events"). */
export function walletOf(announcement: unknown): Wallet | undefined {
  const info = member(announcement, "info");
  const provider = member(announcement, "provider");
  const id = member(info, "uuid");
  const name = member(info, "name");
  const icon = member(info, "icon");
  const request = member(provider, "request");
  if (typeof id !== "string" || typeof name !== "string" || typeof request !== "function") return undefined;
  return {
    id,
    name: name.replace(/\p{C}/gu, "").trim().slice(0, LONGEST_NAME) || "?",
    icon: typeof icon === "string" && /^data:image\//i.test(icon) ? icon : null,
    request: (method, params) => request.call(provider, params === undefined ? { method } : { method, params }),
  };
}

/** Undefined if it is not a transfer. */
export function transferOf(json: string | undefined): Transfer | undefined {
  const parsed: unknown = json ? JSON.parse(json) : undefined;
  const chainId = member(parsed, "chainId");
  const to = member(parsed, "to");
  const value = member(parsed, "value");
  const data = member(parsed, "data");
  if (!isHex(chainId) || !isHex(to) || !isHex(value) || !isHex(data)) return undefined;
  return { chainId, to, value, data };
}

/**
 * Asks for an account, for the transfer's chain, and then, only if the wallet reports that chain, for the transfer. `current` returns the
 * page's present transfer, because the amount may have been quoted again while the payer decides. Never rejects.
 */
export async function sendTransfer(wallet: Wallet, current: () => Transfer | undefined): Promise<Outcome> {
  let isAsked = false;
  try {
    const asked = current();
    const accounts = await wallet.request("eth_requestAccounts");
    const from: unknown = Array.isArray(accounts) ? accounts[0] : undefined;
    if (asked === undefined || !isHex(from)) return "rejected";
    const refusal = await useChain(wallet, asked.chainId);
    if (refusal !== undefined) return refusal;
    const transfer = current();
    if (transfer === undefined) return "rejected";
    if (transfer.chainId !== asked.chainId) return "wrongNetwork";
    isAsked = true;
    // Names the chain, so that a wallet that was switched meanwhile refuses the transfer instead of sending it on a chain that nobody watches.
    await wallet.request("eth_sendTransaction", [{ from, ...transfer }]);
    return "sent";
  } catch (error) {
    // A wallet that lost its node or its window may still have sent it.
    return isAsked && member(error, "code") !== REJECTED ? "unclear" : "rejected";
  }
}

async function useChain(wallet: Wallet, chainId: string): Promise<Outcome | undefined> {
  if (await isOn(wallet, chainId)) return undefined;
  try {
    await wallet.request("wallet_switchEthereumChain", [{ chainId }]);
  } catch (error) {
    // Otherwise the wallet does not know the chain (4902) or cannot switch: the payer must do it by hand.
    return member(error, "code") === REJECTED ? "rejected" : "wrongNetwork";
  }
  // Some wallets answer before they switch, and some do not switch at all.
  return (await isOn(wallet, chainId)) ? undefined : "wrongNetwork";
}

async function isOn(wallet: Wallet, chainId: string): Promise<boolean> {
  const answer = await wallet.request("eth_chainId");
  return isHex(answer) && BigInt(answer) === BigInt(chainId);
}

function isHex(value: unknown): value is string {
  return typeof value === "string" && /^0x[0-9a-f]*$/i.test(value);
}

function member(value: unknown, name: string): unknown {
  return typeof value === "object" && value !== null ? Reflect.get(value, name) : undefined;
}
