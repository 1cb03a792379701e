import { isoTime } from "../lib/time.ts";
import type { CustomerRecord } from "./customer.ts";

/** A customer as the wire shows them (decisions 10). */
export function customerBodyOf(customer: CustomerRecord) {
  const { metadata, deletedAtMs } = customer;
  return {
    id: customer.id,
    merchantId: customer.merchantId,
    email: customer.email,
    name: customer.name,
    address: customer.address,
    phoneNumber: customer.phoneNumber,
    metadata: metadata === null ? null : textMembers(metadata),
    createdAt: isoTime(customer.createdAtMs),
    updatedAt: isoTime(customer.updatedAtMs),
    deletedAt: deletedAtMs === null ? null : isoTime(deletedAtMs),
  };
}

function textMembers(json: string): Record<string, string> {
  const parsed: Record<string, string> = JSON.parse(json);
  return parsed;
}
