// A D1 binding that counts calls, and rows read and written as the database reports them. For a build of the product that is never timed.

interface Counts {
  calls: number;
  rowsRead: number;
  /** Includes index entries, which D1 counts as rows. */
  rowsWritten: number;
}

export const noCounts = (): Counts => ({ calls: 0, rowsRead: 0, rowsWritten: 0 });

/** Runs `answer` with a counting database and writes the counts to the answer's headers. */
export async function counted<E extends { readonly DB: D1Database }>(
  env: E,
  answer: (env: E) => Response | Promise<Response>,
): Promise<Response> {
  const counts = noCounts();
  const response = await answer({ ...env, DB: countingDatabase(env.DB, counts) });
  const headers = new Headers(response.headers);
  headers.set("x-bench-d1-calls", String(counts.calls));
  headers.set("x-bench-rows-read", String(counts.rowsRead));
  return new Response(response.body, { status: response.status, headers });
}

/** Wraps a database, and adds the cost of each call to `counts`. */
export function countingDatabase(database: D1Database, counts: Counts): D1Database {
  const originals = new WeakMap<D1PreparedStatement, D1PreparedStatement>();
  const note = <T>(result: D1Result<T>): D1Result<T> => {
    counts.rowsRead += result.meta.rows_read;
    counts.rowsWritten += result.meta.rows_written;
    return result;
  };
  const wrap = (statement: D1PreparedStatement): D1PreparedStatement => {
    const counting = async <T>(work: Promise<D1Result<T>>): Promise<D1Result<T>> => {
      counts.calls++;
      return note(await work);
    };
    /** `raw` and `first` report no counts, so the same statement is run again with `all`. */
    const alsoCounted = () => counting(statement.all());
    const wrapped: D1PreparedStatement = new Proxy(statement, {
      get(of, name) {
        switch (name) {
          case "bind":
            return (...values: unknown[]) => wrap(of.bind(...values));
          case "all":
            return () => counting(of.all());
          case "run":
            return () => counting(of.run());
          case "raw":
            return (...options: []) => alsoCounted().then(() => of.raw(...options));
          case "first":
            return (...column: []) => alsoCounted().then(() => of.first(...column));
          default:
            return Reflect.get(of, name, of);
        }
      },
    });
    originals.set(wrapped, statement);
    return wrapped;
  };
  return new Proxy(database, {
    get(of, name) {
      if (name === "prepare") return (sql: string) => wrap(of.prepare(sql));
      if (name === "batch") {
        return async (statements: D1PreparedStatement[]) => {
          counts.calls++;
          return (await of.batch(statements.map((each) => originals.get(each) ?? each))).map(note);
        };
      }
      const member: unknown = Reflect.get(of, name, of);
      return typeof member === "function" ? member.bind(of) : member;
    },
  });
}
