import { spawnSync } from "node:child_process";
import { describe, expect, it } from "vitest";
import { bundleWorker } from "../../../../bench/bundle.ts";

describe("the reference", () => {
  it("is what the routes say", () => {
    const { stderr, status } = spawnSync(process.execPath, ["scripts/build-reference.ts", "--check"], {
      encoding: "utf8",
    });
    expect({ stderr, status }).toEqual({ stderr: "", status: 0 });
  });

  it("is not made by the Worker, which has nothing that makes it", async () => {
    const { metafile } = await bundleWorker({ file: "src/app/worker.ts" });
    const ours = Object.keys(metafile.inputs).filter((path) => /^src\/(?:app|platform\/http)\//.test(path));
    expect(ours).toContain("src/app/reference.generated.ts");
    expect(ours.filter((path) => /\/(?:openapi|docs|json-schema)\.ts$/.test(path))).toEqual([]);
  });
});
