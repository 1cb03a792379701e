import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { createServer } from "node:net";
import { describe, expect, it } from "vitest";
import { findFreePort, portIsFree } from "../../../scripts/free-port.ts";
import { descendantsOf, killTree } from "../../../scripts/process-tree.ts";

/** A program whose grandchild listens on a port, as wrangler's runtime does, and which never ends by itself. */
const GRANDCHILD = (port: number) => `require("node:net").createServer().listen(${port}, "127.0.0.1")`;
const CHILD = (port: number) => `
  process.on("SIGTERM", () => {});
  require("node:child_process").spawn(process.execPath, ["-e", ${JSON.stringify(GRANDCHILD(port))}]);
  setInterval(() => {}, 1_000);
`;
const WITHIN_MS = 20_000;

describe("a server that does not end by itself", () => {
  it.runIf(existsSync("/proc"))(
    "is killed together with the process that it started, so that its port is free",
    async () => {
      const port = await findFreePort();
      const child = spawn(process.execPath, ["-e", CHILD(port)], { stdio: "ignore" });
      const { pid } = child;
      if (pid === undefined) throw new Error("did not start");
      try {
        await expect.poll(() => portIsFree(port, 0), { timeout: WITHIN_MS }).toBe(false);
        expect(descendantsOf(pid)).toHaveLength(1);
      } finally {
        killTree(pid);
      }
      expect(await portIsFree(port, WITHIN_MS)).toBe(true);
    },
  );
});

describe("waiting for a port", () => {
  it("ends once the port is free, and gives up at its time limit", async () => {
    const port = await findFreePort();
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(port, "127.0.0.1", resolve));
    expect(await portIsFree(port, 100)).toBe(false);
    const waited = portIsFree(port, WITHIN_MS);
    server.close();
    expect(await waited).toBe(true);
  });
});
