// The wire format of products: requests and responses (decisions 10).
import * as z from "zod";
import { amountField, flagParameter, isAnyGiven, textField, time } from "../../lib/fields.ts";
import { listBody, listQuery } from "../../lib/pagination.ts";
import { currencyField } from "../../rates/contract.ts";

/** An image of 32 KB in base64 has 43,692 characters. */
const MAX_IMAGE_TEXT = 60_000;

const name = () => textField(200).meta({ description: "Display name.", examples: ["Coffee, 1 kg"] });
const description = () => textField(1_000, 0).nullable();
const price = () =>
  amountField().meta({
    description:
      "In `currency`. Its shortest decimal text is rounded half up at the sixth fraction digit; a positive amount that would become 0 is refused. 0 lets the customer pay any amount.",
    examples: [19.5],
  });
const image = () =>
  z
    .string()
    .refine((value) => value.length > 0, "must not be empty")
    .refine((value) => value.length <= MAX_IMAGE_TEXT, `must have at most ${MAX_IMAGE_TEXT} characters`)
    .nullable()
    .meta({
      description:
        "PNG, JPEG or WebP of at most 32 KB: the name of an uploaded image, a `data:` URL in base64, or an https URL that is fetched once.",
    });

const flags = () => ({
  isActive: z.boolean().meta({ description: "Whether the product is for sale." }),
  askForName: z.boolean(),
  askForAddress: z.boolean(),
  askForPhoneNumber: z.boolean(),
});

export const createProductBody = () =>
  z
    .strictObject({
      name: name(),
      description: description().optional(),
      price: price(),
      currency: currencyField().prefault("USD"),
      image: image().optional(),
      isActive: flags().isActive.default(true),
      askForName: flags().askForName.default(false),
      askForAddress: flags().askForAddress.default(false),
      askForPhoneNumber: flags().askForPhoneNumber.default(false),
    })
    .transform(({ price: priceMicros, ...rest }) => ({ ...rest, priceMicros }));

/** Every field is optional: an absent field is left unchanged, null clears it. */
export const updateProductBody = () =>
  z
    .strictObject({
      name: name().optional(),
      description: description().optional(),
      price: price().optional(),
      currency: currencyField().optional(),
      image: image().optional(),
      isActive: flags().isActive.optional(),
      askForName: flags().askForName.optional(),
      askForAddress: flags().askForAddress.optional(),
      askForPhoneNumber: flags().askForPhoneNumber.optional(),
    })
    .refine(isAnyGiven, "must contain at least one field")
    .transform(({ price: priceMicros, ...rest }) => ({ ...rest, priceMicros }));

export const listProductsQuery = () =>
  z.object({
    ...listQuery(),
    isActive: flagParameter().optional().meta({ description: "Only active products, or only inactive ones." }),
    search: z.string().min(1).max(320).optional().meta({ description: "A prefix of the name, or an exact id." }),
  });

// ---- responses

export const productBody = () =>
  z
    .object({
      id: z.string(),
      merchantId: z.string(),
      name: z.string(),
      description: z.string().nullable(),
      price: z.string().meta({ description: "Decimal with 6 fraction digits.", examples: ["19.500000"] }),
      currency: z.string(),
      image: z.string().nullable().meta({ format: "uri", description: "Served from our origin." }),
      signedImage: z
        .string()
        .nullable()
        .meta({ format: "uri", description: "The same URL as `image`; it needs no signature." }),
      isActive: z.boolean(),
      askForName: z.boolean(),
      askForAddress: z.boolean(),
      askForPhoneNumber: z.boolean(),
      createdAt: time(),
      updatedAt: time(),
      deletedAt: time().nullable(),
      checkoutUrl: z.string().meta({
        format: "uri",
        description: "The public page where customers buy the product. It is available while the product is active.",
      }),
    })
    .meta({ title: "Product" });

export const productListBody = () => listBody(productBody()).meta({ title: "ProductList" });
