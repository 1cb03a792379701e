// `npm run demo`: a shop with wallets on local chains, customers who pay in typical ways, and the result of each invoice. Ends by itself with a
// summary; the exit status is 0 only if every story ended as expected. It leaves no process and no file. At a terminal, the user is the last
// customer; with `-- --checkout`, the only customer.
import "../end-with-parent.ts";
import { assetOn, networkNamed } from "../../src/chains/registry/networks.ts";
import { StartError } from "../settings.ts";
import { type EvmChain, startEvmChain } from "./evm-chain.ts";
import { startLitecoinChain } from "./litecoin-chain.ts";
import { hasReceived, missesNothing, startMerchantServer } from "./merchant-server.ts";
import { payDue } from "./pay-due.ts";
import { type Outcome, playAll } from "./play.ts";
import { type Invoice, type Shop, startShop, TEST_ADDRESS } from "./shop.ts";
import { EVM_STORIES, LITECOIN_STORY } from "./stories.ts";
import { until } from "./until.ts";
import { lineView, tableView } from "./view.ts";
import { yourTurn } from "./your-turn.ts";

/** The exit status of a process ended by a signal, as in a shell. */
const STOPPED_BY = { SIGINT: 130, SIGTERM: 143, SIGHUP: 129 } as const;
const POLL_SECONDS = 0.5;
const PAIR_OF_THE_LAST = { cryptocurrency: "USDT", network: "ETH" } as const;
/** Seconds before each delivery attempt, with enough attempts for a server that is down for a few seconds. */
const WEBHOOK_SCHEDULE = "0,1,1,1,2,2,2";
/** The merchant's key, from public test vectors: never send real coins to its addresses. */
const LITECOIN_KEY =
  "vpub5Y6cjg78GGuNLsaPhmYsiw4gYX3HoQiRBiSwDaBXKUafCt9bNwWQiitDk5VZ5BVxYnQdwoTyXSs2JHRPAgjAvtbBrf8ZhDYe2jWAqvZVnsc";

/** The running parts, in the order in which they were started. Stopping a part twice is allowed. */
const started: { stop(): Promise<void> }[] = [];
let isStopped = false;

for (const [signal, status] of Object.entries(STOPPED_BY)) {
  process.on(signal, async () => {
    isStopped = true;
    await stopAll();
    process.exit(status);
  });
}

try {
  const outcomes = await demo();
  await stopAll();
  if (!process.stdin.isTTY) summarize(outcomes);
  say("Nothing was left running.");
  process.exit(outcomes.every(isAsExpected) ? 0 : 1);
} catch (error) {
  // Ctrl-C stopped the server during the stories; the handler above ends the process.
  if (isStopped) await new Promise(() => {});
  await stopAll();
  console.error(error instanceof StartError ? error.message : error);
  process.exit(1);
}

async function demo(): Promise<readonly Outcome[]> {
  say("Starting a local Ethereum (anvil), a local Litecoin if litecoind is installed, and the service ...");
  const evm = keep(await startEvmChain(contracts()));
  const litecoin = await startLitecoinChain();
  if (litecoin === undefined)
    say("litecoind is not installed, so there is no story on Litecoin. Install it with `npm run nodes:install`.");
  else keep(litecoin);
  const shop = keep(
    await startShop({
      pollSeconds: POLL_SECONDS,
      webhookSchedule: WEBHOOK_SCHEDULE,
      sources: {
        ETH: [{ kind: "evm-rpc", url: evm.url }],
        ...(litecoin === undefined ? {} : { LTC_REGTEST: [{ kind: "core-rpc", url: litecoin.url }] }),
      },
    }),
  );
  const stories = litecoin === undefined ? EVM_STORIES : [...EVM_STORIES, LITECOIN_STORY];
  await registerWallets(shop, litecoin !== undefined);
  const server = keep(await startMerchantServer(shop));
  const chains = { evm, litecoin };
  if (process.argv.includes("--checkout")) {
    await yourTurn({ shop, chains, say });
    return [];
  }
  say(`The shop is open at ${shop.baseUrl}. ${stories.length} customers, two minutes at most.\n`);
  const write = (text: string) => void process.stdout.write(text);
  const view = process.stdout.isTTY ? tableView(write, () => process.stdout.columns) : lineView(write);
  const played = await playAll({ shop, chains }, stories, view);
  say(
    "\nThe merchant's server was notified of all payments. Now it stops while one more customer pays, and starts again ...",
  );
  const paid = played.filter(({ path }) => path.at(-1) === "PAID").flatMap(({ invoiceId = [] }) => invoiceId);
  const heard = await hasReceived(server, paid);
  const missed = await missesNothing({ server, shop, pair: PAIR_OF_THE_LAST }, (invoice) =>
    payInTime(shop, evm, invoice),
  );
  say("The server printed these payments:");
  for (const line of server.lines.filter((each) => each.startsWith("invoice.paid "))) say(`    ${line}`);
  const outcomes = [...played, heard, missed];
  if (!process.stdin.isTTY) return outcomes;
  summarize(outcomes);
  await yourTurn({ shop, chains, say });
  return outcomes;
}

/** Pays an invoice, and mines blocks until the payment is confirmed. */
async function payInTime(shop: Shop, evm: EvmChain, { id, paymentMethods: [method] }: Invoice): Promise<void> {
  if (method === undefined) throw new Error("the invoice has no method");
  await payDue(evm, method);
  const mined = async () => {
    await evm.mine();
    return shop.invoice(id);
  };
  await until(mined, ({ status }) => status === "PAID", 30_000);
}

async function registerWallets(shop: Shop, hasLitecoin: boolean): Promise<void> {
  for (const cryptocurrency of new Set(EVM_STORIES.map(({ pair }) => pair.cryptocurrency))) {
    await shop.registerWallet({
      walletType: "DIRECT_WALLET",
      cryptocurrency,
      network: "ETH",
      address: TEST_ADDRESS,
      requiredConfirmations: 3,
    });
  }
  if (!hasLitecoin) return;
  await shop.registerWallet({
    walletType: "XPUB_WALLET",
    ...LITECOIN_STORY.pair,
    xpub: LITECOIN_KEY,
    derivationPath: "m/84h/1h/0h",
    requiredConfirmations: 2,
  });
}

/** Contracts of the tokens used for payments. */
function contracts(): readonly string[] {
  const ethereum = networkNamed("ETH");
  const codes = new Set(EVM_STORIES.map(({ pair }) => pair.cryptocurrency));
  return [...codes].flatMap((code) => {
    const contract = ethereum === undefined ? undefined : assetOn(ethereum, code)?.contract;
    return typeof contract === "string" ? [contract] : [];
  });
}

function summarize(outcomes: readonly Outcome[]): void {
  if (outcomes.length === 0) return;
  say("");
  for (const outcome of outcomes) {
    const { title, path, differences } = outcome;
    say(`${isAsExpected(outcome) ? "as expected" : "NOT AS EXPECTED"}: ${title}`);
    say(`    ${path.join(" → ")}`);
    for (const difference of differences) say(`    ${difference}`);
  }
  say(`${outcomes.filter(isAsExpected).length} of ${outcomes.length} stories ended as expected.`);
}

function isAsExpected({ differences }: Outcome): boolean {
  return differences.length === 0;
}

function keep<T extends { stop(): Promise<void> }>(part: T): T {
  started.push(part);
  return part;
}

/** Stops the parts in reverse order. */
async function stopAll(): Promise<void> {
  for (const part of started.toReversed()) await part.stop();
}

function say(text: string): void {
  console.log(text);
}
