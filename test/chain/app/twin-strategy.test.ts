// The twin switches objects to new code as the deploy's configuration says (test/twin/deployment.ts): at once, or after a while, which is the
// platform's default. A small Worker is deployed by real wrangler, and answers with the versions of its edge and its object.
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { WRANGLER } from "../../../scripts/wrangler.ts";
import { randomFrom } from "../../support/random.ts";
import { openTwin, type Twin } from "../../twin/deployment.ts";
import { type Deploying, good } from "../../twin/deploys.ts";
import { switchLines } from "../../twin/report.ts";
import { QUIET_WEATHER } from "../../twin/weather.ts";

const NAME = `booth-${process.pid}`;

const workerOf = (version: number) => `
import { DurableObject } from "cloudflare:workers";
export class Counter extends DurableObject { async version() { return ${version}; } }
export default {
  async fetch(request, env) { return new Response("edge ${version}, object " + await env.COUNTER.getByName("a").version()); },
};`;

let folder: string;
let twin: Twin | undefined;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "edgetill-strategy-"));
});
afterEach(async () => {
  await twin?.stop();
  twin = undefined;
  rmSync(folder, { recursive: true, force: true });
});

/** Deploys a version with real wrangler; without a mode the configuration leaves the strategy to the platform. */
const deploying =
  (version: number, mode?: string): Deploying =>
  (account) => {
    const bindings = [{ name: "COUNTER", class_name: "Counter" }];
    const configuration = {
      name: NAME,
      main: "worker.js",
      compatibility_date: "2026-11-02",
      durable_objects: { bindings, ...(mode === undefined ? {} : { code_update_strategy: { mode } }) },
      migrations: [{ tag: "v1", new_sqlite_classes: ["Counter"] }],
    };
    writeFileSync(join(folder, "wrangler.json"), JSON.stringify(configuration));
    writeFileSync(join(folder, "worker.js"), workerOf(version));
    return good(account, [WRANGLER, "deploy", "--config", join(folder, "wrangler.json")]);
  };

async function opened(mode?: string): Promise<Twin> {
  const opening = await openTwin({
    name: NAME,
    weather: QUIET_WEATHER,
    chainUrl: "http://127.0.0.1:9",
    random: randomFrom(1),
    manners: { twice: 0, latestMs: 0 },
    first: deploying(1, mode),
  });
  twin = opening;
  // On a busy machine the objects' process may not be registered yet when the edge answers.
  await expect.poll(async () => (await opening.ask("/")).text).toBe("edge 1, object 1");
  return opening;
}

describe("an object that is awake during an upgrade", () => {
  it("keeps its code for a while if the deploy has the default strategy", async () => {
    const at = await opened();
    expect(await at.upgrade(deploying(2))).toBe("deferred");
    expect((await at.ask("/")).text).toBe("edge 2, object 1");
    await at.settle();
    // The edge's first call may fail, because its connection led to the old object, which is gone.
    await expect.poll(async () => (await at.ask("/")).text).toBe("edge 2, object 2");
    expect(switchLines(at.switches)).toEqual([
      "  objects switched to the code of an upgrade: deferred, as deployed (1 x)",
    ]);
  }, 240_000);

  it("gets the new code at once if the deploy has the immediate strategy", async () => {
    const at = await opened("immediate");
    expect(await at.upgrade(deploying(2, "immediate"))).toBe("immediate");
    expect((await at.ask("/")).text).toBe("edge 2, object 2");
    expect(await at.upgrade(deploying(3, "immediate"), "deferred")).toBe("deferred");
    expect((await at.ask("/")).text).toBe("edge 3, object 2");
    expect(switchLines(at.switches)).toEqual([
      "  objects switched to the code of an upgrade: immediate, as deployed (1 x)",
      "  objects switched to the code of an upgrade: deferred, although deployed as immediate (1 x)",
    ]);
  }, 240_000);
});
