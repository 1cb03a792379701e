// Processes with a limited number of CPU seconds, measured by the kernel. They run in slices and are stopped in between, so a slow simulator does
// not delay a quick one.
import { type ChildProcess, spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { constants, setPriority } from "node:os";
import { CPU_MARK } from "./bundle.ts";

const TICKS_A_SECOND = 100;
const LOOK_EVERY_MS = 100;
/** A process that uses no CPU for this long counts as hung. */
const LONGEST_SILENCE_MS = 120_000;
const MOST_KEPT = 4_000;

type Ended = { readonly code: number | null; readonly said: string };

export class MeasuredProcess {
  readonly #child: ChildProcess;
  readonly #ended: Promise<Ended>;
  #end: Ended | undefined;
  #said = "";
  cpuSeconds = 0;

  constructor(args: readonly string[], cwd: string, env: Readonly<Record<string, string>>) {
    this.#child = spawn(process.execPath, args, {
      cwd,
      env: { ...process.env, ...env },
      stdio: ["ignore", "ignore", "pipe"],
    });
    if (this.#child.pid !== undefined) setPriority(this.#child.pid, constants.priority.PRIORITY_BELOW_NORMAL);
    this.#child.stderr?.on("data", (part) => {
      this.#said = (this.#said + part).slice(-MOST_KEPT);
    });
    const endWithUs = () => void this.#child.kill("SIGKILL");
    process.once("exit", endWithUs);
    this.#ended = new Promise((resolve) => {
      this.#child.on("close", (code) => {
        process.off("exit", endWithUs);
        const [said = "", seconds] = this.#said.split(CPU_MARK);
        this.cpuSeconds = Number(seconds ?? this.cpuSeconds);
        this.#end = { code, said };
        resolve(this.#end);
      });
    });
  }

  /** Continues for this many more CPU seconds; returns the outcome, or undefined if the process has not ended. */
  async run(seconds: number): Promise<Ended | undefined> {
    const until = this.cpuSeconds + seconds;
    this.#child.kill("SIGCONT");
    let movedAtMs = performance.now();
    for (;;) {
      await Promise.race([this.#ended, new Promise((resolve) => setTimeout(resolve, LOOK_EVERY_MS))]);
      if (this.#end !== undefined) return this.#end;
      const before = this.cpuSeconds;
      this.#measure();
      if (this.cpuSeconds > before) movedAtMs = performance.now();
      if (performance.now() - movedAtMs > LONGEST_SILENCE_MS) return { code: null, said: "waits for ever" };
      if (this.cpuSeconds < until) continue;
      this.#child.kill("SIGSTOP");
      return undefined;
    }
  }

  async kill(): Promise<void> {
    if (this.#end !== undefined) return;
    this.#child.kill("SIGKILL");
    await this.#ended;
  }

  #measure(): void {
    try {
      const stat = readFileSync(`/proc/${this.#child.pid}/stat`, "utf8");
      const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
      this.cpuSeconds = Math.max(this.cpuSeconds, (Number(fields[11]) + Number(fields[12])) / TICKS_A_SECOND);
    } catch {
      // The process has just ended, so the CPU seconds that it printed itself are used.
    }
  }
}
