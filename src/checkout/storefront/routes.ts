import { settingsOf } from "../../accounts/merchants/settings.ts";
import { err, ok } from "../../lib/result.ts";
import { SYSTEM_TRAIL } from "../../platform/audit/entry.ts";
import { type Chrome, linkTo } from "../pay/chrome.ts";
import { languageQuery } from "../pay/contract.ts";
import { type PageReply, pagesOf } from "../pay/pages-of.tsx";
import { shopOf } from "../pay/view.ts";
import { buyProduct } from "./buy-product.ts";
import { type BuyForm, buyForm, orderOf, typedFields } from "./contract.ts";
import { storefrontDependencies } from "./dependencies.ts";
import type { Problems } from "./order.ts";
import { productPage } from "./product-page.tsx";
import { type ForSale, readProductForSale } from "./read-product-for-sale.ts";

const PATH = "/buy/:productId";

export const storefrontRoutes = pagesOf(storefrontDependencies)
  // A GET creates nothing: chat previews and mail scanners open the link too.
  .get(PATH, {
    operationId: "showProduct",
    summary: "The page of a product",
    description:
      "Share its address, or link to it. Looking makes nothing, so previews of links make no invoices; 410 while the product is not active.",
    query: languageQuery,
    answers: [{ status: 200, description: "The product, and a form of what it asks for", alsoAs: "text/html" }],
    answer: async (call) => {
      const found = await readProductForSale(call.deps, call.params.productId ?? "");
      return found.ok ? ok(formPage(call, found.value, { form: {}, problems: {}, status: 200 })) : found;
    },
  })
  // A form of another origin does no harm, so none is refused and no token against it is needed: nobody is signed in here, anyone may buy, and
  // the result is an invoice that only its sender is shown.
  .post(PATH, {
    operationId: "buyProduct",
    summary: "Make an invoice of a product",
    description:
      "What the page's form sends, with the limits of a public key and 10 a minute from one IP address. The customer is made of what is typed; where the email is known already that customer stays as they are, and what was typed differently stands in the invoice's `metadata` as `customerName`, `customerAddress` and `customerPhoneNumber`.",
    body: buyForm,
    query: languageQuery,
    answers: [
      { status: 303, description: "To the invoice's page; the same one when the form is sent again" },
      { status: 400, description: "The form again, with what is wrong beside its fields", alsoAs: "text/html" },
      { status: 410, description: "It is not for sale any more", alsoAs: "text/html" },
    ],
    answer: async (call) => {
      const { deps, body: form, chrome, ip, requestId } = call;
      const waitSeconds = await deps.waitOfIp(ip);
      if (waitSeconds > 0) return err({ code: "RATE_LIMITED", retryAfterSeconds: waitSeconds });
      const found = await readProductForSale(deps, call.params.productId ?? "");
      if (!found.ok) return found;
      const again = (problems: Problems) => ok(formPage(call, found.value, { form, problems, status: 400 }));
      const order = orderOf(found.value.product, form);
      if (!order.ok) return again(order.error);
      const bought = await buyProduct(
        // As where a payer picks a way to pay, the merchant's audit log names neither the buyer nor their address.
        { ...deps, trail: { ...SYSTEM_TRAIL, requestId } },
        {
          ...found.value,
          order: order.value,
          token: isToken(form.token) ? form.token : undefined,
          typed: typedFields(found.value.product, form),
          callers: deps.callersOf(ip),
        },
      );
      if (bought.ok) return ok({ kind: "redirect", location: linkTo(chrome, `/pay/${bought.value}`) });
      return bought.error.code === "ANY_AMOUNT_NEEDS_OWN_ADDRESS" ? again({ amount: "required" }) : bought;
    },
  });

function formPage(
  { chrome, deps }: { readonly chrome: Chrome; readonly deps: ReturnType<typeof storefrontDependencies> },
  { product, merchant }: ForSale,
  of: { readonly form: BuyForm; readonly problems: Problems; readonly status: number },
): PageReply {
  const settings = settingsOf(merchant);
  const { form, problems, status } = of;
  const token = isToken(form.token) ? form.token : deps.newToken();
  const shop = shopOf({ ...merchant, settings }, "");
  return {
    kind: "page",
    status,
    html: productPage({ chrome, product, shop, token, form, problems }),
    frameAncestors: settings.frameAncestors,
    // "Back" then shows the sent form with its token. A page that may not be kept is rendered anew, with a new token, and makes another invoice.
    ...(status === 200 ? { headers: { "cache-control": "private, no-cache" } } : {}),
  };
}

/** As we make them. */
function isToken(text: string | undefined): text is string {
  return text !== undefined && /^[0-9a-f-]{36}$/.test(text);
}
