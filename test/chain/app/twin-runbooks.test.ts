// Every wrangler command in the runbooks (docs/operations), run unchanged by real wrangler: it must reach the deployment's own database and Worker,
// not the placeholders in a configuration.
import { readdirSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { openAccount, type TwinAccount } from "../../twin/deploys.ts";
import { argumentsOf, commandsIn } from "../../twin/runbooks.ts";

const FOLDER = resolve(import.meta.dirname, "../../../docs/operations");
const NAME = `runbook-${process.pid}`;
/** Not run, because it needs a user with a browser. */
const NOT_RUN = /^login$/;

const COMMANDS = readdirSync(FOLDER)
  .filter((file) => file.endsWith(".md"))
  .flatMap((file) =>
    commandsIn(readFileSync(join(FOLDER, file), "utf8"), NAME).map((command) => [command, file] as const),
  )
  .filter(([command]) => !NOT_RUN.test(command));

describe("the wrangler commands of the runbooks", () => {
  let twin: TwinAccount;
  beforeAll(async () => {
    twin = await openAccount({ name: NAME });
    // Deploys once more, so that there is a release to which to roll back.
    await twin.upgrade();
  }, 1_800_000);
  afterAll(() => twin?.stop());

  it("are found", () => {
    expect(COMMANDS.length).toBeGreaterThan(5);
  });

  it.each(COMMANDS)("succeed: %s (%s)", async (command) => {
    const { status, output } = await twin.wrangler(argumentsOf(command));
    expect(output).not.toContain("00000000-0000-0000-0000-000000000000");
    expect(status, output).toBe(0);
    expect(twin.account.unknown).toEqual([]);
  });

  it("restore this deployment's database", () => {
    expect(twin.account.acts).toContain(`restore ${twin.account.databases[0]?.uuid}`);
  });
});
