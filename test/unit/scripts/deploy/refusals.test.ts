// What a deploy refuses, without having created anything.
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import { newOperator, type Operator } from "../../../support/deploys.ts";

const ALL_FLAGS = ["--name", "shop", "--location", "weur", "--workers-dev", "--mail", "none", "--yes"];
const AGAIN = ["--name", "shop", "--yes"];
const CHANGING = /^(d1 create|queues create|d1 migrations|deploy|d1 execute)/;

const operators: Operator[] = [];
function operator(...args: Parameters<typeof newOperator>): Operator {
  const made = newOperator(...args);
  operators.push(made);
  return made;
}
afterEach(() => {
  for (const each of operators.splice(0)) each.leave();
});

/** Deploys, and expects a refusal with this text and no change at Cloudflare. */
async function refuse(of: Operator, args: readonly string[], text: string | RegExp, answers?: readonly string[]) {
  const { commands: _, ...before } = of.account();
  const ended = await of.deploy(args, answers);
  expect(ended.printed).toMatch(text);
  expect(ended.status).not.toBe(0);
  expect(ended.commands.filter((each) => CHANGING.test(each))).toEqual([]);
  const { commands: __, ...after } = of.account();
  expect(after).toEqual(before);
  return ended;
}

describe("without a terminal", () => {
  it("nothing is asked or looked up unless every flag is set, and the message names the missing flags", async () => {
    const all = "--name, --location, --domain or --workers-dev, --mail, --mail-from (not with --mail none), --yes";
    expect((await refuse(operator(), [], `needed: ${all}.`)).commands).toEqual([]);
    const flags = ["--name", "shop", "--domain", "pay.example.com", "--mail", "cloudflare"];
    expect(
      (await refuse(operator(), flags, "needed: --location, --mail-from (not with --mail none), --yes.")).commands,
    ).toEqual([]);
    await refuse(operator(), ALL_FLAGS.slice(0, -1), "needed: --yes.");
  });

  it("the key of an email service comes from the environment, never from a flag", async () => {
    const flags = [...ALL_FLAGS, "--mail", "resend", "--mail-from", "pay@example.com"];
    await refuse(operator(), flags, "needed: the variable RESEND_API_KEY.");
    const shop = operator({ environment: { PATH: process.env.PATH, RESEND_API_KEY: "re_$1" } });
    const { printed } = await shop.deploy(flags);
    expect(printed).not.toContain("re_$1");
    // The value is escaped, because wrangler expands variables in it.
    expect(shop.account().workers.shop?.secrets.MAIL_PROVIDER).toBe('{"kind":"resend","apiKey":"re_\\$1"}');
    expect(shop.account().workers.shop?.configuration.vars.MAIL_FROM).toBe("pay@example.com");
  });

  it("a domain that is in use is not taken over, because wrangler would not ask about it", async () => {
    const flags = ["--name", "shop", "--location", "weur", "--domain", "pay.example.com", "--mail", "none", "--yes"];
    const shop = operator({ isTaken: async (domain) => domain === "pay.example.com" });
    await refuse(shop, flags, /already leads somewhere[\s\S]*--replace-record/);
    expect((await shop.deploy([...flags, "--replace-record"])).status).toBe(0);
    expect((await shop.deploy(AGAIN)).printed).toContain("Upgraded: https://pay.example.com");
  });
});

describe("flags", () => {
  it.each([
    [["--name", "My Shop"], "--name: use 1 to 50 lower-case letters"],
    [["--location", "mars"], "--location: use one of weur"],
    [["--domain", "https://pay.example.com"], "--domain: use a host name"],
    [["--domain", "pay.example.com", "--workers-dev"], "exclude each other"],
    [["--mail", "pigeon"], "--mail: use one of none, cloudflare, resend"],
    [["--mail-from", "nobody"], "--mail-from: use a form such as"],
    [["--var", "lower=1"], "--var must be NAME=value"],
    [["--nmae", "shop"], "Unknown option '--nmae'"],
    [[...ALL_FLAGS, "--var", "EXPLORER=x"], "wrangler.toml has no variable EXPLORER"],
  ])("%j are refused before anything is created", async (flags, text) => {
    expect((await refuse(operator(), flags, text)).commands).toEqual([]);
  });
});

