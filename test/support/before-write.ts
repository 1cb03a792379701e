// A request that loses a race for certain: what `meanwhile` does stands after the request has read and before its first write.
import { env } from "cloudflare:workers";
import { type Answer, type Ask, sendWith } from "./access.ts";

export async function sendBeaten(
  path: string,
  ask: Ask,
  meanwhile: () => Promise<unknown>,
  changes: Partial<Env> = {},
): Promise<Answer> {
  let isDone = false;
  const batch = async (statements: D1PreparedStatement[]) => {
    // The first batch of a request is the one that reads who is calling.
    if (isDone) return env.DB.batch(statements);
    const rows = await env.DB.batch(statements);
    isDone = true;
    await meanwhile();
    return rows;
  };
  const DB = new Proxy(env.DB, {
    get(target, name) {
      const value: unknown = name === "batch" ? batch : Reflect.get(target, name);
      return typeof value === "function" && name !== "batch" ? value.bind(target) : value;
    },
  });
  return sendWith({ ...changes, DB }, path, ask);
}
