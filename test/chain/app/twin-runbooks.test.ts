// Every wrangler command in the runbooks (docs/operations), run unchanged by real wrangler: it reaches the deployment's own database and Worker, not
// the placeholders in a configuration.
import { readdirSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { openAccount, type TwinAccount } from "../../twin/deploys.ts";

const FOLDER = resolve(import.meta.dirname, "../../../docs/operations");
const NAME = `runbook-${process.pid}`;
/** It needs a user with a browser. */
const NOT_RUN = /^login$/;

/** The arguments after `npm run wrangler --` in the pages' code; placeholders for the reader's values are filled in. */
function commandsIn(text: string): readonly string[] {
  const joined = text.replaceAll(/\\\n\s*/g, "");
  const found = joined.matchAll(/npm run (?:--silent )?wrangler -- ((?:"[^"]*"|[^`"\n])+)/g);
  return [...found].map(([, words = ""]) =>
    words.trim().replaceAll("<name>", NAME).replaceAll("<SECRET>", "MAIL_PROVIDER"),
  );
}

const argumentsOf = (command: string) =>
  [...command.matchAll(/"([^"]*)"|(\S+)/g)].map(([, quoted, plain]) => quoted ?? plain ?? "");

const COMMANDS = readdirSync(FOLDER)
  .filter((file) => file.endsWith(".md"))
  .flatMap((file) => commandsIn(readFileSync(join(FOLDER, file), "utf8")).map((command) => [command, file] as const))
  .filter(([command]) => !NOT_RUN.test(command));

describe("a command of the runbooks", () => {
  let twin: TwinAccount;
  beforeAll(async () => {
    twin = await openAccount({ name: NAME });
    // So that there is a release to roll back to.
    await twin.upgrade();
  }, 1_800_000);
  afterAll(() => twin?.stop());

  it("exists", () => {
    expect(COMMANDS.length).toBeGreaterThan(5);
  });

  it.each(COMMANDS)("%s (%s)", async (command) => {
    const { status, output } = await twin.wrangler(argumentsOf(command));
    expect(output).not.toContain("00000000-0000-0000-0000-000000000000");
    expect(status, output).toBe(0);
    expect(twin.account.unknown).toEqual([]);
  });

  it("restore this deployment's database", () => {
    expect(twin.account.acts).toContain(`restore ${twin.account.databases[0]?.uuid}`);
  });
});
