// Exports: lines of JSON that are returned as they arrive, and continue after a broken connection.
import type { CallOptions } from "./request.ts";

/** Where an export continues. */
interface ResumePoint {
  readonly asOf?: string | undefined;
  readonly after?: string | undefined;
}

/**
 * Every line of an export, each once. Throws like any call, and throws the connection's error if no further line has arrived since the last break.
 */
export async function* linesOf<Line extends { readonly id: string | null }>(
  open: (place: ResumePoint) => Promise<Response>,
  { signal }: CallOptions = {},
): AsyncGenerator<Line> {
  let place: ResumePoint = {};
  for (;;) {
    const began = place.after;
    const response = await open(place);
    // Sums at the end have no id. They are sent again after a break, so none is returned before all have arrived.
    const sums: Line[] = [];
    const asOf = place.asOf ?? response.headers.get("export-as-of") ?? undefined;
    try {
      for await (const text of textLines(await bodyOf(response), signal)) {
        const line: Line = JSON.parse(text);
        if (line.id === null) {
          sums.push(line);
          continue;
        }
        place = { asOf, after: line.id };
        yield line;
      }
      yield* sums;
      return;
    } catch (error) {
      signal?.throwIfAborted();
      if (place.after === began) throw error;
    }
  }
}

export async function bodyOf(response: Response | Promise<Response>): Promise<ReadableStream<Uint8Array>> {
  const { body } = await response;
  return body ?? new ReadableStream({ start: (controller) => controller.close() });
}

/** The lines of a stream of text. */
async function* textLines(body: ReadableStream<Uint8Array>, signal: AbortSignal | undefined): AsyncGenerator<string> {
  const reader = body.getReader();
  const decoder = new TextDecoder();
  let rest = "";
  try {
    for (;;) {
      signal?.throwIfAborted();
      const { done, value } = await reader.read();
      const lines = (rest + decoder.decode(value, { stream: !done })).split("\n");
      rest = lines.pop() ?? "";
      yield* lines;
      if (!done) continue;
      if (rest !== "") yield rest;
      return;
    }
  } finally {
    await reader.cancel().catch(() => undefined);
  }
}
