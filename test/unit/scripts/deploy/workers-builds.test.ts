// The deploy of a repository that the "Deploy to Cloudflare" button created, as Workers Builds runs it.

import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import { deployInBuild, isWorkersBuild } from "../../../../scripts/deploy/workers-builds.ts";
import { BASE, newOperator, type Operator, surroundingsIn } from "../../../support/deploys.ts";

const DATABASE = { uuid: "11111111-2222-4333-8444-555555555555", name: "edgetill", location: "" };
/** wrangler.toml as the button leaves it. */
const PROVISIONED = {
  ...BASE,
  secrets: { required: ["MASTER_KEY"] },
  d1_databases: [{ ...BASE.d1_databases?.[0], database_id: DATABASE.uuid }],
};

let operator: Operator | undefined;
afterEach(() => operator?.leave());

/** What the button creates before the first build: the resources, and the Worker's secrets. */
function newBuild(base: typeof BASE = PROVISIONED) {
  operator = newOperator();
  const { folder, change, account } = operator;
  writeFileSync(join(folder, "wrangler-toml.json"), JSON.stringify(base));
  const configuration = JSON.parse(JSON.stringify(base));
  const edgetill = { secrets: { MASTER_KEY: "k1:given" }, configuration };
  change({ databases: [DATABASE], queues: ["edgetill-webhooks", "edgetill-jobs"], workers: { edgetill } });
  const build = async () => {
    let printed = "";
    const surroundings = surroundingsIn(folder, (text) => {
      printed += text;
    });
    return { status: await deployInBuild({ ...surroundings, base }), printed };
  };
  return { build, account, change };
}

describe("a build", () => {
  it("is recognised by the variable that Cloudflare sets, and not by those of other CI services", () => {
    expect(isWorkersBuild({ WORKERS_CI: "1", CI: "true" })).toBe(true);
    expect(isWorkersBuild({ CI: "true" })).toBe(false);
  });

  it("applies the migrations, deploys with the existing secrets, and prints the first set-up link once", async () => {
    const { build, account } = newBuild();
    const first = await build();
    expect(first.printed).toMatch(/https:\/\/edgetill\.example\.workers\.dev\/setup#[\w-]{43}\n/);
    expect(first.status).toBe(0);
    expect(account().commands).toEqual([
      "d1 migrations apply DB --remote",
      "deploy --minify",
      expect.stringMatching(/^d1 execute DB --remote --command SELECT count/),
      expect.stringMatching(/^d1 execute DB --remote --command .*INSERT INTO set_up_links/),
    ]);
    expect(account().workers.edgetill?.secrets).toEqual({ MASTER_KEY: "k1:given" });
    const second = await build();
    expect([second.status, second.printed]).toEqual([0, expect.not.stringContaining("/setup#")]);
  });

  it("in a repository without a database creates none, and says what to do", async () => {
    const { build, account } = newBuild(BASE);
    const { status, printed } = await build();
    expect([status, printed]).toEqual([1, expect.stringContaining("names no database yet")]);
    expect(account().commands).toEqual([]);
  });

  it.each(["d1 migrations apply", "deploy", "d1 execute"])(
    "whose `wrangler %s` fails can be retried",
    async (command) => {
      const { build, change } = newBuild();
      change({ failAt: { command, when: "before", message: "The service is unavailable" } });
      const first = await build();
      expect([first.status, first.printed]).toEqual([
        1,
        expect.stringMatching(/What to do: \S.*\nThen retry the build/),
      ]);
      expect((await build()).printed).toContain("/setup#");
    },
  );
});
