import { readdirSync, readFileSync } from "node:fs";

/** The processes below `pid`, each before the processes below it. Empty on systems without /proc. */
export function descendantsOf(pid: number): number[] {
  const children = childrenOf(pid);
  return [...children, ...children.flatMap(descendantsOf)];
}

/** Each thread of a process lists the children that it started. */
function childrenOf(pid: number): number[] {
  try {
    return readdirSync(`/proc/${pid}/task`).flatMap((thread) =>
      readFileSync(`/proc/${pid}/task/${thread}/children`, "utf8").split(" ").filter(Boolean).map(Number),
    );
  } catch {
    return [];
  }
}

/** Ends a process and all processes below it at once. Skips processes that have already ended. */
export function killTree(pid: number): void {
  for (const each of [...descendantsOf(pid), pid]) {
    try {
      process.kill(each, "SIGKILL");
    } catch {}
  }
}
