// A wallet like a browser extension (EIP-6963, EIP-1193). It announces itself in the page, and the test answers the page's requests from its own
// node. The page itself sends no requests.
import type { Page } from "playwright-core";
import * as z from "zod";
import { rpcAt } from "../../scripts/demo-story/rpc.ts";

interface PageWalletOptions {
  readonly nodeUrl: string;
  readonly name?: string;
  /** The initial chain; the wallet switches on request. */
  readonly chainId?: string;
  /** Methods that the user refuses. */
  readonly refuses?: readonly string[];
}

/** The request as the page sent it. */
interface WalletCall {
  readonly method: string;
  readonly params: readonly unknown[];
}

interface PageWallet {
  /** All requests except those that only read. */
  readonly calls: readonly WalletCall[];
  /** Hashes of sent transactions. */
  readonly sent: readonly string[];
  /** Makes the user accept every request from now on. */
  agree(): void;
}

/** EIP-1193 "Provider Errors". */
const REJECTED = { code: 4_001, message: "the user rejected the request" };
const SWITCH = z.tuple([z.object({ chainId: z.string() })]);
const SILENT = ["eth_chainId", "eth_accounts"];
const ICON =
  "data:image/svg+xml,%3Csvg%20xmlns='http://www.w3.org/2000/svg'%20viewBox='0%200%208%208'%3E%3Crect%20width='8'%20height='8'/%3E%3C/svg%3E";

/** Must be called before the page is opened. */
export async function installWallet(page: Page, options: PageWalletOptions): Promise<PageWallet> {
  const { nodeUrl, name = "Test Wallet", chainId: first = "0x1" } = options;
  const rpc = rpcAt(nodeUrl);
  const calls: WalletCall[] = [];
  const sent: string[] = [];
  let chainId = first;
  let refuses = options.refuses ?? [];
  async function answer(method: string, params: readonly unknown[]): Promise<unknown> {
    switch (method) {
      case "eth_requestAccounts":
      case "eth_accounts":
        return rpc("eth_accounts");
      case "eth_chainId":
        return chainId;
      case "wallet_switchEthereumChain": {
        [{ chainId }] = SWITCH.parse(params);
        return null;
      }
      case "eth_sendTransaction": {
        const hash = String(await rpc(method, ...params));
        sent.push(hash);
        return hash;
      }
      default:
        throw new Error(`the wallet does not know ${method}`);
    }
  }
  await page.exposeFunction("__wallet", async (method: string, params: readonly unknown[]) => {
    if (!SILENT.includes(method)) calls.push({ method, params });
    if (refuses.includes(method)) return { error: REJECTED };
    try {
      return { result: await answer(method, params) };
    } catch (error) {
      return { error: { code: -32_603, message: String(error) } };
    }
  });
  const info = { uuid: crypto.randomUUID(), name, icon: ICON, rdns: "test.wallet" };
  await page.addInitScript({ content: announcement(info) });
  const agree = () => {
    refuses = [];
  };
  return { calls, sent, agree };
}

function announcement(info: Readonly<Record<string, string>>): string {
  return `(() => {
    const request = async ({ method, params }) => {
      const { result, error } = await window.__wallet(method, params ?? []);
      if (error) throw Object.assign(new Error(error.message), { code: error.code });
      return result;
    };
    const provider = Object.freeze({ request, on() {}, removeListener() {} });
    const detail = Object.freeze({ info: Object.freeze(${JSON.stringify(info)}), provider });
    const announce = () => window.dispatchEvent(new CustomEvent("eip6963:announceProvider", { detail }));
    window.addEventListener("eip6963:requestProvider", announce);
    announce();
  })()`;
}
