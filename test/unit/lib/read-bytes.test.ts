import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { readBytes } from "../../../src/lib/read-bytes.ts";

const BROKEN = new Error("connection lost");

/** A body with these chunks, each sent on demand. After the last chunk it ends, breaks off or hangs. */
function bodyOf(chunks: readonly Uint8Array[], end: "ends" | "breaks" | "hangs" = "ends") {
  const seen = { asked: 0, isCancelled: false };
  const body = new ReadableStream<Uint8Array>(
    {
      pull(controller) {
        const chunk = chunks[seen.asked++];
        if (chunk !== undefined) return controller.enqueue(chunk);
        if (end === "ends") return controller.close();
        if (end === "breaks") return controller.error(BROKEN);
        return new Promise(() => {});
      },
      cancel() {
        seen.isCancelled = true;
        // The sender never confirms that it has stopped.
        return new Promise(() => {});
      },
    },
    { highWaterMark: 0 },
  );
  return { body, seen };
}

const chunk = fc.uint8Array({ minLength: 1, maxLength: 40 });
const chunks = fc.array(chunk, { maxLength: 12 });
const whole = (parts: readonly Uint8Array[]) => new Uint8Array(parts.flatMap((part) => [...part]));

describe("reading a body", () => {
  it("returns the complete body if it is within the limit, and otherwise only its first keptBytes bytes", async () => {
    const size = fc.nat(300);
    await fc.assert(
      fc.asyncProperty(chunks, size, size, async (parts, limitBytes, keptBytes) => {
        const all = whole(parts);
        const { body, seen } = bodyOf(parts);
        const read = await readBytes(body, { limitBytes, keptBytes });
        const isWhole = all.length <= limitBytes;
        expect([read.isWhole, seen.isCancelled]).toEqual([isWhole, !isWhole]);
        const came = whole(parts.slice(0, seen.asked));
        expect([...read.bytes]).toEqual([...(isWhole ? all : came.subarray(0, keptBytes))]);
      }),
    );
  });

  it("reads no chunk after the chunk that exceeds the limit", async () => {
    const { body, seen } = bodyOf(Array.from({ length: 9 }, () => new Uint8Array(10)));
    expect((await readBytes(body, { limitBytes: 25 })).isWhole).toBe(false);
    expect(seen.asked).toBe(3);
  });

  it("reads only the first chunk when the limit is 0", async () => {
    const { body, seen } = bodyOf([Uint8Array.of(1, 2, 3), Uint8Array.of(4)], "hangs");
    const read = await readBytes(body, { limitBytes: 0, keptBytes: 2 });
    expect([[...read.bytes], read.isWhole, seen.asked]).toEqual([[1, 2], false, 1]);
  });

  it("returns an empty result with isWhole set when there is no body", async () => {
    expect(await readBytes(null, { limitBytes: 0 })).toEqual({ bytes: new Uint8Array(), isWhole: true });
  });

  it("rejects with the error of a body that breaks off, but with keepsBroken returns the bytes that arrived before the error", async () => {
    const parts = [Uint8Array.of(1, 2), Uint8Array.of(3)];
    const limits = { limitBytes: 100, keptBytes: 100 };
    await expect(readBytes(bodyOf(parts, "breaks").body, limits)).rejects.toBe(BROKEN);
    const kept = await readBytes(bodyOf(parts, "breaks").body, { ...limits, keepsBroken: true });
    expect([[...kept.bytes], kept.isWhole]).toEqual([[1, 2, 3], false]);
  });

  it("rejects with the signal's reason if the signal aborts while the body hangs", async () => {
    const abort = new AbortController();
    const { body, seen } = bodyOf([Uint8Array.of(1)], "hangs");
    const reading = readBytes(body, { limitBytes: 100, signal: abort.signal });
    const reason = new Error("no answer within the limit");
    abort.abort(reason);
    await expect(reading).rejects.toBe(reason);
    expect(seen.isCancelled).toBe(true);
  });
});
