const EVERY_MS = 100;

/** Reads again and again until `isIt` holds, and gives that reading. After `boundMs` it throws with the last one. */
export async function until<T>(read: () => Promise<T>, isIt: (value: T) => boolean, boundMs: number): Promise<T> {
  const lateAtMs = Date.now() + boundMs;
  for (;;) {
    const value = await read();
    if (isIt(value)) return value;
    if (Date.now() >= lateAtMs) {
      throw new Error(
        `not within ${boundMs} ms: ${isIt}\nlast read: ${JSON.stringify(value, null, 1)?.slice(0, 4_000)}`,
      );
    }
    await new Promise((resolve) => setTimeout(resolve, EVERY_MS));
  }
}
