// A database that limits an invocation as D1 does: after a number of statements it refuses all others. Each statement of a batch counts, as
// docs/design/platform.md assumes.

/** D1's limit per invocation on the paid plan. */
export const MOST_STATEMENTS = 1_000;

export class StatementLimit {
  /** How many statements the current invocation has run. */
  statements = 0;
  readonly #most: number;

  constructor(most = MOST_STATEMENTS) {
    this.#most = most;
  }

  /** Starts the next invocation. */
  begin(): void {
    this.statements = 0;
  }

  over(d1: D1Database): D1Database {
    const own = new WeakMap<object, D1PreparedStatement>();
    const limited = (statement: D1PreparedStatement): D1PreparedStatement => {
      const proxy = new Proxy(statement, {
        get: (target, name) => {
          const member: unknown = Reflect.get(target, name);
          if (typeof member !== "function") return member;
          if (name === "bind") return (...values: unknown[]) => limited(target.bind(...values));
          return async (...given: unknown[]) => {
            this.#count(1);
            return Reflect.apply(member, target, given);
          };
        },
      });
      own.set(proxy, statement);
      return proxy;
    };
    return new Proxy(d1, {
      get: (target, name) => {
        if (name === "prepare") return (query: string) => limited(target.prepare(query));
        if (name !== "batch") return Reflect.get(target, name);
        return async (statements: readonly D1PreparedStatement[]) => {
          this.#count(statements.length);
          return target.batch(statements.map((each) => own.get(each) ?? each));
        };
      },
    });
  }

  #count(statements: number): void {
    this.statements += statements;
    if (this.statements > this.#most) throw new Error("D1_ERROR: Too many API requests by single Worker invocation.");
  }
}
