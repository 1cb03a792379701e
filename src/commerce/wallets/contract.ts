// The wire format of wallets: requests and responses (Interface 2.1, decisions 3).
import * as z from "zod";
import { integerParameter, isAnyGiven, textField as text, time } from "../../lib/fields.ts";
import { OFFER_STATES } from "./network-offer.ts";

/** Longer than any address or key, so that an invalid one is refused for the real reason, not for its length. */
const MAX_TEXT = 1_000;
/** A public key can only derive indexes below this (BIP32). */
const HARDENED = 2 ** 31;

const requiredConfirmations = () =>
  z.int().min(1).max(1_000).meta({ description: "Confirmations after which a payment counts as confirmed." });
const isEnabled = () => z.boolean().meta({ description: "When false, no new invoice uses the wallet." });

const pairFields = () => ({
  cryptocurrency: text(20).meta({ description: "Code of the coin or token, in any case.", examples: ["BTC"] }),
  network: text(30).meta({ description: "Name of the network or an alias of it, in any case.", examples: ["BTC"] }),
});
const settings = () => ({
  requiredConfirmations: requiredConfirmations().default(1),
  isEnabled: isEnabled().default(true),
});

/** A field of the other wallet type, for clients that always send all fields: null counts as absent, and anything else is refused. */
const absent = () => z.never("unknown field").optional();

export const registerWalletBody = () =>
  z.discriminatedUnion("walletType", [
    z.strictObject({
      walletType: z.literal("DIRECT_WALLET"),
      ...pairFields(),
      address: text(MAX_TEXT).meta({ examples: ["bc1qcr8te4kr609gcawutmrza0j4xv80jy8z306fyu"] }),
      xpub: absent(),
      derivationPath: absent(),
      ...settings(),
    }),
    z.strictObject({
      walletType: z.literal("XPUB_WALLET"),
      ...pairFields(),
      xpub: text(MAX_TEXT).meta({
        description: "Extended public key of an account: xpub, ypub or zpub; on test networks tpub, upub or vpub.",
      }),
      derivationPath: text(100).meta({ description: "Derivation path of the account.", examples: ["m/84'/0'/0'"] }),
      address: absent(),
      ...settings(),
    }),
  ]);

/** Address, xpub and path never change: a wallet is rotated instead (Interface 4.3). */
export const updateWalletBody = () =>
  z
    .strictObject({
      isEnabled: isEnabled().optional(),
      requiredConfirmations: requiredConfirmations().optional(),
      address: absent(),
      xpub: absent(),
      derivationPath: absent(),
    })
    .refine(isAnyGiven, "must contain isEnabled or requiredConfirmations");

/** Query parameters arrive as text. */
export const addressesQuery = () =>
  z.object({
    from: integerParameter(0, HARDENED - 1)
      .default(0)
      .meta({ description: "Index of the first address." }),
    count: integerParameter(1, 100).default(20).meta({ description: "Number of addresses." }),
  });

export const recoveryQuery = () =>
  z.object({
    format: z
      .enum(["json", "csv"])
      .optional()
      .meta({ description: "The default is JSON. The header `Accept: text/csv` also selects CSV." }),
  });

// ---- responses

export const walletBody = () =>
  z
    .object({
      id: z.string(),
      merchantId: z.string(),
      walletType: z.enum(["DIRECT_WALLET", "XPUB_WALLET"]),
      cryptocurrency: z.string(),
      network: z.string(),
      address: z.string().nullable(),
      xpub: z.string().nullable(),
      derivationPath: z.string().nullable(),
      requiredConfirmations: z.int(),
      isEnabled: z.boolean(),
      lastUsedIndex: z.int().nullable().meta({
        description:
          "The highest index that was handed out: 0 after registration, and still 0 after the first address.",
      }),
      nextIndex: z
        .int()
        .nullable()
        .meta({ description: "Index of the next address: 0 before the first address, 1 after it." }),
      gap: z.int().nullable().meta({ description: "Addresses handed out since the last one that received money." }),
      scheme: z.enum(["BIP44", "BIP49", "BIP84"]).nullable(),
      warnings: z.array(z.string()).meta({
        description: "Stable codes: LOW_CONFIRMATIONS, NETWORK_NOT_WATCHED, INTEGRITY_CHECK_FAILED, CHANGE_PENDING.",
      }),
      usableFrom: time()
        .nullable()
        .meta({ description: "New invoices use the wallet from this time on; null if there is no delay." }),
      createdAt: time(),
      updatedAt: time(),
    })
    .meta({ title: "Wallet" });

export const registeredWalletBody = () =>
  walletBody()
    .extend({
      firstAddress: z
        .string()
        .optional()
        .meta({ description: "Only for extended keys: the address at index 0, to compare with your wallet software." }),
    })
    .meta({ title: "RegisteredWallet" });

export const walletListBody = () => z.array(walletBody());

export const addressListBody = () =>
  z.object({
    data: z.array(z.object({ index: z.int(), address: z.string(), path: z.string() })),
  });

export const walletNetworksBody = () =>
  z
    .object({
      address: z.string().nullable(),
      networks: z.array(
        z.object({
          network: z.string(),
          state: z.enum(OFFER_STATES).meta({
            description:
              "FREE: the address may be registered. REGISTERED: you have a wallet for each coin of the network. CODE: the address has code. CODE_ELSEWHERE: it has code on another network. NO_SOURCE, NO_ANSWER: the network could not be checked. UNPROVEN: a network where you use the address could not be checked.",
          }),
          coins: z.array(
            z.object({
              cryptocurrency: z.string(),
              walletId: z.string().nullable().meta({ description: "Your wallet for this pair, whatever its address." }),
            }),
          ),
        }),
      ),
    })
    .meta({ title: "WalletNetworks" });

export const recoveryBody = () =>
  z.object({
    descriptor: z
      .string()
      .meta({ description: "Output descriptor (BIP380) of all receiving addresses, with its checksum." }),
    nextIndex: z.int(),
    gapLimit: z.int().meta({
      description: "Gap limit to set in your wallet software, so that it finds every address in `addresses`.",
    }),
    addresses: z.array(
      z.object({
        index: z.int(),
        address: z.string().nullable().meta({ description: "Null if the stored row fails its integrity check." }),
        path: z.string(),
        invoiceId: z.string(),
        createdAt: time(),
      }),
    ),
  });
