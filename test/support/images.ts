// Small images for tests: valid first bytes, then padding. Our code reads no further.
const ascii = (text: string) => [...text].map((character) => character.charCodeAt(0));

const PNG_HEAD = [0x89, ...ascii("PNG\r\n"), 0x1a, 0x0a, 0, 0, 0, 13, ...ascii("IHDR")];
const filled = (head: readonly number[], size: number) =>
  Uint8Array.from({ length: size }, (_, i) => head[i] ?? (i * 31) % 251);

export const png = (size = 70) => filled(PNG_HEAD, size);
export const jpeg = (size = 70) => filled([0xff, 0xd8, 0xff, 0xe0], size);
export const webp = (size = 70) => {
  const rest = size - 8;
  return filled([...ascii("RIFF"), rest & 255, (rest >> 8) & 255, 0, 0, ...ascii("WEBPVP8 ")], size);
};
