// The time to derive an address, in the steady state and for the first address in a fresh isolate. Measured in workerd, because BigInt is several
// times faster there than in Node.
import { bundleWorker } from "../bundle.ts";
import type { Context } from "../context.ts";
import { FIRST_ADDRESSES } from "../floor/derive.ts";
import { Connection } from "../load/connection.ts";
import { requestText } from "../load/request.ts";
import type { Outcome } from "../report.ts";
import { type Served, serve } from "../serve.ts";
import { pairedRatio, spread } from "../statistics.ts";

const WAYS = ["product", "naive"] as const;
type Way = (typeof WAYS)[number];
type PerWay = Record<Way, number[]>;

/** The number of addresses for which both ways must agree before anything is timed. */
const COMPARED = 500;

export async function derive(context: Context): Promise<Outcome> {
  const { code } = await bundleWorker({ file: "bench/derive/worker.ts" });
  const begin = () =>
    serve({
      code,
      options: { name: "derive", compatibilityDate: "2026-11-02", compatibilityFlags: ["nodejs_compat"] },
    });
  const served = await context.keep(begin());
  await assertEqual(served);

  const steady = await steadyMs(context, served);
  const first = await firstMs(context, begin);
  const microseconds = (values: readonly number[]) => `${(spread(values).median * 1_000).toFixed(0)} us`;
  const milliseconds = (values: readonly number[]) => `${spread(values).median.toFixed(1)} ms`;
  return {
    figures: [
      {
        what: "derive one address, addresses a second",
        baseline: "HDKey.fromExtendedKey(...).derive(...) each time",
        ratio: pairedRatio(steady.naive, steady.product),
        target: { atLeast: 1.8 },
        measured: `${microseconds(steady.product)}, naive ${microseconds(steady.naive)}`,
      },
      {
        what: "first derivation in a fresh isolate, time",
        baseline: "the naive way's first",
        ratio: pairedRatio(first.product, first.naive),
        target: { atMost: 1.5 },
        measured: `${milliseconds(first.product)}, naive ${milliseconds(first.naive)}`,
      },
    ],
  };
}

async function assertEqual(served: Served): Promise<void> {
  const [ours, naive] = await Promise.all(
    WAYS.map(async (way) => (await served.fetch(`/${way}?from=0&count=${COMPARED}`)).json()),
  );
  const isEqual = JSON.stringify(ours) === JSON.stringify(naive);
  const startsAsPublished = JSON.stringify(ours).startsWith(JSON.stringify(FIRST_ADDRESSES).slice(0, -1));
  if (!isEqual || !startsAsPublished) throw new Error("the derivations disagree, or with BIP84's test vectors");
}

/** Milliseconds per address in each round. Every round derives addresses at new indexes. */
async function steadyMs(context: Context, served: Served): Promise<PerWay> {
  const counts = { product: 800, naive: 200 };
  const rounds = context.options.isQuick ? 3 : 7;
  const found: PerWay = { product: [], naive: [] };
  const connection = await Connection.open(served.host, served.port);
  for (let round = 0; round <= rounds; round++) {
    context.progress(`deriving, round ${round} of ${rounds}`);
    for (const way of WAYS) {
      const took = await timeMs(connection, `/${way}?from=${(round + 1) * 1_000}&count=${counts[way]}&last`);
      if (round > 0) found[way].push(took / counts[way]);
    }
  }
  connection.close();
  return found;
}

/** The first address of a new runtime, after a request that only opened the connection. */
async function firstMs(context: Context, begin: () => Promise<Served>): Promise<PerWay> {
  const rounds = context.options.isQuick ? 3 : 7;
  const found: PerWay = { product: [], naive: [] };
  for (let round = 1; round <= rounds; round++) {
    for (const way of WAYS) {
      context.progress(`first derivation (${way}), round ${round} of ${rounds}`);
      const served = await begin();
      const connection = await Connection.open(served.host, served.port);
      for (let i = 0; i < 5; i++) await timeMs(connection, "/noop");
      found[way].push(await timeMs(connection, `/${way}?from=0&count=1&last`));
      connection.close();
      await served.stop();
    }
  }
  return found;
}

function timeMs(connection: Connection, path: string): Promise<number> {
  return new Promise((resolve, reject) => {
    const from = performance.now();
    connection.send(Buffer.from(requestText({ method: "GET", path })), (answer) => {
      if (answer instanceof Error) reject(answer);
      else if (answer.status !== 200 || answer.body === "") reject(new Error(`${path} answered ${answer.status}`));
      else resolve(performance.now() - from);
    });
  });
}
