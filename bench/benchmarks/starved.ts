// How much an unauthenticated caller slows down a merchant: the time of the merchant's GETs while four connections send the largest allowed bodies,
// with an invented key and to a route that needs none. The worst generated bodies are compared with plain text on the same number of connections.
import { LIMITS } from "../../src/lib/limits.ts";
import type { Context } from "../context.ts";
import { interleaveOnce, type Measured, together, type Window } from "../interleave.ts";
import type { Product } from "../product.ts";
import type { Outcome } from "../report.ts";
import { merchantWithTwoWallets } from "./create-targets.ts";
import { latency } from "./figures.ts";
import { getTarget } from "./read.ts";

const CONNECTIONS = 4;
/** The length in bytes of each of the two texts in a body. */
const BYTES = LIMITS.bodyBytes / 2 - 1_024;
const PLAIN = "An ordinary sentence about an order of 3 shoes in size 42. ";
/** The most expensive texts of `weigh-bodies.ts`, and two with which a body once took most of a second. */
const HOSTILE: readonly string[] = ["\u3316", `${"5J".repeat(25)} `, `5J${"z".repeat(49)} `, `${"act ".repeat(11)}qq `];

const filled = (unit: string) => unit.repeat(Math.floor(BYTES / Buffer.byteLength(unit)));

interface Attack {
  readonly what: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly expectStatus: number;
}

/** Sends bodies on each connection until the returned function is called, which waits for those in progress and returns how many were sent. */
function attack(
  product: Product,
  { path, headers, expectStatus }: Attack,
  bodies: readonly string[],
): () => Promise<number> {
  let isOver = false;
  let sent = 0;
  const one = async () => {
    while (!isOver) {
      const n = sent++;
      const answer = await product.served.fetch(path, {
        method: "POST",
        // Every request seems to come from a different network, so no limit per address stops the attack.
        headers: { ...headers, "content-type": "application/json", "cf-connecting-ip": addressOf(n) },
        body: bodies[n % bodies.length] ?? "",
      });
      await answer.arrayBuffer();
      if (answer.status !== expectStatus) throw new Error(`an attack was answered ${answer.status}`);
    }
  };
  const all = Promise.all(Array.from({ length: CONNECTIONS }, one));
  return async () => {
    isOver = true;
    await all;
    return sent;
  };
}

const addressOf = (n: number) => `10.${(n >> 16) & 255}.${(n >> 8) & 255}.${n & 255}`;

export async function starved(context: Context): Promise<Outcome> {
  const product = await context.product();
  const read = await getTarget(context, product, "GET beside an attack", await merchantWithTwoWallets(product));
  const stranger = await product.newMerchant();
  const attacks: readonly Attack[] = [
    {
      what: "creates with an invented key",
      path: stranger.path("/invoices"),
      headers: { "x-api-key": `sk_${"a".repeat(43)}` },
      expectStatus: 401,
    },
    { what: "sign-ins without a code", path: "/api/v1/auth/email/verify", headers: {}, expectStatus: 400 },
  ];
  const window: Window = { ...context.plan, connections: 1 };
  const body = (unit: string) => JSON.stringify({ name: filled(unit), email: filled(unit) });
  const bodiesOf = { hostile: HOSTILE.map(body), plain: [body(PLAIN)] };
  const figures = [];
  for (const each of attacks) {
    const rounds: Record<"hostile" | "plain", Measured[]> = { hostile: [], plain: [] };
    for (let round = 0; round < window.rounds; round++) {
      for (const kind of ["hostile", "plain"] as const) {
        const stop = attack(product, each, bodiesOf[kind]);
        rounds[kind].push(await interleaveOnce(context, read, window).finally(stop));
      }
    }
    figures.push(
      latency({
        what: `GET invoice beside 4 connections with ${each.what}, the worst bodies`,
        ours: together(rounds.hostile),
        baseline: "the same with plain bodies",
        theirs: together(rounds.plain),
        target: { atMost: 1.5 },
      }),
    );
  }
  return { figures };
}
