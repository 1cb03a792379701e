// Entries of the log as a file, read page after page by the route of the list. The cursor goes back in time, so new entries shift nothing: the
// file has every entry that existed at the start.
import { headOf } from "../../../src/commerce/exports/line-format.ts";
import { csvRecord } from "../../../src/lib/csv.ts";
import { ApiError, isPassing } from "../api/errors.ts";
import type { AuditEvent } from "../api/operations.ts";

const AT_ONCE = 100;
/** A user has 300 requests a minute for everything they have open: this leaves them a third. */
const PAUSE_MS = 300;
/** A failing page is retried for five minutes. */
const TRY_AGAIN_MS = 5_000;
const TRIES = 60;

const COLUMNS = [
  "time",
  "actor_kind",
  "actor_id",
  "actor_name",
  "action",
  "target",
  "before",
  "after",
  "ip",
  "request_id",
];

interface Place {
  readonly cursor?: string;
  readonly page?: number;
  readonly limit: number;
}

interface Page {
  readonly data: readonly AuditEvent[];
  readonly nextCursor: string | null;
  /** If a page was requested by number. */
  readonly pagination?: { readonly total: number } | undefined;
}

export interface Progress {
  readonly read: number;
  readonly total: number;
}

export interface Source {
  readonly read: (place: Place) => Promise<Page>;
  /** "" if no name is known. */
  readonly nameOf: (actor: AuditEvent["actor"]) => string;
  readonly onProgress: (progress: Progress) => void;
  /** Throws once the export is stopped. */
  readonly wait: (ms: number) => Promise<void>;
}

/** As CSV. */
export async function exportEntries({ read, nameOf, onProgress, wait }: Source): Promise<Blob> {
  const { pagination } = await triedAgain(() => read({ page: 1, limit: 1 }), wait);
  // A browser keeps large blobs on disk.
  const parts = [new Blob([headOf("csv", COLUMNS)])];
  let [count, cursor]: [number, string | undefined] = [0, undefined];
  for (;;) {
    const place: Place = { limit: AT_ONCE, ...(cursor === undefined ? {} : { cursor }) };
    const { data, nextCursor }: Page = await triedAgain(() => read(place), wait);
    parts.push(new Blob([data.map((entry) => csvRecord(fieldsOf(entry, nameOf))).join("")]));
    count += data.length;
    onProgress({ read: count, total: Math.max(count, pagination?.total ?? 0) });
    if (nextCursor === null) return new Blob(parts, { type: "text/csv;charset=utf-8" });
    cursor = nextCursor;
    await wait(PAUSE_MS);
  }
}

async function triedAgain<T>(read: () => Promise<T>, wait: Source["wait"]): Promise<T> {
  for (let tried = 1; ; tried++) {
    try {
      return await read();
    } catch (error) {
      const mayPass = isPassing(error) || (error instanceof ApiError && error.code === "RATE_LIMITED");
      if (!mayPass || tried === TRIES) throw error;
      await wait(TRY_AGAIN_MS);
    }
  }
}

function fieldsOf(entry: AuditEvent, nameOf: Source["nameOf"]): readonly string[] {
  const { createdAt, actor, action, target, before, after, ip, requestId } = entry;
  return [
    createdAt,
    actor.kind,
    actor.id ?? "",
    nameOf(actor),
    action,
    target,
    before === null ? "" : JSON.stringify(before),
    after === null ? "" : JSON.stringify(after),
    ip ?? "",
    requestId ?? "",
  ];
}
