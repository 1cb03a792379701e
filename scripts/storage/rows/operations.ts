// Example rows of the outbox and its deliveries, of the progress of reading chains, and of the deployment itself.
import { derivedId } from "../../../src/lib/ids.ts";
import { DAY_MS, HOUR_MS, MINUTE_MS } from "../../../src/lib/time.ts";
import { printJson } from "../../../src/lib/typed-json.ts";
import { deployment, setUpLinks } from "../../../src/platform/db/schema/deployment.ts";
import { deploymentKeys, keyWalks } from "../../../src/platform/db/schema/deployment-keys.ts";
import { events } from "../../../src/platform/db/schema/events.ts";
import { jobRuns } from "../../../src/platform/db/schema/job-runs.ts";
import {
  networkCursors,
  networkRereads,
  stuckAddresses,
  watchTurns,
} from "../../../src/platform/db/schema/network-cursors.ts";
import { operations } from "../../../src/platform/db/schema/operations.ts";
import { alertProof, operatorAlerts } from "../../../src/platform/db/schema/operator-alerts.ts";
import { leftOutTransfers } from "../../../src/platform/db/schema/payments.ts";
import { restoreFindings, restores } from "../../../src/platform/db/schema/restores.ts";
import { deliveries, deliveryAttempts, webhookSecrets, webhooks } from "../../../src/platform/db/schema/webhooks.ts";
import {
  ADDRESS,
  CREATED,
  deliveryId,
  eventId,
  HASH,
  invoiceId,
  merchantId,
  NOW_MS,
  OPERATION,
  PAIR,
  rowOf,
  SEALED,
  TX_HASH,
  UPDATED,
  webhookId,
} from "../example-row.ts";

const BLOCK_HASH = `0x${"b1".repeat(32)}`;

const OUTBOX = [
  rowOf(events, {
    id: eventId,
    merchantId,
    type: "invoice.paid",
    invoiceId,
    sequence: 4,
    data: "q1bKLCpOVbJSSs4vzStR0lEqSi0uzSkBAA==",
    ...CREATED,
  }),
  rowOf(webhooks, {
    id: webhookId,
    merchantId,
    url: "https://shop.example/webhooks",
    events: printJson(["invoice.*"]),
    isActive: true,
    retryCount: 8,
    timeoutMs: 10_000,
    failuresInRow: 0,
    ...CREATED,
    ...UPDATED,
  }),
  rowOf(webhookSecrets, {
    id: derivedId("whs", OPERATION),
    webhookId,
    sealed: SEALED,
    preview: "whsec_abcd...9Zq=",
    ...CREATED,
  }),
  rowOf(deliveries, {
    id: deliveryId,
    merchantId,
    webhookId,
    eventId,
    eventType: "invoice.paid",
    status: "SUCCEEDED",
    attempts: 1,
    step: 1,
    nextAttemptMs: NOW_MS,
    wakes: true,
    ...CREATED,
    ...UPDATED,
  }),
  rowOf(deliveryAttempts, {
    deliveryId,
    number: 1,
    atMs: NOW_MS,
    latencyMs: 84,
    statusCode: 200,
    requestHeaders: printJson({ "webhook-id": eventId }),
    response: "ok",
  }),
  rowOf(operations, {
    id: OPERATION,
    merchantId,
    status: 201,
    body: "",
    bodyAt: 11,
    ...CREATED,
  }),
];

const CHAINS = [
  rowOf(networkCursors, {
    network: "ETH",
    isResting: false,
    sinceMs: NOW_MS,
    height: 23_900_000,
    hash: BLOCK_HASH,
    checkpoints: printJson([[23_899_990, BLOCK_HASH]] as const),
    passedMs: NOW_MS,
    lastMovedAtMs: NOW_MS,
    tipHeight: 23_900_001,
    finalizedHeight: 23_899_936,
    tipTimeMs: NOW_MS,
    tickedAtMs: NOW_MS,
  }),
  rowOf(networkRereads, {
    network: "ETH",
    fromHeight: 23_890_000,
    toHeight: 23_899_000,
    nextHeight: 23_894_200,
    transfers: 2,
    requestedAtMs: NOW_MS,
  }),
  rowOf(stuckAddresses, {
    network: "TRX",
    address: "TJRabPrwbZy45sbavfcjinPJC18kjpRTv8",
    source: "1 trongrid",
    readHeight: 77_000_000,
    passedMs: NOW_MS,
    failures: 3,
    sinceMs: NOW_MS,
    nextAtMs: NOW_MS + MINUTE_MS,
    reason: "FLOODED",
  }),
  rowOf(watchTurns, { network: "TRX", merchantId, activatedAtMs: NOW_MS }),
  rowOf(leftOutTransfers, {
    network: "ETH",
    txHash: TX_HASH,
    outputIndex: "3",
    blockHash: BLOCK_HASH,
    effect: `USDT ${ADDRESS} 1`,
    decidedAtMs: NOW_MS,
  }),
];

const DEPLOYMENT = [
  rowOf(deployment, { id: 1, setUpAtMs: NOW_MS, origin: "https://pay.example.com" }),
  rowOf(setUpLinks, { tokenHash: HASH, ...CREATED, expiresAtMs: NOW_MS + DAY_MS }),
  rowOf(deploymentKeys, {
    keyring: "CODE_PEPPER",
    keyId: "k1",
    fingerprint: "5e884898da280471",
    kept: SEALED,
    ...CREATED,
  }),
  rowOf(keyWalks, {
    name: "ROWS",
    keys: "k2,k1",
    kind: "wallets",
    after: 4_200,
    met: printJson({ "ROW_MAC_KEY k1": 12 }),
    beganAtMs: NOW_MS,
  }),
  rowOf(jobRuns, {
    job: "expire",
    runId: OPERATION,
    leasedUntilMs: 0,
    beganAtMs: NOW_MS,
    endedAtMs: NOW_MS + 200,
  }),
  rowOf(operatorAlerts, {
    cause: "CURSOR_STALE ETH",
    detail: "ETH was not read for 12 minutes.",
    beganAtMs: NOW_MS,
    mailedAtMs: NOW_MS,
    isMailed: true,
  }),
  rowOf(alertProof, {
    id: 1,
    acceptedAtMs: NOW_MS,
    acceptedSettings: HASH,
    provedAtMs: NOW_MS + MINUTE_MS,
    provedSettings: HASH,
  }),
  rowOf(restores, {
    epoch: 1,
    restoredToMs: NOW_MS - HOUR_MS,
    operationId: OPERATION,
    phase: "ADDRESSES",
    atName: HASH,
    atPlace: 17,
    objects: 4,
    revocations: 1,
    recovered: 2,
    findings: 1,
    beganAtMs: NOW_MS,
    openedAtMs: NOW_MS + MINUTE_MS,
  }),
  rowOf(restoreFindings, {
    id: derivedId("rfd", OPERATION),
    epoch: 1,
    reason: "WALLET_LOST",
    merchantId,
    invoiceId,
    ...PAIR,
    address: ADDRESS,
    units: "49905000",
    known: printJson({ name: "Brass lamp" }),
    ...CREATED,
  }),
];

export const OPERATION_ROWS = [...OUTBOX, ...CHAINS, ...DEPLOYMENT];
