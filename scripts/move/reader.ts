// Reads JSON from the old server, or from files with its answers. The key is sent only to the origin that the operator named: no redirect is
// followed, and plain http is only for this machine.
import { existsSync, readFileSync } from "node:fs";
import { resolve } from "node:path";
import { plainText } from "../../src/lib/plain-text.ts";
import { err, ok, type Result } from "../../src/lib/result.ts";
import { MoveError } from "./move-error.ts";

/** FORBIDDEN: the key lacks a permission. ABSENT: the server does not have the path, or there is no such file. */
export type NotRead = "FORBIDDEN" | "ABSENT";

/** GETs a path below the base, with its query. Throws a MoveError if the move could not continue without guessing. */
export type Reader = (path: string) => Promise<Result<unknown, NotRead>>;

const TIMEOUT_MS = 30_000;
const MAX_BYTES = 16 * 1024 * 1024;
const LOOPBACK = ["localhost", "127.0.0.1", "[::1]"];

/** The base URL of a server, as its operator writes it, without a trailing slash. */
export function baseUrlOf(flag: string, text: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined) throw new MoveError(`${flag} must be a URL, such as https://pay.example.com.`);
  const isSafe = url.protocol === "https:" || (url.protocol === "http:" && LOOPBACK.includes(url.hostname));
  if (!isSafe) throw new MoveError(`${flag} must begin with https://: a key would cross the network in the open.`);
  if (url.username !== "" || url.password !== "" || url.search !== "" || url.hash !== "")
    throw new MoveError(`${flag} must be an address alone, without user name, password, ? and #.`);
  return url.href.replace(/\/+$/, "");
}

interface Origin {
  readonly baseUrl: string;
  /** The name and value of the header with the key. */
  readonly key: readonly [name: string, value: string];
}

export function readerOf({ baseUrl, key: [name, value] }: Origin): Reader {
  return async (path) => {
    const response = await answerOf(`${baseUrl}${path}`, { [name]: value, accept: "application/json" }, path);
    const { status } = response;
    if (status >= 300 && status < 400)
      throw new MoveError(
        `GET ${path} was answered with a redirect to ${whereTo(response)}. It was not followed, so that the key goes nowhere else: give the address that answers by itself as --from.`,
      );
    if (status === 401) throw new MoveError(`GET ${path}: the key was refused (401).`);
    if (status === 403) return err("FORBIDDEN");
    if (status === 404) return err("ABSENT");
    if (status !== 200) throw new MoveError(`GET ${path} was answered with ${status}.`);
    return ok(jsonOf(await textOf(response, path), `GET ${path} was answered with`));
  };
}

/** Reads answers from files by path: `/api/v1/stores/a/webhooks` is `stores/a/webhooks.json` in the folder. Queries are ignored. */
export function folderReader(folder: string): Reader {
  return async (path) => {
    const [, below = ""] = /^\/api\/v1\/([\w/-]+)(\?|$)/.exec(path) ?? [];
    if (below === "") throw new Error(`no file for ${path}`);
    const file = resolve(folder, `${below}.json`);
    return existsSync(file) ? ok(jsonOf(readFileSync(file, "utf8"), `${file} holds`)) : err("ABSENT");
  };
}

async function answerOf(url: string, headers: Record<string, string>, path: string): Promise<Response> {
  try {
    return await fetch(url, { headers, redirect: "manual", signal: AbortSignal.timeout(TIMEOUT_MS) });
  } catch (error) {
    throw new MoveError(`GET ${path}: no answer (${reasonOf(error)}).`);
  }
}

async function textOf(response: Response, path: string): Promise<string> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  try {
    for await (const chunk of response.body ?? []) {
      size += chunk.length;
      if (size > MAX_BYTES) throw new MoveError(`GET ${path}: the answer is too long.`);
      chunks.push(chunk);
    }
  } catch (error) {
    if (error instanceof MoveError) throw error;
    throw new MoveError(`GET ${path}: the answer broke off (${reasonOf(error)}).`);
  }
  return Buffer.concat(chunks).toString("utf8");
}

function jsonOf(text: string, said: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    const isPage = /^\s*</.test(text);
    throw new MoveError(
      `${said} ${isPage ? "a web page: is something in front of the server, or a sign-in missing?" : "broken JSON."}`,
    );
  }
}

/** The origin of a redirect's target, because the rest may be long and is not needed. */
function whereTo(response: Response): string {
  const location = response.headers.get("location") ?? "";
  return URL.canParse(location, response.url) ? new URL(location, response.url).origin : "nowhere";
}

function reasonOf(error: unknown): string {
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
  return plainText(cause instanceof Error ? cause.message : String(cause));
}
