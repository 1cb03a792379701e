// Where a product's image comes from (decisions 10): an image that the merchant uploaded, bytes in the request itself, or a URL that is fetched once.
// In all three cases we serve the image from our own origin.
import { base64 } from "@scure/base";
import { type ImageType, imageUrl, isImageName, sniffImage } from "../../accounts/images/image.ts";
import type { MerchantId } from "../../lib/ids.ts";
import { publicHttpsUrl } from "../../lib/public-url.ts";
import { err, ok, type Result } from "../../lib/result.ts";

export interface ImageBytes {
  readonly contentType: ImageType;
  readonly bytes: Uint8Array;
}

type ImageSource =
  | { readonly kind: "named"; readonly name: string }
  | ({ readonly kind: "given" } & ImageBytes)
  | { readonly kind: "remote"; readonly url: string };

/**
 * Parses a request's `image`: the name of an uploaded image, its URL as in our responses, a `data:` URL in base64, or an https URL. The error is the
 * reason in IMAGE_REFUSED, to show to the user.
 */
export function imageSource(
  text: string,
  ours: { readonly publicUrl: string; readonly merchantId: MerchantId | string },
): Result<ImageSource, string> {
  const name = nameIn(text, ours);
  if (name !== undefined) return ok({ kind: "named", name });
  if (/^data:/i.test(text)) return given(text);
  const url = publicHttpsUrl(text);
  return url.ok ? ok({ kind: "remote", url: url.value }) : url;
}

/** The image name, if the string is a name or our own URL for one of this merchant's images. */
function nameIn(text: string, ours: Parameters<typeof imageSource>[1]): string | undefined {
  if (isImageName(text)) return text;
  const name = text.slice(-64);
  const { publicUrl, merchantId } = ours;
  return isImageName(name) && text === imageUrl(publicUrl, { merchantId, name }) ? name : undefined;
}

/** The declared type must match the bytes, as in an upload. */
function given(text: string): Result<ImageSource, string> {
  const [, declared = "", data = ""] = /^data:([a-z]+\/[a-z0-9.+-]+);base64,(.*)$/is.exec(text) ?? [];
  const bytes = decode(data);
  if (declared === "" || bytes === undefined)
    return err("its data URL is not base64: expected data:image/png;base64,...");
  const type = sniffImage(bytes);
  if (!type.ok) return type;
  if (type.value !== declared.toLowerCase())
    return err(`its data URL declares another type, but the bytes are ${type.value}`);
  return ok({ kind: "given", contentType: type.value, bytes });
}

function decode(text: string): Uint8Array | undefined {
  try {
    return base64.decode(text);
  } catch {
    return undefined;
  }
}
