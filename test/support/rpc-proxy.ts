// A vendor between the product and a real node: a server on loopback that forwards JSON-RPC, refuses calls by the rule that a test sets, and records
// all calls.
import { createServer } from "node:http";
import { json } from "node:stream/consumers";
import * as z from "zod";
import { listen } from "./listen.ts";

interface ProxiedCall {
  readonly method: string;
  readonly params: readonly unknown[];
}

/** What happens to a call: refused, answered by the proxy, or sent to the node with other parameters. */
type Ruling =
  | { readonly error: { readonly code: number; readonly message: string } }
  | { readonly result: unknown }
  | { readonly params: readonly unknown[] };

export interface RpcProxy {
  readonly url: string;
  /** If undefined, which is the default, the call is forwarded unchanged. May be changed at any time. */
  rule: (call: ProxiedCall) => Ruling | undefined;
  /** Calls in order, refused ones included; a test may clear it. */
  readonly asked: ProxiedCall[];
  /** The number of HTTP requests that carried the calls. */
  requests: number;
  close(): Promise<void>;
}

const CALL = z.object({ id: z.unknown(), method: z.string(), params: z.array(z.unknown()).default([]) });
const CALLS = z.union([CALL, z.array(CALL)]);

export async function startRpcProxy(nodeUrl: string): Promise<RpcProxy> {
  const asked: ProxiedCall[] = [];
  const proxy = { url: "", rule: passAll, asked, requests: 0, close: async () => {} };
  async function answer({ id, method, params }: z.infer<typeof CALL>): Promise<unknown> {
    asked.push({ method, params });
    const ruling = proxy.rule({ method, params });
    if (ruling !== undefined && !("params" in ruling)) return { jsonrpc: "2.0", id, ...ruling };
    const body = JSON.stringify({ jsonrpc: "2.0", id, method, params: ruling?.params ?? params });
    const headers = { "content-type": "application/json" };
    return (await fetch(nodeUrl, { method: "POST", headers, body })).json();
  }
  const server = createServer(async (request, response) => {
    proxy.requests++;
    const calls = CALLS.parse(await json(request));
    const answers = Array.isArray(calls) ? await Promise.all(calls.map(answer)) : await answer(calls);
    response.setHeader("content-type", "application/json").end(JSON.stringify(answers));
  });
  const { origin, close } = await listen(server);
  return Object.assign(proxy, { url: origin, close });
}

function passAll(_call: ProxiedCall): Ruling | undefined {
  return undefined;
}
