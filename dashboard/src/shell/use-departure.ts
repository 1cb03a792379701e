// Changes after which the merchant is not the user's any more.
import { onlineManager, useMutation } from "@tanstack/react-query";
import { call, type InputOf, type OperationId } from "../api/call.ts";

/** Leaves the merchant's pages by loading the console anew: nothing that was read of it may be read again. */
export function useDeparture<K extends OperationId>(operation: K) {
  return useMutation({
    mutationFn: async (input: InputOf<K>) => {
      await call(operation, input);
      // Until the page is gone nothing is read anew, such as what a live update of the departure names.
      onlineManager.setOnline(false);
      location.assign("/console");
      // Busy until the page is gone.
      await new Promise<never>(() => {});
    },
  });
}
