// A process that imports this ends when its parent ends. A signal to npm only ends npm and perhaps its shell, not their children: node,
// wrangler and workerd would keep running and hold the port.
import { readFileSync } from "node:fs";

const WATCH_EVERY_MS = 250;

const parent = process.ppid;
/** The npm process above the shell in which npm runs scripts. If npm is killed, that shell stays and waits for us. */
const npm = statusOf(statusOf(parent)?.parent)?.name.startsWith("npm") ? statusOf(parent)?.parent : undefined;

setInterval(() => {
  const isAlone = process.ppid !== parent || (npm !== undefined && statusOf(parent)?.parent !== npm);
  if (isAlone) process.kill(process.pid, "SIGTERM");
}, WATCH_EVERY_MS).unref();

/**
 * Name and parent of a process, if the system has /proc ("pid (name) state parent ..."); a name may contain anything.
 */
function statusOf(pid: number | undefined): { readonly name: string; readonly parent: number } | undefined {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, "utf8");
    const end = text.lastIndexOf(")");
    return { name: text.slice(text.indexOf("(") + 1, end), parent: Number(text.slice(end + 2).split(" ")[1]) };
  } catch {
    return undefined;
  }
}
