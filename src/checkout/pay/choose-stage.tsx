import type { Chrome } from "./chrome.ts";
import type { Choice, Way } from "./method-view.ts";
import { Filled, networkText, payLink } from "./parts.tsx";
import type { CheckoutView } from "./view.ts";

/** From this many payment methods on there is a search field. */
const MANY_WAYS = 9;

interface Of {
  readonly chrome: Chrome;
  readonly view: CheckoutView;
}

/** The choice of coin and network, one press for each combination. */
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
    </>
  );
}

/** A coin on one network is a single button; a coin on several has a button for each network. */
function ChoiceGroup({ chrome, view, choice }: Of & { readonly choice: Choice }) {
  const [only, another] = choice.ways;
  if (only !== undefined && another === undefined) {
    return (
      <div data-find-group>
        <button type="submit" class="way" name="method" value={only.key} data-find={findText(choice, only)}>
          <CoinName choice={choice} />
          {only.networkName === choice.name ? null : (
            <small>
              <Filled text={chrome.texts.onNetwork} values={{ network: networkText(only) }} />
            </small>
          )}
          <TestMark chrome={chrome} view={view} way={only} />
        </button>
      </div>
    );
  }
  return (
    <fieldset data-find-group>
      <legend>
        <CoinName choice={choice} />
      </legend>
      <div class="ways">
        {choice.ways.map((way) => (
          <button type="submit" class="way" name="method" value={way.key} data-find={findText(choice, way)}>
            <bdi>{way.networkName}</bdi>
            {way.standard === null ? null : <small dir="ltr">{way.standard}</small>}
            <TestMark chrome={chrome} view={view} way={way} />
          </button>
        ))}
      </div>
    </fieldset>
  );
}

/** The mark of a test network; if all are test networks, the page says so once. */
function TestMark({ chrome, view, way }: Of & { readonly way: Way }) {
  return way.isTest && !view.isTest ? <small>{chrome.texts.testNetwork}</small> : null;
}

function CoinName({ choice: { code, name } }: { readonly choice: Choice }) {
  return (
    <span>
      {name} {name === code ? null : <small>{code}</small>}
    </span>
  );
}

function findText({ code, name }: Choice, { network, networkName, standard }: Way): string {
  return [code, name, network, networkName, standard ?? ""].join(" ").toLowerCase();
}
