// Reads an export as it arrives and collects it in blobs; browsers keep large blobs on disk. After a lost connection the export continues after the
// last complete record, with the same snapshot time.
import { targetOf } from "../api/call.ts";
import { connection } from "../api/connection.ts";
import { ApiError } from "../api/errors.ts";
import type { Operations } from "../api/operations.ts";
import { type Format, idOf, wholeRecords } from "./records.ts";

export type ExportId = Extract<keyof Operations, `export${"Payments" | "Invoices" | "Statement"}${"" | "Csv"}`>;

export interface Wanted {
  readonly operation: ExportId;
  readonly format: Format;
  readonly merchantId: string;
  readonly query: Readonly<Record<string, string>>;
  readonly fileName: string;
}

/** Called with the number of records that have arrived. */
type OnProgress = (records: number) => void;

export async function download(wanted: Wanted, onProgress: OnProgress, signal: AbortSignal): Promise<void> {
  const kept: Blob[] = [];
  let records = 0;
  let place: Readonly<Record<string, string>> = {};
  for (;;) {
    // The text after the last record with an id. After a lost connection the service sends it again.
    let rest: readonly string[] = [];
    let more = 0;
    try {
      const response = await opened(wanted, place, signal);
      const asOf = response.headers.get("export-as-of") ?? "";
      for await (const { text, count, last } of partsOf(wanted.format, response)) {
        rest = [...rest, text];
        more += count;
        const after = idOf(last);
        if (after !== undefined) {
          place = { asOf, after };
          kept.push(new Blob([...rest]));
          records += more;
          [rest, more] = [[], 0];
        }
        onProgress(records + more);
      }
      save(new Blob([...kept, ...rest]), wanted.fileName);
      return;
    } catch (error) {
      signal.throwIfAborted();
      if (error instanceof ApiError) throw error;
      connection.lost();
      await untilConnected(signal);
    }
  }
}

async function opened(wanted: Wanted, place: Readonly<Record<string, string>>, signal: AbortSignal): Promise<Response> {
  const { operation, merchantId, query } = wanted;
  const { url } = targetOf(operation, { merchantId, query: { ...query, ...place } });
  const response = await fetch(url, { signal });
  connection.found();
  if (response.ok) return response;
  throw new ApiError(response.status, await response.json().catch(() => ({})));
}

interface Part {
  readonly text: string;
  readonly count: number;
  readonly last: string;
}

/** The text that has arrived, split after complete records. */
async function* partsOf(format: Format, { body }: Response): AsyncGenerator<Part> {
  const reader = body?.getReader();
  const decoder = new TextDecoder("utf-8", { ignoreBOM: true });
  let rest = "";
  for (;;) {
    const { done = true, value } = (await reader?.read()) ?? {};
    rest += decoder.decode(value, { stream: !done });
    const { count, end, last } = wholeRecords(format, rest);
    if (count > 0) yield { text: rest.slice(0, end), count, last };
    rest = rest.slice(end);
    if (done) return;
  }
}

function untilConnected(signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const end = connection.subscribe(() => {
      if (connection.isLost()) return;
      end();
      resolve();
    });
    signal.addEventListener("abort", () => {
      end();
      reject(signal.reason);
    });
  });
}

const KEPT_MS = 60_000;

export function save(file: Blob, name: string): void {
  const url = URL.createObjectURL(file);
  const link = document.createElement("a");
  link.href = url;
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(url), KEPT_MS);
}
