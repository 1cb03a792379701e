// Exports that continue after a broken connection must yield every line exactly once, no matter where the connection breaks.
import fc from "fast-check";
import { expect, it } from "vitest";
import { linesOf } from "../../../client/lines.ts";

interface Line {
  readonly id: string | null;
  readonly n: number;
}

const ROWS: readonly Line[] = Array.from({ length: 5 }, (_, n) => ({ id: `pay_${n}`, n }));
const SUMS: readonly Line[] = [5, 6, 7].map((n) => ({ id: null, n }));

/** A response with the lines after the cursor `after`. It breaks off after `breaksAt` bytes, or is complete if that is undefined. */
function responseFrom(after: string | undefined, breaksAt: number | undefined): Response {
  const from = ROWS.findIndex(({ id }) => id === after) + 1;
  const text = [...ROWS.slice(from), ...SUMS].map((line) => `${JSON.stringify(line)}\n`).join("");
  const bytes = new TextEncoder().encode(text).slice(0, breaksAt);
  let isSent = false;
  const body = new ReadableStream<Uint8Array>({
    pull: (controller) => {
      if (!isSent) controller.enqueue(bytes);
      else if (breaksAt === undefined) controller.close();
      else controller.error(new Error("broken"));
      isSent = true;
    },
  });
  return new Response(body, { headers: { "export-as-of": "2026-11-21T12:00:00.000Z" } });
}

it("every line of an export is yielded once, with the sums at the end, no matter where the connection breaks", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(fc.nat({ max: 200 }), { maxLength: 3 }), async (breaks) => {
      const left = [...breaks];
      const seen: Line[] = [];
      const lines = linesOf<Line>(async ({ after }) => responseFrom(after, left.shift()));
      const failed = await (async () => {
        for await (const line of lines) seen.push(line);
      })().catch((error: unknown) => error);
      const all = [...ROWS, ...SUMS];
      // The client gives up, without yielding sums, if no further row has arrived since the last break.
      if (failed === undefined) expect(seen).toEqual(all);
      else expect(seen).toEqual(ROWS.slice(0, seen.length));
    }),
  );
});
