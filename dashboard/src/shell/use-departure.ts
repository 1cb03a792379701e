// For changes that end the user's access to the merchant: leaving the team, or deleting the merchant.
import { onlineManager, type QueryClient, useMutation, useQueryClient } from "@tanstack/react-query";
import { call, type InputOf, type OperationId } from "../api/call.ts";

/** Reloads the console after the change, so that none of the merchant's data is refetched. */
export function useDeparture<K extends OperationId>(operation: K) {
  const client = useQueryClient();
  return useMutation({
    mutationFn: async (input: InputOf<K>) => {
      await call(operation, input, { around: (sending) => departing(client, sending) });
      location.assign("/console");
      // Keeps the mutation pending until the page is reloaded.
      await new Promise<never>(() => {});
    },
  });
}

/**
 * Pauses all reads while the change is sent: a live update about it would trigger refetches. They stay paused after a success, because they would
 * fail.
 */
async function departing<T>(client: QueryClient, sending: () => Promise<T>): Promise<T> {
  onlineManager.setOnline(false);
  await client.cancelQueries();
  try {
    return await sending();
  } catch (error) {
    onlineManager.setOnline(true);
    throw error;
  }
}
