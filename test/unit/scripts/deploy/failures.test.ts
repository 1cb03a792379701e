// A deploy that fails at any point can be repeated, and then everything exists exactly once.
import { readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import { newOperator, type Operator } from "../../../support/deploys.ts";

const ALL_FLAGS = ["--name", "shop", "--location", "weur", "--workers-dev", "--mail", "none", "--yes"];
const AGAIN = ["--name", "shop", "--yes"];
const LOOKS = ["whoami", "d1 list", "queues info", "secret list"] as const;
const CHANGES = ["d1 create", "queues create", "d1 migrations apply", "deploy", "d1 execute"] as const;
/** Each command of a first deploy fails before it has done anything. Each command with effects also fails after it has done its work. */
const FAILURES = [
  ...[...LOOKS, ...CHANGES].map((command) => ({ command, when: "before" }) as const),
  ...CHANGES.map((command) => ({ command, when: "after" }) as const),
];
const CREATED = { databases: ["shop"], queues: ["shop-jobs", "shop-webhooks"], workers: ["shop"] };

const operators: Operator[] = [];
function operator(): Operator {
  const made = newOperator();
  operators.push(made);
  return made;
}
afterEach(() => {
  for (const each of operators.splice(0)) each.leave();
});

const made = (of: Operator) => ({
  databases: of.account().databases.map(({ name }) => name),
  queues: [...of.account().queues].sort(),
  workers: Object.keys(of.account().workers),
});
const secretsOf = ({ folder }: Operator) =>
  readFileSync(join(folder, ".edgetill/deployments/shop/secrets.env"), "utf8");

describe("a first deploy", () => {
  it.each(FAILURES)(
    "whose `wrangler $command` fails ($when its work) says what to do, and the next deploy completes it",
    async (failure) => {
      const shop = operator();
      shop.change({ failAt: { ...failure, message: "The service is unavailable [code: 7500]" } });
      const first = await shop.deploy(ALL_FLAGS);
      expect(first.status).toBe(1);
      expect(first.printed).toContain("The service is unavailable");
      expect(first.printed).toMatch(/^What to do: \S.*$/m);
      const isPlanned = /\d of \d {2}/.test(first.printed);
      if (isPlanned)
        expect(first.printed).toMatch(/Step \d of 8 failed: [\s\S]*Then run npm run deploy -- --name shop --yes\n/);
      else expect(first.printed).toContain("Then run the same command again.");
      const key = isPlanned ? secretsOf(shop) : undefined;

      const second = await shop.deploy(isPlanned ? AGAIN : ALL_FLAGS);
      expect(second.printed).toContain("https://shop.example.workers.dev");
      expect(second.status).toBe(0);
      expect(second.printed).toMatch(/https:\/\/shop\.example\.workers\.dev\/setup#[\w-]{43}\n/);
      expect(made(shop)).toEqual(CREATED);
      if (key !== undefined) expect(secretsOf(shop)).toBe(key);
      const { MASTER_KEY } = shop.account().workers.shop?.secrets ?? {};
      expect(secretsOf(shop)).toBe(`MASTER_KEY=${MASTER_KEY}\n`);
    },
  );
});

describe("after a deploy", () => {
  it("the next deploy is an upgrade: it creates nothing, keeps the key and makes no link", async () => {
    const shop = operator();
    await shop.deploy(ALL_FLAGS);
    const before = { secrets: secretsOf(shop), executed: shop.account().executed };
    const upgrade = await shop.deploy(AGAIN);
    expect(upgrade.status).toBe(0);
    expect(upgrade.printed).toContain("Upgraded: https://shop.example.workers.dev");
    expect(upgrade.printed).not.toContain("/setup#");
    expect(upgrade.commands).toEqual([
      "whoami --json",
      "d1 list --json",
      "queues info shop-webhooks",
      "queues info shop-jobs",
      "secret list --name shop",
      "d1 migrations apply DB --remote --config wrangler.shop.jsonc",
      "deploy --minify --config wrangler.shop.jsonc --secrets-file .edgetill/deployments/shop/secrets.env",
    ]);
    expect({ secrets: secretsOf(shop), executed: shop.account().executed }).toEqual(before);
    expect(made(shop)).toEqual(CREATED);
  });

  it("only the file's owner can read the key, and no command showed the key or the token", async () => {
    const shop = operator();
    const { printed } = await shop.deploy(ALL_FLAGS);
    const file = join(shop.folder, ".edgetill/deployments/shop/secrets.env");
    expect((statSync(file).mode & 0o777).toString(8)).toBe("600");
    const [, key = "none"] = /^MASTER_KEY=k1:(\S+)$/m.exec(secretsOf(shop)) ?? [];
    expect(Buffer.from(key, "base64")).toHaveLength(32);
    const [, token = "none"] = /\/setup#(\S+)/.exec(printed) ?? [];
    const shown = [shop.account().commands.join("\n"), readFileSync(join(shop.folder, "wrangler.shop.jsonc"), "utf8")];
    for (const text of [...shown, printed]) expect(text).not.toContain(key);
    for (const text of shown) expect(text).not.toContain(token);
  });

  it("a second deployment in the account shares nothing with the first", async () => {
    const shop = operator();
    await shop.deploy(ALL_FLAGS);
    await shop.deploy(["--name", "test", "--location", "apac", "--workers-dev", "--mail", "none", "--yes"]);
    const { databases, queues, workers } = shop.account();
    expect(databases.map(({ name, location }) => [name, location])).toEqual([
      ["shop", "weur"],
      ["test", "apac"],
    ]);
    expect(new Set(queues)).toEqual(new Set(["shop-webhooks", "shop-jobs", "test-webhooks", "test-jobs"]));
    expect(workers.shop?.secrets.MASTER_KEY).not.toBe(workers.test?.secrets.MASTER_KEY);
    const [one, other] = [workers.shop, workers.test].map((each) => JSON.stringify(each?.configuration));
    expect(one).not.toContain("test");
    expect(other).not.toContain("shop");
  });
});
