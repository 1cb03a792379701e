// Limits on emailed codes: one that all networks of a /48 share, and one for each browser that has signed in before.
import { eq, sql } from "drizzle-orm";
import { describe, expect, it } from "vitest";
import { HOUR_MS } from "../../../src/lib/time.ts";
import { emailCodes } from "../../../src/platform/db/schema/users.ts";
import { expectRefusal } from "../../support/access.ts";
import { type Browser, freshEmail, mailsTo, newBrowser, signIn } from "../../support/browser.ts";
import { testDb } from "../../support/worker-merchant.ts";

const START = "/api/v1/auth/email/start";
const from = (ip: string) => newBrowser({ "cf-connecting-ip": ip });

/** Sends `count` requests for a code one after another; returns their statuses. */
async function asked(count: number, ask: (n: number) => ReturnType<Browser["post"]>): Promise<readonly number[]> {
  const statuses: number[] = [];
  for (let n = 0; n < count; n++) statuses.push((await ask(n)).status);
  return statuses;
}
const served = (statuses: readonly number[]) => statuses.filter((status) => status === 202).length;

describe("codes for the networks of one /48", () => {
  it("are limited to 80 an hour in total, and the next /48 has its own limit", async () => {
    const statuses = await asked(100, (n) =>
      from(`2001:db8:77:${n.toString(16)}::1`).post(START, { email: freshEmail() }),
    );
    expect(served(statuses)).toBe(80);
    expectRefusal(await from("2001:db8:77:ffff::1").post(START, { email: freshEmail() }), 429, "RATE_LIMITED");
    expect((await from("2001:db8:78::1").post(START, { email: freshEmail() })).status).toBe(202);
    await testDb
      .update(emailCodes)
      .set({ createdAtMs: sql`created_at_ms - ${HOUR_MS}` })
      .where(eq(emailCodes.site, "2001:db8:77/48"));
    expect((await from("2001:db8:77::1").post(START, { email: freshEmail() })).status).toBe(202);
  });

  it("are limited to 20 an hour for one email address, even in parallel requests", async () => {
    const email = freshEmail();
    const answers = await Promise.all(
      Array.from({ length: 26 }, (_, n) => from(`2001:db8:79:${n.toString(16)}::1`).post(START, { email })),
    );
    expect([served(answers.map(({ status }) => status)), (await mailsTo(email)).length]).toEqual([20, 20]);
  });
});

describe("codes for a browser that has signed in to the address before", () => {
  it("are limited to 20 an hour, and another known browser of the address has its own limit", async () => {
    const email = freshEmail();
    const [mine, other] = [from("203.0.113.200"), from("203.0.113.200")];
    await signIn(mine, email);
    await signIn(other, email);
    const statuses = await asked(30, () => mine.post(START, { email }));
    expect(statuses).toEqual([...Array<number>(20).fill(202), ...Array<number>(10).fill(429)]);
    const refused = await mine.post(START, { email });
    expectRefusal(refused, 429, "RATE_LIMITED");
    expect(Number(refused.headers.get("retry-after"))).toBeGreaterThan(3_500);
    expect((await other.post(START, { email })).status).toBe(202);
    await testDb
      .update(emailCodes)
      .set({ createdAtMs: sql`created_at_ms - ${HOUR_MS}` })
      .where(eq(emailCodes.emailKey, email));
    expect((await mine.post(START, { email })).status).toBe(202);
  });

  it("are limited to 20 even in parallel requests from many networks", async () => {
    const email = freshEmail();
    const mine = from("203.0.113.201");
    await signIn(mine, email);
    const known = mine.cookies().known ?? "";
    const answers = await Promise.all(
      Array.from({ length: 26 }, (_, n) =>
        newBrowser({ "cf-connecting-ip": `198.51.100.${n}`, cookie: `known=${known}` }).post(START, { email }),
      ),
    );
    expect(served(answers.map(({ status }) => status))).toBe(20);
  });

  it("are limited to 100 an hour for one address, however many browsers have signed in to it", async () => {
    const email = freshEmail();
    let count = 0;
    for (let n = 0; n < 7; n++) {
      const browser = from(`192.0.2.${n}`);
      await signIn(browser, email);
      count += served(await asked(20, () => browser.post(START, { email })));
    }
    expect(count).toBe(100);
  });
});
