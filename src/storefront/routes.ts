import { SYSTEM_TRAIL } from "../audit/entry.ts";
import type { MountedRoute } from "../auth/middleware.ts";
import { type Chrome, linkTo } from "../checkout/chrome.ts";
import { languageQuery } from "../checkout/contract.ts";
import { type PageReply, pageRoute } from "../checkout/middleware.ts";
import { shopOf } from "../checkout/view.ts";
import { noBody } from "../http/route.ts";
import { err, ok } from "../lib/result.ts";
import { settingsOf } from "../merchants/settings.ts";
import { buyProduct } from "./buy-product.ts";
import { type BuyForm, buyForm, orderOf, typedFields } from "./contract.ts";
import { storefrontEffects } from "./effects.ts";
import type { Problems } from "./order.ts";
import { productPage } from "./product-page.tsx";
import { type ForSale, readProductForSale } from "./read-product-for-sale.ts";

const PATH = "/buy/:productId";
const SHARED = {
  path: PATH,
  tag: "Pages",
  callers: "ANYBODY",
  permission: null,
  isForPublicKeys: false,
  isPage: true,
  isIdempotent: false,
  query: languageQuery,
  refusals: [],
} as const;

// Nothing is made by looking: whoever is sent the link has it opened by their chat's preview and their mail's scanner too.
const show = pageRoute({
  spec: {
    ...SHARED,
    method: "GET",
    operationId: "showProduct",
    summary: "The page of a product",
    description:
      "Share its address, or link to it. Looking makes nothing, so previews of links make no invoices; 410 while the product is not active.",
    body: noBody,
    answers: [{ status: 200, description: "The product, and a form of what it asks for", alsoAs: "text/html" }],
  },
  effects: storefrontEffects,
  answer: async (call) => {
    const found = await readProductForSale(call.fx, call.params.productId ?? "");
    return found.ok ? ok(formPage(call, found.value, { form: {}, problems: {}, status: 200 })) : found;
  },
});

// A form of another origin does no harm, so none is refused and no token against it is needed: nobody is signed in here, anybody may buy, and
// what comes of it is an invoice that its sender alone is shown.
const buy = pageRoute({
  spec: {
    ...SHARED,
    method: "POST",
    operationId: "buyProduct",
    summary: "Make an invoice of a product",
    description:
      "What the page's form sends, with the limits of a public key and 10 a minute from one IP address. The customer is made of what is typed; where the email is known already that customer stays as they are, and what was typed differently stands in the invoice's `metadata` as `customerName`, `customerAddress` and `customerPhoneNumber`.",
    body: buyForm,
    answers: [
      { status: 303, description: "To the invoice's page; the same one when the form is sent again" },
      { status: 400, description: "The form again, with what is wrong beside its fields", alsoAs: "text/html" },
      { status: 410, description: "It is not for sale any more", alsoAs: "text/html" },
    ],
  },
  effects: storefrontEffects,
  answer: async (call) => {
    const { fx, form, chrome, ip, requestId } = call;
    const waitSeconds = await fx.waitOfIp(ip);
    if (waitSeconds > 0) return err({ code: "RATE_LIMITED", retryAfterSeconds: waitSeconds });
    const found = await readProductForSale(fx, call.params.productId ?? "");
    if (!found.ok) return found;
    const again = (problems: Problems) => ok(formPage(call, found.value, { form, problems, status: 400 }));
    const order = orderOf(found.value.product, form);
    if (!order.ok) return again(order.error);
    const bought = await buyProduct(
      // As with whoever picks a way to pay: nobody whom a merchant's audit log may name, and no address of theirs.
      { ...fx, trail: { ...SYSTEM_TRAIL, requestId } },
      {
        ...found.value,
        order: order.value,
        token: isToken(form.token) ? form.token : undefined,
        typed: typedFields(found.value.product, form),
      },
    );
    if (bought.ok) return ok({ kind: "redirect", location: linkTo(chrome, `/pay/${bought.value}`) });
    return bought.error.code === "ANY_AMOUNT_NEEDS_OWN_ADDRESS" ? again({ amount: "required" }) : bought;
  },
});

function formPage(
  { chrome, fx }: { readonly chrome: Chrome; readonly fx: ReturnType<typeof storefrontEffects> },
  { product, merchant }: ForSale,
  of: { readonly form: BuyForm; readonly problems: Problems; readonly status: number },
): PageReply {
  const settings = settingsOf(merchant);
  const { form, problems, status } = of;
  const token = isToken(form.token) ? form.token : fx.newToken();
  const shop = shopOf({ ...merchant, settings }, "");
  return {
    kind: "page",
    status,
    html: productPage({ chrome, product, shop, token, form, problems }),
    frameAncestors: settings.frameAncestors,
    // Whoever goes back finds the form that they sent, with its token: one that may not be kept is made anew, and makes another invoice.
    ...(status === 200 ? { headers: { "cache-control": "private, no-cache" } } : {}),
  };
}

/** As we make them. */
function isToken(text: string | undefined): text is string {
  return text !== undefined && /^[0-9a-f-]{36}$/.test(text);
}

export const storefrontRoutes: readonly MountedRoute[] = [show, buy];
