// Lists: one page, or all of them.

/** One page of a list; `nextCursor` is null on the last. */
export interface Page<T> {
  readonly data: readonly T[];
  readonly nextCursor: string | null;
}

/** `await` returns the first page. `for await` returns every row, and fetches each page when it is needed. */
export type Pages<T, P> = Promise<P> & AsyncIterable<T>;

/** `read` returns the page at a cursor, or the first one without a cursor. The first page is fetched at once. */
export function pagesOf<T, P>(read: (cursor?: string) => Promise<P & Page<T>>): Pages<T, P> {
  const first = read();
  return Object.assign(first, {
    async *[Symbol.asyncIterator](): AsyncGenerator<T> {
      for (let page = await first; ; page = await read(page.nextCursor)) {
        yield* page.data;
        if (page.nextCursor === null) return;
      }
    },
  });
}
