// A PostgreSQL server for one run: a cluster in a temporary directory, on a free loopback port, with a random password. Installs Debian's package
// if it is missing and can be installed.
import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { chownSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { freePort } from "../free-port.ts";

export interface Postgres {
  readonly connection: {
    readonly host: string;
    readonly port: number;
    readonly user: string;
    readonly password: string;
    readonly database: string;
  };
  readonly stop: () => Promise<void>;
}

/** Where Debian puts the programs of each version. */
const DEBIAN_VERSIONS = "/usr/lib/postgresql";
const USER = "bench";
const SIGNALS = ["SIGINT", "SIGTERM"] as const;
const START_LIMIT_MS = 60_000;
const QUIT_MS = 500;
/** Commits wait for the disk: with less durability than the product's, the figures could not be compared. */
const SETTINGS = ["fsync=on", "synchronous_commit=on", "full_page_writes=on", "shared_buffers=256MB"];

export async function startPostgres(progress: (text: string) => void): Promise<Postgres> {
  const programs = findPrograms() ?? installPrograms(progress);
  const directory = mkdtempSync(join(tmpdir(), "edgetill-bench-postgres-"));
  const remove = () => rmSync(directory, { recursive: true, force: true });
  const place: Keyset = { programs, directory, owner: ownerOfCluster() };
  const password = randomBytes(16).toString("hex");
  const connection = { host: "127.0.0.1", port: await freePort(), user: USER, password, database: "postgres" };
  let server: ChildProcess | undefined;
  // A run that is stopped early leaves no process and no files. Without a handler, a signal would end this process before `exit`.
  const abandon = () => {
    server?.kill("SIGQUIT");
    // Nothing can be awaited here, and a running server would write files while they are being removed.
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, QUIT_MS);
    remove();
  };
  const interrupt = () => process.exit(1);
  process.once("exit", abandon);
  for (const signal of SIGNALS) process.once(signal, interrupt);
  const stop = async () => {
    if (server !== undefined) await end(server);
    process.off("exit", abandon);
    for (const signal of SIGNALS) process.off(signal, interrupt);
    remove();
  };
  try {
    makeCluster(place, password);
    server = startServer(place, connection.port);
    await untilReady(server);
    return { connection, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

interface Keyset {
  /** The directory of `initdb` and `postgres`. */
  readonly programs: string;
  readonly directory: string;
  /** The user who must own the cluster; undefined for the user who runs the benchmark. */
  readonly owner: { readonly uid: number; readonly gid: number } | undefined;
}

function makeCluster({ programs, directory, owner }: Keyset, password: string): void {
  const passwordFile = join(directory, "password");
  writeFileSync(passwordFile, password, { mode: 0o600 });
  if (owner !== undefined) for (const path of [directory, passwordFile]) chownSync(path, owner.uid, owner.gid);
  const access = ["--username", USER, "--pwfile", passwordFile, "--auth", "scram-sha-256"];
  const text = ["--encoding", "UTF8", "--locale", "C"];
  execFileSync(join(programs, "initdb"), ["--pgdata", join(directory, "data"), ...access, ...text], {
    cwd: directory,
    stdio: ["ignore", "ignore", "pipe"],
    ...owner,
  });
}

function startServer({ programs, directory, owner }: Keyset, port: number): ChildProcess {
  const settings = [...SETTINGS, "listen_addresses=127.0.0.1", `port=${port}`, "unix_socket_directories="];
  const args = ["-D", join(directory, "data"), ...settings.flatMap((each) => ["-c", each])];
  return spawn(join(programs, "postgres"), args, { cwd: directory, stdio: ["ignore", "ignore", "pipe"], ...owner });
}

/** The directory of `initdb` and `postgres`, newest version first. */
function findPrograms(): string | undefined {
  const versions = existsSync(DEBIAN_VERSIONS) ? readdirSync(DEBIAN_VERSIONS) : [];
  const newestFirst = versions.sort((a, b) => Number(b) - Number(a)).map((each) => join(DEBIAN_VERSIONS, each, "bin"));
  const directories = [...newestFirst, ...(process.env.PATH ?? "").split(":")];
  return directories.find((directory) => ["initdb", "postgres"].every((name) => existsSync(join(directory, name))));
}

function installPrograms(progress: (text: string) => void): string {
  const isPossible = process.getuid?.() === 0 && existsSync("/usr/bin/apt-get");
  if (!isPossible) {
    throw new Error(
      "PostgreSQL is missing. Install it (Debian: apt-get install postgresql), or leave create-peer out with --only.",
    );
  }
  progress("PostgreSQL is missing: installing Debian's package postgresql");
  // This run level prevents the package from starting its own server.
  const env = { ...process.env, DEBIAN_FRONTEND: "noninteractive", RUNLEVEL: "1" };
  const aptGet = (...args: readonly string[]) =>
    execFileSync("apt-get", ["-q", ...args], { env, stdio: ["ignore", "ignore", "inherit"] });
  aptGet("update");
  aptGet("install", "-y", "--no-install-recommends", "postgresql");
  const programs = findPrograms();
  if (programs === undefined) throw new Error("the package postgresql was installed, but it has no initdb");
  return programs;
}

/** The owner of the cluster: PostgreSQL refuses to run as root, so the Debian package's user is used then. */
function ownerOfCluster(): Keyset["owner"] {
  if (process.getuid?.() !== 0) return undefined;
  const [, uid, gid] = /^postgres:[^:]*:(\d+):(\d+):/m.exec(readFileSync("/etc/passwd", "utf8")) ?? [];
  if (uid === undefined || gid === undefined)
    throw new Error("PostgreSQL cannot run as root, and there is no user postgres");
  return { uid: Number(uid), gid: Number(gid) };
}

function untilReady(server: ChildProcess): Promise<void> {
  return new Promise((resolve, reject) => {
    let log = "";
    const timer = setTimeout(() => reject(new Error(`PostgreSQL did not start in time: ${log}`)), START_LIMIT_MS);
    server.once("error", reject);
    server.once("exit", (code) => reject(new Error(`PostgreSQL ended with ${code}: ${log}`)));
    server.stderr?.on("data", (chunk: Buffer) => {
      log = (log + chunk).slice(-10_000);
      if (!log.includes("ready to accept connections")) return;
      clearTimeout(timer);
      resolve();
    });
  });
}

/** Requests a fast shutdown: connections are closed, and committed data stays. */
function end(server: ChildProcess): Promise<void> {
  return new Promise((resolve) => {
    if (server.exitCode !== null || server.signalCode !== null) resolve();
    else server.once("exit", () => resolve());
    server.kill("SIGINT");
  });
}
