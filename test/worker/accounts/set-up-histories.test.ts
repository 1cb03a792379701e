// Random histories of set-up links: links are created, replaced, expired and redeemed by several users at once, in several deployments of one
// database, with clocks that jump. At most one passkey and one user may result from a link, and only one deployment may be the "first".
import "@simplewebauthn/server";
import "@simplewebauthn/server/helpers";
import { env } from "cloudflare:workers";
import fc from "fast-check";
import { afterEach, expect, test, vi } from "vitest";
import { openDb } from "../../../src/platform/db/client.ts";
import { deployment, setUpLinks } from "../../../src/platform/db/schema/deployment.ts";
import { passkeys, users } from "../../../src/platform/db/schema/users.ts";
import type { Answer } from "../../support/access.ts";
import { HERE, makeLink, production, redeem, undoSetUp } from "../../support/production.ts";
import { triesOf } from "../../support/property-runs.ts";

const db = openDb(env.DB);

type Step =
  | { readonly kind: "make" }
  /** Several browsers redeem one of the created links at once, with one email address or different ones. */
  | { readonly kind: "redeem"; readonly link: number; readonly browsers: number; readonly isOneAddress: boolean }
  /** The clock jumps by this many hours, forwards or back. */
  | { readonly kind: "jump"; readonly hours: number }
  | { readonly kind: "look" };

const step: fc.Arbitrary<Step> = fc.oneof(
  { arbitrary: fc.constant({ kind: "make" } as const), weight: 3 },
  {
    arbitrary: fc.record({
      kind: fc.constant("redeem" as const),
      link: fc.nat(5),
      browsers: fc.integer({ min: 1, max: 3 }),
      isOneAddress: fc.boolean(),
    }),
    weight: 4,
  },
  { arbitrary: fc.record({ kind: fc.constant("jump" as const), hours: fc.integer({ min: -30, max: 30 }) }), weight: 1 },
  { arbitrary: fc.constant({ kind: "look" } as const), weight: 1 },
);

afterEach(() => vi.useRealTimers());

test("a set-up link creates at most one user and one passkey, and the deployment is set up only once", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 2, maxLength: 12 }), async (steps) => {
      await undoSetUp();
      await db.delete(users);
      await db.delete(passkeys);
      vi.useFakeTimers({ toFake: ["Date"], now: Date.now() });
      const sends = [production(), production()];
      const links: { readonly token: string; readonly endMs: number; won: number }[] = [];
      let firstMs: number | undefined;
      for (const each of steps) {
        switch (each.kind) {
          case "make":
            links.push({ token: await makeLink(), endMs: Date.now() + 24 * 3_600_000, won: 0 });
            break;
          case "jump":
            vi.setSystemTime(Date.now() + each.hours * 3_600_000);
            break;
          case "look": {
            // Only a redeemed link opens the deployment, which then stays open even if the clock jumps.
            const statuses = await Promise.all(sends.map(async (send) => (await send("/docs")).status));
            expect(statuses).toEqual(statuses.map(() => (firstMs === undefined ? 503 : 200)));
            break;
          }
          case "redeem": {
            const link = links[each.link];
            const token = link?.token ?? "guessed";
            const wasLive = link !== undefined && link.won === 0 && Date.now() < link.endMs;
            const one = `${crypto.randomUUID()}@example.com`;
            const answers = await Promise.all(
              Array.from({ length: each.browsers }, (_, n): Promise<Answer> => {
                const email = each.isOneAddress ? one : `${n}-${one}`;
                return redeem(sends[n % 2] ?? sends[0] ?? production(), { token, email });
              }),
            );
            const won = answers.filter(({ status }) => status === 200).length;
            expect(won).toBe(wasLive ? 1 : 0);
            if (link !== undefined) link.won += won;
            if (won > 0) firstMs ??= Date.now();
          }
        }
        await expectOneEach(links, firstMs);
      }
      vi.useRealTimers();
    }),
    { numRuns: triesOf({ usual: 25, deep: 1_000 }) },
  );
});

async function expectOneEach(links: readonly { readonly won: number }[], firstMs: number | undefined): Promise<void> {
  const redeemed = links.reduce((sum, { won }) => sum + won, 0);
  expect(links.every(({ won }) => won <= 1)).toBe(true);
  const [people, keys, used, states] = await Promise.all([
    db.select().from(users),
    db.select().from(passkeys),
    db.select().from(setUpLinks),
    db.select().from(deployment),
  ]);
  // Each successful redemption names a new address, so it creates a user.
  expect([people.length, keys.length]).toEqual([redeemed, redeemed]);
  expect(people.every(({ operatorSinceMs }) => operatorSinceMs !== null)).toBe(true);
  expect(used.filter(({ usedAtMs }) => usedAtMs !== null)).toHaveLength(redeemed);
  expect(new Set(used.flatMap(({ usedBy }) => (usedBy === null ? [] : [usedBy]))).size).toBe(redeemed);
  expect(states).toEqual(firstMs === undefined ? [] : [{ id: 1, setUpAtMs: firstMs, origin: HERE }]);
}
