// The vendors of public sources, simulated by one loopback server: it receives all requests to a vendor's host, and nothing leaves the machine. Each
// host follows its network's chain unless a fault is set.
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { json } from "node:stream/consumers";
import * as z from "zod";
import type { VendorEdge } from "../../scripts/deploy/probe-source.ts";
import { PUBLIC_SOURCES } from "../../scripts/deploy/public-sources.ts";
import type { Network } from "../../src/chains/registry/networks.ts";
import { evmAnswer, hashOf, heightOf } from "./evm-stand-in.ts";
import { listen } from "./listen.ts";
import { network as networkOf } from "./named-network.ts";

/** A number is the status of every answer. `logs`: eth_getLogs is refused; `state`: balances are missing. */
export type VendorFault = "dead" | "wrong chain" | "stale" | "slow" | "logs" | "state" | 403 | 429 | 503;

export interface Vendors {
  readonly edge: VendorEdge;
  /** Faults by a source's host, or by vendor for all hosts of that vendor. */
  readonly faults: Map<string, VendorFault>;
  /** Requested hosts. */
  readonly asked: Set<string>;
  close(): Promise<void>;
}

/** The network of a host, and the fault that it shows. */
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
      // Long enough for a shared machine: only a request that hangs takes this long.
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
  send(response, evmAnswer({ ...place, tip: TIP }, body));
}

function send(response: ServerResponse, value: unknown): void {
  response.setHeader("content-type", "application/json").end(JSON.stringify(value));
}

/** Answers as Esplora does. */
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
