// Writes docs/design/walks.md (`npm run docs:walks`): which files of src an invoice's creation and its payment visit, and which of their
// functions run. The Worker really runs both, and calls inserted into its functions record what ran.
import { readFileSync } from "node:fs";
import { keepGenerated } from "./generated-file.ts";
import { replaceRuntime } from "./load-routes.ts";
import { roleOf } from "./walks/role.ts";
import { type Trace, Tracer } from "./walks/trace.ts";
import { walk } from "./walks/walk.ts";

const WALKS_PAGE = "docs/design/walks.md";
/** Functions named for a file: the first ones called. */
const NAMED_FUNCTIONS = 3;

function page(walked: Awaited<ReturnType<typeof walk>>): string {
  const { create, payment } = walked;
  return `<!-- Written by \`npm run docs:walks\`, which runs both; do not edit. -->
# Two walks through the house

Which files of \`src/\` a request visits: those of which at least one function ran, in the order of their first function. Files that only declare
tables, schemas or types are left out. Both walks use a Worker that has served the same request before, with the settings of production. After
each file come the functions that ran, the first ones first, and how often the walk came back to the file from another one. A return to the
caller does not count as coming back.

## An invoice is created

\`POST /api/v1/merchants/merchant/{id}/invoices\` with an \`Idempotency-Key\`, by a secret key, with a customer and one payment method: USDT on
Ethereum to the merchant's own address. From the router until all work is done: the batch has committed, the watcher is woken.

${walkText(create.warm)}

${moreText("The first one of a process", create.warm, create.cold)}
${moreText("One that pays to an address of an extended key", create.warm, create.ofExtendedKey)}
${moreText("One by a public key", create.warm, create.ofPublicKey)}

## A payment arrives

A pass of the watcher of Ethereum finds a transfer of the amount, once there is a new block. From the alarm until all work is done: the
invoice is credited and paid, its events are recorded, and the endpoint and the customer's page are notified.

${walkText(payment.warm)}

${moreText("The first one of a process, with its watcher's first pass,", payment.warm, payment.cold)}
`;
}

interface Visit {
  readonly file: string;
  readonly functions: readonly string[];
  readonly returns: number;
}

/** Which of its timers end before what they wait for depends on the machine, so nothing of it is counted. */
const isTimed = (file: string) => file === "src/lib/sleep.ts";

function walkText(trace: Trace): string {
  const visits = visitsOf(trace);
  const files = visits.map(({ file }) => file);
  const folders = new Set(files.map((file) => file.slice(0, file.lastIndexOf("/"))));
  const returns = visits.reduce((sum, visit) => sum + (isTimed(visit.file) ? 0 : visit.returns), 0);
  const byEntry = [...Map.groupBy(files, entryOf)].map(([entry, held]) => `${entry} ${held.length}`);
  return `${files.length} files in ${folders.size} folders of ${byEntry.length} districts (${byEntry.join(", ")}); it came back ${returns} times to a file it had left.

${visits.map(visitText).join("\n")}`;
}

function visitText({ file, functions, returns }: Visit, index: number): string {
  const isCounted = !isTimed(file);
  const named = functions.slice(0, isCounted ? NAMED_FUNCTIONS : 1).map((name) => `\`${name}\``);
  const more = isCounted && functions.length > NAMED_FUNCTIONS ? ` and ${functions.length - NAMED_FUNCTIONS} more` : "";
  const back = returns === 0 || !isCounted ? "" : `, back ${returns}`;
  const role = roleOf(readFileSync(file, "utf8"), functions);
  return `${index + 1}. \`${file.slice("src/".length)}\` (${named.join(", ")}${more}${back}). ${role}`.trimEnd();
}

/** The files that another run visits in addition. */
function moreText(title: string, trace: Trace, other: Trace): string {
  const known = new Set(trace.map(({ file }) => file));
  const more = visitsOf(other).filter(({ file }) => !known.has(file));
  if (more.length === 0) return `- ${title} visits the same files.`;
  return `- ${title} visits ${more.length} more: ${more.map(({ file }) => `\`${file.slice("src/".length)}\``).join(", ")}.`;
}

function visitsOf(trace: Trace): readonly Visit[] {
  const stays = trace.filter(({ file }, n) => trace[n - 1]?.file !== file);
  return [...Map.groupBy(trace, ({ file }) => file)].map(([file, calls]) => ({
    file,
    functions: [...new Set(calls.map(({ name }) => name))],
    returns: stays.filter((stay) => stay.file === file).length - 1,
  }));
}

function entryOf(file: string): string {
  return file.split("/")[1] ?? "";
}

replaceRuntime();
const text = page(await walk(new Tracer()));
keepGenerated({ file: WALKS_PAGE, text, command: "npm run docs:walks", isFormatted: true });
