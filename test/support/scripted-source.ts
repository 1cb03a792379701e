// A source whose answers come from a table of chain data. Each path, including its query, has an answer; every other path gets a page with status
// 404.

import { type NetworkName, networkNamed } from "../../src/chains/registry/networks.ts";
import type { ChainClientSettings } from "../../src/chains/sources/chain-client.ts";

/** Text is sent unchanged, anything else as JSON. */
type ScriptedAnswer = unknown;

interface ScriptedSource {
  readonly settings: ChainClientSettings;
  /** Answers by path; may be changed at any time. */
  readonly answers: Map<string, ScriptedAnswer>;
  /** Statuses other than 200, by path. */
  readonly statuses: Map<string, number>;
  readonly asked: string[];
  /** The most concurrent requests so far. */
  mostAtOnce: number;
}

export function scriptedSource(name: NetworkName): ScriptedSource {
  const network = networkNamed(name);
  if (network === undefined) throw new Error(`no network ${name}`);
  const url = "http://source.test";
  let underWay = 0;
  async function fetch(to: string): Promise<Response> {
    const path = to.slice(url.length);
    it.asked.push(path);
    underWay++;
    it.mostAtOnce = Math.max(it.mostAtOnce, underWay);
    await Promise.resolve();
    underWay--;
    const answer = it.answers.get(path);
    if (answer === undefined) return new Response("<html>no such page</html>", { status: 404 });
    const body = typeof answer === "string" ? answer : JSON.stringify(answer);
    return new Response(body, { status: it.statuses.get(path) ?? 200 });
  }
  const settings = { fetch, network, url, headers: {}, timeoutMs: 1_000, nowMs: () => 0 };
  const it: ScriptedSource = { settings, answers: new Map(), statuses: new Map(), asked: [], mostAtOnce: 0 };
  return it;
}
