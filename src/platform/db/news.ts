// What a committed batch leaves for others to do at once. A statement says what it is, so that no caller can forget to pass it on.

export interface News {
  /** Ids of endpoints for which something is due. */
  readonly wake?: readonly string[];
  /** Invoices whose open checkout pages are out of date, each as `<merchantId> <invoiceId>`. */
  readonly tell?: readonly string[];
}

/** Called once for each committed batch that has such news, with each id once. */
export type Listeners = { readonly [Kind in keyof News]?: (ids: readonly string[]) => void };

const NEWS = Symbol("news");

interface Newsworthy {
  /** A method, whose parameter TypeScript compares both ways: each statement is given the result of its own type. */
  [NEWS](result: unknown): News;
}

/** The same statement, whose batch publishes its news once it has committed. `newsOf` reads them from what the statement returns. */
export function withNews<S extends PromiseLike<unknown>>(statement: S, newsOf: (result: Awaited<S>) => News): S {
  return Object.assign(statement, { [NEWS]: newsOf } satisfies Newsworthy);
}

/** Calls the listeners with the news of the statements of a committed batch; `results`: what each returned, in order. */
export function publish(statements: readonly object[], results: readonly unknown[], { wake, tell }: Listeners): void {
  const news = statements.flatMap((statement, at) => (isNewsworthy(statement) ? [statement[NEWS](results[at])] : []));
  const endpoints = new Set(news.flatMap((each) => each.wake ?? []));
  const pages = new Set(news.flatMap((each) => each.tell ?? []));
  if (endpoints.size > 0) wake?.([...endpoints]);
  if (pages.size > 0) tell?.([...pages]);
}

function isNewsworthy(statement: object): statement is Newsworthy {
  return NEWS in statement;
}
