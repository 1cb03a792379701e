// Updates a watcher's recipients: all of them, in pages, at the start and every hour; in between only new activations.

import { ok } from "../../lib/result.ts";
import { readWithRetry } from "../../platform/db/retry.ts";
import { RecipientBook } from "./recipients.ts";
import { selectNewRecipients, selectRecipients } from "./store.ts";
import { type Step, stored, type WatchDependencies, type WatchMemory } from "./watch-pass.ts";

const PAGE = 20_000;

/** The recipients, including every activation that was stored before this call. */
export async function refreshRecipients(
  deps: Pick<WatchDependencies, "db" | "sleep" | "nowMs">,
  network: string,
  memory: WatchMemory,
): Promise<Step<RecipientBook>> {
  const nowMs = deps.nowMs();
  const { book } = memory;
  if (book === undefined || book.isOld(nowMs)) return loadAll(deps, network, memory);
  const rows = stored(
    await readWithRetry(deps.sleep, async () => selectNewRecipients(deps.db, network, book.refreshFromMs)),
  );
  if (!rows.ok) return rows;
  book.add(rows.value);
  book.noteRefresh(nowMs);
  return ok(book);
}

async function loadAll(
  deps: Pick<WatchDependencies, "db" | "sleep" | "nowMs">,
  network: string,
  memory: WatchMemory,
): Promise<Step<RecipientBook>> {
  const nowMs = deps.nowMs();
  const book = new RecipientBook(nowMs);
  let after = { activatedAtMs: 0, position: 0 };
  for (;;) {
    const from = { network, nowMs, after, limit: PAGE };
    const rows = stored(await readWithRetry(deps.sleep, async () => selectRecipients(deps.db, from)));
    if (!rows.ok) return rows;
    book.add(rows.value);
    const last = rows.value.at(-1);
    if (last === undefined || rows.value.length < PAGE) break;
    after = last;
  }
  memory.book = book;
  return ok(book);
}
