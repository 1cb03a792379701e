import type { Keys } from "./key-reservations.ts";

/** The keys, with the operations that run here: other requests of a key wait for its operation instead of looking for its result. */
export function joiningKeys(keys: Keys): Keys {
  const running = new Map<string, Promise<unknown>>();
  return {
    ...keys,
    run: async (hash, work) => {
      const operation = work();
      running.set(hash, operation);
      try {
        return await operation;
      } finally {
        if (running.get(hash) === operation) running.delete(hash);
      }
    },
    ended: async (hash) => {
      await Promise.allSettled([running.get(hash)]);
    },
  };
}
