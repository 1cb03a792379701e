// The databases of an account: the development server's D1, reached like D1's own binding.
import { convertV4MiniflareOptions, Miniflare } from "miniflare";
import * as z from "zod";
import { QUERY_ANSWER, type QueryAnswer } from "./account-kept.ts";
import { jsonIn } from "./json.ts";

/** How many databases an account may have. Each has a binding, so they are created before they have names. */
const SLOTS = 4;
const BINDING = "DB_";
const QUERY_ANSWERS = z.union([QUERY_ANSWER, z.array(QUERY_ANSWER)]);

const SCRIPT = `export default {
  async fetch(request, env) {
    const url = new URL(request.url);
    const { fetcher } = env["${BINDING}" + url.searchParams.get("slot")];
    return fetcher.fetch("http://d1" + url.searchParams.get("path"), { method: "POST", body: request.body, headers: request.headers });
  }
}`;

export interface Store {
  /** Answers a request like the service behind a D1 binding. The path includes the query. */
  raw(databaseId: string, path: string, body: string): Promise<{ readonly status: number; readonly text: string }>;
  query(databaseId: string, sql: string, params: readonly unknown[]): Promise<readonly QueryAnswer[]>;
  stop(): Promise<void>;
}

export function startStore(folder: string): Store {
  const slots = Array.from({ length: SLOTS }, (_, slot) => slot);
  const runtime = new Miniflare(
    convertV4MiniflareOptions({
      name: "store",
      modules: true,
      script: SCRIPT,
      compatibilityDate: "2026-11-02",
      d1Databases: Object.fromEntries(slots.map((slot) => [`${BINDING}${slot}`, { id: `slot-${slot}` }])),
      defaultPersistRoot: folder,
    }),
  );
  const known: string[] = [];
  const slotOf = (databaseId: string) => {
    if (!known.includes(databaseId)) known.push(databaseId);
    const slot = known.indexOf(databaseId);
    if (slot >= SLOTS) throw new Error(`the account has more than ${SLOTS} databases`);
    return slot;
  };
  const raw: Store["raw"] = async (databaseId, path, body) => {
    const query = new URLSearchParams({ slot: String(slotOf(databaseId)), path });
    const answer = await runtime.dispatchFetch(`http://store/?${query}`, { method: "POST", body });
    return { status: answer.status, text: await answer.text() };
  };
  return {
    raw,
    query: async (databaseId, sql, params) => {
      const { text } = await raw(
        databaseId,
        "/query?resultsFormat=ARRAY_OF_OBJECTS",
        JSON.stringify([{ sql, params }]),
      );
      return [jsonIn(QUERY_ANSWERS, text)].flat();
    },
    stop: () => runtime.dispose(),
  };
}
