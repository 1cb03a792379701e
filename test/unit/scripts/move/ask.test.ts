import { PassThrough } from "node:stream";
import { expect, it } from "vitest";
import { ask } from "../../../../scripts/move/ask.ts";

/** A terminal that records the order of operations. Each answer is typed as soon as its question appears. */
function terminalOf(answer: string | undefined) {
  const done: string[] = [];
  const input = Object.assign(new PassThrough(), {
    isTTY: true,
    setRawMode: (isRaw: boolean) => done.push(isRaw ? "echo off" : "echo on"),
  });
  const output = new PassThrough();
  output.on("data", (chunk) => {
    done.push(String(chunk));
    if (!String(chunk).includes("Key: ")) return;
    if (answer === undefined) input.end();
    else input.write(`${answer}\n`);
  });
  return { terminal: { input, output }, done };
}

it("a secret is requested only once the terminal no longer echoes, and is not shown", async () => {
  const { terminal, done } = terminalOf("hunter2");
  expect(await ask(terminal, "Key: ", false)).toBe("hunter2");
  expect(done.indexOf("echo off")).toBeLessThan(done.indexOf("Key: "));
  expect(done.join("")).not.toContain("hunter2");
  expect(done).toContain("echo on");
});

it("an answer that is not secret is shown while it is typed", async () => {
  const { terminal, done } = terminalOf("yes");
  expect(await ask(terminal, "Key: ", true)).toBe("yes");
  expect(done.join("")).toContain("yes");
});

it.each([true, false])("an input that ends counts as no answer (shown: %s)", async (isShown) => {
  const { terminal } = terminalOf(undefined);
  await expect(ask(terminal, "Key: ", isShown)).rejects.toThrow("Ended without an answer.");
});
