// The reference as developers read it: Swagger UI with our own document. A violation of the page's policy, a request to another origin or an error in
// the console fails the test at its end (harness.ts).

import type { Page } from "playwright-core";
import { expect, it } from "vitest";
import { describeInBrowser, useBrowser } from "./harness.ts";

interface Document {
  readonly tags: readonly { readonly name: string }[];
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
}

interface Operation {
  readonly tags: readonly string[];
  readonly operationId: string;
}

const idsOf = (page: Page, selector: string) => page.locator(selector).evaluateAll((all) => all.map((each) => each.id));

describeInBrowser("the reference at /docs", () => {
  const browsing = useBrowser();

  it("lists every tag and route of the OpenAPI document, and shows a route's parameters, fields and errors", async () => {
    const { page, loads } = await browsing.visit();
    const response = await page.goto("/docs");
    const policy = response?.headers()["content-security-policy"] ?? "";
    expect(policy).toContain("default-src 'none'; script-src 'self'; style-src 'self'");
    expect(policy).not.toMatch(/unsafe|http/);
    await page.getByRole("heading", { name: /^Edgetill/ }).waitFor();

    const document: Document = await (await page.request.get("/openapi.json")).json();
    const chapters = document.tags.map(({ name }) => `operations-tag-${name.replaceAll(" ", "_")}`);
    expect(await idsOf(page, ".opblock-tag")).toEqual(chapters);
    const routes = Object.values(document.paths).flatMap((methods) => Object.values(methods));
    for (const { name } of document.tags) {
      const chapter = name.replaceAll(" ", "_");
      const heading = page.locator(`#operations-tag-${chapter}`);
      await heading.click();
      const own = routes.filter(({ tags: [tag] }) => tag === name);
      await expect.poll(() => idsOf(page, `[id^="operations-${chapter}-"]`)).toHaveLength(own.length);
      const listed = await idsOf(page, `[id^="operations-${chapter}-"]`);
      expect(listed.toSorted()).toEqual(
        own.map(({ operationId }) => `operations-${chapter}-${operationId}`).toSorted(),
      );
      await heading.click();
    }
    await page.locator("#operations-tag-Invoices").click();

    const create = page.locator("#operations-Invoices-createInvoice");
    await create.locator(".opblock-summary-control").click();
    for (const text of ["invoice:create", "Idempotency-Key", "rawAmount", "NO_ENABLED_WALLET", "RATE_LIMITED"])
      await create.getByText(text).first().waitFor();
    expect(loads.filter(({ type }) => type === "Script")).toHaveLength(2);
  });

  it("sends a request to the server it describes", async () => {
    const { page } = await browsing.visit();
    await page.goto("/docs#/Sign-in/listSignInMethods");
    const methods = page.locator("#operations-Sign-in-listSignInMethods");
    const execute = methods.getByRole("button", { name: "Execute" });
    // The page draws the operation again when it has resolved its schemas, which can undo a click made before.
    await expect
      .poll(async () => {
        const tryIt = methods.getByRole("button", { name: "Try it out" });
        if (await tryIt.isVisible()) await tryIt.click();
        return execute.isVisible();
      })
      .toBe(true);
    await execute.click();
    await methods.locator(".live-responses-table .response-col_status", { hasText: "200" }).waitFor();
    expect(await methods.locator(".live-responses-table").textContent()).toContain('"isSignUpOpen"');
  });
});
