import { describe, expect, it } from "vitest";
import { textStream } from "../../../src/lib/text-stream.ts";

describe("a stream of texts", () => {
  it("contains all texts in order, and reads its source only on demand", async () => {
    const asked: number[] = [];
    async function* texts() {
      for (let n = 0; n < 4; n++) {
        asked.push(n);
        yield n === 2 ? "ż€😀" : `${n}`;
      }
    }
    const reader = textStream(texts()).getReader();
    await reader.read();
    expect(asked.length).toBeLessThan(4);
    reader.releaseLock();
    expect(await new Response(textStream(texts())).text()).toBe("01ż€😀3");
  });

  it("fails with the error of its source, so that an incomplete text is not mistaken for a complete one", async () => {
    async function* broken() {
      yield "a";
      throw new Error("storage is gone");
    }
    await expect(new Response(textStream(broken())).text()).rejects.toThrow("storage is gone");
  });

  it("cancels its source when the reader cancels", async () => {
    let isEnded = false;
    async function* texts() {
      try {
        for (;;) yield "a";
      } finally {
        isEnded = true;
      }
    }
    const reader = textStream(texts()).getReader();
    await reader.read();
    await reader.cancel();
    expect(isEnded).toBe(true);
  });
});
