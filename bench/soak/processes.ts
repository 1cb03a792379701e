// The processes of a server, their memory, and their inspectors, from /proc (Linux).
import { readdirSync, readFileSync, readlinkSync } from "node:fs";
import { join } from "node:path";

export interface OwnProcess {
  readonly pid: number;
  readonly arguments: readonly string[];
}

/** The process and everything it started, directly or not. */
export function familyOf(pid: number): readonly OwnProcess[] {
  const parents = new Map(
    readdirSync("/proc")
      .filter((name) => /^\d+$/.test(name))
      .map((name) => [Number(name), parentOf(Number(name))]),
  );
  const isOfFamily = (candidate: number | undefined): boolean =>
    candidate !== undefined && (candidate === pid || isOfFamily(parents.get(candidate)));
  return [...parents.keys()].filter(isOfFamily).map((own) => ({ pid: own, arguments: argumentsOf(own) }));
}

/** Resident memory; 0 for a process that has ended. */
export function residentBytes(pid: number): number {
  const [, kibibytes] = /^VmRSS:\s+(\d+) kB$/m.exec(textOf(`/proc/${pid}/status`)) ?? [];
  return Number(kibibytes ?? 0) * 1_024;
}

/** The loopback ports on which a process listens. */
export function listeningPorts(pid: number): readonly number[] {
  const inodes = new Set(
    readdirSync(`/proc/${pid}/fd`).flatMap((fd) => {
      const [, inode] = /^socket:\[(\d+)\]$/.exec(linkOf(`/proc/${pid}/fd/${fd}`)) ?? [];
      return inode === undefined ? [] : [inode];
    }),
  );
  // proc_net(5): the local address and port in hexadecimal, the state (0A is listening), and the inode in the tenth column.
  return textOf("/proc/net/tcp")
    .split("\n")
    .map((line) => line.trim().split(/\s+/))
    .filter((columns) => columns[3] === "0A" && inodes.has(columns[9] ?? ""))
    .map((columns) => Number.parseInt(columns[1]?.split(":")[1] ?? "", 16));
}

function parentOf(pid: number): number | undefined {
  const [, parent] = /^PPid:\s+(\d+)$/m.exec(textOf(`/proc/${pid}/status`)) ?? [];
  return parent === undefined || parent === "0" ? undefined : Number(parent);
}

function argumentsOf(pid: number): readonly string[] {
  return textOf(join("/proc", String(pid), "cmdline")).split("\0");
}

/** Empty if the process has ended. */
function textOf(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return "";
  }
}

function linkOf(path: string): string {
  try {
    return readlinkSync(path);
  } catch {
    return "";
  }
}
