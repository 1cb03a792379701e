// A stand-in for an EVM node, without a server: the body of an answer for the body of a request. It follows its network's chain, whose blocks are empty.
import * as z from "zod";
import type { Network } from "../../src/chains/registry/networks.ts";

interface EvmPlace {
  readonly network: Network;
  /** `logs`: eth_getLogs is refused; `state`: balances are missing; anything else has no effect here. */
  readonly fault: string | number | undefined;
  /** Time of the newest block. */
  readonly tipMs: number;
  /** Height of the newest block. */
  readonly tip: number;
}

const CALL = z.object({ id: z.unknown(), method: z.string(), params: z.array(z.unknown()).default([]) });

export const hashOf = (height: number) => height.toString(16).padStart(64, "0");
export const heightOf = (hash: string) => Number.parseInt(hash, 16);

/** `body`: a call or a batch of calls. */
export function evmAnswer(place: EvmPlace, body: unknown): unknown {
  const calls = z.union([CALL, z.array(CALL)]).parse(body);
  return Array.isArray(calls) ? calls.map((call) => rpc(place, call)) : rpc(place, calls);
}

function rpc(place: EvmPlace, { id, method, params }: z.infer<typeof CALL>): unknown {
  const refused = { jsonrpc: "2.0", id, error: { code: -32_000, message: "not supported here" } };
  const { fault } = place;
  if (fault === "logs" && method === "eth_getLogs") return refused;
  if (fault === "state" && (method === "eth_call" || method === "eth_getBalance")) return refused;
  return { jsonrpc: "2.0", id, result: resultOf(place, method, params) };
}

function resultOf(
  { network, fault, tipMs, tip }: EvmPlace,
  method: string,
  [which, isFull]: readonly unknown[],
): unknown {
  switch (method) {
    case "eth_chainId":
      return `0x${((network.chainId ?? 0) + (fault === "wrong chain" ? 1 : 0)).toString(16)}`;
    case "eth_getBlockByNumber": {
      const height = which === "latest" ? tip : heightOf(String(which));
      const timestamp = Math.round(tipMs / 1000 - (tip - height) * network.blockSeconds);
      return {
        number: `0x${height.toString(16)}`,
        hash: `0x${hashOf(height)}`,
        parentHash: `0x${hashOf(height - 1)}`,
        timestamp: `0x${timestamp.toString(16)}`,
        transactions: isFull === true ? [] : [`0x${hashOf(height)}`],
      };
    }
    case "eth_getLogs":
      return [];
    // No address has code, so there is no Multicall3.
    case "eth_call":
    case "eth_getCode":
      return "0x";
    default:
      return "0x0";
  }
}
