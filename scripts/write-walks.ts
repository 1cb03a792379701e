// Writes docs/design/walks.md (`npm run docs:walks`): how many files and folders of src are visited when an invoice is created and when it is paid.
// The Worker really runs both, and calls inserted into its functions record what ran. With `--files` it prints the files in order instead.
import { keepGenerated } from "./generated-file.ts";
import { replaceRuntime } from "./load-routes.ts";
import { filesIn, foldersIn, WALK_BOUNDS, type WalkBound } from "./walks/measure.ts";
import { type Trace, Tracer } from "./walks/trace.ts";
import { walk } from "./walks/walk.ts";

const WALKS_PAGE = "docs/design/walks.md";
const COMMAND = "npm run docs:walks";

type Walked = Awaited<ReturnType<typeof walk>>;

function page({ create, payment }: Walked): string {
  return `<!-- Written by \`${COMMAND}\`, which runs both; do not edit. -->
# Two walks through the code

How many files of \`src/\` a request visits: those of which at least one function ran. Files that only declare tables, schemas or types are left out.
Both walks use a Worker that has served the same request before, with the settings of production. The bounds are in \`scripts/walks/measure.ts\`, and a
test holds them: they only go down. \`${COMMAND} -- --files\` prints the files in the order of their first function.

## An invoice is created

\`POST /api/v1/merchants/merchant/{id}/invoices\` with an \`Idempotency-Key\`, by a secret key, with a customer and one payment method: USDT on
Ethereum to the merchant's own address. From the router until all work is done: the batch has committed, the watcher is woken.

${figuresOf(create.warm, WALK_BOUNDS.create)}

${moreText("The first one of a process", create.warm, create.cold)}
${moreText("One that pays to an address of an extended key", create.warm, create.ofExtendedKey)}
${moreText("One by a public key", create.warm, create.ofPublicKey)}

## A payment arrives

A pass of the watcher of Ethereum finds a transfer of the amount, once there is a new block. From the alarm until all work is done: the
invoice is credited and paid, its events are recorded, and the endpoint and the customer's page are notified.

${figuresOf(payment.warm, WALK_BOUNDS.payment)}

${moreText("The first one of a process, with its watcher's first pass,", payment.warm, payment.cold)}
`;
}

function figuresOf(trace: Trace, bound: WalkBound): string {
  const folders = foldersIn(trace);
  const rows = [...folders].map(([folder, files]) => `| \`${folder}\` | ${files} |`);
  return `**${filesIn(trace).length} files (at most ${bound.files}) in ${folders.size} folders (at most ${bound.folders}).**

| folder | files |
|---|---|
${rows.join("\n")}`;
}

/** How many files the other walk visits that this one does not. */
function moreText(title: string, trace: Trace, other: Trace): string {
  const known = new Set(filesIn(trace));
  const more = filesIn(other).filter((file) => !known.has(file)).length;
  return `- ${title} visits ${more === 0 ? "the same files" : `${more} more`}.`;
}

function printFiles({ create, payment }: Walked): void {
  for (const [title, trace] of Object.entries({
    "An invoice is created": create.warm,
    "A payment arrives": payment.warm,
  }))
    console.log([title, ...filesIn(trace).map((file, at) => `${at + 1}. ${file}`), ""].join("\n"));
}

await replaceRuntime();
const walked = await walk(new Tracer());
if (process.argv.includes("--files")) printFiles(walked);
else keepGenerated({ file: WALKS_PAGE, text: page(walked), command: COMMAND, isFormatted: true });
