// The client as users get it: packed by `npm pack` and installed by `npm install`, offline, in folders created for each call.
import { execFileSync } from "node:child_process";
import { cpSync, globSync, mkdirSync, mkdtempSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";

export interface PackedClient {
  /** The folder that contains all files; deleting it cleans up. */
  readonly folder: string;
  /** A project in which only the package is installed. */
  readonly shop: string;
  /** Paths in the tarball, sorted. */
  readonly files: readonly string[];
}

/** Builds from a copy of the sources, because another test may pack at the same time, and `client/dist` belongs to the developer. */
export function packClient(): PackedClient {
  const folder = mkdtempSync(join(tmpdir(), "edgetill-packed-"));
  const sources = join(folder, "sources");
  const client = join(sources, "client");
  mkdirSync(client, { recursive: true });
  cpSync("tsconfig.json", join(sources, "tsconfig.json"));
  for (const name of ["node_modules", "src"]) symlinkSync(resolve(name), join(sources, name));
  for (const path of globSync("client/**", { exclude: ["client/node_modules", "client/dist"] }))
    if (path !== "client") cpSync(path, join(sources, path), { recursive: true });
  symlinkSync(resolve("client/node_modules"), join(client, "node_modules"));
  const printed = npm(folder, client, "pack", "--json", "--pack-destination", folder);
  // Some npm versions print the build's output first.
  const [packed] = JSON.parse(printed.slice(printed.search(/^\[/m)));
  const shop = join(folder, "shop");
  mkdirSync(shop);
  writeFileSync(join(shop, "package.json"), '{ "name": "shop", "private": true, "type": "module" }');
  npm(folder, shop, "install", "--offline", "--no-audit", "--no-fund", join(folder, packed.filename));
  return { folder, shop, files: packed.files.map((file: { readonly path: string }) => file.path).sort() };
}

function npm(folder: string, cwd: string, ...args: readonly string[]): string {
  const env = { ...process.env };
  // The environment without the settings of an npm script, which may be running these tests, and with a cache of its own.
  for (const name of Object.keys(env)) if (/^npm_/i.test(name)) delete env[name];
  Object.assign(env, { npm_config_cache: join(folder, "cache"), npm_config_update_notifier: "false" });
  return execFileSync("npm", args, { cwd, env, encoding: "utf8", stdio: ["ignore", "pipe", "pipe"] });
}
