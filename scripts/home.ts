// The home of a development server (EDGETILL_HOME): secrets that are created once, the state of D1 and Durable Objects, and demo.json for scripts.
// Only the owner can read secret files.
import { randomBytes } from "node:crypto";
import { chmodSync, existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { parseEnv } from "node:util";
import type { Keyring } from "../src/lib/keyring.ts";
import { keyringOf } from "../src/platform/keys/keyrings.ts";
import { StartError } from "./settings.ts";

export interface Home {
  readonly path: string;
  /** D1, Durable Objects and cache. */
  readonly state: string;
  /** NAME=value lines for `wrangler dev --env-file`. */
  readonly secretsFile: string;
  /** The rows of the demo merchant. They are inserted at every start, so that a deleted state gets them again. */
  readonly seedFile: string;
  readonly demoFile: string;
  /** Releases this home for another start. May be called again. */
  release(): void;
}

/** How a missing secret is created. A home from before MASTER_KEY has its own keyrings instead. */
export const SECRETS: Readonly<Record<string, () => string>> = { MASTER_KEY: newKeyring };

function newKeyring(): string {
  return `dev1:${randomBytes(32).toString("base64")}`;
}

/** Creates what is missing and keeps the rest. Throws StartError if another server uses this home. */
export function openHome(path: string): Home {
  mkdirSync(path, { recursive: true, mode: 0o700 });
  const lock = lockHome(path);
  const secretsFile = join(path, "secrets.env");
  addMissingSettings(secretsFile, SECRETS);
  return {
    path,
    state: join(path, "state"),
    secretsFile,
    seedFile: join(path, "seed.sql"),
    demoFile: join(path, "demo.json"),
    release: () => {
      if (lock.isOpen) lock.close();
    },
  };
}

/** The keyring API_KEY_MAC_KEY of this home, for keys that a script inserts into its database. */
export function apiKeyMacKeys({ secretsFile }: Pick<Home, "secretsFile">): Keyring {
  const keys = keyringOf(parseEnv(readFileSync(secretsFile, "utf8")), "API_KEY_MAC_KEY");
  if (!keys.ok) throw new StartError(`${keys.error}. Correct or remove its line in ${secretsFile}.`);
  return keys.value;
}

/** Replaces the file atomically, so that nobody reads half of it, and never makes it readable by others. */
export function writePrivateFile(path: string, text: string): void {
  const draft = `${path}.${process.pid}`;
  writeFileSync(draft, text, { mode: 0o600 });
  chmodSync(draft, 0o600);
  renameSync(draft, path);
}

/**
 * Locks the home, because two servers with one state would assign the same addresses, each from its own memory. Uses SQLite's lock on a separate
 * file, which the system releases no matter how the process ends, so there is no stale lock to clean up.
 */
function lockHome(path: string): DatabaseSync {
  const lock = new DatabaseSync(join(path, "lock.sqlite"));
  try {
    lock.exec("PRAGMA journal_mode = MEMORY; BEGIN EXCLUSIVE");
    return lock;
  } catch (error) {
    lock.close();
    if (error instanceof Error && error.message.includes("locked")) {
      throw new StartError(`Another server is running on ${path}. Stop it, or set EDGETILL_HOME to another folder.`);
    }
    throw error;
  }
}

/**
 * Appends a NAME=value line for each name that the file does not set, and keeps the rest; creates the file, readable only by its owner, if
 * there is none.
 */
export function addMissingSettings(file: string, makers: Readonly<Record<string, () => string>>): void {
  const missing = Object.entries(makers).filter(([name]) => !setsAny(file, [name]));
  if (missing.length === 0) return;
  const present = existsSync(file) ? readFileSync(file, "utf8").replace(/(?<=[^\n])$/, "\n") : "";
  writePrivateFile(file, present + missing.map(([name, make]) => `${name}=${make()}\n`).join(""));
}

/** Whether the file has a line that sets one of these names; false if there is no file. */
export function setsAny(file: string, names: readonly string[]): boolean {
  const text = existsSync(file) ? readFileSync(file, "utf8") : "";
  return names.some((name) => new RegExp(`^\\s*(export\\s+)?${name}\\s*=`, "m").test(text));
}
