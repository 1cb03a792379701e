// Single-use links and codes that were emailed before a restore. The restored database does not know which were used in the lost period, so none may
// work.
import "@simplewebauthn/server";
import "@simplewebauthn/server/helpers";
import { expect, it } from "vitest";
import { countTry } from "../../../src/accounts/email-codes/store.ts";
import { insertDisableTokens } from "../../../src/commerce/wallet-alerts/store.ts";
import { sha256Hex } from "../../../src/lib/bytes.ts";
import { HOUR_MS } from "../../../src/lib/time.ts";
import { emailCodes, singleUseTokens } from "../../../src/platform/db/schema/users.ts";
import { send } from "../../support/access.ts";
import { copyDatabase } from "../../support/copy-database.ts";
import { seedSession } from "../../support/people.ts";
import { makeLink, production, redeem } from "../../support/production.ts";
import { importLost, restoredEnv } from "../../support/restores.ts";
import { expectStatus } from "../../support/shared-place.ts";
import { ACCEPT, callerWith, freshTeam, freshUser, invited } from "../../support/teams.ts";
import { directWallet } from "../../support/wallet-bodies.ts";
import { testDb } from "../../support/worker-merchant.ts";

const times = { createdAtMs: Date.now(), expiresAtMs: Date.now() + HOUR_MS };

/** Inserts a token of every kind that the table's enum lists. */
async function addTokens(): Promise<readonly string[]> {
  const kinds = singleUseTokens.kind.enumValues;
  const rows = kinds.map((kind) => ({ hash: sha256Hex(crypto.randomUUID()), kind, ...times }));
  await testDb.insert(singleUseTokens).values(rows);
  return rows.map(({ hash }) => hash);
}

/** Inserts an emailed code for every purpose. */
async function addCodes() {
  const common = { email: "ann@example.com", emailKey: "ann@example.com", mac: "m", macKeyId: "k", tries: 0, ...times };
  const rows = emailCodes.purpose.enumValues.map((purpose) => {
    const id = crypto.randomUUID();
    return { ...common, id, purpose, boundTo: id };
  });
  await testDb.insert(emailCodes).values(rows);
  return rows;
}

it("no link, token or code issued before a restore works after it, and an invitation may be sent again", async () => {
  const { team, owner } = await freshTeam();
  const guest = await freshUser();
  const { token: invitation } = await invited(team, owner, guest.email, "ADMIN");
  const { id: walletId } = await expectStatus(owner.as.post(`${team.merchant}/wallets`, directWallet()), 201);
  const disabling = crypto.randomUUID();
  const reader = { hash: sha256Hex(disabling), userId: owner.userId };
  await insertDisableTokens(testDb, [reader], {
    merchantId: team.merchantId,
    walletId,
    nowMs: Date.now(),
    expiresAtMs: times.expiresAtMs,
  });
  const setUp = await makeLink();
  const hashes = await addTokens();
  const codes = await addCodes();
  const putBack = await copyDatabase();
  const restoredToMs = Date.now();
  const member = await expectStatus(guest.as.post(ACCEPT, { token: invitation }), 200);
  await expectStatus(owner.as.delete(`${team.path}/members/${member.id}`), 204);
  await putBack();
  await importLost(restoredEnv(restoredToMs));
  const again = callerWith(await seedSession(guest.userId));
  expect
    .soft(await again.post(ACCEPT, { token: invitation }))
    .toMatchObject({ body: { code: "INVITATION_NOT_FOUND" } });
  const disabled = await send("/api/v1/wallets/disable", { method: "POST", body: { token: disabling } });
  expect.soft(disabled.json).toMatchObject({ code: "LINK_INVALID" });
  expect.soft((await redeem(production(), { token: setUp, email: "eve@example.com" })).json).toMatchObject({
    code: "SETUP_LINK_INVALID",
  });
  const left = await testDb.select({ hash: singleUseTokens.hash }).from(singleUseTokens);
  expect.soft(left.filter(({ hash }) => hashes.includes(hash))).toEqual([]);
  for (const code of codes) expect.soft(await countTry(testDb, { ...code, nowMs: Date.now() })).toEqual([]);
  const inviter = callerWith(await seedSession(owner.userId));
  const body = { email: guest.email, role: "ADMIN" };
  await expectStatus(inviter.post(`${team.path}/invitations`, body), 201);
});
