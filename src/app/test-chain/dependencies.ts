// The control port of `npm start` (scripts/control-port.ts): it starts the test chain and pays on it, which a Worker cannot.
import { fetchText } from "../../lib/fetch-text.ts";
import { err, ok, type Result } from "../../lib/result.ts";
import type { Failure } from "../../platform/failures.ts";
import { isDevelopment } from "../../platform/http/deployment.ts";
import { TEST_NETWORK } from "./contract.ts";

/** Longer than the 60 seconds that `startEvmChain` waits for a chain to answer. */
const TIMEOUT_MS = 65_000;
const LIMIT_BYTES = 4_096;

/** Whether there is a control port. */
export function hasControlPort(env: Env): boolean {
  return isDevelopment(env) && controlUrl(env) !== "";
}

interface ControlPort {
  /** Returns the state of the chain, as JSON text. If `json` is given, the request is a POST. */
  readonly ask: (path: "/chain" | "/payments", json?: string) => Promise<Result<string, Failure>>;
}

export function controlPort(env: Env): ControlPort {
  return {
    ask: async (path, json) => {
      const request = { url: controlUrl(env) + path, timeoutMs: TIMEOUT_MS, limitBytes: LIMIT_BYTES };
      const sent = json === undefined ? request : { ...request, json };
      const answer = await fetchText({ ...sent, fetch: (url, init) => fetch(url, init) });
      return answer.ok ? ok(answer.value) : err({ code: "CHAIN_UNAVAILABLE", network: TEST_NETWORK });
    },
  };
}

/** Empty if it was never set, despite the generated types. */
function controlUrl({ DEV_CONTROL }: Pick<Partial<Env>, "DEV_CONTROL">): string {
  return (DEV_CONTROL ?? "").trim();
}
