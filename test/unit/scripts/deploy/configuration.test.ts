// The configuration of a deployment must equal wrangler.toml except for its own values, and wrangler must accept it.
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { unstable_readConfig } from "wrangler";
import { type Answers, LOCATIONS, type Location } from "../../../../scripts/deploy/answers.ts";
import { configurationOf, configurationText, type RawConfiguration } from "../../../../scripts/deploy/configuration.ts";
import { deploymentOf } from "../../../../scripts/deploy/deployment.ts";
import { parseLocationHint } from "../../../../src/lib/object-of.ts";
import { BASE } from "../../../support/deploys.ts";

const PLACES = { accountId: "0123456789abcdef0123456789abcdef", databaseId: "11111111-2222-4333-8444-555555555555" };
const ANSWERS: Answers = {
  name: "shop",
  location: "weur",
  domain: null,
  mail: "cloudflare",
  mailFrom: "Shop <pay@example.com>",
  exportsBucket: null,
  variables: { RATE_LIMIT_PER_MINUTE: "600" },
};
const written = (answers: Partial<Answers>) => configurationOf(BASE, { ...ANSWERS, ...answers }, PLACES);

/** Reads the configuration with wrangler itself, which throws on a field that its schema refuses. */
function readByWrangler(answers: Partial<Answers>) {
  const folder = mkdtempSync(join(tmpdir(), "edgetill-configuration-"));
  try {
    const deployment = deploymentOf(answers.name ?? ANSWERS.name);
    const file = join(folder, deployment.configuration);
    writeFileSync(file, configurationText(written(answers), deployment));
    return unstable_readConfig({ config: file });
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

describe("a deployment's configuration", () => {
  it.each(Object.keys(LOCATIONS) as Location[])("in %s puts objects and the Worker near the database", (location) => {
    const read = readByWrangler({ location });
    expect(read.vars.LOCATION_HINT).toBe(location);
    expect(parseLocationHint(location)).toEqual({ ok: true, value: location });
    expect(read.placement).toEqual({ region: expect.stringMatching(/^(aws|gcp|azure):[a-z0-9-]+$/) });
  });

  it("binds the export bucket only if there is one", () => {
    expect(readByWrangler({}).r2_buckets).toEqual([]);
    const [bucket] = readByWrangler({ exportsBucket: "shop-exports" }).r2_buckets;
    expect(bucket).toMatchObject({ binding: "EXPORTS", bucket_name: "shop-exports" });
  });

  it("has the deployment's names and ids, and everything else from wrangler.toml", () => {
    const read = readByWrangler({});
    expect(read).toMatchObject({
      name: "shop",
      account_id: PLACES.accountId,
      vars: {
        PUBLIC_URL: "",
        MAIL_FROM: "Shop <pay@example.com>",
        RATE_LIMIT_PER_MINUTE: "600",
        ENVIRONMENT: "production",
      },
      d1_databases: [
        { binding: "DB", database_name: "shop", database_id: PLACES.databaseId, migrations_dir: "migrations" },
      ],
    });
    const queues = [...(read.queues.producers ?? []), ...(read.queues.consumers ?? [])].map(({ queue }) => queue);
    expect(queues).toEqual(["shop-webhooks", "shop-jobs", "shop-webhooks", "shop-jobs"]);
    expect(read.queues.producers?.map((each: { readonly binding: string }) => each.binding)).toEqual([
      "WEBHOOK_QUEUE",
      "JOB_QUEUE",
    ]);
    const own = [
      "name",
      "account_id",
      "workers_dev",
      "placement",
      "secrets",
      "vars",
      "d1_databases",
      "queues",
      "ratelimits",
    ];
    for (const [field, value] of Object.entries(BASE))
      if (!own.includes(field)) expect(written({})[field]).toEqual(value);
  });

  it("serves workers.dev or a domain, never both", () => {
    expect(readByWrangler({})).toMatchObject({ workers_dev: true });
    expect(written({}).routes).toBeUndefined();
    const domain = readByWrangler({ domain: "pay.example.com" });
    expect(domain.workers_dev).toBe(false);
    expect(domain.routes).toEqual([{ pattern: "pay.example.com", custom_domain: true }]);
    expect(domain.vars.PUBLIC_URL).toBe("https://pay.example.com");
  });

  it("binds Analytics Engine only if a dataset is named", () => {
    expect(readByWrangler({}).analytics_engine_datasets).toEqual([]);
    const bound = readByWrangler({ variables: { ANALYTICS_DATASET: "edgetill" } });
    expect(bound.analytics_engine_datasets).toEqual([{ binding: "ANALYTICS", dataset: "edgetill" }]);
  });

  it("counts callers separately from other deployments in the account", () => {
    const numbersOf = (ratelimits: RawConfiguration["ratelimits"]) =>
      (ratelimits ?? []).map(({ namespace_id }) => namespace_id);
    const counters = ["shop", "test", "edgetill"].flatMap((name) => numbersOf(written({ name }).ratelimits));
    const base = numbersOf(BASE.ratelimits);
    expect(base).toHaveLength(2);
    expect(new Set([...counters, ...base]).size).toBe(8);
    for (const each of counters) expect(each).toMatch(/^[1-9]\d{6,9}$/);
  });
});
