// What the README tells a reader to paste is pasted here, block by block, into one shell.
import { execFileSync, spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { service } from "./client.ts";

const { baseUrl } = service;

/** The commands of the section between its marks, as one script for this server. */
function script(): string {
  const [, section] = /<!-- people -->\n(.*)<!-- \/people -->/s.exec(readFileSync("README.md", "utf8")) ?? [];
  const blocks = [...(section ?? "").matchAll(/```sh\n(.*?)```/gs)].map(([, commands]) => commands);
  // Between the answers of one command and the next stands a line of its own.
  return `set -e\n${blocks.join("\n")}`
    .replace("http://localhost:8787", baseUrl)
    .replaceAll("@example.com", `@${RUN}.example`);
}

/** People of their own for each run. */
const RUN = `r${Date.now()}`;

const hasCurl = spawnSync("curl", ["--version"]).status === 0;

it.skipIf(!hasCurl)("the commands about people and teams lead from the first sign-in to an invoice", () => {
  const answers = execFileSync("sh", ["-c", script()], { encoding: "utf8" });
  const seen = answers.split(/(?<=\})(?=\{)/).map((line): Record<string, unknown> => JSON.parse(line));
  expect(seen).toMatchObject([
    { status: "sent" },
    { state: "active", user: { email: `anna@${RUN}.example` } },
    { status: "pending", role: "MEMBER" },
    { status: "sent" },
    { state: "active", user: { email: `ben@${RUN}.example` } },
    { role: "MEMBER", email: `ben@${RUN}.example` },
    { role: "ADMIN" },
    expect.anything(),
    { backupCodes: expect.any(Array) },
    { enforceTfa: true },
    { statusCode: 403, error: "SECURITY_REQUIREMENT_NOT_MET", missing: ["tfa"] },
    { backupCodes: expect.any(Array) },
    { name: "Anna & Ben", role: "ADMIN" },
    { status: "AWAITING_PAYMENT", rawAmount: "49.900000" },
  ]);
});
