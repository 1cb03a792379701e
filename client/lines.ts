// Exports: lines of JSON that come as they are read, and go on after a broken connection.
import type { CallOptions } from "./request.ts";

/** Where an export goes on. */
interface Place {
  readonly asOf?: string | undefined;
  readonly after?: string | undefined;
}

/** Every line of an export, each once. Throws what a call throws, and what broke the connection if not one more line came since it last broke. */
export async function* linesOf<Line extends { readonly id: string | null }>(
  open: (place: Place) => Promise<Response>,
  { signal }: CallOptions = {},
): AsyncGenerator<Line> {
  let place: Place = {};
  for (;;) {
    const began = place.after;
    const response = await open(place);
    // Sums at the end have no id: they come anew when it goes on, so none is given before all have come.
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

/** The text between line ends. */
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
