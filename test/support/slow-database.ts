// D1 as it is over a network: most calls take a few milliseconds, and some take many. On a development server each call takes less than one
// millisecond.

/** Call latency in milliseconds: 50 % of calls take less than `p50Ms`, 1 % more than `p99Ms`. */
export interface Latency {
  readonly p50Ms: number;
  readonly p99Ms: number;
}

interface SlowDatabaseOptions {
  readonly read: Latency;
  readonly write: Latency;
  /** In [0, 1). */
  readonly random: () => number;
  readonly wait: (ms: number) => Promise<void>;
}

const REQUESTS = ["first", "all", "run", "raw"] as const;
/** The 99th percentile of the normal distribution, in standard deviations. */
const P99_DEVIATIONS = 2.326;

export function slowDatabase(db: D1Database, of: SlowDatabaseOptions): D1Database {
  const textOf = new WeakMap<D1PreparedStatement, string>();
  const after = async <T>(texts: readonly string[], call: () => Promise<T>): Promise<T> => {
    const isRead = texts.every((text) => /^\s*(select|with)\b/i.test(text));
    await of.wait(latencyMs(isRead ? of.read : of.write, of.random));
    return call();
  };
  const slowed = (statement: D1PreparedStatement, text: string): D1PreparedStatement => {
    textOf.set(statement, text);
    // The method is replaced on the statement itself, because a batch accepts only statements of D1's own class.
    for (const name of REQUESTS) {
      const ask: unknown = Reflect.get(statement, name);
      if (typeof ask !== "function") throw new Error(`a statement of D1 has no ${name}`);
      Reflect.set(statement, name, (...args: unknown[]) => after([text], () => Reflect.apply(ask, statement, args)));
    }
    const { bind } = statement;
    statement.bind = (...values) => slowed(Reflect.apply(bind, statement, values), text);
    return statement;
  };
  return new Proxy(db, {
    get(target, name) {
      if (name === "prepare") return (text: string) => slowed(target.prepare(text), text);
      if (name === "batch")
        return (statements: D1PreparedStatement[]) =>
          after(
            statements.map((each) => textOf.get(each) ?? ""),
            () => target.batch(statements),
          );
      throw new Error(`D1's ${String(name)} is not slowed down`);
    },
  });
}

/** Log-normal, the usual distribution of network latencies. */
function latencyMs({ p50Ms, p99Ms }: Latency, random: () => number): number {
  const normal = Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random());
  return p50Ms * Math.exp((normal * Math.log(p99Ms / p50Ms)) / P99_DEVIATIONS);
}
