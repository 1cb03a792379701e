// Brings a watcher's book of recipients up to date: whole at the start and every hour, in pages; in between what was activated since.
import { readWithRetry } from "../db/retry.ts";
import { ok } from "../lib/result.ts";
import { type Step, stored, type WatchEffects, type WatchMemory } from "./commit-cursor.ts";
import { RecipientBook } from "./recipients.ts";
import { selectNewRecipients, selectRecipients } from "./store.ts";

const PAGE = 5_000;

/** The book, with every activation that stood when this was called. */
export async function refreshRecipients(
  fx: Pick<WatchEffects, "db" | "sleep" | "nowMs">,
  network: string,
  memory: WatchMemory,
): Promise<Step<RecipientBook>> {
  const nowMs = fx.nowMs();
  const { book } = memory;
  if (book === undefined || book.isOld(nowMs)) return loadAll(fx, network, memory);
  const rows = stored(
    await readWithRetry(fx.sleep, async () => selectNewRecipients(fx.db, network, book.refreshFromMs)),
  );
  if (!rows.ok) return rows;
  book.add(rows.value);
  book.noteRefresh(nowMs);
  return ok(book);
}

async function loadAll(
  fx: Pick<WatchEffects, "db" | "sleep" | "nowMs">,
  network: string,
  memory: WatchMemory,
): Promise<Step<RecipientBook>> {
  const nowMs = fx.nowMs();
  const book = new RecipientBook(nowMs);
  let after = { activatedAtMs: 0, position: 0 };
  for (;;) {
    const from = { network, nowMs, after, limit: PAGE };
    const rows = stored(await readWithRetry(fx.sleep, async () => selectRecipients(fx.db, from)));
    if (!rows.ok) return rows;
    book.add(rows.value);
    const last = rows.value.at(-1);
    if (last === undefined || rows.value.length < PAGE) break;
    after = last;
  }
  memory.book = book;
  return ok(book);
}
