// The benchmark's side of the load generator: starts the second process, gives it jobs one at a time, and stops it.
import { type ChildProcess, fork } from "node:child_process";
import { join } from "node:path";
import type { Job, LoadResult, Reply } from "./job.ts";

const GENERATOR = join(import.meta.dirname, "generator.ts");

export interface LoadGenerator {
  /** Runs one job. Throws if any answer was wrong, so that a figure is printed only for work that was done. */
  run(job: Job): Promise<LoadResult>;
  stop(): void;
}

export function startLoadGenerator(): LoadGenerator {
  const child = fork(GENERATOR, [], {
    stdio: ["ignore", "inherit", "inherit", "ipc"],
  });
  return {
    run: async (job) => {
      const reply = await ask(child, job);
      if (reply.kind === "error") throw new Error(`the load generator failed: ${reply.message}`);
      const { failures, requests, firstFailure } = reply.result;
      if (failures > 0) throw new Error(`${failures} of ${requests} answers were wrong, the first: ${firstFailure}`);
      return reply.result;
    },
    stop: () => {
      child.kill();
    },
  };
}

function ask(child: ChildProcess, job: Job): Promise<Reply> {
  return new Promise((resolve, reject) => {
    const onExit = (code: number | null) => reject(new Error(`the load generator ended with ${code}`));
    child.once("exit", onExit);
    child.once("message", (reply: Reply) => {
      child.off("exit", onExit);
      resolve(reply);
    });
    child.send(job);
  });
}
