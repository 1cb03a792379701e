// `npm run drill`: runs a deployment with a thousand invoices and pending payments, restores its database to an earlier minute, and imports what
// was lost. The exit status is 0 only if nothing is missing. With `-- --without <safeguard>` one safeguard is removed, and the drill must report
// what goes wrong. It leaves no process and no file.
import "./end-with-parent.ts";

import { startChain } from "./drill/chain.ts";
import { Play, type Sizes } from "./drill/play.ts";
import { isSafeguard, SAFEGUARDS, type Safeguard } from "./drill/safeguards.ts";
import { logEnd, openStage, type Stage } from "./drill/stage.ts";
import { StartError } from "./settings.ts";

/** Per shop. The two shops together have 1,000 invoices before the restored minute, and 400 in the lost period. */
const SIZES: Sizes = { before: 500, lost: 200, after: 50 };
/** The sizes for `--small`, which takes less than two minutes. */
const SMALL: Sizes = { before: 50, lost: 24, after: 10 };
const STOPPED_BY = { SIGINT: 130, SIGTERM: 143, SIGHUP: 129 } as const;

const startedMs = Date.now();
let stage: Stage | undefined;
for (const [signal, status] of Object.entries(STOPPED_BY)) {
  process.on(signal, async () => {
    await stage?.end();
    process.exit(status);
  });
}

function say(line: string): void {
  console.log(`${((Date.now() - startedMs) / 1_000).toFixed(1).padStart(6)} s  ${line}`);
}

function withoutOf(args: readonly string[]): Safeguard | undefined {
  const at = args.indexOf("--without");
  if (at === -1) return undefined;
  const name = args[at + 1];
  if (isSafeguard(name)) return name;
  throw new StartError(`--without takes one of ${Object.keys(SAFEGUARDS).join(", ")}.`);
}

async function drill(): Promise<boolean> {
  const without = withoutOf(process.argv);
  say(
    without === undefined
      ? "Starting a deployment ..."
      : `Starting a deployment without the safeguard "${without}" ...`,
  );
  const chain = await startChain();
  try {
    stage = await openStage(chain.url, without);
    const findings = await new Play({
      stage,
      chain,
      sizes: process.argv.includes("--small") ? SMALL : SIZES,
      say,
    }).run();
    const isPassed = findings.length === 0;
    say(isPassed ? "The drill passed." : `The drill FAILED with ${findings.length} findings.`);
    return isPassed;
  } catch (error) {
    if (stage !== undefined) console.error(logEnd(stage));
    throw error;
  } finally {
    await stage?.end();
    await chain.stop();
  }
}

try {
  process.exit((await drill()) ? 0 : 1);
} catch (error) {
  console.error(error instanceof StartError ? error.message : error);
  process.exit(1);
}
