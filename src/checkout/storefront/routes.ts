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
    summary: "Show the page of a product",
    description:
      "Share the URL or link to it. Reading the page creates nothing, so link previews create no invoices. Answers 410 while the product is not active.",
    query: languageQuery,
    answers: [{ status: 200, description: "The product with its order form", alsoAs: "text/html" }],
    answer: async (call) => {
      const found = await readProductForSale(call.deps, call.params.productId ?? "");
      return found.ok ? ok(formPage(call, found.value, { form: {}, problems: {}, status: 200 })) : found;
    },
  })
  // Forms from other origins are harmless, so no CSRF token is needed: nobody is signed in here, anyone may buy, and only the sender sees the
  // resulting invoice.
  .post(PATH, {
    operationId: "buyProduct",
    summary: "Create an invoice for a product",
    description:
      "Receives the page's form, with the limits of a public key and at most 10 a minute from one IP address. The typed fields create the customer. If the email is already known, that customer is not changed, and different input is stored in the invoice's `metadata` as `customerName`, `customerAddress` and `customerPhoneNumber`.",
    body: buyForm,
    query: languageQuery,
    answers: [
      { status: 303, description: "Redirect to the invoice's page; the same one if the form is sent again" },
      {
        status: 400,
        description: "The form again, with an error message beside each wrong field",
        alsoAs: "text/html",
      },
      { status: 410, description: "The product is no longer for sale", alsoAs: "text/html" },
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
        // As with a payer's choice of a payment method, the merchant's audit log names neither the buyer nor their IP address.
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
    // Lets "back" show the sent form with its token. A page that may not be cached would be rendered again with a new token and create another
    // invoice.
    ...(status === 200 ? { headers: { "cache-control": "private, no-cache" } } : {}),
  };
}

/** Whether the text has the form of our tokens. */
function isToken(text: string | undefined): text is string {
  return text !== undefined && /^[0-9a-f-]{36}$/.test(text);
}
