// Where tests keep disposable files: databases, objects, chains. On machines with plenty of memory they are in memory, because a third of the time of
// a test database is spent on its disk, and a busy disk is slow. Tests about slow or full disks do not use it.
import { spawnSync } from "node:child_process";
import { mkdirSync, readdirSync, readFileSync, rmSync, statfsSync, writeFileSync } from "node:fs";
import { join } from "node:path";

/** Where Linux mounts a file system in memory. */
const MEMORY = "/dev/shm";
const NAME = "edgetill-tests-";
/** Measured: all tests together use less than a fifth of this at any time. */
const ROOM_BYTES = 8 * 2 ** 30;

/**
 * Moves the temporary files of this process and its children into a folder in memory that is removed at the end. Keeps a TMPDIR that is already set.
 */
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

/** Folders left by killed runs. */
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

/** Containers may mount the folder noexec, but tests install programs there. */
function runsProgramsIn(folder: string): boolean {
  const program = join(folder, "runs");
  writeFileSync(program, "#!/bin/sh\n", { mode: 0o700 });
  return spawnSync(program).status === 0;
}

function remove(folder: string): void {
  rmSync(folder, { recursive: true, force: true });
}
