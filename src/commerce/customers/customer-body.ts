import type { GeoLocation } from "../../lib/geo-location.ts";
import { isoTime } from "../../lib/time.ts";
import { parseJson } from "../../lib/typed-json.ts";
import type { CustomerRecord } from "./customer.ts";

/** A customer as responses show them (decisions 10). */
export function customerBodyOf(customer: CustomerRecord) {
  const { metadata, deletedAtMs } = customer;
  return {
    id: customer.id,
    merchantId: customer.merchantId,
    email: customer.email,
    name: customer.name,
    address: customer.address,
    phoneNumber: customer.phoneNumber,
    metadata: metadata === null ? null : parseJson(metadata),
    createdAt: isoTime(customer.createdAtMs),
    updatedAt: isoTime(customer.updatedAtMs),
    deletedAt: deletedAtMs === null ? null : isoTime(deletedAtMs),
  };
}

/** A customer as responses show them, with the location of the latest checkout visit; null if unknown. */
export function locatedCustomerBodyOf(customer: CustomerRecord, location: GeoLocation | undefined) {
  return { ...customerBodyOf(customer), location: location ?? null };
}
