// Bounded GETs for the two HTTP APIs of Bitcoin-like chains. Null means not found, a failure is an outage, and many requests are sent a few at a
// time.
import type * as z from "zod";
import { fetchText, type Outage, outage, parseExactJson } from "../../lib/fetch-text.ts";
import { err, ok, type Result } from "../../lib/result.ts";
import type { ChainClientSettings } from "../sources/chain-client.ts";
import { shaped } from "../sources/json-rpc-client.ts";

export type RestEdge = Pick<ChainClientSettings, "fetch" | "url" | "headers" | "timeoutMs"> & {
  /** Matches the body of a 404 or 400 that means "not found"; any other body is an outage. */
  readonly absent: RegExp;
};

/** Enough for a page of an address's transactions, each with all its scripts. */
const LIMIT_BYTES = 16 * 1_048_576;
/** A Worker may have six connections open at once, and a pass needs some for storage. */
const AT_ONCE = 4;

/** The body of a 200; null if not found. */
export async function restText(edge: RestEdge, path: string): Promise<Result<string | null, Outage>> {
  let status = 200;
  const fetch: RestEdge["fetch"] = async (url, init) => {
    const response = await edge.fetch(url, init);
    ({ status } = response);
    if (status !== 404 && status !== 400) return response;
    return new Response(response.body, { headers: response.headers });
  };
  const { headers, timeoutMs } = edge;
  const text = await fetchText({ fetch, url: `${edge.url}${path}`, headers, timeoutMs, limitBytes: LIMIT_BYTES });
  if (!text.ok || status === 200) return text;
  return edge.absent.test(text.value) ? ok(null) : err(outage("BAD_STATUS", `status ${status}`));
}

/** JSON checked against a schema, its numbers as text; null if not found. */
export async function restJson<T>(
  edge: RestEdge,
  path: string,
  schema: () => z.ZodType<T>,
): Promise<Result<T | null, Outage>> {
  const text = await restText(edge, path);
  if (!text.ok || text.value === null) return text.ok ? ok(null) : text;
  const json = parseExactJson(text.value);
  return json.ok ? shaped(schema, json.value, "the answer") : json;
}

/** Returns the results in the order of the items; starts no further items after an outage. */
export async function eachOf<A, B>(
  items: Iterable<A>,
  work: (item: A) => Promise<Result<B, Outage>>,
): Promise<Result<readonly B[], Outage>> {
  const results: B[] = [];
  const rest = [...items].entries();
  let failed: Outage | undefined;
  async function takeTurns(): Promise<void> {
    for (const [place, item] of rest) {
      if (failed !== undefined) return;
      const result = await work(item);
      if (result.ok) results[place] = result.value;
      else failed ??= result.error;
    }
  }
  await Promise.all(Array.from({ length: AT_ONCE }, takeTurns));
  return failed === undefined ? ok(results) : err(failed);
}
