// Changes after which the merchant is not the user's any more.
import { onlineManager, type QueryClient, useMutation, useQueryClient } from "@tanstack/react-query";
import { call, type InputOf, type OperationId } from "../api/call.ts";

/** Leaves the merchant's pages by loading the console anew: nothing that was read of it may be read again. */
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

/** Nothing is read while the departure is sent, such as what a live update names, nor after it: it would not be found. */
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
