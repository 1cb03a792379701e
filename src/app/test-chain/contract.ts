// The wire format of the test chain of a development server, for the console and for the control port of `npm start`.
import * as z from "zod";

/** The network that the chain stands in for. A test network: someone who scans a demo invoice with a real wallet must not send real money. */
export const TEST_NETWORK = "ETH_SEPOLIA";

export const startChainBody = () => z.strictObject({ state: z.literal("RUNNING") });

/** The payment that a payment method on the chain asks for. */
export const customerPaymentBody = () =>
  z.strictObject({
    cryptocurrency: z.string().max(20),
    network: z.literal(TEST_NETWORK),
    address: z.string().max(100),
    amountDue: z.string().max(100),
    requiredConfirmations: z.int().min(1).max(100),
  });

// ---- responses

export const testChainBody = () =>
  z
    .object({
      state: z
        .enum(["STOPPED", "RUNNING", "UNAVAILABLE"])
        .meta({ description: "UNAVAILABLE: there is no anvil for this system, or `npm start` has ended." }),
      network: z.literal(TEST_NETWORK),
      cryptocurrency: z.string().meta({ description: "The coin for a first wallet." }),
    })
    .meta({ title: "TestChain" });
