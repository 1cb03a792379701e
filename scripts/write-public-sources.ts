// Writes docs/operations/public-sources.md (`npm run docs:sources`) from the table of public sources.
import { NETWORKS } from "../src/chains/registry/networks.ts";
import { FEWER, PUBLIC_SOURCES, type PublicSource, publicSourcesOf } from "./deploy/public-sources.ts";
import { keepGenerated } from "./generated-file.ts";

export const SOURCES_PAGE = "docs/operations/public-sources.md";

function row({ network, vendor, kind, url, document, documentOf, readOn, limit }: PublicSource): string {
  const whose = documentOf === vendor ? "its own" : `of ${documentOf}`;
  return `| ${network} | ${vendor} | \`${kind}\` | \`${url}\` | [${whose}](${document}), ${readOn} | ${limit} |`;
}

export function sourcesPage(): string {
  const rows = NETWORKS.flatMap(({ name }) => publicSourcesOf(name).map(row));
  const learns = new Map(PUBLIC_SOURCES.map(({ kind, learns }) => [kind, learns]));
  const fewer = NETWORKS.flatMap(({ name }) => {
    const count = publicSourcesOf(name).length;
    return count > 1 ? [] : [`| ${name} | ${count} | ${FEWER[name] ?? ""} |`];
  });
  return `<!-- Written by \`npm run docs:sources\` from the code; do not edit. -->
# Public sources

Sources of chain data that need no account, for a deployment that has none yet. \`npm run deploy\` offers them, names only those that somebody asks for
(\`--public-sources\`), and only those that pass a trial from the machine it runs on: the right chain, a new newest block, and a block read as a pass reads it.
The [set-up page](deploy.md#first-owner) and the operators' page offer the same ones, with the commands that add them; there the Worker itself tries what was added.
**None of them was tried by this project**, and a trial from your machine says little of how a vendor treats the addresses of Cloudflare, which a Worker shares with others.
How to find better ones: [Chain sources](deploy.md#chain-sources).

| network | vendor | kind | URL | page, and when it was read | what it says of limits |
|---|---|---|---|---|---|
${rows.join("\n")}

The pages were read as stored copies, some of them older than that day. Read the page, and the vendor's terms, before you rely on one.

## What a vendor learns

| kind | it learns |
|---|---|
${[...learns].map(([kind, text]) => `| \`${kind}\` | ${text} |`).join("\n")}

A trial shows the vendor the address of your machine, and asks about an address that is nobody's.

A vendor can also be wrong, or lie, about what was paid. Two of different vendors contradict each other; from \`quorumAboveAmount\` of a merchant's settings on both must agree
before a payment is confirmed. That is off until it is set, so set it where sources are public: 100 is a beginning ([Watching chains](../guides/watching-chains.md#sources-for-each-network)).

## What their limits mean

A pass is 3 to 5 calls for a network of blocks, and one or two requests for each waiting address at an index; passes come every 6 to 30 seconds, and only while something waits.
That is 1,800 to 3,000 calls an hour for a network that is asked every 6 seconds. A vendor that finds it too much answers 429, or bans the address for a while (403, 503).
A source that answers 429 rests for seconds at first and up to 4 minutes, one that bans for 30 seconds at first and twice as long each time; or for as long as it says. No rest is longer than
10 minutes. Meanwhile the other one is asked, and \`/healthz\`, the operators' page and each shop's page *Can I accept payments now?* say so where none is left.
Where none is left, a payment is seen that much later. None is lost: no invoice expires before its network was read again, unless it cannot be read for six hours; then its invoices close and need a review.
\`POLL_SECONDS\` makes passes rarer, and with them the calls.

## Networks with fewer than two

| network | public sources | why not two |
|---|---|---|
${fewer.join("\n")}
`;
}

if (import.meta.main)
  keepGenerated({ file: SOURCES_PAGE, text: sourcesPage(), command: "npm run docs:sources", isFormatted: true });
