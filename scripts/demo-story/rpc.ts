// JSON-RPC calls to our own node on loopback.
import * as z from "zod";

const Answer = z.object({ result: z.unknown().optional(), error: z.object({ message: z.string() }).nullish() });

/** Makes one call; the caller checks the result. Throws with the node's message. */
export type Rpc = (method: string, ...params: readonly unknown[]) => Promise<unknown>;

export function rpcAt(url: string, headers: Readonly<Record<string, string>> = {}): Rpc {
  return async (method, ...params) => {
    const response = await fetch(url, {
      method: "POST",
      headers: { "content-type": "application/json", ...headers },
      body: JSON.stringify({ jsonrpc: "2.0", id: 1, method, params }),
      signal: AbortSignal.timeout(10_000),
    });
    const { result, error } = Answer.parse(await response.json());
    if (error) throw new Error(`${method}: ${error.message}`);
    return result;
  };
}

/** Waits until the node answers this call; throws after `boundMs`. */
export async function untilAnswers(rpc: Rpc, method: string, boundMs: number): Promise<void> {
  const lateAtMs = Date.now() + boundMs;
  for (;;) {
    try {
      await rpc(method);
      return;
    } catch (error) {
      if (Date.now() >= lateAtMs) throw new Error(`the node did not answer ${method}`, { cause: error });
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  }
}
