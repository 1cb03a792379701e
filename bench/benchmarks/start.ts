// Start-up: the time that the Worker adds to a trivial one, compared with the time that its libraries alone add. A single start is lost in the noise
// of starting the runtime, so each runtime starts with many copies of the worker, and workerd creates all their isolates before it answers. The
// measure is workerd's CPU time, which the platform limits; wall-clock time includes Miniflare's code transfer, which no deployment has.
import { bundleWorker } from "../bundle.ts";
import type { Context } from "../context.ts";
import type { Outcome } from "../report.ts";
import { type Served, serve, type WorkerShape } from "../serve.ts";
import { pairedRatio, spread } from "../statistics.ts";
import { librariesEntry } from "./size.ts";

const COPIES = 24;
const TRIVIAL = 'export default { fetch() { return new Response("ok"); } };';

export async function start(context: Context): Promise<Outcome> {
  const rounds = context.options.isQuick ? 3 : 7;
  const product = await bundleWorker({
    text: answeringOk('import worker from "./src/app/worker.ts";\nglobalThis.kept = worker;'),
  });
  const libraries = await bundleWorker({ text: answeringOk(librariesEntry()) });
  const workers = { trivial: { code: TRIVIAL }, libraries, product };
  const seconds: Record<keyof typeof workers, number[]> = { trivial: [], libraries: [], product: [] };
  for (let round = 0; round <= rounds; round++) {
    context.progress(`starting ${COPIES} copies, round ${round} of ${rounds}`);
    for (const name of ["trivial", "libraries", "product"] as const) {
      const took = await secondsToStart(workers[name]);
      if (round > 0) seconds[name].push(took); // The first round warms up the disk cache.
    }
  }
  const over = (of: readonly number[]) => of.map((value, round) => value - (seconds.trivial[round] ?? Number.NaN));
  const milliseconds = (of: readonly number[]) => ((spread(of).median * 1_000) / COPIES).toFixed(1);
  return {
    figures: [
      {
        what: "start-up over a trivial worker, CPU",
        baseline: "the same with only the libraries",
        ratio: pairedRatio(over(seconds.product), over(seconds.libraries)),
        target: { atMost: 2 },
        measured: `${milliseconds(over(seconds.product))} ms, libraries ${milliseconds(over(seconds.libraries))} ms an isolate`,
      },
    ],
  };
}

/** Adds the trivial handler, so that all variants give the same answer, while the module's own code is still evaluated. */
function answeringOk(source: string): string {
  return `${source}\n${TRIVIAL}`;
}

async function secondsToStart({ code, texts = [] }: Pick<WorkerShape, "code" | "texts">): Promise<number> {
  const options = {
    compatibilityDate: "2026-11-02",
    compatibilityFlags: ["nodejs_compat"],
  } satisfies WorkerShape["options"];
  const served: Served = await serve({ code, texts, options: { ...options, name: "start-0" }, copies: COPIES });
  const answer = await served.fetch("/");
  const text = await answer.text();
  const took = served.cpuSeconds();
  await served.stop();
  if (text !== "ok") throw new Error(`a started worker answered ${answer.status} ${text.slice(0, 100)}`);
  if (took === undefined) throw new Error("the CPU time of workerd is only known on Linux");
  return took;
}