describe("a lost MASTER_KEY", () => {
  const lose = ({ folder }: Operator) => rmSync(join(folder, ".edgetill"), { recursive: true });

  it("is never recreated while its Worker exists, but with --keep-secrets the upgrade continues without the file", async () => {
    const shop = operator();
    await shop.deploy(ALL_FLAGS);
    const { MASTER_KEY } = shop.account().workers.shop?.secrets ?? {};
    lose(shop);
    await refuse(
      shop,
      ALL_FLAGS,
      /has no MASTER_KEY, and the Worker shop exists[\s\S]*put it back[\s\S]*--keep-secrets/,
    );
    const upgrade = await shop.deploy([...ALL_FLAGS, "--keep-secrets"]);
    expect(upgrade.status).toBe(0);
    expect(upgrade.commands.at(-1)).toBe("deploy --minify --config wrangler.shop.jsonc");
    expect(shop.account().workers.shop?.secrets.MASTER_KEY).toBe(MASTER_KEY);
  });

  it("is never recreated while its database exists, even without a Worker", async () => {
    const shop = operator();
    await shop.deploy(ALL_FLAGS);
    lose(shop);
    shop.change({ workers: {} });
    await refuse(shop, ALL_FLAGS, /the database shop exists[\s\S]*wrangler d1 delete shop/);
    await refuse(shop, [...ALL_FLAGS, "--keep-secrets"], "no Worker shop in this account whose secrets could be kept");
  });

  it("is used again once its file is restored", async () => {
    const shop = operator();
    await shop.deploy(ALL_FLAGS);
    const { MASTER_KEY } = shop.account().workers.shop?.secrets ?? {};
    lose(shop);
    mkdirSync(join(shop.folder, ".edgetill/deployments/shop"), { recursive: true });
    writeFileSync(join(shop.folder, ".edgetill/deployments/shop/secrets.env"), `MASTER_KEY=${MASTER_KEY}\n`);
    const upgrade = await shop.deploy(ALL_FLAGS);
    expect(upgrade.status).toBe(0);
    expect(upgrade.printed).not.toContain("/setup#");
    expect(shop.account().workers.shop?.secrets).toEqual({ MASTER_KEY });
  });
});

describe("an existing Worker", () => {
  it("is not replaced if it is not our deployment", async () => {
    const shop = operator();
    await shop.deploy(["--name", "blog", ...ALL_FLAGS.slice(2)]);
    const { blog } = shop.account().workers;
    if (blog === undefined) throw new Error("no Worker");
    shop.change({ workers: { shop: { ...blog, secrets: { OTHER: "x" } } } });
    await refuse(shop, ALL_FLAGS, "The account already has a Worker shop, and it is no deployment of Edgetill");
  });

  it("does not move: a different location is refused", async () => {
    const shop = operator();
    await shop.deploy(ALL_FLAGS);
    await refuse(
      shop,
      [...AGAIN, "--location", "apac"],
      "shop is in weur, and neither its database nor its objects can move",
    );
  });

  it("stays in its account: if a different account is signed in, nothing is created again", async () => {
    const shop = operator();
    await shop.deploy(ALL_FLAGS);
    shop.change({ accounts: [{ id: "f".repeat(32), name: "Another" }] });
    await refuse(shop, AGAIN, "The account 0123456789abcdef0123456789abcdef is not among those of this sign-in");
  });
});

describe("an account", () => {
  it("must be signed in to", async () => {
    const shop = operator();
    shop.change({ isSignedIn: false });
    await refuse(shop, ALL_FLAGS, "What to do: Sign in with `npm run wrangler -- login`");
  });

  it("must be named if there are several", async () => {
    const shop = operator();
    const ids = ["a", "b"].map((letter) => letter.repeat(32));
    shop.change({ accounts: ids.map((id) => ({ id, name: `Account ${id[0]}` })) });
    await refuse(shop, ALL_FLAGS, /several accounts: a{32} \(Account a\), b{32}[\s\S]*--account <id>/);
    expect((await shop.deploy([...ALL_FLAGS, "--account", ids[1] ?? ""])).status).toBe(0);
    expect(shop.account().workers.shop?.configuration.account_id).toBe(ids[1]);
  });
});
