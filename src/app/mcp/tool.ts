// A tool of the Model Context Protocol, as stored in the asset reference/mcp-tools.json, and the API request that a tool call becomes.

export interface Tool {
  /** The operation's id in snake case: `create_invoice`. */
  readonly name: string;
  readonly title: string;
  readonly description: string;
  readonly hints: {
    readonly readOnlyHint: boolean;
    readonly destructiveHint: boolean;
    readonly idempotentHint: boolean;
    readonly openWorldHint: boolean;
  };
  readonly method: string;
  /** With `:name` in place of each path parameter. */
  readonly path: string;
  /** A key needs at least one of these. */
  readonly permissions: readonly string[];
  /** Whether the route takes an Idempotency-Key. */
  readonly isIdempotent: boolean;
  /** JSON Schema 2020-12 of an object: the members of path, query and body together. */
  readonly input: Readonly<Record<string, unknown>>;
  /** JSON Schema 2020-12 of the route's answer, in the form that `structuredOf` returns. */
  readonly output: Readonly<Record<string, unknown>>;
  /** Whether the route's answer is a plain list. */
  readonly isList: boolean;
  /** Where in the request each argument goes. */
  readonly places: Readonly<Record<string, ArgumentSlot>>;
}

export type ArgumentSlot = "path" | "query" | "body" | "idempotencyKey";

export type Arguments = Readonly<Record<string, unknown>>;

/** The path parameter that is not an argument, because the merchant is always that of the key. */
export const MERCHANT = "merchantId";

/** The member that holds a plain list, because a tool's result must be an object. */
export const LIST = "data";

/** A route's answer as the result of a tool. */
export const structuredOf = ({ isList }: Tool, answer: unknown): Arguments =>
  Object(isList ? { [LIST]: answer } : answer);

/** Names of arguments that the tool does not have. */
export function unknownArguments({ places }: Tool, given: Arguments): readonly string[] {
  return Object.keys(given).filter((name) => !Object.hasOwn(places, name));
}

export interface ToolRequest {
  /** The path, including the query. */
  readonly path: string;
  readonly method: string;
  readonly body: Arguments | undefined;
  readonly idempotencyKey: string | undefined;
}

/** The API request that a tool call becomes. `newKey` gives the idempotency key of a call whose caller gave none. */
export function requestOf(
  { path, method, isIdempotent, places }: Tool,
  given: Arguments,
  of: { readonly merchantId: string; readonly newKey: () => string },
): ToolRequest {
  const placed = (place: ArgumentSlot) =>
    Object.entries(given).filter(([name, value]) => places[name] === place && value !== undefined);
  const inPath = new Map(placed("path").map(([name, value]) => [name, String(value)]));
  // A segment of only dots, even encoded, would change the path, so it becomes empty. An empty segment matches no route.
  const filled = path.replace(/:(\w+)/g, (_, name: string) =>
    encodeURIComponent((name === MERCHANT ? of.merchantId : inPath.get(name)) ?? "").replace(/^\.+$/, ""),
  );
  const query = new URLSearchParams(placed("query").map(([name, value]) => [name, String(value)]));
  const { idempotencyKey = of.newKey() } = given;
  return {
    path: query.size === 0 ? filled : `${filled}?${query}`,
    method,
    body: method === "GET" || method === "DELETE" ? undefined : Object.fromEntries(placed("body")),
    idempotencyKey: isIdempotent ? String(idempotencyKey) : undefined,
  };
}
