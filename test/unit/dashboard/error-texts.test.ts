import { describe, expect, it } from "vitest";
import { ERROR_TEXTS, errorText } from "../../../dashboard/src/api/error-texts.ts";
import { failureResponse } from "../../../src/platform/http/errors.ts";
import { SAMPLES } from "../../../src/platform/http/refusals.ts";

describe("the console's texts of errors", () => {
  it("are for exactly the codes of the catalogue", () => {
    expect(Object.keys(ERROR_TEXTS).sort()).toEqual(Object.keys(SAMPLES).sort());
  });

  it.each(Object.entries(ERROR_TEXTS))("say for %s what is wrong and what to do, in whole sentences", (_, text) => {
    expect(text.match(/[^.:;]+[.:;]/g)?.length).toBeGreaterThanOrEqual(2);
    expect(text).toMatch(/^[A-Z].*\.$/);
    // Words for the API's callers, not for users.
    expect(text).not.toMatch(/\/api\/|header|POST|PATCH|\bbody\b|`/i);
  });

  it("keep what only the service knows: which part of a key or an address is wrong", async () => {
    const { message } = await failureResponse(SAMPLES.INVALID_XPUB, "").json<{ message: string }>();
    expect(errorText("INVALID_XPUB", message)).toMatch(
      /^Invalid extended public key: the checksum fails\. This is not/,
    );
  });

  it("keep the message of an unknown code", () => {
    expect(errorText("SOMETHING_NEW", "Try tomorrow")).toBe("Try tomorrow");
    expect(errorText("toString", "Try tomorrow")).toBe("Try tomorrow");
  });
});
