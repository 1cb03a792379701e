// Runs a program that ends with this process, however this process ends. A node does not watch its parent, so a shell runs in between: it waits on
// a pipe that only this process holds open, and ends the program when the pipe closes.
import { spawn } from "node:child_process";

const TIED = '"$@" </dev/null & program=$!; read -r _; kill "$program" 2>/dev/null; wait "$program"';

interface TiedProcess {
  /** Ends the program and waits for its end. May be called again. */
  stop(): Promise<void>;
}

/** Starts `command` with its arguments, without output. Ctrl-C in the terminal does not reach it, so the caller must stop it. */
export function spawnTied(command: readonly [string, ...string[]]): TiedProcess {
  const shell = spawn("sh", ["-c", TIED, "sh", ...command], { stdio: ["pipe", "ignore", "ignore"], detached: true });
  const ended = new Promise<void>((resolve) => {
    shell.once("exit", () => resolve());
    shell.once("error", () => resolve());
  });
  return {
    stop: async () => {
      shell.stdin.end();
      await ended;
    },
  };
}
