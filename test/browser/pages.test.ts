// Tests the checks that every page test runs: each check must find the faults that it is meant to find.
import { createServer } from "node:http";
import { expect, inject, it } from "vitest";
import { listen } from "../support/listen.ts";
import { startVisit } from "../support/page-visit.ts";
import { describeInBrowser, useBrowser } from "./harness.ts";

describeInBrowser("the monitor of a page", () => {
  const browsing = useBrowser();

  it("records requests to other origins, policy violations, errors and layout shifts", async () => {
    const stranger = await listen(createServer((_, response) => response.end()));
    const visit = await startVisit(browsing.browser(), inject("testbed").baseUrl);
    try {
      await visit.page.goto("/sign-in");
      await visit.page.evaluate(`fetch("${stranger.origin}").catch(() => {})`);
      await visit.page.evaluate(
        `document.body.insertAdjacentHTML("beforeend", "<img src=${stranger.origin}/pixel.png>")`,
      );
      await visit.page.evaluate(`setTimeout(() => { throw new Error("oh no"); })`);
      await visit.page.evaluate(`new Promise((done) => requestAnimationFrame(() => {
        document.body.prepend(Object.assign(document.createElement("div"), { style: "height: 300px" }));
        setTimeout(done, 100);
      }))`);
      expect(visit.faults.join("\n")).toMatch(/violates .*connect-src/);
      expect(visit.faults.join("\n")).toMatch(/violates .*img-src/);
      expect(visit.faults).toContain("threw oh no");
      expect(await visit.shifts()).not.toEqual([]);
    } finally {
      await visit.close();
      await stranger.close();
    }
  });

  it("counts bytes as transferred: compressed, and including headers", async () => {
    const { page, loads } = await browsing.visit();
    const response = await page.goto("/openapi.json", { waitUntil: "networkidle" });
    const text = await response?.text();
    const [load] = loads;
    expect(load?.bytes).toBeGreaterThan(1_000);
    expect(load?.bytes).toBeLessThan((text?.length ?? 0) / 2);
  });
});
