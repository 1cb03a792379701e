import type { Left } from "../jobs/left.ts";
import type { Bucket } from "./bucket.ts";
import { oldNights, PREFIX } from "./manifest.ts";

/** A list returns at most 1,000 keys, and a delete call accepts as many. */
const LISTS_A_RUN = 20;

/** Deletes a bounded number of objects, from nights that are older than `keepDays`. */
export async function forgetExports(bucket: Bucket, date: string, keepDays: number): Promise<Left> {
  const { delimitedPrefixes } = await bucket.list({ prefix: PREFIX, delimiter: "/" });
  const old = oldNights(delimitedPrefixes, date, keepDays);
  let lists = 0;
  for (const prefix of old) {
    for (let isCut = true; isCut; lists++) {
      if (lists === LISTS_A_RUN) return "more";
      const { objects, truncated } = await bucket.list({ prefix });
      if (objects.length > 0) await bucket.delete(objects.map(({ key }) => key));
      isCut = truncated;
    }
  }
  return "nothing";
}
