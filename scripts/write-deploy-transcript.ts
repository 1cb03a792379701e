// Writes docs/operations/deploy-transcript.md (`npm run docs:deploy`): what `npm run deploy` prints the first time, after a failed step, and for an
// upgrade. The deploy really runs, with the stand-in for wrangler from its tests; wrangler's own output is longer.
import { newOperator } from "../test/support/deploys.ts";
import { keepGenerated } from "./generated-file.ts";

const PAGE = "docs/operations/deploy-transcript.md";
const FLAGS = ["--name", "shop", "--location", "weur", "--domain", "pay.example.com", "--mail", "none", "--yes"];
const AGAIN = ["--name", "shop", "--yes"];
const FAILING = "queues create";

const operator = newOperator();
operator.change({ failAt: { command: FAILING, when: "before", message: "The service is unavailable [code: 7500]" } });
const runs: string[] = [];
for (const flags of [FLAGS, AGAIN, AGAIN]) {
  const { printed } = await operator.deploy(flags);
  runs.push(`\`\`\`console\n$ npm run deploy -- ${flags.join(" ")}\n${withoutSecrets(printed).trim()}\n\`\`\``);
}
operator.leave();
const [failed, completed, upgraded] = runs;

/** Replaces the token and the id, which are different in every run. */
function withoutSecrets(printed: string): string {
  return printed
    .replaceAll(/(?<=#)[\w-]{43}/g, "<token>")
    .replaceAll(/'[0-9a-f]{64}'/g, "'<hash of the token>'")
    .replaceAll(/'aud_\w+'/g, "'<id>'");
}

keepGenerated({
  file: PAGE,
  text: `<!-- Written by \`npm run docs:deploy\`, which runs the deploy; do not edit. -->
# What a deploy prints

From runs of \`npm run deploy\` against a stand-in for wrangler, which prints less than wrangler does and has fewer migrations and smaller sizes. docs/operations/deploy.md explains the steps.

## A first deploy, in which a step fails

${failed}

## The same command again

It goes on where the first one stopped. Nothing is made twice.

${completed}

## An upgrade

${upgraded}
`,
  command: "npm run docs:deploy",
  isFormatted: true,
});
