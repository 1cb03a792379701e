// Stands in for wrangler in the folder of one release. It makes `wrangler dev` serve the edge of that release with the Durable Objects of another, as
// production does for some minutes after an upgrade or a rollback. Two Workers run in one runtime with one database; the edge is bound to the other
// Worker's objects by `script_name`. All other commands are passed to wrangler unchanged. The environment variable OBJECTS_FOLDER names the folder of
// the other release.
import { spawn } from "node:child_process";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { parseEnv } from "node:util";
import { KEYRING_NAMES, keyringOf } from "../../src/platform/keys/keyrings.ts";

const WRANGLER = resolve(import.meta.dirname, "../../node_modules/wrangler/bin/wrangler.js");
const OBJECTS = "objects-of-another-release";
/** Only this release has this file. */
const ENTRY = "test/upgrade/mixed-entry.ts";
/** The values of optional secrets on a development server that does not set them. */
const UNSET = { CHAIN_SOURCES: "{}", SIGN_IN_PROVIDERS: "{}", MAIL_PROVIDER: '{"kind":"mailbox"}' };

const BINDING = /\{ name = "(\w+)", class_name = "(\w+)" \}/g;
/** Tables of the configuration that only one of the two Workers may have. Each pattern ends before the next table or comment. */
const TABLES = {
  migrations: /^\[\[migrations\]\]\n[^[]*(?:\[[^\]]*\]\n?)?/gm,
  consumers: /^\[\[queues\.consumers\]\]\n(?:[^[#\n][^\n]*\n)*/gm,
  triggers: /^\[triggers\]\n(?:[^[#\n][^\n]*\n)*/gm,
  secrets: /^\[secrets\]\nrequired = \[[^\]]*\]\n/gm,
};

const given = process.argv.slice(2);
const wrangler = spawn(
  process.execPath,
  [...process.execArgv, WRANGLER, ...(given[0] === "dev" ? mixed(given) : given)],
  {
    stdio: "inherit",
  },
);
for (const signal of ["SIGTERM", "SIGINT"] as const) process.on(signal, () => wrangler.kill(signal));
wrangler.on("close", (status) => process.exit(status ?? 1));

function mixed(given: readonly string[]): readonly string[] {
  const folder = process.env.OBJECTS_FOLDER;
  if (folder === undefined) throw new Error("OBJECTS_FOLDER is not set");
  const port = optionOf(given, "--port");
  const flags = given.slice(given.indexOf("--compatibility-flags") + 1);
  const compatibility = flags.slice(
    0,
    flags.findIndex((flag) => flag.startsWith("-")),
  );
  const at = given.indexOf("--config");
  const own = readFileSync(at < 0 ? "wrangler.toml" : (given[at + 1] ?? ""), "utf8");
  const others = readFileSync(join(folder, "wrangler.toml"), "utf8");
  const secrets = parseEnv(readFileSync(optionOf(given, "--env-file"), "utf8"));
  const edge = write(`wrangler.mixed.${port}.toml`, edgeOf(own, classesIn(others)));
  const objects = write(join(folder, `wrangler.mixed.${port}.toml`), objectsOf(others, secrets, compatibility));
  return [...(at < 0 ? given : given.toSpliced(at, 2)), "--config", edge, "--config", objects];
}

function classesIn(text: string): readonly string[] {
  return [...text.matchAll(BINDING)].map(([, , name = ""]) => name);
}

/** Binds the objects of the other Worker. Classes that the other release does not have run in the edge's own Worker. */
function edgeOf(text: string, theirs: readonly string[]): string {
  const own = classesIn(text).filter((name) => !theirs.includes(name));
  const bound = without(text, ["migrations"]).replaceAll(BINDING, (line, binding, of) =>
    own.includes(of) ? line : `{ name = "${binding}", class_name = "${of}", script_name = "${OBJECTS}" }`,
  );
  if (!existsSync(ENTRY)) return own.length === 0 ? bound : bound + migrationOf(own);
  const merchants = '{ name = "OWN_MERCHANT_OBJECT", class_name = "MerchantObject" }';
  const entered = bound
    .replace(/^main = .*$/m, `main = "${ENTRY}"`)
    .replace(/^bindings = \[$/m, `bindings = [\n  ${merchants},`);
  return entered + migrationOf([...own, "MerchantObject"]);
}

function migrationOf(classes: readonly string[]): string {
  return `\n[[migrations]]\ntag = "v1"\nnew_sqlite_classes = ${JSON.stringify(classes)}\n`;
}

/** Variables come from this process, because wrangler reads them only for the first Worker. */
function objectsOf(text: string, secrets: NodeJS.Dict<string>, flags: readonly string[]): string {
  const settings: NodeJS.Dict<string> = { ...UNSET, ...secrets };
  for (const name of KEYRING_NAMES) settings[name] = keyringText(secrets, name);
  const named = without(text, ["consumers", "triggers", "secrets"])
    .replace(/^name = .*$/m, `name = "${OBJECTS}"`)
    .replace(/^compatibility_flags = .*$/m, `compatibility_flags = ${JSON.stringify(flags)}`)
    .replace(/^([A-Z][A-Z_]*) = .*$/gm, (line, setting) =>
      process.env[setting] === undefined ? line : `${setting} = ${JSON.stringify(process.env[setting])}`,
    );
  const added = Object.entries(settings).map(([name, value]) => `${name} = ${JSON.stringify(value)}`);
  return named.replace(/^\[vars\]$/m, ["[vars]", ...added].join("\n"));
}

function keyringText(secrets: NodeJS.Dict<string>, name: (typeof KEYRING_NAMES)[number]): string {
  const keys = keyringOf(secrets, name);
  if (!keys.ok) throw new Error(keys.error);
  return keys.value.map(({ id, secret }) => `${id}:${Buffer.from(secret).toString("base64")}`).join(",");
}

function without(text: string, tables: readonly (keyof typeof TABLES)[]): string {
  let left = text;
  for (const table of tables) {
    const shorter = left.replaceAll(TABLES[table], "");
    if (shorter === left) throw new Error(`the configuration has no ${table}`);
    left = shorter;
  }
  return left;
}

function optionOf(given: readonly string[], option: string): string {
  const value = given[given.indexOf(option) + 1];
  if (!given.includes(option) || value === undefined) throw new Error(`wrangler dev is started without ${option}`);
  return value;
}

/** Paths in the configuration are relative to its folder. */
function write(file: string, text: string): string {
  writeFileSync(file, text);
  return file;
}
