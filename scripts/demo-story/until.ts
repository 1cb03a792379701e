const EVERY_MS = 100;

/** Reads repeatedly until `isIt` is true and returns that value. After `boundMs` throws with the last value. */
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
