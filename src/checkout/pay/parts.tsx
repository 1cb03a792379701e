// Small parts that several pages share.
import type { Child } from "hono/jsx";
import { timeText } from "../../platform/texts/format.ts";
import { type Chrome, linkTo } from "./chrome.ts";
import type { Way } from "./method-view.ts";
import type { CheckoutView, Shop } from "./view.ts";

/** A text with its `{names}` filled in, each isolated, so that names and amounts keep their own direction in any language. */
export function Filled({ text, values }: { readonly text: string; readonly values: Readonly<Record<string, Child>> }) {
  return (
    <>
      {text.split(/(\{\w+\})/).map((part) => {
        const value = part.startsWith("{") ? values[part.slice(1, -1)] : undefined;
        return value === undefined ? part : <bdi>{value}</bdi>;
      })}
    </>
  );
}

/** The shop's name in a sentence that may make a payer contact it: a link if the shop has a page for that. */
export function shopLink({ name, supportUrl }: Shop): Child {
  return supportUrl === null ? (
    name
  ) : (
    <a href={supportUrl} rel="noreferrer">
      {name}
    </a>
  );
}

/** Text that reads from left to right in every language: amounts, addresses, hashes. */
export function Ltr({ class: name, children }: { readonly class?: string; readonly children: Child }) {
  return (
    <bdi dir="ltr" class={name}>
      {children}
    </bdi>
  );
}

/** `TRON (TRC-20)`, as exchanges list it. */
export function networkText({ networkName, standard }: Pick<Way, "networkName" | "standard">): string {
  return standard === null ? networkName : `${networkName} (${standard})`;
}

/** A link to the invoice's page or to a path below it, which keeps a named language and the frame over a shop. */
export function payLink(
  chrome: Chrome,
  { invoiceId }: Pick<CheckoutView, "invoiceId">,
  below: "" | `/${string}` = "",
  query: Readonly<Record<string, string>> = {},
): string {
  return linkTo(chrome, `/pay/${invoiceId}${below}`, query);
}

/** The query that a link to the same page must keep: the chosen payment method, and the claim that the page is about. */
export function shownQuery({ stage, method, claim }: CheckoutView): Readonly<Record<string, string>> {
  const shown = method === null ? {} : { method: method.key };
  return { ...(stage === "choose" ? { choose: "1" } : shown), ...(claim === null ? {} : { claim: claim.id }) };
}

/** A point in time, in the reader's language and in UTC. */
export function Moment({ chrome, ms }: { readonly chrome: Chrome; readonly ms: number }) {
  return <time datetime={new Date(ms).toISOString()}>{timeText(chrome.language, ms)}</time>;
}

/** A button that the script shows; its space is reserved, so that nothing moves when it appears. */
export function CopyButton(of: {
  readonly chrome: Chrome;
  readonly text: string;
  readonly label: string;
  readonly said: string;
}) {
  const { texts } = of.chrome;
  return (
    <button
      type="button"
      class="copy"
      aria-label={of.label}
      data-copy={of.text}
      data-copied={texts.copied}
      data-say={of.said}
      data-failed={texts.copyFailed}
      hidden
    >
      {texts.copy}
    </button>
  );
}

/** A form field with its label above, and a hint or an error below. `id` is unique on the page. */
export function Field(of: {
  readonly id: string;
  readonly name: string;
  readonly label: string;
  readonly hint?: string;
  readonly error?: string | undefined;
  readonly value?: string;
  readonly type?: "text" | "email" | "tel";
  readonly inputmode?: "decimal" | "text" | "email" | "tel";
  readonly autocomplete?: string;
  readonly maxlength?: number;
  readonly isRequired?: boolean;
  /** For hashes and addresses: left to right, without autocorrection and capitalisation. */
  readonly isCode?: boolean;
  /** More than one makes it a multi-line field. */
  readonly lines?: number;
  /** Whether the cursor starts in this field. At most one field of a page may have this. */
  readonly isFocused?: boolean;
}) {
  const { id, hint, error } = of;
  const described = [hint === undefined ? [] : [`${id}-hint`], error === undefined ? [] : [`${id}-error`]].flat();
  const code =
    of.isCode === true ? ({ dir: "ltr", autocapitalize: "none", spellcheck: false, class: "code" } as const) : {};
  const shared = {
    id,
    name: of.name,
    autocomplete: of.autocomplete ?? "off",
    maxlength: of.maxlength,
    required: of.isRequired === true,
    autofocus: of.isFocused === true,
    "aria-describedby": described.length === 0 ? undefined : described.join(" "),
    "aria-invalid": error === undefined ? undefined : ("true" as const),
  };
  return (
    <p class="field">
      <label for={id}>{of.label}</label>
      {of.lines === undefined ? (
        <input {...shared} {...code} type={of.type ?? "text"} inputmode={of.inputmode} value={of.value} />
      ) : (
        <textarea {...shared} rows={of.lines}>
          {of.value}
        </textarea>
      )}
      {error === undefined ? null : (
        <span id={`${id}-error`} class="error">
          {error}
        </span>
      )}
      {hint === undefined ? null : (
        <span id={`${id}-hint`} class="hint">
          {hint}
        </span>
      )}
    </p>
  );
}
