// The merchant's server in the demo: the example receiver from the documentation, in its own process. It receives events about all payments. Then it
// is stopped while another customer pays, and receives the event about that payment after its restart.
import { type ChildProcess, spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { findFreePort } from "../free-port.ts";
import type { Outcome } from "./play.ts";
import type { Invoice, Pair, Shop } from "./shop.ts";
import { until } from "./until.ts";

const RECEIVER = "docs/examples/receiver.ts";
const WITHIN_MS = 30_000;
/** How many delivery attempts fail before the receiver starts again. */
const MISSED = 3;

interface Delivery {
  readonly eventType: string;
  readonly attempts: number;
}

interface MerchantServer {
  /** The lines that it has printed. */
  readonly lines: readonly string[];
  /** Ids of the events that it processed, in order, over all its runs. */
  processed(): readonly string[];
  /** Deliveries that are pending for the endpoint. */
  owed(): Promise<readonly Delivery[]>;
  /** Stops listening. */
  leave(): Promise<void>;
  comeBack(): Promise<void>;
  /** Stops it and removes its files. May be called again. */
  stop(): Promise<void>;
}

/** Registers an endpoint for all events and starts its receiver. */
export async function startMerchantServer(shop: Shop): Promise<MerchantServer> {
  const port = await findFreePort();
  const home = mkdtempSync(join(tmpdir(), "edgetill-receiver-"));
  const state = join(home, "receiver.ids");
  const endpoint = await shop.call<{ id: string; secret: string }>("POST", "/webhooks", {
    url: `http://127.0.0.1:${port}/webhooks`,
    events: ["*"],
  });
  const lines: string[] = [];
  const env = { ...process.env, WEBHOOK_SECRET: endpoint.secret, PORT: String(port), RECEIVER_STATE: state };
  /** Returns once it listens. */
  const start = async () => {
    const before = lines.length;
    const child = started([RECEIVER], env, lines);
    await until(
      async () => lines.slice(before).some((line) => line.startsWith("Listening")) || child.exitCode !== null,
      (isSettled) => isSettled,
      WITHIN_MS,
    );
    return child;
  };
  let receiver = await start();
  const leave = () => ended(receiver);
  return {
    lines,
    processed: () => readFileSync(state, "utf8").split("\n").flatMap(eventIn),
    owed: async () => {
      const path = `/webhooks/${endpoint.id}/deliveries?status=PENDING&limit=100`;
      return (await shop.call<{ data: readonly Delivery[] }>("GET", path)).data;
    },
    leave,
    comeBack: async () => {
      receiver = await start();
    },
    stop: async () => {
      await leave();
      rmSync(home, { recursive: true, force: true });
    },
  };
}

/** Waits until the server has received and verified an event for each of these payments. */
export async function hasReceived(server: MerchantServer, paid: readonly string[]): Promise<Outcome> {
  const isHeard = (id: string) => server.lines.some((line) => isPaidLine(line, id));
  const title = "the shop's server is notified";
  return judged(title, [`${paid.length} × invoice.paid, verified`], async () => {
    await until(
      async () => paid.filter((id) => !isHeard(id)),
      (missing) => missing.length === 0,
      WITHIN_MS,
    );
  });
}

/** The server is down for three delivery attempts while a customer pays; after its restart it receives every event exactly once. */
export async function missesNothing(
  of: { readonly server: MerchantServer; readonly shop: Shop; readonly pair: Pair },
  pay: (invoice: Invoice) => Promise<void>,
): Promise<Outcome> {
  const { server, shop, pair } = of;
  const path = ["away", `missed ${MISSED} times`, "back", "invoice.paid, verified"];
  return judged("the server was down", path, async () => {
    await server.leave();
    const invoice = await shop.createInvoice({ name: "Order: nobody there", rawAmount: 35, paymentMethods: [pair] });
    await pay(invoice);
    await until(
      () => server.owed(),
      (owed) => owed.some(({ eventType, attempts }) => eventType === "invoice.paid" && attempts >= MISSED),
      WITHIN_MS,
    );
    await server.comeBack();
    await until(
      () => server.owed(),
      (owed) => owed.length === 0,
      WITHIN_MS,
    );
    await until(
      async () => server.lines,
      (lines) => lines.some((line) => isPaidLine(line, invoice.id)),
      WITHIN_MS,
    );
    const events = await shop.call<{ data: readonly { id: string }[] }>(
      "GET",
      `/events?invoiceId=${invoice.id}&limit=100`,
    );
    const processed = server.processed();
    const missing = events.data.filter(({ id }) => !processed.includes(id));
    if (missing.length > 0) throw new Error(`${missing.length} of ${events.data.length} events were never delivered`);
    // Counts the printed lines, because `processed` contains each id only once anyway.
    const acted = server.lines.filter((line) => line.includes(invoice.id) && line.includes("(verified"));
    if (acted.length !== events.data.length)
      throw new Error(`${events.data.length} events, acted ${acted.length} times`);
  });
}

function isPaidLine(line: string, invoiceId: string): boolean {
  return line.startsWith(`invoice.paid ${invoiceId} `) && line.includes("(verified");
}

async function judged(title: string, path: readonly string[], play: () => Promise<void>): Promise<Outcome> {
  try {
    await play();
    return { title, path, differences: [] };
  } catch (error) {
    return { title, path, differences: [error instanceof Error ? error.message : String(error)] };
  }
}

function eventIn(line: string): readonly string[] {
  const [id = ""] = line.split(" ");
  return id === "" ? [] : [id];
}

function started(args: readonly string[], env: NodeJS.ProcessEnv, lines: string[]): ChildProcess {
  const child = spawn(process.execPath, args, { env, stdio: ["ignore", "pipe", "inherit"] });
  const kill = () => child.kill("SIGKILL");
  process.once("exit", kill);
  child.once("exit", () => process.removeListener("exit", kill));
  let rest = "";
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    const whole = (rest + text).split("\n");
    rest = whole.pop() ?? "";
    lines.push(...whole);
  });
  return child;
}

async function ended(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exit = new Promise((resolve) => child.once("exit", resolve));
  child.kill("SIGTERM");
  await exit;
}
