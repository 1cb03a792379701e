// At a terminal the deploy asks for everything that the flags leave out, before it creates anything.
import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { afterEach, describe, expect, it } from "vitest";
import { newOperator, type Operator } from "../../../support/deploys.ts";

let operator: Operator | undefined;
function newShop(): Operator {
  operator = newOperator();
  return operator;
}
afterEach(() => operator?.leave());

describe("at a terminal", () => {
  it("every open question is repeated until its answer is valid, and the last question is whether to continue", async () => {
    const shop = newShop();
    const answers = [
      "My Shop",
      "shop",
      "mars",
      "weur",
      "pay.example.com",
      "cloudflare",
      "nobody",
      "Shop <pay@example.com>",
      "",
      "y",
    ];
    const { status, asked, printed } = await shop.deploy([], answers);
    expect(asked).toEqual([
      "Name of the deployment [edgetill]: ",
      expect.stringContaining("use 1 to 50 lower-case letters"),
      expect.stringContaining("weur  Western Europe"),
      expect.stringContaining("use one of weur"),
      expect.stringContaining("Domain"),
      expect.stringContaining("How mail is sent"),
      expect.stringContaining("Sender of mails"),
      expect.stringContaining("use a form such as"),
      expect.stringContaining("Networks to watch with public sources"),
      "Go on? [y/N] ",
    ]);
    expect([status, printed]).toEqual([0, expect.stringContaining("Deployed: https://pay.example.com\n")]);
    const { secrets, configuration } = shop.account().workers.shop ?? {};
    expect(secrets?.MAIL_PROVIDER).toBe('{"kind":"cloudflare"}');
    expect(configuration).toMatchObject({ workers_dev: false, vars: { PUBLIC_URL: "https://pay.example.com" } });
  });

  it("an upgrade asks for sources while there are none, and whether to continue; an empty name means the default", async () => {
    const shop = newShop();
    await shop.deploy([], ["", "weur", "", "none", "", "yes"]);
    const upgrade = await shop.deploy([], ["", "", "y"]);
    expect(upgrade.asked).toHaveLength(3);
    expect(upgrade.printed).toContain("An upgrade of the deployment edgetill");
    expect(upgrade.status).toBe(0);
  });

  it("wrangler's table of migrations, which wrangler repeats after each migration, is shown once", async () => {
    const { printed } = await newShop().deploy([], ["shop", "weur", "", "none", "", "y"]);
    const rows = printed.split("\n").filter((line) => line.includes("│"));
    const names = ["0000_schema.sql", "0001_deployment_keys.sql", "0002_set_up.sql"];
    expect(rows).toEqual(names.map((name) => `  | │ ${name} │ ✅     │`));
  });

  it.each(["", "n", "no", "maybe"])("nothing is created if the answer to the last question is %j", async (answer) => {
    const shop = newShop();
    const { status, printed } = await shop.deploy([], ["shop", "weur", "", "none", "", answer]);
    expect([status, printed]).toEqual([1, expect.stringContaining("Nothing was made.")]);
    expect(shop.account()).toMatchObject({ databases: [], queues: [], workers: {} });
  });

  it("later deploys keep a variable until it is set to an empty value, and never ask for it", async () => {
    const shop = newShop();
    const vars = () => shop.account().workers.shop?.configuration.vars;
    await shop.deploy(["--name", "shop", "--var", "POLL_SECONDS=20"], ["weur", "", "none", "", "y"]);
    await shop.deploy(["--name", "shop", "--var", "RATE_LIMIT_PER_MINUTE=600"], ["", "y"]);
    expect(vars()).toMatchObject({ POLL_SECONDS: "20", RATE_LIMIT_PER_MINUTE: "600" });
    await shop.deploy(["--name", "shop", "--var", "POLL_SECONDS="], ["", "y"]);
    expect(vars()).toMatchObject({ POLL_SECONDS: "", RATE_LIMIT_PER_MINUTE: "600" });
  });
});

it("the deploy command fails without a terminal and without flags, and names the flags", async () => {
  const { WORKERS_CI: _, ...env } = process.env;
  const run = promisify(execFile)(process.execPath, ["scripts/deploy.ts"], { env });
  const ended = await run.then(
    () => undefined,
    (error: { readonly code: number; readonly stdout: string }) => error,
  );
  expect(ended?.code).toBe(1);
  expect(ended?.stdout).toMatch(/Nothing was made: there is no terminal to ask at.*--name.*--yes/);
});
