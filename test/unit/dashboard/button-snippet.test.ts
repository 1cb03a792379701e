import { describe, expect, it } from "vitest";
import { buttonSnippet } from "../../../dashboard/src/products/button-snippet.ts";

describe("the button for a shop's own site", () => {
  it("is a link to the product's page, in which no name becomes markup", () => {
    const name = `"><script>alert(1)</script>&'`;
    const snippet = buttonSnippet({ name, checkoutUrl: "https://pay.example.com/buy/prd_1" });
    expect(snippet).toContain('<a href="https://pay.example.com/buy/prd_1"');
    expect(snippet).toContain("Buy &quot;&gt;&lt;script&gt;alert(1)&lt;/script&gt;&amp;&#39;");
    expect(snippet.match(/</g)?.length).toBe(2);
  });
});
