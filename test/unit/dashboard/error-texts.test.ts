import { describe, expect, it } from "vitest";
import { ERROR_TEXTS, errorText } from "../../../dashboard/src/api/error-texts.ts";
import { failureResponse } from "../../../src/platform/http/errors.ts";
import { SAMPLES } from "../../../src/platform/http/refusals.ts";

describe("the console's error texts", () => {
  it("exist for exactly the codes in the catalogue", () => {
    expect(Object.keys(ERROR_TEXTS).sort()).toEqual(Object.keys(SAMPLES).sort());
  });

  it.each(Object.entries(ERROR_TEXTS))("say for %s what is wrong and what to do, in whole sentences", (_, text) => {
    expect(text.match(/[^.:;]+[.:;]/g)?.length).toBeGreaterThanOrEqual(2);
    expect(text).toMatch(/^[A-Z].*\.$/);
    // These terms are for the API's callers, not for users of the console.
    expect(text).not.toMatch(/\/api\/|header|POST|PATCH|\bbody\b|`/i);
  });

  it("keep details that only the service knows, such as which part of a key is wrong", async () => {
    const { message } = await failureResponse(SAMPLES.INVALID_XPUB, "").json<{ message: string }>();
    expect(errorText("INVALID_XPUB", message)).toMatch(
      /^Invalid extended public key: the checksum fails\. This is not/,
    );
  });

  it("name the limit that was reached, if the user can do something about it", () => {
    const reached = (name: string, limit: number) => errorText("LIMIT_REACHED", "", { name, limit });
    expect(reached("webhookEndpointsPerMerchant", 25)).toBe(
      "You have reached the limit of 25 endpoints. Delete one that you no longer need.",
    );
    expect(reached("merchantsMadePerUserAndDay", 20)).toBe(
      "You have reached the limit of 20 new merchants a day. Try again tomorrow.",
    );
    for (const name of ["amountsWithoutProof", "toString"]) expect(reached(name, 8)).toBe(ERROR_TEXTS.LIMIT_REACHED);
  });

  it("keep the service's message for an unknown code", () => {
    expect(errorText("SOMETHING_NEW", "Try tomorrow")).toBe("Try tomorrow");
    expect(errorText("toString", "Try tomorrow")).toBe("Try tomorrow");
  });
});
