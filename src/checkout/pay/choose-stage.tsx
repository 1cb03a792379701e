import type { Chrome } from "./chrome.ts";
import { CoinMark } from "./coin-mark.tsx";
import type { Choice, Offer, Way } from "./method-view.ts";
import { Filled, Ltr, networkText, payLink } from "./parts.tsx";
import type { CheckoutView } from "./view.ts";

/** The number of payment methods from which on the page has a search field. */
const MANY_WAYS = 9;

interface Of {
  readonly chrome: Chrome;
  readonly view: CheckoutView;
}

/** The choice of coin and network, with one button for each combination. */
export function ChooseStage({ chrome, view }: Of) {
  const { texts } = chrome;
  const isMany = view.choices.reduce((sum, { ways }) => sum + ways.length, 0) >= MANY_WAYS;
  return (
    <>
      <h1 tabindex={-1}>{texts.chooseTitle}</h1>
      {isMany ? (
        <input
          type="search"
          class="search"
          placeholder={texts.chooseSearch}
          aria-label={texts.chooseSearch}
          autocomplete="off"
          spellcheck={false}
          data-search
          hidden
        />
      ) : null}
      <form method="post" action={payLink(chrome, view, "/methods")} class="choices" data-part="choices">
        {view.choices.map((choice) => (
          <ChoiceGroup chrome={chrome} view={view} choice={choice} />
        ))}
        {isMany ? (
          <p data-find-none hidden>
            {texts.chooseNone}
          </p>
        ) : null}
      </form>
      <p class="hint">{texts.warnFees}</p>
    </>
  );
}

/** A coin on one network is a single button; a coin on several has a button for each network. */
function ChoiceGroup({ chrome, view, choice }: Of & { readonly choice: Choice }) {
  const [only, another] = choice.ways;
  const price = commonPrice(choice);
  if (only !== undefined && another === undefined) {
    const place = only.networkName === choice.name ? null : only;
    return (
      <div data-find-group>
        <button type="submit" class="way" name="method" value={only.key} data-find={findText(choice, only)}>
          <CoinLine choice={choice} price={price} />
          <Terms chrome={chrome} view={view} offer={only} place={place} />
        </button>
      </div>
    );
  }
  return (
    <fieldset data-find-group>
      <legend>
        <CoinLine choice={choice} price={price} />
      </legend>
      <div class="ways">
        {choice.ways.map((way) => (
          <button type="submit" class="way" name="method" value={way.key} data-find={findText(choice, way)}>
            <span>
              <bdi>{way.networkName}</bdi> {way.standard === null ? null : <small dir="ltr">{way.standard}</small>}
            </span>
            {price === null ? <Price text={priceOf(choice, way)} /> : null}
            <Terms chrome={chrome} view={view} offer={way} place={null} />
          </button>
        ))}
      </div>
    </fieldset>
  );
}

function CoinLine({ choice: { code, name }, price }: { readonly choice: Choice; readonly price: string | null }) {
  return (
    <span class="line">
      <CoinMark code={code} />
      <span>
        {name} {name === code ? null : <small>{code}</small>}
      </span>
      <Price text={price} />
    </span>
  );
}

function Price({ text }: { readonly text: string | null }) {
  if (text === null) return null;
  return (
    <span class="price">
      <Ltr>{text}</Ltr>
    </span>
  );
}

/** The price: `49.9 USDT` if it is locked, `≈ 49.9 USDT` before; null if it is not known, or any amount may be sent. */
function priceOf({ code }: Choice, { amount, estimate }: Offer): string | null {
  if (amount !== null) return `${amount} ${code}`;
  return estimate === null ? null : `≈ ${estimate} ${code}`;
}

/** The coin's price, if it is the same on all its networks; otherwise null. */
function commonPrice(choice: Choice): string | null {
  const [price = null, ...others] = new Set(choice.ways.map((way) => priceOf(choice, way)));
  return others.length === 0 ? price : null;
}

/** The network, the time that a payment takes, and the usual fee. */
function Terms({ chrome, view, offer, place }: Of & { readonly offer: Offer; readonly place: Way | null }) {
  const { texts } = chrome;
  const fees = { LOW: texts.feeLow, MEDIUM: texts.feeMedium, VARIES: texts.feeVaries } as const;
  return (
    <>
      <small>
        {place === null ? null : (
          <>
            <Filled text={texts.onNetwork} values={{ network: networkText(place) }} />
            {" · "}
          </>
        )}
        <Filled text={texts.wayMinutes} values={{ minutes: String(offer.minutes) }} />
        {offer.fee === null ? null : ` · ${fees[offer.fee]}`}
      </small>
      <TestMark chrome={chrome} view={view} way={offer} />
    </>
  );
}

/** The mark of a test network; if all networks are test networks, the page says so once instead. */
function TestMark({ chrome, view, way }: Of & { readonly way: Way }) {
  return way.isTest && !view.isTest ? <small>{chrome.texts.testNetwork}</small> : null;
}

function findText({ code, name }: Choice, { network, networkName, standard }: Way): string {
  return [code, name, network, networkName, standard ?? ""].join(" ").toLowerCase();
}
