// Wire format of the keys that verify returns: a JSON Web Key Set (RFC 7517) of Ed25519 keys (RFC 8037).
import * as z from "zod";

export const publicKeysBody = () =>
  z
    .object({
      keys: z.array(
        z.object({
          kty: z.literal("OKP"),
          crv: z.literal("Ed25519"),
          kid: z.string().meta({ description: "The `keyId` of signatures made with this key." }),
          x: z.string().meta({ description: "32 bytes, base64url without padding." }),
          use: z.literal("sig"),
          alg: z.literal("EdDSA"),
        }),
      ),
    })
    .meta({ title: "PublicKeys" });
