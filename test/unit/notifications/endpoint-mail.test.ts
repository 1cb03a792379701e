import { expect, it } from "vitest";
import { makeId } from "../../../src/lib/ids.ts";
import { endpointMail } from "../../../src/notifications/deliveries/endpoint-mail.ts";

const NOW = Date.UTC(2026, 10, 29);

it.each([
  [true, null, "on"],
  [false, "GONE", "off"],
  [false, "FAILING", "off"],
  // Switched on again, and then off by a user.
  [false, null, "off"],
] as const)(
  "a later mail about an endpoint (active: %s, disabled as %s) says that it is %s",
  (isActive, reason, state) => {
    const webhook = { id: makeId("whk", "0".repeat(26)), url: "https://shop.example/hook?token=secret", isActive };
    const { text } = endpointMail("owner@shop.example", {
      webhook,
      merchantName: "Flowers",
      reason,
      more: 2,
      nowMs: NOW,
    });
    expect(text).toContain(`It is ${state} now.`);
    expect(text).not.toContain("secret");
  },
);
