// The commands that the console shows for data sources: `npm run deploy` accepts the one that it would get.
import { expect, it } from "vitest";
import { deployCommand, setCommand } from "../../../dashboard/src/operator/set-command.ts";
import { parseFlags } from "../../../scripts/deploy/answers.ts";
import { OFFERED } from "../../../scripts/deploy/public-sources.ts";

it("the command that sets a variable names the Worker on workers.dev, and has a placeholder for the name at any other domain", () => {
  expect(setCommand("CHAIN_SOURCES", "shop-1.ann.workers.dev")).toBe(
    "npm run wrangler -- secret put CHAIN_SOURCES --name shop-1",
  );
  for (const host of [
    "pay.example.com",
    "workers.dev",
    "ann.workers.dev",
    "a.b.ann.workers.dev",
    "shop.ann.workers.dev.example",
  ])
    expect(setCommand("CHAIN_SOURCES", host)).toMatch(/--name <name of the deployment>$/);
});

it("the deploy command names the deployment and can choose every public source", () => {
  const [before, after] = deployCommand(OFFERED, "shop.ann.workers.dev").split(" -- ");
  expect(before).toBe("npm run deploy");
  const flags = parseFlags(after?.split(" ") ?? []);
  expect(flags.ok && flags.value).toMatchObject({ given: { name: "shop" }, publicSources: OFFERED });
});
