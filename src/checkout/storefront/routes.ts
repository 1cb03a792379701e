import type * as z from "zod";
import { settingsOf } from "../../accounts/merchants/settings.ts";
import { formatMicros } from "../../lib/money.ts";
import { err, ok } from "../../lib/result.ts";
import { amountText } from "../../lib/typed-amount.ts";
import { parseJson } from "../../lib/typed-json.ts";
import { passChallenge } from "../../platform/challenge/pass-challenge.ts";
import type { Failure } from "../../platform/failures.ts";
import { countedCallers } from "../../platform/http/rate-check.ts";
import { replyTo } from "../../platform/http/reply.ts";
import { fingerprint } from "../../platform/idempotency/idempotency-key.ts";
import { DEFAULT_LANGUAGE, LANGUAGES } from "../../platform/texts/languages.ts";
import { type Chrome, linkTo } from "../pay/chrome.ts";
import { pageQuery } from "../pay/contract.ts";
import { type PageReply, pagesOf } from "../pay/pages-of.tsx";
import { shopOf } from "../pay/view.ts";
import { type Bought, buyProduct } from "./buy-product.ts";
import { buyForm, orderOf } from "./contract.ts";
import { buyDependencies, storefrontDependencies } from "./dependencies.ts";
import { type Form, type Problems, tokenOf, typedFields } from "./order.ts";
import { productPage } from "./product-page.tsx";
import { type ForSale, readProductForSale } from "./read-product-for-sale.ts";

const PATH = "/buy/:productId";

export const storefrontRoutes = pagesOf(storefrontDependencies)
  // A GET creates nothing: chat previews and mail scanners open the link too.
  .get(PATH, {
    operationId: "showProduct",
    summary: "Show the page of a product",
    description:
      "Share the URL or link to it. Reading the page creates nothing, so link previews create no invoices. Answers 410 while the product is not active or its merchant is suspended.",
    query: pageQuery,
    answers: [{ status: 200, description: "The product with its order form", alsoAs: "text/html" }],
    answer: async (call) => {
      const found = await readProductForSale(call.deps, call.params.productId ?? "");
      // Only the page is refused here: a form that was already answered must get the same answer again.
      if (found.ok && found.value.merchant.suspendedAtMs !== null) return err({ code: "PRODUCT_NOT_AVAILABLE" });
      return found.ok ? ok(formPage(call, found.value, { form: {}, problems: {}, status: 200 })) : found;
    },
  })
  // Forms from other origins are harmless, so no CSRF token is needed: nobody is signed in here, anyone may buy, and only the sender sees the
  // resulting invoice.
  .post(PATH, {
    operationId: "buyProduct",
    summary: "Create an invoice for a product",
    description:
      "Accepts the page's form. The limits of a public key apply, and one IP address may send at most 10 forms a minute. The entered fields create the customer. If the email is already known, that customer is not changed, and different input is stored in the invoice's `metadata` as `customerName`, `customerAddress` and `customerPhoneNumber`.",
    body: buyForm,
    query: pageQuery,
    answers: [
      { status: 303, description: "Redirect to the invoice's page; the same one if the form is sent again" },
      {
        status: 400,
        description: "The form again, with an error message next to each wrong field",
        alsoAs: "text/html",
      },
      { status: 403, description: "The form again: the deployment asks for a Turnstile token", alsoAs: "text/html" },
      { status: 410, description: "The product is no longer for sale", alsoAs: "text/html" },
      { status: 503, description: "The form again: its Turnstile token could not be verified", alsoAs: "text/html" },
    ],
    answer: async (call) => {
      const { deps, body: form, chrome, ip } = call;
      const waitSeconds = await deps.waitOfIp(ip);
      if (waitSeconds > 0) return err({ code: "RATE_LIMITED", retryAfterSeconds: waitSeconds });
      const unproved = await challengeRefusal(call);
      const found = await readProductForSale(deps, call.params.productId ?? "");
      if (!found.ok) return found;
      if (unproved !== undefined) {
        const status = unproved.code === "CHALLENGE_UNAVAILABLE" ? 503 : 403;
        return ok(formPage(call, found.value, { form, problems: {}, status }));
      }
      const { product, merchant } = found.value;
      const again = (problems: Problems) => ok(formPage(call, found.value, { form, problems, status: 400 }));
      const order = orderOf(product, form, chrome.language);
      if (!order.ok) return again(order.error);
      const token = tokenOf(form);
      const handed = await call.handToObject({
        merchantId: merchant.id,
        form: {
          ...typedFields(product, form),
          ...(order.value.rawAmount === undefined ? {} : { amount: plainAmount(order.value.rawAmount) }),
          ...(token === undefined ? {} : { token }),
        },
        isRepeatable: token !== undefined,
      });
      if (!handed.ok) return handed;
      const bought = parseJson<Bought>(handed.value.body ?? "");
      if ("problems" in bought) return again(bought.problems);
      return ok({ kind: "redirect", location: linkTo(chrome, `/pay/${bought.invoiceId}`) });
    },
    // Decides again from its own reads, because the product may have changed after the edge read it.
    answerInObject: async (call) => {
      const { env, ip, params, body: form, merchantContext } = call;
      return replyTo(
        await buyProduct(buyDependencies(call), {
          merchantId: merchantContext.merchantId,
          productId: params.productId ?? "",
          form,
          callers: countedCallers(env, ip),
        }),
      );
    },
  });

/** The amount in the notation of the default language, which `orderOf` reads in the merchant's object. */
function plainAmount(micros: bigint): string {
  return amountText(formatMicros(micros), LANGUAGES[DEFAULT_LANGUAGE].locale);
}

/** Sending the same form again is the same operation, so its Turnstile token is still valid. With different fields it needs a new one. */
async function challengeRefusal(call: {
  readonly deps: ReturnType<typeof storefrontDependencies>;
  readonly body: z.output<ReturnType<typeof buyForm>>;
  readonly path: string;
  readonly ip: string | null;
}): Promise<Failure | undefined> {
  const { challenge, hostname } = call.deps;
  if (challenge === undefined) return undefined;
  const { "cf-turnstile-response": token, ...form } = call.body;
  const operation = tokenOf(form) && fingerprint({ method: "POST", path: call.path, body: typedText(form) });
  return passChallenge(challenge, { action: "buy", hostname, token, ip: call.ip, operation });
}

function typedText(form: Form): { readonly [field: string]: string } {
  return Object.fromEntries(Object.entries(form).flatMap(([name, text]) => (text === undefined ? [] : [[name, text]])));
}

function formPage(
  { chrome, deps }: { readonly chrome: Chrome; readonly deps: ReturnType<typeof storefrontDependencies> },
  { product, merchant }: ForSale,
  of: { readonly form: Form; readonly problems: Problems; readonly status: number },
): PageReply {
  const settings = settingsOf(merchant);
  const { form, problems, status } = of;
  const token = tokenOf(form) ?? deps.newToken();
  const shop = shopOf({ ...merchant, settings }, "");
  const { challenge } = deps;
  const widget = challenge && { ...challenge, hasFailed: status === 403 || status === 503 };
  return {
    kind: "page",
    status,
    html: productPage({ chrome, product, shop, token, form, problems, challenge: widget }),
    challengeOrigin: challenge?.origin,
    frameAncestors: settings.frameAncestors,
    // Lets "back" show the sent form with its token. If the page were not cached, it would be rendered again with a new token, and sending it would
    // create another invoice.
    ...(status === 200 ? { headers: { "cache-control": "private, no-cache" } } : {}),
  };
}
