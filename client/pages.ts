// Lists, as one page and as all of them.

/** One page of a list; `nextCursor` is null on the last. */
export interface Page<T> {
  readonly data: readonly T[];
  readonly nextCursor: string | null;
}

/** `await` gives the first page; `for await` gives every row, and asks for a page when it gets there. */
export type Pages<T, P> = Promise<P> & AsyncIterable<T>;

/** `read` gives the page at a cursor; without one, the first. That one is asked for at once. */
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
