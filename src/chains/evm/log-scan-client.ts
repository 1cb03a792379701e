// `eth_getLogs` over any range and any number of recipients, within the limits of the node: some vendors refuse more than 5 blocks, more than a few
// hundred topics or more than 10,000 results, each with its own error message.
import * as z from "zod";
import { type Outage, outage } from "../../lib/fetch-text.ts";
import { lazily } from "../../lib/lazily.ts";
import { err, ok, type Result } from "../../lib/result.ts";
import { outageOf, type RpcEdge, type RpcError, shaped } from "../sources/json-rpc-client.ts";
import type { BlockRef } from "../sources/transfer.ts";
import { pinned } from "./batch-client.ts";
import { FoundLog, quantity } from "./rpc-json.ts";

export interface LogQuery {
  readonly from: number;
  readonly to: BlockRef;
  /** Addresses of the contracts, at least one. */
  readonly contracts: readonly string[];
  /** The topics before the recipient's; null matches any. */
  readonly topics: readonly (string | null)[];
  /** Topics of the recipients, each once; null for logs to any recipient. */
  readonly recipients: readonly string[] | null;
}

export interface LogLimits {
  /** The most blocks in one request; fewer if the node refuses this many. */
  readonly maxBlocks: number;
  readonly maxTopics: number;
  /** A scan ends early before it would exceed this number of requests; its first window may take up to twice as many. */
  readonly maxRequests: number;
}

interface ScannedLogs {
  readonly logs: readonly FoundLog[];
  /** Height up to which all logs were read: that of `to`, or a lower one if the requests were used up. */
  readonly toHeight: number;
}

/** Why a request must be made smaller. */
type TooMuch = "blocks" | "topics";

const FoundLogs = lazily(() => z.array(FoundLog()));

/**
 * All logs in the range. A refused window is halved, in blocks or in topics depending on the refusal, and the smaller size is kept for the rest of
 * the scan. Each request also proves that the answering node has the block `to`; otherwise the scan fails with BEHIND.
 */
export async function scanLogs(
  edge: RpcEdge,
  query: LogQuery,
  limits: LogLimits,
): Promise<Result<ScannedLogs, Outage>> {
  const { from, to, recipients } = query;
  const logs: FoundLog[] = [];
  let blocks = limits.maxBlocks;
  let topics = Math.min(limits.maxTopics, recipients?.length ?? 0);
  let requests = 0;
  for (let at = from; at <= to.height; ) {
    const end = Math.min(at + blocks - 1, to.height);
    const chunks = recipients === null ? [null] : chunksOf(recipients, topics);
    if (at > from && requests + chunks.length > limits.maxRequests) return ok({ logs, toHeight: at - 1 });
    if (requests + chunks.length > 2 * limits.maxRequests)
      return err(outage("REFUSED", "the node refused even the smallest range of logs"));
    const window: FoundLog[] = [];
    let tooMuch: TooMuch | undefined;
    for (const chunk of chunks) {
      requests++;
      const found = await windowLogs(edge, query, { at, end, chunk });
      if (!found.ok) return found;
      if (typeof found.value === "string") {
        tooMuch = found.value;
        break;
      }
      window.push(...found.value);
    }
    if (tooMuch === undefined) {
      logs.push(...window);
      at = end + 1;
      continue;
    }
    const isByTopics = topics > 1 && (tooMuch === "topics" || end === at);
    if (!isByTopics && end === at) return err(outage("REFUSED", "one block has more logs than the node returns"));
    if (isByTopics) topics = Math.ceil(topics / 2);
    else blocks = Math.ceil((end - at + 1) / 2);
  }
  return ok({ logs, toHeight: to.height });
}

async function windowLogs(
  edge: RpcEdge,
  { to, contracts, topics }: LogQuery,
  window: { readonly at: number; readonly end: number; readonly chunk: readonly string[] | null },
): Promise<Result<readonly FoundLog[] | TooMuch, Outage>> {
  const { at, end, chunk } = window;
  const filter = {
    fromBlock: quantity(at),
    toBlock: quantity(end),
    address: contracts,
    topics: chunk === null ? topics.slice(0, 1) : [...topics, chunk],
  };
  const answers = await pinned(edge, to, [{ method: "eth_getLogs", params: [filter] }]);
  if (!answers.ok) return isTooLarge(answers.error) ? ok("blocks") : answers;
  const [found] = answers.value;
  if (found === undefined) throw new Error("a call has no answer");
  if (!found.ok) {
    const tooMuch = tooMuchOf(found.error);
    return tooMuch === undefined ? err(outageOf(found.error)) : ok(tooMuch);
  }
  return shaped(FoundLogs, found.value, "eth_getLogs");
}

/** The answer is larger than our limit or than a gateway's. */
function isTooLarge({ kind, message }: Outage): boolean {
  return kind === "TOO_LARGE" || (kind === "BAD_STATUS" && message === "status 413");
}

/** Distinguishes a request that is too large from throttling: many vendors use the same codes and similar messages for both. */
export function tooMuchOf({ code, message }: Pick<RpcError, "code" | "message">): TooMuch | undefined {
  const isThrottled =
    /rate.?limit|too many requests|request (rate|limit|count)|throttl|quota|per (second|minute|day)|daily|monthly|credits/i;
  if (code === 429 || isThrottled.test(message)) return undefined;
  if (/topics|addresses/i.test(message)) return "topics";
  const isTooMuch =
    /exceed|too (many|large|big|wide|much)|more than \d+|limited to|range|distance|max(imum)? (results|logs)|response size/i;
  return isTooMuch.test(message) ? "blocks" : undefined;
}

function chunksOf<T>(all: readonly T[], size: number): readonly (readonly T[])[] {
  const count = Math.ceil(all.length / size);
  return Array.from({ length: count }, (_, i) => all.slice(i * size, (i + 1) * size));
}
