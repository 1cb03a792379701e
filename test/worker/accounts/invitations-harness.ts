import { eq } from "drizzle-orm";
import { invitations } from "../../../src/platform/db/schema/teams.ts";
import { testDb } from "../../support/worker-merchant.ts";

export const expire = (id: string) =>
  testDb
    .update(invitations)
    .set({ expiresAtMs: Date.now() - 1 })
    .where(eq(invitations.id, id as `tin_${string}`));
