import { spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { spawnTied } from "../../../../scripts/demo-story/tied-process.ts";
import { until } from "../../../../scripts/demo-story/until.ts";

const WITHIN_MS = 120_000;
const folder = mkdtempSync(join(tmpdir(), "edgetill-tied-"));
afterAll(() => rmSync(folder, { recursive: true }));

/** A program that writes its process id and runs until it gets a signal. On SIGTERM it writes `ended` before it exits. */
const program = (file: string) =>
  ["sh", "-c", `trap 'echo ended >>"$0"; exit' TERM; echo $$ >"$0"; while :; do sleep 0.05; done`, file] as const;

const said = async (file: string) => {
  try {
    return readFileSync(file, "utf8").trim().split("\n");
  } catch {
    return [];
  }
};
const isAlive = (pid: number) => {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
};

describe("a tied process", () => {
  test("gets a signal and has ended when stop returns, even if stop is called twice", async () => {
    const file = join(folder, "stopped");
    const tied = spawnTied(program(file));
    const [pid = ""] = await until(
      () => said(file),
      (lines) => lines.length === 1 && lines[0] !== "",
      WITHIN_MS,
    );
    await tied.stop();
    await tied.stop();
    expect(await said(file)).toEqual([pid, "ended"]);
    expect(isAlive(Number(pid))).toBe(false);
  });

  test("ends when the process that started it is killed with SIGKILL", async () => {
    const file = join(folder, "orphaned");
    const url = new URL("../../../../scripts/demo-story/tied-process.ts", import.meta.url).href;
    const text = `import { spawnTied } from ${JSON.stringify(url)}; spawnTied(${JSON.stringify(program(file))});`;
    const starter = spawn(process.execPath, ["--input-type=module", "-e", text], {
      cwd: resolve("."),
      stdio: "ignore",
    });
    const [pid = ""] = await until(
      () => said(file),
      (lines) => lines.length === 1 && lines[0] !== "",
      WITHIN_MS,
    );
    starter.kill("SIGKILL");
    await until(
      () => said(file),
      (lines) => lines[1] === "ended",
      WITHIN_MS,
    );
    await until(
      async () => isAlive(Number(pid)),
      (alive) => !alive,
      WITHIN_MS,
    );
  });
});
