// Changes after which the merchant no longer belongs to the user.
import { onlineManager, type QueryClient, useMutation, useQueryClient } from "@tanstack/react-query";
import { call, type InputOf, type OperationId } from "../api/call.ts";

/** Leaves the merchant's pages by reloading the console: none of the merchant's data may be refetched. */
export function useDeparture<K extends OperationId>(operation: K) {
  const client = useQueryClient();
  return useMutation({
    mutationFn: async (input: InputOf<K>) => {
      await call(operation, input, { around: (sending) => departing(client, sending) });
      location.assign("/console");
      // Busy until the page is gone.
      await new Promise<never>(() => {});
    },
  });
}

/** Nothing is read during the departure, even if a live update announces it, nor after it: it would not be found. */
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
