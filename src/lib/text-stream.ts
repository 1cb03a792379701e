/** A UTF-8 stream of texts, each requested when the reader wants more. An error in the source fails the stream. */
export function textStream(texts: AsyncIterator<string>): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder();
  return new ReadableStream<Uint8Array>({
    async pull(controller) {
      const next = await texts.next();
      if (next.done === true) controller.close();
      else controller.enqueue(encoder.encode(next.value));
    },
    async cancel() {
      await texts.return?.();
    },
  });
}
