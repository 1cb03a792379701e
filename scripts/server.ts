// Starts and stops a development server; `npm start` and the contract tests both use it.
import type { ChildProcess } from "node:child_process";
import { CRON_EVERY_MS } from "../src/platform/jobs/cron.ts";
import { type Demo, prepareDemo } from "./demo.ts";
import { demandFreePort, portIsFree } from "./free-port.ts";
import { type Home, openHome } from "./home.ts";
import { killTree } from "./process-tree.ts";
import { type Settings, StartError } from "./settings.ts";
import { executeSqlFile, migrate, spawnServer } from "./wrangler.ts";

const READY_WITHIN_MS = 120_000;
const READY_EVERY_MS = 100;
/** How long wrangler may take to end its children before it is killed. */
const END_WITHIN_MS = 5_000;

export interface Server {
  readonly demo: Demo;
  /** Whether this start created the demo merchant. */
  readonly isNew: boolean;
  /** Settles when the server has ended, with its exit code (null after a signal). */
  readonly ended: Promise<number | null>;
  /** Ends the server and everything it started. May be called again. */
  stop(): Promise<void>;
}

export interface StartOptions {
  /** Called between the seed and the start, so that tests can insert their own rows. */
  readonly seedMore?: (home: Home, demo: Demo) => Promise<void>;
  /** File for all output of the server; by default errors go to the terminal. */
  readonly logFile?: string;
  /** The Worker's script, if it is not that of wrangler.toml. */
  readonly main?: string | undefined;
  /** A program that replaces wrangler and takes the same arguments. Many test servers start faster with one. */
  readonly wrangler?: string | undefined;
}

/** Tells code that waits for something else that the server has ended. */
interface Life {
  readonly isOver: boolean;
  /** Whether the server has been asked to end. A scheduled run that is cut off by this has not failed. */
  readonly isEnding: boolean;
}

export async function startServer(settings: Settings, options: StartOptions = {}): Promise<Server> {
  await demandFreePort(settings.port);
  const home = openHome(settings.home);
  try {
    await migrate(home);
    const { demo, isNew } = prepareDemo(home, settings.baseUrl, Date.now());
    executeSqlFile(home, home.seedFile);
    await options.seedMore?.(home, demo);
    return { demo, isNew, ...(await serve(home, settings, options)) };
  } catch (error) {
    home.release();
    throw error;
  }
}

async function serve(
  home: Home,
  settings: Settings,
  { logFile, main, wrangler }: StartOptions,
): Promise<Pick<Server, "ended" | "stop">> {
  const child = spawnServer(home, settings, { logFile, main, wrangler });
  const life = { isOver: false, isEnding: false };
  const ended = new Promise<number | null>((resolve) => {
    child.once("close", (status) => {
      life.isOver = true;
      home.release();
      resolve(status);
    });
  });
  const stop = async () => {
    life.isEnding = true;
    await end(child, ended);
    // wrangler may end before the runtime that it started, and a restart needs the port.
    await portIsFree(settings.port, END_WITHIN_MS);
  };
  try {
    await readiness(settings.baseUrl, life, logFile);
  } catch (error) {
    await stop();
    throw error;
  }
  runSchedule(settings.baseUrl, life);
  return { ended, stop };
}

async function readiness(baseUrl: string, life: Life, logFile: string | undefined): Promise<void> {
  const lateAtMs = Date.now() + READY_WITHIN_MS;
  const place = logFile === undefined ? "above" : `in ${logFile}`;
  while (Date.now() < lateAtMs) {
    if (life.isOver) throw new StartError(`The server ended before it was ready; its message is ${place}.`);
    if (await hasDatabase(`${baseUrl}/healthz`)) return;
    await new Promise((resolve) => setTimeout(resolve, READY_EVERY_MS));
  }
  throw new StartError(`${baseUrl}/healthz did not answer within ${READY_WITHIN_MS / 1_000} seconds; see ${place}.`);
}

/**
 * Runs the crons, because `wrangler dev` does not. Runs them one after the other, never two at once. A failed run is reported, and the next run
 * follows. Does not keep the process alive.
 */
async function runSchedule(baseUrl: string, life: Life): Promise<void> {
  while (!life.isOver) {
    const isGood = await answersWell(`${baseUrl}/cdn-cgi/local/scheduled?cron=*+*+*+*+*`);
    if (!isGood && !life.isOver && !life.isEnding) console.error("A scheduled run failed.");
    await new Promise((resolve) => setTimeout(resolve, CRON_EVERY_MS.development).unref());
  }
}

/** Checks only the database. Other parts may be unhealthy, because no jobs ran while the server was stopped, and only a running server runs them. */
async function hasDatabase(url: string): Promise<boolean> {
  try {
    const response = await fetch(url, { signal: AbortSignal.timeout(30_000) });
    const health: unknown = await response.json();
    return typeof health === "object" && health !== null && "database" in health && health.database === "ok";
  } catch {
    return false;
  }
}

async function answersWell(url: string): Promise<boolean> {
  try {
    const response = await fetch(url, { signal: AbortSignal.timeout(30_000) });
    await response.arrayBuffer();
    return response.ok;
  } catch {
    return false;
  }
}

async function end(child: ChildProcess, ended: Promise<unknown>): Promise<void> {
  child.kill("SIGTERM");
  // A killed wrangler cannot end its runtime, which would keep the port.
  const kill = setTimeout(() => child.pid !== undefined && killTree(child.pid), END_WITHIN_MS);
  await ended;
  clearTimeout(kill);
}
