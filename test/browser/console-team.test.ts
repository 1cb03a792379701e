// The team: a user is invited, joins, gets another role, is locked out by a required factor, becomes the owner and removes the old one.
import type { Page } from "playwright-core";
import { expect, inject, it } from "vitest";
import { enter } from "./console-entry.ts";
import { EXPECTED_IN_CONSOLE, findings, freshAddress, untilPage } from "./console-harness.ts";
import { openMerchant } from "./console-merchant.ts";
import { describeInBrowser, useBrowser } from "./harness.ts";
import { changeDatabase } from "./testbed.ts";

/** Turns transitions off, because Mantine removes an element only once its transition has ended. */
const QUIET = { reducedMotion: "reduce", alsoSaid: EXPECTED_IN_CONSOLE } as const;

describeInBrowser("a team", () => {
  const browsing = useBrowser();
  const dialog = (page: Page) => page.getByRole("dialog");

  it("can be managed: its owner invites a member, changes roles, requires a second factor, and transfers ownership", async () => {
    const { page } = await browsing.visit(QUIET);
    const merchant = await openMerchant(page);
    const colleague = freshAddress();
    await page.goto(`/console/${merchant.id}/team`);
    await untilPage(page, "Team");
    await page.getByText("No invitations yet.").waitFor();
    expect(await findings(page)).toEqual([]);
    await page.getByRole("button", { name: "Invite" }).click();
    await dialog(page).getByLabel("Email address").fill("nobody");
    await dialog(page).getByRole("button", { name: "Send invitation" }).click();
    await dialog(page).getByText("Enter an email address").waitFor();
    await dialog(page).getByLabel("Email address").fill(colleague);
    expect(await findings(page)).toEqual([]);
    await dialog(page).getByLabel("Role").selectOption("Viewer");
    await dialog(page).getByRole("button", { name: "Send invitation" }).click();
    const invitations = page.getByRole("region", { name: "Invitations" });
    await invitations.getByText("Pending").waitFor();
    await invitations.getByRole("button", { name: `Send again: ${colleague}` }).click();
    await page.getByText(`Invitation sent to ${colleague} again.`).waitFor();
    await invitations.getByRole("button", { name: `Revoke: ${colleague}` }).click();
    await dialog(page).getByRole("button", { name: "Revoke" }).click();
    await invitations.getByText("Revoked").waitFor();
    await merchant.call("POST", "/team/invitations", { email: colleague, role: "MEMBER" });
    const { page: theirs } = await browsing.visit(QUIET);
    await enter(theirs.context(), inject("testbed").baseUrl, colleague);
    await theirs.goto("/invitations");
    await theirs.getByRole("button", { name: /^Accept the invitation/ }).click();
    await untilPage(theirs, "Home");
    await page.reload();
    await untilPage(page, "Team");
    const members = page.getByRole("region", { name: "Members" });
    await members.getByLabel(`Role for ${colleague}`).selectOption("Admin");
    await page.getByText(`${colleague} now has the role Admin.`).waitFor();
    changeDatabase(inject("testbed"), (database) => {
      const owner = "SELECT user_id FROM members WHERE merchant_id = ? AND role = 'OWNER'";
      database.prepare(`UPDATE users SET email_otp_enabled_at_ms = 1 WHERE id IN (${owner})`).run(merchant.id);
    });
    await page.getByRole("button", { name: "Require: Second factor" }).click();
    await dialog(page).getByText("locked out of this merchant immediately").waitFor();
    await dialog(page).getByRole("button", { name: "Require" }).click();
    await page.getByText(`Locked out: ${colleague}.`).waitFor();
    await members.getByText("Missing: a second factor, required by this team.").waitFor();
    expect(await findings(page)).toEqual([]);
    await theirs.goto(`/console/${merchant.id}/team`);
    await theirs.getByText("The team requires a sign-in method that your account does not have.").first().waitFor();
    await page.getByRole("button", { name: "Stop requiring: Second factor" }).click();
    await page.getByText("Second factor is no longer required.").waitFor();
    await members.getByRole("button", { name: `Make owner: ${colleague}` }).click();
    await dialog(page).getByLabel("to confirm").fill("Corner shop");
    await dialog(page).getByRole("button", { name: "Make owner" }).click();
    await page.getByText(`${colleague} now owns this merchant.`).waitFor();
    await page.getByRole("button", { name: "Leave team" }).click();
    await dialog(page).getByRole("button", { name: "Leave team" }).click();
    await untilPage(page, "Welcome");
    await theirs.reload();
    await untilPage(theirs, "Team");
    await expect
      .poll(() => theirs.getByRole("region", { name: "Members" }).getByText("Joined", { exact: false }).count())
      .toBe(1);
  });
});
