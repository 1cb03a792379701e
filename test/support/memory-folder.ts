// Where tests keep what they forget: databases, objects, chains. In memory where a machine has plenty, because a third of what a database of a test costs
// is its disk, and a busy machine's disk answers when it can. Nothing here is about disks that are slow or full: tests of those say so themselves.
import { spawnSync } from "node:child_process";
import { mkdirSync, readdirSync, readFileSync, rmSync, statfsSync, writeFileSync } from "node:fs";
import { join } from "node:path";

/** What Linux mounts for it. */
const MEMORY = "/dev/shm";
const NAME = "edgetill-tests-";
/** All tests together leave less than a fifth of this at any time, measured. */
const ROOM_BYTES = 8 * 2 ** 30;

/** Makes temporary files of this process and all that it starts go into a folder in memory, which ends with it. A TMPDIR that is set is kept. */
export function keepTemporaryFilesInMemory(): void {
  if (process.env.TMPDIR !== undefined || !hasRoom()) return;
  forgetOthers();
  const folder = join(MEMORY, `${NAME}${process.pid}`);
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    if (runsProgramsIn(folder)) process.env.TMPDIR = folder;
  } finally {
    if (process.env.TMPDIR === folder) process.once("exit", () => remove(folder));
    else remove(folder);
  }
}

function hasRoom(): boolean {
  try {
    const { bavail, bsize } = statfsSync(MEMORY);
    const [, kibibytes = "0"] = /^MemAvailable: +(\d+) kB$/m.exec(readFileSync("/proc/meminfo", "utf8")) ?? [];
    return Math.min(bavail * bsize, Number(kibibytes) * 1_024) >= ROOM_BYTES;
  } catch {
    return false;
  }
}

/** Folders of runs that were killed. */
function forgetOthers(): void {
  for (const name of readdirSync(MEMORY)) {
    const pid = Number(name.slice(NAME.length));
    if (name.startsWith(NAME) && Number.isSafeInteger(pid) && !isAlive(pid)) remove(join(MEMORY, name));
  }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error instanceof Error && "code" in error && error.code === "EPERM";
  }
}

/** Containers may mount it so that they do not, and tests install packages. */
function runsProgramsIn(folder: string): boolean {
  const program = join(folder, "runs");
  writeFileSync(program, "#!/bin/sh\n", { mode: 0o700 });
  return spawnSync(program).status === 0;
}

function remove(folder: string): void {
  rmSync(folder, { recursive: true, force: true });
}
