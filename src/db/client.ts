import { drizzle } from "drizzle-orm/d1";

export type Db = ReturnType<typeof openDb>;

/** By this name a statement of a batch returns the endpoints that the batch has news for. */
export const WAKE_COLUMN = "wake_webhook_id";
/** By this name a statement of a batch returns the invoices whose open checkout pages it has news for, each as `<merchantId> <invoiceId>`. */
export const TELL_COLUMN = "tell_invoice";

type Hear = (news: readonly string[]) => void;

/** Who hears, once a batch stands, of what its statements returned under those names, each once; nobody need remember to tell. */
export interface Listeners {
  readonly wake?: Hear;
  readonly tell?: Hear;
}

export function openDb(d1: D1Database, listeners?: Listeners) {
  return drizzle(listeners === undefined ? d1 : listening(d1, listeners));
}

/** Only what drizzle's client calls. */
function listening(d1: D1Database, { wake, tell }: Listeners): D1Database {
  return {
    prepare: (query) => d1.prepare(query),
    batch: async <T>(statements: D1PreparedStatement[]) => {
      const answers = await d1.batch<T>(statements);
      const rows = answers.flatMap(({ results }) => results);
      pass(rows, WAKE_COLUMN, wake);
      pass(rows, TELL_COLUMN, tell);
      return answers;
    },
    exec: (query) => d1.exec(query),
    withSession: (constraint) => d1.withSession(constraint),
    dump: () => d1.dump(),
  };
}

function pass(rows: readonly unknown[], column: string, hear: Hear | undefined): void {
  const news = new Set(rows.flatMap((row) => textIn(row, column)));
  if (news.size > 0) hear?.([...news]);
}

function textIn(row: unknown, column: string): readonly string[] {
  if (typeof row !== "object" || row === null || !(column in row)) return [];
  const text: unknown = Reflect.get(row, column);
  return typeof text === "string" ? [text] : [];
}
