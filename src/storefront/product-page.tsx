// A product with the form that makes an invoice of it. No script: what it needs of the browser every browser does by itself.
import { type Chrome, linkTo } from "../checkout/chrome.ts";
import { Document } from "../checkout/document.tsx";
import { moneyText } from "../checkout/format.ts";
import type { Texts } from "../checkout/texts/en.ts";
import { fill } from "../checkout/texts.ts";
import type { Shop } from "../checkout/view.ts";
import { imageUrl } from "../images/image.ts";
import { plainText } from "../lib/plain-text.ts";
import type { Product } from "../products/product.ts";
import type { BuyForm } from "./contract.ts";
import { askedFields, type FieldName, type Problem, type Problems } from "./order.ts";

interface Of {
  readonly chrome: Chrome;
  readonly product: Product;
  readonly shop: Shop;
  readonly token: string;
  /** What was typed before, and what was wrong with it. */
  readonly form: BuyForm;
  readonly problems: Problems;
}

interface Field {
  readonly label: keyof Texts;
  readonly type?: string;
  readonly autocomplete: string;
  readonly hint?: keyof Texts;
}

/** Purposes of fields as browsers know them (HTML, "Autofill"). */
const FIELDS: Readonly<Record<FieldName, Field>> = {
  amount: { label: "buyAmount", autocomplete: "transaction-amount", hint: "buyAmountHint" },
  name: { label: "buyName", autocomplete: "name" },
  email: { label: "buyEmail", type: "email", autocomplete: "email", hint: "buyEmailHint" },
  address: { label: "buyAddress", autocomplete: "street-address" },
  phone: { label: "buyPhone", type: "tel", autocomplete: "tel" },
};

const PROBLEMS = {
  required: "fieldRequired",
  email: "buyEmailInvalid",
  amount: "buyAmountInvalid",
  long: "buyTooLong",
} as const satisfies Readonly<Record<Problem, keyof Texts>>;

export function productPage(of: Of) {
  const { chrome, product, shop, token, form, problems } = of;
  const { texts } = chrome;
  const name = plainText(product.name);
  const asked = askedFields(product);
  const first = asked.find((field) => problems[field.name] !== undefined)?.name;
  const price = { micros: product.priceMicros, currency: product.currency };
  return (
    <Document chrome={chrome} title={`${name} · ${shop.name}`} shop={shop}>
      <main id="checkout" data-stage="buy">
        <section class="card product">
          {product.image === null ? null : (
            <img
              class="picture"
              src={imageUrl("", { merchantId: product.merchantId, name: product.image })}
              alt=""
              width="160"
              height="160"
            />
          )}
          <h1>{name}</h1>
          {product.description === null || product.description === "" ? null : <p>{plainText(product.description)}</p>}
          <p class="total">{product.priceMicros === 0n ? texts.anyAmount : moneyText(chrome.language, price)}</p>
        </section>
        <form class="card" method="post" action={linkTo(chrome, `/buy/${product.id}`)}>
          <input type="hidden" name="token" value={token} />
          {asked.map((field) => (
            <FormField
              {...field}
              chrome={chrome}
              currency={product.currency}
              value={form[field.name] ?? ""}
              problem={problems[field.name]}
              isFirst={field.name === first}
            />
          ))}
          <button type="submit" class="primary">
            {texts.buyGo}
          </button>
        </form>
      </main>
    </Document>
  );
}

function FormField(of: {
  readonly name: FieldName;
  readonly isRequired: boolean;
  readonly chrome: Chrome;
  readonly currency: string;
  readonly value: string;
  readonly problem: Problem | undefined;
  /** Of those with a problem: there the cursor goes. */
  readonly isFirst: boolean;
}) {
  const { name, isRequired, value, problem, isFirst } = of;
  const { texts } = of.chrome;
  const { label, type = "text", autocomplete, hint } = FIELDS[name];
  const described = [
    hint === undefined ? [] : [`${name}-hint`],
    problem === undefined ? [] : [`${name}-problem`],
  ].flat();
  const shared = {
    id: name,
    name,
    autocomplete,
    required: isRequired,
    autofocus: isFirst,
    ...(described.length === 0 ? {} : { "aria-describedby": described.join(" ") }),
    ...(problem === undefined ? {} : { "aria-invalid": "true" as const }),
  };
  return (
    <div class="field">
      <label for={name}>{fill(texts[label], { currency: of.currency })}</label>
      {name === "address" ? (
        <textarea {...shared} rows={3}>
          {value}
        </textarea>
      ) : (
        <input
          {...shared}
          type={type}
          value={value}
          {...(name === "amount" ? { inputmode: "decimal" as const } : {})}
        />
      )}
      {hint === undefined ? null : (
        <p class="hint" id={`${name}-hint`}>
          {texts[hint]}
        </p>
      )}
      {problem === undefined ? null : (
        <p class="problem" id={`${name}-problem`}>
          {texts[PROBLEMS[problem]]}
        </p>
      )}
    </div>
  );
}
