// The setting EXPLORERS: JSON that maps a network to the websites that show its transactions and addresses. The console links to them; the service
// itself never calls them. Only https is accepted, because a user's browser follows the link.

import { err, ok, type Result } from "../../lib/result.ts";
import { isObject, jsonObject } from "../../lib/typed-json.ts";
import { type NetworkName, networkNamed } from "./networks.ts";

/** URLs with a placeholder, which the browser fills in; null if the operator gave none. */
interface Explorer {
  readonly network: NetworkName;
  /** Contains `{hash}`. */
  readonly transaction: string | null;
  /** Contains `{address}`. */
  readonly address: string | null;
}

const LONGEST_TEMPLATE = 300;

/** Parses EXPLORERS; empty text is `{}`. The error is a sentence for the operator. */
export function parseExplorers(text: string | undefined): Result<readonly Explorer[], string> {
  const object = jsonObject(text === undefined || text.trim() === "" ? "{}" : text);
  if (object === undefined)
    return err('EXPLORERS must be a JSON object that maps each network to { "transaction", "address" }');
  const explorers: Explorer[] = [];
  for (const [name, given] of Object.entries(object)) {
    const network = networkNamed(name);
    if (network === undefined) return err("EXPLORERS names an unknown network");
    if (explorers.some((each) => each.network === network.name)) return err(`EXPLORERS names ${network.name} twice`);
    const parsed = explorerOf(network.name, given);
    if (!parsed.ok) return err(`EXPLORERS of ${network.name}: ${parsed.error}`);
    explorers.push(parsed.value);
  }
  return ok(explorers);
}

/** Empty if the setting is invalid (`/healthz` reports it). */
export function configuredExplorers(text: string | undefined): readonly Explorer[] {
  const explorers = parseExplorers(text);
  return explorers.ok ? explorers.value : [];
}

function explorerOf(network: NetworkName, given: unknown): Result<Explorer, string> {
  if (!isObject(given)) return err("must be an object");
  const { transaction, address, ...others } = given;
  if (Object.keys(others).length > 0) return err("may only have the members transaction and address");
  const ofTransaction = template(transaction, "{hash}");
  if (!ofTransaction.ok) return err(`transaction ${ofTransaction.error}`);
  const ofAddress = template(address, "{address}");
  if (!ofAddress.ok) return err(`address ${ofAddress.error}`);
  return ok({ network, transaction: ofTransaction.value, address: ofAddress.value });
}

function template(given: unknown, placeholder: string): Result<string | null, string> {
  if (given === undefined) return ok(null);
  if (typeof given !== "string" || given.length > LONGEST_TEMPLATE)
    return err(`must be a text of at most ${LONGEST_TEMPLATE} characters`);
  if (given.split(placeholder).length !== 2) return err(`must have ${placeholder} once`);
  const filled = given.replace(placeholder, "x");
  // A slash ends the host, so that a hash or address cannot become part of it.
  const isSafe = given.indexOf(placeholder) > given.indexOf("/", "https://".length);
  if (!isSafe || !/^https:\/\/[a-z0-9.-]+(:\d+)?\/[!-z|~]*$/i.test(filled) || !URL.canParse(filled))
    return err(`must be an https address with ${placeholder} after its host`);
  return ok(given);
}
