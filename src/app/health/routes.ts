// Routes that report the deployment's state to monitors and operators.
import { routesOf } from "../../accounts/pipeline/routes-of.ts";
import { accountDependencies } from "../../accounts/sessions/dependencies.ts";
import { equalDigests, sha256Hex } from "../../lib/bytes.ts";
import { newOperationId } from "../../lib/ids.ts";
import { requestSleep } from "../../lib/sleep.ts";
import { SECOND_MS } from "../../lib/time.ts";
import { alertProofBody, statusBody } from "../../notifications/deployment-status/contract.ts";
import { healthBodyOf } from "../../notifications/deployment-status/health-body.ts";
import { METRICS_TYPE, metricsText } from "../../notifications/deployment-status/metrics-text.ts";
import { readStatus, readVitals } from "../../notifications/deployment-status/read-status.ts";
import { alertSettingsOf, parseMetricsToken } from "../../notifications/deployment-status/settings.ts";
import { type Reason, reasonsOf, type Vitals } from "../../notifications/deployment-status/status.ts";
import { alertProofBodyOf, statusBodyOf } from "../../notifications/deployment-status/status-body.ts";
import { proofRequestBody, testAlertBody } from "../../notifications/operator-alerts/contract.ts";
import { recordProof } from "../../notifications/operator-alerts/record-proof.ts";
import { sendAlerts } from "../../notifications/operator-alerts/send-alerts.ts";
import { sendTestAlert } from "../../notifications/operator-alerts/send-test-alert.ts";
import { openWakingDb } from "../../platform/db/client.ts";
import { readWithRetry } from "../../platform/db/retry.ts";
import { withOrigin } from "../../platform/deployment/read-deployment.ts";
import { type AppContext, refuse } from "../../platform/http/context.ts";
import { isDevelopment } from "../../platform/http/deployment.ts";
import { incomingOf } from "../../platform/http/incoming.ts";
import { limitByIp } from "../../platform/http/rate-check.ts";
import { replyTo } from "../../platform/http/reply.ts";
import { answerHeaders } from "../../platform/http/security-headers.ts";
import { runJob } from "../../platform/jobs/run-job.ts";
import { beforeSetUp, configurationFaults } from "../configuration/configuration.ts";
import { VERSION } from "../configuration/version.ts";
import { isWaitingForSetUp } from "../set-up/middleware.ts";
import {
  alertDependencies,
  statusDatabase,
  statusSettingsOf,
  testAlertDependencies,
  WATCH_JOB,
} from "./dependencies.ts";

export const statusRoutes = routesOf({
  tag: "Deployment",
  callers: "USER",
  isOperatorOnly: true,
  dependencies: accountDependencies,
})
  .get("/api/v1/operator/status", {
    operationId: "readDeploymentStatus",
    summary: "Read whether the deployment works, and what is queued",
    description: "`/healthz` shows the same reasons to anyone, and `/metrics` shows the same facts as numbers.",
    answers: [{ status: 200, description: "The status, even if it is FAILING", schema: statusBody }],
    answer: async ({ env, nowMs, deps }) => {
      return replyTo(await readWithRetry(deps.sleep, () => readStatus(statusDatabase(env), nowMs)), (value) =>
        statusBodyOf(value, statusSettingsOf(env), nowMs),
      );
    },
  })
  .post("/api/v1/operator/alerts/proof", {
    operationId: "recordAlertProof",
    summary: "Confirm that a test alert arrived, or dismiss the warning",
    description:
      "Until one or the other, `/healthz` has the warning `ALERTS_UNPROVED`, and again when `MAIL_PROVIDER`, `MAIL_FROM`, `ALERT_WEBHOOK_URL` or `ALERT_WEBHOOK_SECRET` changes after an arrival was confirmed. Only you can see whether an alert arrived, in the mailbox or at the receiver. Nothing changes if it was confirmed since the last test, or dismissed before.",
    needsStepUp: true,
    body: proofRequestBody,
    answers: [{ status: 200, description: "Whether alerts have been confirmed to arrive", schema: alertProofBody }],
    refusals: ["TEST_ALERT_MISSING"],
    answer: async ({ env, deps, body, principal, trail }) => {
      const alertSettings = alertSettingsOf(env);
      const said = { outcome: body.outcome, alertSettings, actor: principal.user, trail };
      return replyTo(await recordProof(deps, said), (proof) => alertProofBodyOf(proof, { alertSettings }));
    },
  });

