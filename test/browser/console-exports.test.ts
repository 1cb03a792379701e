// A long export in the console: its progress, how it is stopped, and a connection that breaks in the middle.
import { once } from "node:events";
import { connect, createServer, type Socket } from "node:net";
import type { CDPSession, Page } from "playwright-core";
import { expect, inject, it } from "vitest";
import type { VisitOptions } from "../support/page-visit.ts";
import { enter } from "./console-entry.ts";
import { findings, untilPage } from "./console-harness.ts";
import { choose, downloaded } from "./console-reports-harness.ts";
import { describeInBrowser, until, useBrowser } from "./harness.ts";
import { emailOf } from "./testbed.ts";

const QUIET = {
  reducedMotion: "reduce",
  alsoSaid: /status of 40[13]|ERR_INTERNET_DISCONNECTED|ERR_CONNECTION|ERR_FAILED|ERR_ABORTED/,
} as const;
/** After how many bytes the first connection is cut, and after how many the second one is. The file is longer than both together. */
const CUTS = [3_000_000, 7_000_000];
/** In bytes per second: slow enough that an export of a hundred thousand invoices takes longer than a minute. */
const SLOW = 100_000;
const PROGRESS_WITHIN_MS = 120_000;

describeInBrowser("an export of a hundred thousand invoices", () => {
  const browsing = useBrowser();

  async function visit(options: VisitOptions = {}) {
    const { baseUrl, many } = inject("testbed");
    const { page } = await browsing.visit({ ...QUIET, ...options });
    await enter(page.context(), baseUrl, emailOf(many.merchantId, "OWNER"));
    const days = { from: new Date(many.firstAtMs).toISOString(), to: new Date().toISOString() };
    const query = new URLSearchParams(Object.entries(days).map(([name, time]) => [name, time.slice(0, 10)]));
    await page.goto(`/console/${many.merchantId}/reports?${query}`);
    await untilPage(page, "Reports");
    return { page, wire: await page.context().newCDPSession(page), many };
  }

  async function setSlow(wire: CDPSession): Promise<void> {
    const conditions = { offline: false, latency: 0, downloadThroughput: SLOW, uploadThroughput: -1 };
    await wire.send("Network.emulateNetworkConditions", conditions);
  }

  /** Makes the browser report that it is offline. Pending requests continue. */
  async function setOffline(wire: CDPSession): Promise<void> {
    const conditions = { offline: true, latency: 0, downloadThroughput: -1, uploadThroughput: -1 };
    await wire.send("Network.emulateNetworkConditions", conditions);
  }

  function throughWire(origin: string): VisitOptions {
    // Live updates are refused for any origin except the service's own, so this error is expected.
    const alsoSaid = new RegExp(`${QUIET.alsoSaid.source}|ERR_INCOMPLETE_CHUNKED_ENCODING|/live\\?\\S+' failed`);
    return { baseURL: origin, alsoAllowed: [origin], alsoSaid };
  }

  /** Waits until more than `least` lines are shown; returns how many. */
  async function untilLines(page: Page, least: number): Promise<number> {
    const shown = page.getByRole("status").filter({ hasText: "rows so far" });
    const read = async () => Number(((await shown.textContent()) ?? "").replace(/\D/g, ""));
    return until(read, (lines) => lines > least, PROGRESS_WITHIN_MS);
  }

  it("shows its progress, and ends without a file when it is stopped", async () => {
    const { page, wire } = await visit();
    const files: string[] = [];
    page.on("download", (file) => files.push(file.suggestedFilename()));
    await setSlow(wire);
    await choose(page, "JSON lines");
    await page.getByRole("button", { name: "Export invoices" }).click();
    const some = await untilLines(page, 0);
    expect(await untilLines(page, some)).toBeGreaterThan(some);
    expect(await page.getByRole("button", { name: "Export invoices" }).isDisabled()).toBe(true);
    await page.getByRole("button", { name: "Stop" }).click();
    await page.getByRole("progressbar").waitFor({ state: "detached" });
    await expect.poll(() => page.getByRole("button", { name: "Export invoices" }).isEnabled()).toBe(true);
    expect(await page.getByRole("alert").count()).toBe(0);
    expect(files).toEqual([]);
  });

  it("is accessible", async () => {
    // Only a lost connection delays an export long enough for the test to examine the page.
    const { page, wire } = await visit(throughWire(await openWire(inject("testbed").baseUrl, "lost")));
    await page.getByRole("button", { name: "Export invoices" }).click();
    await page.getByText("The service cannot be reached.").waitFor({ timeout: PROGRESS_WITHIN_MS });
    await untilLines(page, 0);
    await setOffline(wire);
    await page.getByText("You are offline.").waitFor();
    expect(await findings(page)).toEqual([]);
    await page.getByRole("button", { name: "Stop" }).click();
    await page.getByRole("progressbar").waitFor({ state: "detached" });
  });

  it("continues after a lost connection, and neither loses nor repeats a line", async () => {
    const { page, many } = await visit(throughWire(await openWire(inject("testbed").baseUrl, "found")));
    const asked: URL[] = [];
    page.on("request", (request) => {
      if (request.url().includes("/reports/invoices.csv")) asked.push(new URL(request.url()));
    });
    const { text } = await downloaded(page, "Export invoices");
    expect(asked).toHaveLength(1 + CUTS.length);
    const ids = text.split("\r\n").flatMap((line) => /^inv_\w{26}/.exec(line)?.[0] ?? []);
    expect(ids).toHaveLength(many.count);
    expect(new Set(ids).size).toBe(many.count);
    const [first, second, third] = asked;
    expect(text).toBe(await (await page.request.get(String(first))).text());
    expect(third?.searchParams.get("asOf")).toBe(second?.searchParams.get("asOf"));
    expect(String(third?.searchParams.get("after")) > String(second?.searchParams.get("after"))).toBe(true);
  });

  /**
   * A proxy to the service that breaks connections in the middle of a file, and then stays down or recovers. Returns the proxy's origin; it ends with
   * the process.
   */
  async function openWire(baseUrl: string, then: "lost" | "found"): Promise<string> {
    const { hostname, port } = new URL(baseUrl);
    const cuts = [...CUTS];
    const connections = new Set<Socket>();
    const end = () => {
      wire.close();
      for (const each of connections) each.destroy();
    };
    const wire = createServer((near) => {
      connections.add(near);
      const far = connect(Number(port), hostname);
      let bytes = 0;
      far.on("data", (part) => {
        bytes += part.length;
        if (bytes < (cuts[0] ?? Number.POSITIVE_INFINITY)) return;
        cuts.shift();
        if (then === "found") near.destroy();
        else end();
      });
      for (const [one, other] of [
        [near, far],
        [far, near],
      ] as const) {
        one.on("error", () => other.destroy());
        one.on("close", () => other.destroy());
        one.pipe(other);
      }
    });
    wire.unref().listen(0, hostname);
    await once(wire, "listening");
    const address = wire.address();
    if (address === null || typeof address === "string") throw new Error("the wire has no port");
    return `http://${hostname}:${address.port}`;
  }
});
