import { describe, expect, it } from "vitest";
import { bundleWorker } from "../../../../bench/bundle.ts";

describe("the Worker", () => {
  it("neither makes the reference nor carries it, nor texts but English, nor script and style of the checkout", async () => {
    const { code, texts, metafile } = await bundleWorker({ file: "src/app/worker.ts" });
    const ours = Object.keys(metafile.inputs);
    expect(ours).toContain("src/app/reference.ts");
    expect(ours.filter((path) => /\/(?:openapi|docs|json-schema)\.ts$|\/browser\/|\.css$/.test(path))).toEqual([]);
    expect(code).not.toContain('"openapi":');
    expect(texts.map(({ path }) => path).sort()).toEqual(
      "ar de es fr ja pt ru tr zh".split(" ").map((name) => `${name}.jsonc`),
    );
    for (const { contents } of texts) expect(code).not.toContain(JSON.parse(contents).problemNotFound);
    expect(code).toContain("problemNotFound");
  });
});
