// The previous release in the twin: deployed manually, as its own documents say, upgraded by this release's `npm run deploy`, and rolled
// back as docs/operations/incidents.md says ("A bad release").
import { randomBytes } from "node:crypto";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { deploymentOf } from "../../scripts/deploy/deployment.ts";
import { WRANGLER } from "../../scripts/wrangler.ts";
import { type Checkout, checkOut, PREVIOUS_RELEASE } from "../upgrade/previous-release.ts";
import type { Account } from "./account.ts";
import { type Deploying, good, originOf, ROOT, run } from "./deploys.ts";
import { CHAIN_SOURCES } from "./internet.ts";

const KEYRINGS = ["ROW_MAC_KEY", "CODE_PEPPER", "SECRETS_AES_KEY", "SIGNING_KEY", "API_KEY_MAC_KEY"];
const SECRETS_FILE = "deploy.env";
const DEPLOY = ["deploy", "--minify"];
const CONFIGURATION = "wrangler.toml";
/** The configuration of an email sender whose host the twin simulates. */
export const MAIL_PROVIDER = JSON.stringify({ kind: "resend", apiKey: "re_of_the_twin" });

interface BeforeOptions {
  readonly name: string;
  /** Values for variables of the deployment's configuration. */
  readonly variables: Readonly<Record<string, string>>;
}

/** Variables that an operator sets when upgrading from the previous release, in addition to their own. */
export const answersOf = (name: string): Readonly<Record<string, string>> => ({
  PUBLIC_URL: originOf(name),
  MAIL_FROM: "pay@example.com",
});

export class ReleaseBefore {
  /** Output of failed attempts at a simpler rollback. */
  readonly refusals: string[] = [];
  readonly #name: string;
  readonly #variables: Readonly<Record<string, string>>;
  readonly #checkout: Checkout;
  readonly #secrets: string;

  constructor({ name, variables }: BeforeOptions) {
    this.#name = name;
    this.#variables = { ...variables, ...answersOf(name), LOCATION_HINT: "weur" };
    this.#checkout = checkOut(PREVIOUS_RELEASE);
    const keys = KEYRINGS.map((keyring) => `${keyring}=k1:${randomBytes(32).toString("base64")}`);
    const others = { CHAIN_SOURCES, SIGN_IN_PROVIDERS: "{}", MAIL_PROVIDER };
    this.#secrets = [...keys, ...Object.entries(others).map(([secret, text]) => `${secret}='${text}'`), ""].join("\n");
  }

  readonly deploy: Deploying = async (account) => {
    const [webhooks, jobs] = deploymentOf(this.#name).queues;
    await this.#wrangler(account, ["d1", "create", this.#name, "--location", "weur"]);
    for (const queue of [webhooks, jobs]) await this.#wrangler(account, ["queues", "create", queue]);
    const id = account.databases.find(({ name }) => name === this.#name)?.uuid ?? "";
    this.#edit(CONFIGURATION, (text) => this.#configured(text, id));
    writeFileSync(join(this.#checkout.folder, SECRETS_FILE), this.#secrets, { mode: 0o600 });
    await this.#wrangler(account, ["d1", "migrations", "apply", "DB", "--remote"]);
    return this.#wrangler(account, [...DEPLOY, "--secrets-file", SECRETS_FILE]);
  };

  /** Before the first upgrade: writes the previous release's secrets, and the secret that this release adds, where `npm run deploy` expects them. */
  handOver(): void {
    const { folder, secretsFile } = deploymentOf(this.#name);
    mkdirSync(join(ROOT, folder), { recursive: true, mode: 0o700 });
    const master = `MASTER_KEY=k1:${randomBytes(32).toString("base64")}\n`;
    writeFileSync(join(ROOT, secretsFile), this.#secrets + master, { mode: 0o600 });
  }

  /**
   * Rolls back as the runbook says. A rollback cannot remove a Durable Object class that this release added, and the platform refuses code without
   * that class. So the old code is deployed with an empty class of that name, which the previous release never uses.
   */
  readonly bringBack: Deploying = async (account) => {
    const now = readFileSync(join(ROOT, CONFIGURATION), "utf8");
    const before = readFileSync(join(this.#checkout.folder, CONFIGURATION), "utf8");
    const added = migrationsIn(now).filter((migration) => !migrationsIn(before).includes(migration));
    if (added.length > 0) {
      for (const args of [["rollback", "--name", this.#name, "--yes"], DEPLOY]) {
        const { status, output } = await run(account, [WRANGLER, ...args], this.#checkout.folder);
        this.refusals.push(status === 0 ? "none" : output);
      }
      this.#edit(CONFIGURATION, (text) => `${text}\n${added.join("\n")}`);
      const classes = added.flatMap((text) => [...text.matchAll(/"([A-Z]\w+)"/g)].map(([, name]) => name));
      const code = classes.map((name) => `export class ${name} extends DurableObject {}\n`).join("");
      this.#edit(
        "src/app/worker.ts",
        (text) => `import { DurableObject } from "cloudflare:workers";\n${text}\n${code}`,
      );
    }
    return this.#wrangler(account, DEPLOY);
  };

  remove(): void {
    this.#checkout.remove();
  }

  #configured(text: string, databaseId: string): string {
    const named = text
      .replaceAll(/^((?:name|database_name|queue) = )"edgetill/gm, `$1"${this.#name}`)
      .replace(/^database_id = .*$/m, `database_id = "${databaseId}"`);
    return Object.entries(this.#variables).reduce((all, [variable, value]) => {
      const line = new RegExp(`^${variable} = .*$`, "m");
      if (!line.test(all)) throw new Error(`the release before has no variable ${variable}`);
      return all.replace(line, `${variable} = ${JSON.stringify(value)}`);
    }, named);
  }

  #edit(file: string, change: (text: string) => string): void {
    const path = join(this.#checkout.folder, file);
    writeFileSync(path, change(readFileSync(path, "utf8")));
  }

  #wrangler(account: Account, args: readonly string[]): Promise<string> {
    return good(account, [WRANGLER, ...args], this.#checkout.folder);
  }
}

/** The `[[migrations]]` tables of a configuration. */
const migrationsIn = (text: string): readonly string[] => text.match(/^\[\[migrations\]\]\n(?:.+\n)+/gm) ?? [];
