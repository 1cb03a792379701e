import type { merchants } from "../db/schema/merchants.ts";

export type MerchantRow = typeof merchants.$inferSelect;