export const alertRoutes = routesOf({
  tag: "Deployment",
  callers: "USER",
  isOperatorOnly: true,
  dependencies: testAlertDependencies,
}).post("/api/v1/operator/alerts/test", {
  operationId: "sendTestAlert",
  summary: "Send a test alert to every operator, and to the receiver of alerts",
  description:
    "Uses the mail provider and the sender of real alerts, and posts to `ALERT_WEBHOOK_URL` with the signature of real alerts. Each recipient is tried once, regardless of the others, and the response says for each whether the alert was accepted.",
  needsStepUp: true,
  answers: [{ status: 200, description: "What the mail provider and the receiver answered", schema: testAlertBody }],
  answer: async ({ deps }) => replyTo(await sendTestAlert(deps)),
});

/** Anyone may call `/healthz`, so an isolate reuses what it has read for this long. */
const KEPT_MS = 5 * SECOND_MS;

/** Keeps the value that was read, never the promise: a request must not wait for another request's storage call. */
export class KeptVitals {
  #kept: { readonly vitals: Vitals | undefined; readonly readAtMs: number } | undefined;

  async read(env: Env, nowMs: number): Promise<{ readonly vitals: Vitals | undefined; readonly isFresh: boolean }> {
    const known = this.#kept;
    const ageMs = known === undefined ? KEPT_MS : nowMs - known.readAtMs;
    if (known !== undefined && !isDevelopment(env) && ageMs >= 0 && ageMs < KEPT_MS)
      return { vitals: known.vitals, isFresh: false };
    const vitals = await readVitals(statusDatabase(env), requestSleep());
    this.#kept = { vitals, readAtMs: nowMs };
    return { vitals, isFresh: true };
  }
}

export async function answerHealth(c: AppContext, kept: KeptVitals): Promise<Response> {
  const nowMs = c.get("nowMs");
  const [isWaiting, known, { vitals, isFresh }] = await Promise.all([
    isWaitingForSetUp(c),
    withOrigin(c.env, { nowMs, sleep: requestSleep() }),
    kept.read(c.env, nowMs),
  ]);
  const env = known.ok ? known.value : c.env;
  const found = configurationFaults(env, c.req.url);
  const faults = isWaiting ? beforeSetUp(found) : found;
  const settings = statusSettingsOf(env, faults);
  const codes = faults.map(({ code }) => code);
  const health = healthBodyOf({ version: VERSION, vitals, settings, faults: codes, nowMs });
  if (isFresh) alertIfCronStopped(c, env, health.reasons);
  return c.json(health, health.status === "ok" ? 200 : 503);
}

/** Numbers for Prometheus. Without METRICS_TOKEN this path does not exist. */
export async function answerMetrics(c: AppContext): Promise<Response> {
  const { env } = c;
  const requestId = c.get("requestId");
  const nowMs = c.get("nowMs");
  const token = parseMetricsToken(env.METRICS_TOKEN);
  if (!token.ok || token.value === null) return refuse(c, { code: "ROUTE_NOT_FOUND" });
  const headers: Record<string, string> = {};
  const limited = await limitByIp(incomingOf(c), headers);
  if (limited !== undefined) return refuse(c, limited, headers);
  const given = /^Bearer (\S+)$/i.exec(c.req.header("authorization") ?? "")?.[1] ?? "";
  // Compares digests, so that the time depends on neither the value nor its length.
  if (!equalDigests(sha256Hex(given), sha256Hex(token.value))) return refuse(c, { code: "UNAUTHORIZED" }, headers);
  const read = await readWithRetry(requestSleep(), () => readStatus(statusDatabase(env), nowMs));
  const facts = read.ok ? read.value : undefined;
  const settings = statusSettingsOf(env);
  if (facts !== undefined) alertIfCronStopped(c, env, reasonsOf(facts, settings, nowMs));
  const text = metricsText({ version: VERSION, facts, settings, nowMs });
  return new Response(text, { headers: answerHeaders(requestId, { ...headers, "content-type": METRICS_TYPE }) });
}

/** A stopped cron cannot report that it has stopped, so a request for the status alerts the operators. */
function alertIfCronStopped(c: AppContext, env: Env, reasons: readonly Pick<Reason, "code">[]): void {
  if (!reasons.some(({ code }) => code === "CRON_STOPPED")) return;
  const { background } = incomingOf(c);
  const nowMs = c.get("nowMs");
  const db = openWakingDb(statusDatabase(env), env, background);
  const deps = { db, nowMs: () => Date.now(), newRunId: newOperationId };
  const run = () => sendAlerts(alertDependencies(env, { db, nowMs, background }));
  background(runJob(deps, { name: WATCH_JOB, run }));
}
