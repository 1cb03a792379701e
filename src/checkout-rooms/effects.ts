// Telling open pages, for whoever opens the database.
import type { CheckoutRoomRpc } from "./checkout-room.ts";

/** `invoices`: each as `<merchantId> <invoiceId>`. Rejects when a room could not be told; its pages look for themselves. */
export async function tellRooms(
  { CHECKOUT_ROOM }: Pick<Env, "CHECKOUT_ROOM">,
  invoices: readonly string[],
): Promise<void> {
  const byMerchant = Map.groupBy(
    invoices.map((invoice) => invoice.split(" ")),
    ([merchantId]) => merchantId ?? "",
  );
  await Promise.all(
    [...byMerchant].map(async ([merchantId, pages]) => {
      const room: CheckoutRoomRpc = CHECKOUT_ROOM.getByName(merchantId);
      await room.tell(pages.flatMap(([, invoiceId = ""]) => invoiceId));
    }),
  );
}
