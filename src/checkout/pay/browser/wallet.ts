// Communication with a wallet in the browser. Wallets announce themselves (EIP-6963), receive requests (EIP-1193) and switch chains (EIP-3326).
// Everything that a wallet sends is checked before use.

export interface Wallet {
  readonly id: string;
  /** Plain text, without control characters. */
  readonly name: string;
  /** A `data:image/` URI; null if the wallet has none. */
  readonly icon: string | null;
  request(method: string, params?: readonly unknown[]): Promise<unknown>;
}

/** The content of `data-wallets`: quantities and bytes in hexadecimal, exactly as they are passed to the wallet. */
export interface Transfer {
  readonly chainId: string;
  readonly to: string;
  readonly value: string;
  readonly data: string;
}

/** `shown`: the transfer that the payer sees. `read`: asks the server for it again; undefined if the answer is not a transfer. */
interface Payment {
  shown(): Transfer | undefined;
  read(): Promise<Transfer | undefined>;
}

/**
 * `unclear`: the wallet received the request to send but reported no result. `changed`: the server does not confirm what the page shows; nothing
 * was sent.
 */
export type Outcome = "sent" | "rejected" | "unclear" | "wrongNetwork" | "changed";

const LONGEST_NAME = 40;
const ADDRESS = /^0x[0-9a-f]{40}$/i;
const QUANTITY = /^0x[1-9a-f][0-9a-f]*$/i;
/** ERC-20's `transfer(address,uint256)`: its selector, an address and an amount in 32 bytes each. The only call that a wallet is asked to make. */
const TOKEN_TRANSFER = /^0xa9059cbb0{24}[0-9a-f]{104}$/i;
/** The length of the beginning of the call, which contains the recipient. */
const TARGET_LENGTH = 74;
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

/** Undefined if it is not a transfer: the native coin's value without a call, or a token's `transfer` without a value. */
export function transferOf(json: string | undefined): Transfer | undefined {
  const parsed = parse(json);
  const chainId = member(parsed, "chainId");
  const to = member(parsed, "to");
  const value = member(parsed, "value");
  const data = member(parsed, "data");
  if (!fits(QUANTITY, chainId) || !fits(ADDRESS, to) || !fits(/^0x/, value) || !fits(/^0x/, data)) return undefined;
  const isTransfer = data === "0x" ? QUANTITY.test(value) : value === "0x0" && TOKEN_TRANSFER.test(data);
  return isTransfer ? { chainId, to, value, data } : undefined;
}

/**
 * Requests an account, then the transfer's chain, and then the transfer, but only if the server confirms again what the page shows, and the wallet
 * reports that chain. The amount may have been quoted again while the payer decided; the chain, the coin and the recipient must not have changed.
 * Never rejects.
 */
export async function sendTransfer(wallet: Wallet, { shown, read }: Payment): Promise<Outcome> {
  let isAsked = false;
  try {
    const asked = shown();
    if (asked === undefined) return "changed";
    const accounts = await wallet.request("eth_requestAccounts");
    const from: unknown = Array.isArray(accounts) ? accounts[0] : undefined;
    if (!fits(ADDRESS, from)) return "rejected";
    const refusal = await useChain(wallet, asked.chainId);
    if (refusal !== undefined) return refusal;
    const transfer = await read().catch(() => undefined);
    if (transfer === undefined || textOf(transfer) !== textOf(shown())) return "changed";
    if (targetOf(transfer) !== targetOf(asked)) return "changed";
    // The wallet may have been switched meanwhile.
    if (!(await isOn(wallet, transfer.chainId))) return "wrongNetwork";
    isAsked = true;
    // Names the chain, so that a wallet that the payer switches at this moment refuses the transfer instead of sending it on a chain that is not
    // watched.
    await wallet.request("eth_sendTransaction", [{ from, ...transfer }]);
    return "sent";
  } catch (error) {
    // A wallet that lost the connection to its node, or its window, may still have sent the transfer.
    return isAsked && member(error, "code") !== REJECTED ? "unclear" : "rejected";
  }
}

function textOf(transfer: Transfer | undefined): string {
  return JSON.stringify(transfer);
}

/** The chain, the coin and the recipient. */
function targetOf({ chainId, to, data }: Transfer): string {
  return [chainId, to, data.slice(0, TARGET_LENGTH)].join();
}

async function useChain(wallet: Wallet, chainId: string): Promise<Outcome | undefined> {
  if (await isOn(wallet, chainId)) return undefined;
  try {
    await wallet.request("wallet_switchEthereumChain", [{ chainId }]);
  } catch (error) {
    // Otherwise the wallet does not know the chain (4902) or cannot switch to it: the payer must do it by hand.
    return member(error, "code") === REJECTED ? "rejected" : "wrongNetwork";
  }
  // Some wallets answer before they switch, and some do not switch at all.
  return (await isOn(wallet, chainId)) ? undefined : "wrongNetwork";
}

async function isOn(wallet: Wallet, chainId: string): Promise<boolean> {
  const answer = await wallet.request("eth_chainId");
  return fits(/^0x[0-9a-f]+$/i, answer) && BigInt(answer) === BigInt(chainId);
}

function fits(pattern: RegExp, value: unknown): value is string {
  return typeof value === "string" && pattern.test(value);
}

function parse(json: string | undefined): unknown {
  try {
    return JSON.parse(json ?? "");
  } catch {
    return undefined;
  }
}

function member(value: unknown, name: string): unknown {
  return typeof value === "object" && value !== null ? Reflect.get(value, name) : undefined;
}
