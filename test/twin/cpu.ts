// CPU time of the runtime's processes, from /proc (Linux). Each part of a deployment has a process, which is found by the port of its inspector.
import { readFileSync } from "node:fs";
import { familyOf, listeningPorts } from "../../bench/soak/processes.ts";

/** proc(5): `utime` and `stime` count in ticks, a hundred a second on every Linux that Node supports. */
const MS_PER_TICK = 10;

/** Milliseconds of CPU in the text of /proc/<pid>/stat: the name is in brackets and may contain blanks; fields 14 and 15 are ticks. */
export function cpuMsIn(stat: string): number {
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  return (Number(fields[11] ?? 0) + Number(fields[12] ?? 0)) * MS_PER_TICK;
}

/** The process that listens on the port; undefined on a system without /proc. */
function processAt(port: number): number | undefined {
  try {
    return familyOf(process.pid).find(({ pid }) => listeningPorts(pid).includes(port))?.pid;
  } catch {
    return undefined;
  }
}

/** The CPU time of one part, over all its processes. The time between the last sample of a process and its end is missing. */
export class CpuWatch {
  readonly #port: () => Promise<number>;
  readonly #timer: NodeJS.Timeout;
  readonly #byPort = new Map<number, { readonly pid: number | undefined; ms: number }>();

  /** `port` returns the port of the inspector of the current process. */
  constructor(port: () => Promise<number>, everyMs: number) {
    this.#port = port;
    this.#timer = setInterval(() => void this.sample().catch(() => undefined), everyMs);
  }

  /** Milliseconds so far; 0 on systems where they cannot be measured. */
  get ms(): number {
    return [...this.#byPort.values()].reduce((sum, { ms }) => sum + ms, 0);
  }

  async sample(): Promise<void> {
    const port = await this.#port();
    const known = this.#byPort.get(port) ?? { pid: processAt(port), ms: 0 };
    this.#byPort.set(port, known);
    if (known.pid !== undefined) known.ms = cpuMsIn(readFileSync(`/proc/${known.pid}/stat`, "utf8"));
  }

  stop(): void {
    clearInterval(this.#timer);
  }
}
