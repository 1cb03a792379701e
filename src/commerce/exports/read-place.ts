import type { Db } from "../../platform/db/client.ts";
import { selectPlace } from "./store.ts";

/** The position of the line after which an export continues, in the storage call that reads the caller. `merchantId` may be unchecked. */
export function placeReads(db: Db, merchantId: string, table: "payments" | "invoices", id: string | undefined) {
  return [selectPlace(db, merchantId, { table, id: id ?? "" })] as const;
}
