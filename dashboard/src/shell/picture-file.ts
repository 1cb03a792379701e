// A picture from a file: the API accepts a data URL of a PNG, JPEG or WebP of at most 32 KB.

export const PICTURE_TYPES = ["image/png", "image/jpeg", "image/webp"] as const;
const MOST_BYTES = 32 * 1_024;
/** The side lengths in pixels to which a larger picture is scaled down, one after the other, until it fits. */
const SIDES = [1_024, 640, 400, 256];
const QUALITY = 0.85;

/** For a file field's `accept`. */
export const ACCEPTED = PICTURE_TYPES.join(",");

/** The file as a data URL that the service accepts; throws if it is not a picture, or is too large at every size. */
export async function fittingDataUrl(file: File): Promise<string> {
  const isFit = file.size <= MOST_BYTES && PICTURE_TYPES.some((type) => type === file.type);
  if (isFit) return dataUrlOf(file);
  const bitmap = await createImageBitmap(file);
  for (const side of SIDES) {
    const smaller = await drawn(bitmap, side);
    if (smaller.size <= MOST_BYTES) return dataUrlOf(smaller);
  }
  throw new Error("no size fits");
}

async function drawn(bitmap: ImageBitmap, side: number): Promise<Blob> {
  const scale = Math.min(1, side / Math.max(bitmap.width, bitmap.height));
  const canvas = new OffscreenCanvas(Math.max(1, bitmap.width * scale), Math.max(1, bitmap.height * scale));
  const context = canvas.getContext("2d");
  if (context === null) throw new Error("no canvas");
  context.drawImage(bitmap, 0, 0, canvas.width, canvas.height);
  return canvas.convertToBlob({ type: "image/webp", quality: QUALITY });
}

function dataUrlOf(blob: Blob): Promise<string> {
  return new Promise((resolve, reject) => {
    const reader = new FileReader();
    reader.onload = () => resolve(String(reader.result));
    reader.onerror = () => reject(reader.error);
    reader.readAsDataURL(blob);
  });
}
