import { MAX_IMAGE_BYTES, sniffImage } from "../../accounts/images/image.ts";
import { fetchBytes, type Outage } from "../../lib/fetch-text.ts";
import { err, ok, type Result } from "../../lib/result.ts";
import { SECOND_MS } from "../../lib/time.ts";
import type { ImageBytes } from "./image-source.ts";

export type FetchImage = (url: string, init: RequestInit) => Promise<Response>;

const LIMIT_MS = 5 * SECOND_MS;
const ACCEPT = "image/png, image/jpeg, image/webp";

/**
 * Fetches an image from another host, once: follows no redirect, reads at most 32 KB, and waits at most 5 seconds. `url` must have passed
 * `imageSource`. The error is a reason to show to the user, and reveals nothing else about the other host.
 */
export async function fetchImage(fetch: FetchImage, url: string): Promise<Result<ImageBytes, string>> {
  const got = await fetchBytes({ fetch, url, timeoutMs: LIMIT_MS, limitBytes: MAX_IMAGE_BYTES }, ACCEPT);
  if (!got.ok) return err(reasonOf(got.error));
  const type = sniffImage(got.value);
  return type.ok ? ok({ contentType: type.value, bytes: got.value }) : type;
}

const OTHER_STATUS: readonly Outage["kind"][] = ["BAD_STATUS", "RATE_LIMITED", "BANNED", "UNAVAILABLE"];

function reasonOf({ kind }: Outage): string {
  if (kind === "TOO_LARGE") return "it is larger than 32 KB";
  if (kind === "TIMEOUT") return "its address did not answer within 5 seconds";
  if (OTHER_STATUS.includes(kind)) return "its address did not answer with status 200";
  return "its address could not be reached";
}
