// The parts of a run: the rows read from each table, as lines of JSON, compressed at the end of each merchant and of the run.
import { bytesToHex } from "../../lib/bytes.ts";
import { type ExportedPart, partKey } from "./manifest.ts";
import type { StoredRow } from "./store.ts";

/** Lines of JSON by table. */
export type Lines = Map<string, string[]>;

/** Adds rows in the given order, and returns their length in characters. */
export function addRows(lines: Lines, rows: readonly (readonly [string, readonly StoredRow[]])[]): number {
  let characters = 0;
  for (const [table, found] of rows) {
    if (found.length === 0) continue;
    const own = lines.get(table) ?? [];
    lines.set(table, own);
    for (const row of found) {
      const line = `${JSON.stringify(row)}\n`;
      characters += line.length;
      own.push(line);
    }
  }
  return characters;
}

interface Written {
  readonly part: ExportedPart;
  readonly content: Uint8Array;
}

/** `numbers`: how many parts each table has already. */
export function packParts(
  lines: Lines,
  { folder, numbers }: { readonly folder: string; readonly numbers: Readonly<Record<string, number>> },
): Promise<readonly Written[]> {
  return Promise.all(
    [...lines].map(async ([table, own]) => {
      const content = await gzip(own);
      const key = partKey(folder, table, (numbers[table] ?? 0) + 1);
      const part = { key, table, rows: own.length, bytes: content.length, sha256: await sha256Of(content) };
      return { part, content };
    }),
  );
}

async function sha256Of(bytes: Uint8Array<ArrayBuffer>): Promise<string> {
  return bytesToHex(new Uint8Array(await crypto.subtle.digest("SHA-256", bytes)));
}

async function gzip(texts: readonly string[]): Promise<Uint8Array<ArrayBuffer>> {
  const packed = new Blob([...texts]).stream().pipeThrough(new CompressionStream("gzip"));
  return new Uint8Array(await new Response(packed).arrayBuffer());
}
