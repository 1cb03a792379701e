import { describe, expect, it } from "vitest";
import { bundleWorker } from "../../../../bench/bundle.ts";

describe("the Worker", () => {
  it("contains no API reference, document generator, translation, or checkout script or style", async () => {
    const { code, texts, metafile } = await bundleWorker({ file: "src/app/worker.ts" });
    const ours = Object.keys(metafile.inputs);
    expect(ours).toContain("src/app/docs/reference.ts");
    expect(ours.filter((path) => /\/(?:openapi|docs|json-schema|tools)\.ts$|\/browser\/|\.css$/.test(path))).toEqual(
      [],
    );
    expect(code).not.toContain('"openapi":');
    expect(texts.map(({ path }) => path).sort()).toEqual(
      "ar.jsonc de.jsonc es.jsonc fr.jsonc ja.jsonc pt.jsonc ru.jsonc style.generated.txt tr.jsonc zh.jsonc".split(" "),
    );
    for (const { path, contents } of texts) {
      const part = path.endsWith(".jsonc") ? JSON.parse(contents).problemNotFound : contents.slice(0, 100);
      expect(code).not.toContain(part);
    }
    expect(code).toContain("problemNotFound");
  });
});
