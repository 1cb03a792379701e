// A cold start loads the Worker as it was uploaded, minified and compressed (performance.md "Targets").
import { describe, expect, test } from "vitest";
import { CEILING_GZIP_KIB } from "../../bench/benchmarks/size.ts";
import { bundleWorker, bytesByLibrary } from "../../bench/bundle.ts";

describe("the deployed bundle", () => {
  test(`is at most ${CEILING_GZIP_KIB} KiB, minified and gzipped`, async () => {
    const { gzipBytes, metafile } = await bundleWorker({ file: "src/app/worker.ts" });
    // A bundle without its router, its schemas and its tables would be small for the wrong reason.
    const libraries = bytesByLibrary(metafile).map(([name]) => name);
    expect(libraries).toEqual(
      expect.arrayContaining(["edgetill", "hono", "zod", "drizzle-orm", "@simplewebauthn/server"]),
    );
    expect(gzipBytes / 1_024).toBeLessThanOrEqual(CEILING_GZIP_KIB);
  });
});
