// Runs both walks and their variants, one after the other, on one Worker. The first create and the first payment are measured as cold, the second
// ones as warm.
import type { Tracer } from "./trace.ts";

const USDT = { cryptocurrency: "USDT", network: "ETH" };
const BTC = { cryptocurrency: "BTC", network: "BTC" };
/** BIP84, "Test vectors": account 0 of the mnemonic "abandon ... about". */
const ZPUB =
  "zpub6rFR7y4Q2AijBEqTUquhVz398htDFrtymD9xYYfG1m4wAcvPhXNfE3EfH1r1ADqtfSdVCToUG868RvUUkgDKf31mGDtKsAYz2oz2AGutZYs";
const ADDRESS = "0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed";

interface CreatedInvoice {
  readonly paymentMethods: readonly { readonly amount: string }[];
}

export async function walk(tracer: Tracer) {
  // Imported here, because the tracer must be installed before the first file of src is loaded.
  const { Stage } = await import("./stage.ts");
  const stage = await Stage.open();
  let orders = 0;
  const create = async (by: "SECRET" | "PUBLIC", more: object): Promise<CreatedInvoice> => {
    orders++;
    // Each invoice has its own price, so that no two compete for an amount.
    const body = { name: `Order ${orders}`, rawAmount: 20 + orders, currency: "USD", ...more };
    return stage.post("invoices", body, { by, idempotencyKey: `order-${orders}` });
  };
  const customer = { customerEmail: "ada@example.com", customerName: "Ada Lovelace" };
  const order = () => create("SECRET", { ...customer, paymentMethods: [USDT] });
  const pay = async ({ paymentMethods: [method] }: CreatedInvoice): Promise<void> => {
    const units = BigInt(Number(method?.amount) * 1e6);
    const before = stage.woken;
    stage.chain.mine({ to: ADDRESS, units });
    await stage.watch();
    if (stage.woken !== before + 1) throw new Error("a payment has not woken the endpoint");
  };
  await stage.post("wallets", { walletType: "DIRECT_WALLET", ...USDT, address: ADDRESS });
  // Mines a block to move the clock: wallets created in the same millisecond would be read in the order of their random ids.
  stage.chain.mine();
  await stage.post("wallets", { walletType: "XPUB_WALLET", ...BTC, xpub: ZPUB, derivationPath: "m/84'/0'/0'" });
  const coldCreate = await tracer.of(order);
  const coldPayment = await tracer.of(async () => {
    // The watcher starts at the newest block.
    await stage.watch();
    await pay(coldCreate.result);
  });
  const warmCreate = await tracer.of(order);
  const warmPayment = await tracer.of(() => pay(warmCreate.result));
  const ofExtendedKey = await tracer.of(() => create("SECRET", { ...customer, paymentMethods: [BTC] }));
  const ofPublicKey = await tracer.of(() => create("PUBLIC", { ...customer, paymentMethods: [USDT] }));
  return {
    create: {
      cold: coldCreate.trace,
      warm: warmCreate.trace,
      ofExtendedKey: ofExtendedKey.trace,
      ofPublicKey: ofPublicKey.trace,
    },
    payment: { cold: coldPayment.trace, warm: warmPayment.trace },
  };
}
