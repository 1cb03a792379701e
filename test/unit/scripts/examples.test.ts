import { execFileSync } from "node:child_process";
import { describe, expect, test } from "vitest";
import { examples } from "../../../scripts/examples.ts";

const DEMO = {
  baseUrl: "http://localhost:9000",
  merchantId: "mer_01M7XZ9WM3FTR1PNZBVPPCS17R",
  secretKey: "sk_secret",
  publicKey: "pk_public",
  ownerEmail: "owner@example.com",
};
const PRINT_ARGUMENTS = "curl() { for each in \"$@\"; do printf '%s\\0' \"$each\"; done; printf '\\n'; };";

/** The arguments that each command would pass to curl if a plain shell read the text. */
function pasted(): string[][] {
  const output = execFileSync("sh", ["-c", PRINT_ARGUMENTS + examples(DEMO, "demo-1")], { encoding: "utf8" });
  const lines = output.split("\n").filter((line) => line !== "");
  return lines.map((line) => line.split("\0").slice(0, -1));
}

describe("the printed commands, as a shell reads them", () => {
  test("use the demo merchant's secret key in four cases, and sign in as its owner in three", () => {
    const path = `${DEMO.baseUrl}/api/v1/merchants/merchant/${DEMO.merchantId}`;
    const commands = pasted();
    expect(commands.map((each) => each[1])).toEqual([
      `${path}/wallets`,
      `${path}/invoices`,
      `${path}/invoices?externalId=demo-1`,
      `${path}/webhooks`,
      `${DEMO.baseUrl}/api/v1/auth/email/start`,
      `${DEMO.baseUrl}/api/v1/auth/email/verify`,
      `${DEMO.baseUrl}/api/v1/merchants`,
    ]);
    const withKey = commands.map((each) => each.includes("x-api-key: sk_secret"));
    expect(withKey).toEqual([true, true, true, true, false, false, false]);
  });

  test("have JSON bodies, and an invoice that can be repeated and found by its reference", () => {
    const [wallet, invoice] = pasted();
    expect(JSON.parse(wallet?.at(-1) ?? "")).toMatchObject({
      walletType: "XPUB_WALLET",
      derivationPath: "m/84h/0h/0h",
    });
    expect(JSON.parse(invoice?.at(-1) ?? "")).toMatchObject({ rawAmount: 49.9, currency: "USD", externalId: "demo-1" });
    expect(invoice).toContain("idempotency-key: demo-1");
  });

  test("sign in by requesting the owner's code, reading it from the mailbox and keeping the session in a file", () => {
    const mailbox = `curl() { case "$*" in */dev/mail*) echo '[{"text":"12345678"}]';; *) for each in "$@"; do printf '%s\\0' "$each"; done; printf '\\n';; esac; };`;
    const output = execFileSync("sh", ["-c", mailbox + examples(DEMO, "demo-1")], { encoding: "utf8" });
    const [start, verify, mine] = output
      .split("\n")
      .slice(4)
      .map((line) => line.split("\0").slice(0, -1));
    expect(JSON.parse(start?.at(-1) ?? "")).toEqual({ email: DEMO.ownerEmail });
    expect(JSON.parse(verify?.at(-1) ?? "")).toEqual({ email: DEMO.ownerEmail, code: "12345678" });
    expect(mine?.at(-1)).toBe(start?.[start.indexOf("-c") + 1]);
  });

  test("have a new reference at every start, so that the invoice is a new one", () => {
    expect(examples(DEMO)).not.toBe(examples(DEMO));
  });
});
