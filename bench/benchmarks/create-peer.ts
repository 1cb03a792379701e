// Creating an invoice, compared with a service that a merchant might run instead (Fastify and PostgreSQL). That service is also compared with the
// minimum work of grouped creates.
import type { Context } from "../context.ts";
import { interleave, type Measured } from "../interleave.ts";
import type { Figure, Outcome, Target as Wanted } from "../report.ts";
import {
  BTC_ADDRESS,
  createTarget,
  floorTarget,
  merchantWithTwoWallets,
  merchantWithXpub,
  peerTarget,
} from "./create-targets.ts";
import { throughput } from "./figures.ts";

const PEER = "Fastify + PostgreSQL";
const CONNECTIONS = [16, 64];
const WITH_METHOD: ReadonlyMap<number, Wanted> = new Map([[64, { atLeast: 0.8 }]]);

export async function createBesidePeer(context: Context): Promise<Outcome> {
  const product = await context.product();
  const peer = await context.peer();
  const plain = [
    createTarget("create", product, await merchantWithTwoWallets(product)),
    peerTarget(PEER, peer, "/create"),
    await floorTarget(context, "GROUP"),
  ] as const;
  const derived = [
    {
      ...createTarget("create with xpub", product, await context.xpubMerchant(merchantWithXpub)),
      pattern: BTC_ADDRESS,
    },
    { ...peerTarget(`${PEER}, derived`, peer, "/create-derived"), pattern: BTC_ADDRESS },
    { ...(await floorTarget(context, "GROUPD")), pattern: BTC_ADDRESS },
  ] as const;
  const figures: Figure[] = [];
  for (const connections of context.options.connections ?? CONNECTIONS) {
    const window = { ...context.plan, connections };
    const at = `c = ${connections}`;
    figures.push(...besidePeer(["create, no activation", "GROUP"], at, await interleave(context, plain, window)));
    const target = WITH_METHOD.get(connections);
    const measured = await interleave(context, derived, window);
    figures.push(...besidePeer(["create with an xpub method", "GROUPD"], at, measured, target));
  }
  await assertPeerRows(peer);
  return { figures };
}

function besidePeer(
  [create, group]: readonly [string, string],
  at: string,
  [ours, peer, floor]: readonly [Measured, Measured, Measured],
  target?: Wanted,
): Figure[] {
  return [
    throughput({ what: `${create}, ${at}`, ours, baseline: PEER, theirs: peer, target }),
    throughput({ what: `${group}, ${at}`, ours: floor, baseline: PEER, theirs: peer }),
  ];
}

/** Checks that every invoice is complete, and that PostgreSQL commits to disk, as the table says. */
async function assertPeerRows(peer: { readonly host: string; readonly port: number }): Promise<void> {
  const answer = await fetch(`http://${peer.host}:${peer.port}/count`);
  const found: Record<string, number | string> = JSON.parse(await answer.text());
  const { invoices, items, events, answers, fsync, synchronous_commit } = found;
  const isWhole = invoices !== 0 && items === invoices && events === invoices && answers === invoices;
  if (!isWhole || fsync !== "on" || synchronous_commit !== "on")
    throw new Error(`the peer has ${JSON.stringify(found)}`);
}
