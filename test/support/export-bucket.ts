// A bucket in memory, in place of R2.
import type { Bucket } from "../../src/platform/merchant-exports/bucket.ts";

export interface MemoryBucket extends Bucket {
  readonly objects: Map<string, Uint8Array>;
}

/** `beforeCall` may throw, as a fault would. */
export function memoryBucket(beforeCall: () => void = () => {}): MemoryBucket {
  const objects = new Map<string, Uint8Array>();
  return {
    objects,
    get: async (key) => {
      beforeCall();
      const content = objects.get(key);
      return content === undefined ? null : { text: async () => new TextDecoder().decode(content) };
    },
    put: async (key, value) => {
      beforeCall();
      objects.set(key, typeof value === "string" ? new TextEncoder().encode(value) : value);
    },
    list: async ({ prefix, delimiter }) => {
      beforeCall();
      const found = [...objects.keys()].filter((key) => key.startsWith(prefix)).sort();
      const rest = (key: string) => key.slice(prefix.length);
      const isBelow = (key: string) => delimiter !== undefined && rest(key).includes(delimiter);
      const folders = found.filter(isBelow).map((key) => `${prefix}${rest(key).split(delimiter ?? "")[0]}${delimiter}`);
      const own = found.filter((key) => !isBelow(key));
      return {
        objects: own.slice(0, 1_000).map((key) => ({ key })),
        delimitedPrefixes: [...new Set(folders)],
        truncated: own.length > 1_000,
      };
    },
    delete: async (keys) => {
      beforeCall();
      for (const key of keys) objects.delete(key);
    },
  };
}
