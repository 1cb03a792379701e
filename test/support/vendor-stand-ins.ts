// The vendors of public sources, played by one loopback server: requests to a vendor's host reach it, and nothing leaves the machine. Each host
// follows its network's chain unless told otherwise.
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { json } from "node:stream/consumers";
import * as z from "zod";
import type { VendorEdge } from "../../scripts/deploy/probe-source.ts";
import { PUBLIC_SOURCES } from "../../scripts/deploy/public-sources.ts";
import type { Network } from "../../src/chains/registry/networks.ts";
import { listen } from "./listen.ts";
import { network as networkOf } from "./named-network.ts";

/** A number is the status of every answer. `logs`: eth_getLogs is refused; `state`: no balances. */
export type VendorFault = "dead" | "wrong chain" | "stale" | "slow" | "logs" | "state" | 403 | 429 | 503;

export interface Vendors {
  readonly edge: VendorEdge;
  /** By a source's host or vendor: everything that the vendor serves. */
  readonly faults: Map<string, VendorFault>;
  /** Requested hosts. */
  readonly asked: Set<string>;
  close(): Promise<void>;
}

/** What a host answers as. */
interface Place {
  readonly network: Network;
  readonly fault: VendorFault | undefined;
  /** Time of the newest block. */
  readonly tipMs: number;
}

const TIP = 1_000;
const HOUR_MS = 3_600_000;
const TRON_GENESIS: Readonly<Record<string, string>> = {
  TRX: "00000000000000001ebf88508a03865c71d452e25f4d51194196a1d22b6653dc",
  TRX_NILE: "0000000000000000d698d4192c56cb6be724a558448e2684802de4d6cd8690dc",
};
const CALL = z.object({ id: z.unknown(), method: z.string(), params: z.array(z.unknown()).default([]) });

const hashOf = (height: number) => height.toString(16).padStart(64, "0");
const heightOf = (hash: string) => Number.parseInt(hash, 16);

/** `nowMs` is when the newest blocks were made. */
export async function startVendors(nowMs: number): Promise<Vendors> {
  const faults = new Map<string, VendorFault>();
  const asked = new Set<string>();
  const server = createServer(async (request, response) => {
    const url = new URL(String(request.headers["x-vendor-url"]));
    const source = PUBLIC_SOURCES.find((each) => url.href.startsWith(each.url));
    asked.add(url.host);
    const fault = faults.get(url.host) ?? faults.get(source?.vendor ?? "");
    if (source === undefined || fault === "dead") return void response.destroy();
    if (fault === "slow") return;
    if (typeof fault === "number") return void response.writeHead(fault).end("<html>no</html>");
    const tipMs = fault === "stale" ? nowMs - 9 * HOUR_MS : nowMs - 2_000;
    const place = { network: networkOf(source.network), fault, tipMs };
    await answer(place, url.href.slice(source.url.length), { request, response });
  });
  const { origin, close } = await listen(server);
  return {
    edge: {
      fetch: (url, init) => {
        const headers = new Headers(init.headers);
        headers.set("x-vendor-url", url);
        return fetch(origin, { ...init, headers });
      },
      // Generous for a shared machine; only a hang takes this long.
      timeoutMs: 4_000,
      probeMs: 30_000,
    },
    faults,
    asked,
    close,
  };
}

interface Exchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
}

async function answer(place: Place, path: string, { request, response }: Exchange): Promise<void> {
  const { family } = place.network;
  if (family === "bitcoin") return answerIndex(place, path, response);
  const body = request.method === "POST" ? await json(request) : undefined;
  if (family === "tron") return send(response, tronGrid(place, path, body));
  const calls = z.union([CALL, z.array(CALL)]).parse(body);
  send(response, Array.isArray(calls) ? calls.map((call) => rpc(place, call)) : rpc(place, calls));
}

function send(response: ServerResponse, value: unknown): void {
  response.setHeader("content-type", "application/json").end(JSON.stringify(value));
}

/** Esplora's. */
function answerIndex({ network, fault, tipMs }: Place, path: string, response: ServerResponse): void {
  const [, kind = "", which = ""] = path.split("/");
  const height = heightOf(which);
  const timestamp = Math.round(tipMs / 1000) - (TIP - height) * network.blockSeconds;
  const isGenesis = which === "0" && fault !== "wrong chain";
  if (kind === "blocks") response.end(hashOf(TIP));
  else if (kind === "block-height") response.end(isGenesis ? network.genesisHash : hashOf(Number(which)));
  else send(response, kind === "address" ? [] : { id: which, height, timestamp });
}

function tronGrid({ network, fault, tipMs }: Place, path: string, body: unknown): unknown {
  if (path.startsWith("/v1/")) return { data: [], success: true, meta: {} };
  const asked = z.object({ num: z.number().optional() }).parse(body);
  const number = asked.num ?? TIP;
  const genesis = fault === "wrong chain" ? hashOf(0) : TRON_GENESIS[network.name];
  const timestamp = tipMs - (TIP - number) * network.blockSeconds * 1000;
  return { blockID: number === 0 ? genesis : hashOf(number), block_header: { raw_data: { number, timestamp } } };
}

function rpc(place: Place, { id, method, params }: z.infer<typeof CALL>): unknown {
  const refused = { jsonrpc: "2.0", id, error: { code: -32_000, message: "not supported here" } };
  const { fault } = place;
  if (fault === "logs" && method === "eth_getLogs") return refused;
  if (fault === "state" && (method === "eth_call" || method === "eth_getBalance")) return refused;
  return { jsonrpc: "2.0", id, result: resultOf(place, method, params) };
}

function resultOf({ network, fault, tipMs }: Place, method: string, [which, isFull]: readonly unknown[]): unknown {
  switch (method) {
    case "eth_chainId":
      return `0x${((network.chainId ?? 0) + (fault === "wrong chain" ? 1 : 0)).toString(16)}`;
    case "eth_getBlockByNumber": {
      const height = which === "latest" ? TIP : heightOf(String(which));
      const timestamp = Math.round(tipMs / 1000 - (TIP - height) * network.blockSeconds);
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
